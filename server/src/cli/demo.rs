//! `counterfoil demo`.
use super::Failure;
use clap::Args;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Demo {}
impl Demo {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        Ok(ExitCode::SUCCESS)
    }
}
