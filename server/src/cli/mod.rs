//! The command line: what each command needs, and what it exits with.
//!
//! 0: done. 1: a finding, or a failure that the text names. 2: used wrongly (clap's own, and a configuration that can't be used).

mod demo;
mod look;
mod people;
mod restore;
mod serve;
mod setup;
mod verify;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::store::Role;

/// Keeps every side effect to exactly one: identity before sending, unknown until evidence, settled once.
#[derive(Debug, Parser)]
#[command(name = "counterfoil", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// What is logged to standard error, as tracing's directives: `info`, `counterfoil=debug`. Left out: `info`; in the demo
    /// `error`, because it tells its own story.
    #[arg(long, global = true, env = "COUNTERFOIL_LOG")]
    log: Option<String>,
    /// Log lines as JSON.
    #[arg(long, global = true, env = "COUNTERFOIL_LOG_JSON")]
    log_json: bool,
}

/// Where the configuration is.
#[derive(Debug, Clone, Args)]
struct ConfigFile {
    /// The configuration.
    #[arg(long, env = "COUNTERFOIL_CONFIG", default_value = "counterfoil.toml")]
    config: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the ledger: API, desk and daemon in one process.
    Serve(serve::Serve),
    /// Everything in one process on an empty directory: plays a lost refund, says each step, then serves the desk.
    Demo(demo::Demo),
    /// The provider simulator alone. It speaks Stripe's v1 format on loopback.
    Simulate {
        /// Port on 127.0.0.1; 0 takes any.
        #[arg(long, env = "COUNTERFOIL_PORT", default_value_t = 9090)]
        port: u16,
    },
    /// Bring the database to this version's schema.
    Migrate(ConfigFile),
    /// The configuration file.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Tokens of programs.
    Token {
        #[command(subcommand)]
        command: people::TokenCommand,
    },
    /// People.
    User {
        #[command(subcommand)]
        command: people::UserCommand,
    },
    /// What `serve --after-restore` began.
    Restore {
        #[command(subcommand)]
        command: restore::RestoreCommand,
    },
    /// One operation.
    Operation {
        #[command(subcommand)]
        command: look::OperationCommand,
    },
    /// Operations, newest first.
    Operations(look::Operations),
    /// Check that nothing was edited, removed or put in. Exits with 1 and names the first broken entry if something was.
    Verify(verify::Verify),
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Check the file as `serve` would, without starting. Names the line of each error.
    Check(ConfigFile),
}

/// Why a command ended without doing it.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// Used wrongly: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// It didn't work: exit code 1.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A store's error with what is behind it: a terminal is where causes belong.
fn store_failure(error: &crate::store::StoreError) -> Failure {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text.push_str(&format!(": {source}"));
        next = source.source();
    }
    Failure::Failed(text)
}

impl Cli {
    /// Runs the command.
    pub fn run(self) -> ExitCode {
        self.start_log();
        // Ring for TLS everywhere; a second installation changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return say(&Failure::failed(error)),
        };
        match runtime.block_on(self.command.run()) {
            Ok(code) => code,
            Err(failure) => say(&failure),
        }
    }

    fn start_log(&self) {
        let usual =
            if matches!(self.command, Command::Demo(_)) { "error" } else { "info,tokio_cron_scheduler=warn" };
        let filter = EnvFilter::try_new(self.log.as_deref().unwrap_or(usual))
            .unwrap_or_else(|_| EnvFilter::new(usual));
        let lines = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(std::io::stderr);
        let started = if self.log_json { lines.json().try_init() } else { lines.try_init() };
        // A log that was started before is as good.
        drop(started);
    }
}

#[allow(clippy::print_stderr, reason = "a command's failure belongs on standard error")]
fn say(failure: &Failure) -> ExitCode {
    eprintln!("counterfoil: {failure}");
    match failure {
        Failure::Usage(_) => ExitCode::from(2),
        Failure::Failed(_) => ExitCode::FAILURE,
    }
}

/// A line on standard output.
#[allow(clippy::print_stdout, reason = "this is what the command was called for")]
fn print(line: impl std::fmt::Display) {
    println!("{line}");
}

impl Command {
    async fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Serve(serve) => serve.run().await,
            Self::Demo(demo) => demo.run().await,
            Self::Simulate { port } => {
                let shutdown = serve::stop_signal();
                crate::simulator::run(port, crate::simulator::Settings::default(), shutdown)
                    .await
                    .map_err(Failure::failed)?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Migrate(file) => {
                let store = setup::open(&setup::load(&file)?, crate::store::Clock::true_time(), true).await?;
                store.close().await;
                print("the database is at this version's schema");
                Ok(ExitCode::SUCCESS)
            }
            Self::Config { command: ConfigCommand::Check(file) } => {
                setup::load(&file)?;
                print(format_args!("{}: good", file.config.display()));
                Ok(ExitCode::SUCCESS)
            }
            Self::Token { command } => command.run().await,
            Self::User { command } => command.run().await,
            Self::Restore { command } => command.run().await,
            Self::Operation { command } => command.run().await,
            Self::Operations(operations) => operations.run().await,
            Self::Verify(verify) => verify.run().await,
        }
    }
}

/// Roles as the command line spells them.
type RoleArgument = Role;
