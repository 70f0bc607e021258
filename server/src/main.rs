//! The binary: arguments in, exit code out.

use std::process::ExitCode;

use clap::Parser;
use counterfoil::cli::Cli;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    cli.run()
}
