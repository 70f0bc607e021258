//! `counterfoil verify`: proof, or the first place where it breaks.

use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{ConfigFile, Failure, print, setup, store_failure};
use crate::store::Clock;
use crate::work::verify;

#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    file: ConfigFile,
    /// Only the operations of this order.
    #[arg(long)]
    order: Option<String>,
}

impl Verify {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        let config = setup::load(&self.file)?;
        let store = setup::open(&config, Clock::true_time(), false).await?;
        // Shown on a terminal only.
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} operations verified, {per_sec}") {
            bar.set_style(style);
        }
        let found = match &self.order {
            Some(order) => verify::order(store.as_ref(), order).await,
            None => verify::ledger(store.as_ref(), &mut |seen| bar.set_position(seen)).await,
        };
        bar.finish_and_clear();
        store.close().await;
        let found = found.map_err(|error| store_failure(&error))?;
        for broken in &found.broken {
            print(format_args!("broken: {broken}"));
        }
        let sum = format!("{} operations, {} entries, {} acts", found.operations, found.entries, found.acts);
        if found.broken.is_empty() {
            print(format_args!("intact: {sum}"));
            Ok(ExitCode::SUCCESS)
        } else {
            print(format_args!("not intact: {} of {sum}", found.broken.len()));
            Ok(ExitCode::FAILURE)
        }
    }
}
