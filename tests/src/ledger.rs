//! A ledger under test: its directory, its process, its command line.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use tempfile::TempDir;

use crate::{Api, Database, Engine, Program, Setup, binary};

/// How a command of the binary ended.
#[derive(Clone, Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Everything it printed.
    pub fn output(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// The last line on standard output: where a secret is printed.
    pub fn last_line(&self) -> &str {
        self.stdout.lines().rev().find(|line| !line.is_empty()).unwrap_or_default().trim()
    }
}

/// One ledger. It answers as an [`Api`] with the agent's token: three scopes, owned by Ann, who is an operator.
pub struct Ledger {
    program: Option<Program>,
    api: Api,
    token: String,
    setup: Setup,
    provider: String,
    dir: TempDir,
}

impl Deref for Ledger {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Ledger {
    /// Prepares a directory, people and a token, and serves. `provider` is the account's base URL.
    pub async fn start(setup: &Setup, provider: &str) -> Self {
        let mut ledger = Self::prepare(setup, provider).await;
        ledger.serve().await;
        ledger
    }

    /// All of [`start`](Self::start) but the serving.
    pub async fn prepare(setup: &Setup, provider: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("stripe.key"), "sk_test_counterfoil\n").unwrap();
        std::fs::write(dir.path().join("webhook.key"), "whsec_counterfoil\n").unwrap();
        std::fs::write(dir.path().join("clock"), "0").unwrap();
        std::fs::write(dir.path().join("ann.password"), "a long enough pass phrase\n").unwrap();
        let mut ledger = Self {
            program: None,
            api: Api::new("http://127.0.0.1:9", None),
            token: String::new(),
            setup: setup.clone(),
            provider: provider.to_owned(),
            dir,
        };
        ledger.write_config();
        let password = ledger.path("ann.password").display().to_string();
        let ann = ["user", "add", "--name", "Ann", "--role", "operator", "--password-file", &password];
        ledger.succeeds(&ann).await;
        ledger.token =
            ledger.token("agent", &["operations:write:refund", "operations:read", "orders:write"]).await;
        ledger
    }

    /// A new token, owned by Ann.
    pub async fn token(&self, name: &str, scopes: &[&str]) -> String {
        let mut args = vec!["token", "create", "--name", name, "--owner", "Ann"];
        for scope in scopes {
            args.extend(["--scope", scope]);
        }
        self.succeeds(&args).await.last_line().to_owned()
    }

    fn write_config(&self) {
        std::fs::write(self.config(), self.setup.render(self.dir.path(), &self.provider)).unwrap();
    }

    /// A file in the ledger's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Its configuration file.
    pub fn config(&self) -> PathBuf {
        self.path("counterfoil.toml")
    }

    /// The secret of the token that it is asked with.
    pub fn secret(&self) -> &str {
        &self.token
    }

    /// Serves until it listens.
    pub async fn serve(&mut self) {
        assert!(self.program.is_none(), "already running");
        let mut command = Command::new(binary());
        command.arg("serve").arg("--config").arg(self.config()).current_dir(self.dir.path());
        if self.setup.test_clock {
            command.arg("--test-clock").arg(self.path("clock"));
        }
        let mut program = Program::spawn(command, &self.path("serve.log"));
        let url = program.line_after("counterfoil listening on ").await;
        self.program = Some(program);
        self.api = Api::new(url, Some(&self.token));
    }

    /// `kill -9`.
    pub fn kill_9(&mut self) {
        self.program.take().expect("not running").kill_9();
    }

    /// SIGTERM; returns how it ended.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.program.take().expect("not running").terminate().await
    }

    /// Stops it in order and serves again on the same directory.
    pub async fn restart(&mut self) {
        self.terminate().await;
        self.serve().await;
    }

    /// Changes keys of the configuration; a restart reads them.
    pub fn reconfigure(&mut self, change: impl FnOnce(Setup) -> Setup) {
        self.setup = change(self.setup.clone());
        self.write_config();
    }

    /// Points the account at another base URL, as an operator would: in the file, and with a restart.
    pub async fn send_to(&mut self, provider: &str) {
        self.provider = provider.to_owned();
        self.write_config();
        self.restart().await;
    }

    /// Sets the test clock to `seconds` from the real time.
    pub fn set_clock(&self, seconds: i64) {
        assert!(self.setup.test_clock, "a ledger without a test clock");
        // Renamed into place, so that nobody reads half a number.
        std::fs::write(self.path("clock.new"), seconds.to_string()).unwrap();
        std::fs::rename(self.path("clock.new"), self.path("clock")).unwrap();
    }

    /// SQL on its database.
    pub async fn database(&self) -> Database {
        match self.setup.engine {
            Engine::Sqlite => Database::open(&self.path("counterfoil.db")).await,
        }
    }

    /// Runs a command of the binary on this ledger's configuration.
    pub async fn run(&self, args: &[&str]) -> Run {
        Self::run_with(args, &self.config()).await
    }

    /// Runs a command of the binary with `--config` at its end, for at most a minute.
    pub async fn run_with(args: &[&str], config: &Path) -> Run {
        let mut command = tokio::process::Command::new(binary());
        command.args(args).arg("--config").arg(config).kill_on_drop(true);
        command.current_dir(config.parent().unwrap()).stdin(std::process::Stdio::null());
        let ran = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
        let output = ran.unwrap_or_else(|_| panic!("{args:?} runs for a minute")).unwrap();
        Run {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    async fn succeeds(&self, args: &[&str]) -> Run {
        let run = self.run(args).await;
        assert_eq!(run.code, Some(0), "{args:?}: {}", run.output());
        run
    }

    /// `counterfoil verify` finds nothing wrong with the history so far.
    pub async fn verifies(&self) {
        self.succeeds(&["verify"]).await;
    }

    /// The end of a story: every operation rests in a state that needs no sender, and the chain verifies.
    pub async fn rests(&self) {
        for state in ["authorized", "submitted", "unknown"] {
            let stuck = self.operations(&format!("state={state}")).await;
            assert!(stuck.is_empty(), "stuck in {state}: {stuck:?}");
        }
        self.verifies().await;
    }
}
