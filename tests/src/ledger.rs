//! A ledger under test: its directory, its process, its command line.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use crate::{Api, Database, Engine, Program, Server, Setup, binary};

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

/// Where a ledger keeps its books.
enum Books {
    File(PathBuf),
    Postgres {
        /// Where the servers connect: the database itself, or the pooler before it.
        url: String,
        /// The database itself.
        direct: String,
        /// Runs as long as somebody's books are in it.
        server: Arc<Server>,
    },
}

/// One ledger. It answers as an [`Api`] with the agent's token: three scopes, owned by Ann, who is an operator.
pub struct Ledger {
    /// One per server; none while it is down.
    programs: Vec<Option<Program>>,
    addresses: Vec<String>,
    api: Api,
    token: String,
    setup: Setup,
    after_restore: bool,
    provider: String,
    books: Books,
    dir: TempDir,
}

impl Books {
    async fn new(setup: &Setup, dir: &Path) -> Self {
        if setup.engine == Engine::Sqlite {
            return Self::File(setup.disk.as_deref().unwrap_or(dir).join("counterfoil.db"));
        }
        let shared = Server::shared().await.expect("a story on PostgreSQL runs only where there is one");
        let server = setup.server.clone().unwrap_or(shared);
        let direct = server.fresh_database().await;
        let url = match setup.engine {
            Engine::Pooled => {
                server.through_pgbouncer(&direct).expect("a pooled story runs only where there is a pooler")
            }
            _ => direct.clone(),
        };
        Self::Postgres { url, direct, server }
    }

    /// As the configuration names it.
    fn address(&self) -> String {
        match self {
            Self::File(file) => format!("sqlite:{}", file.display()),
            Self::Postgres { url, .. } => url.clone(),
        }
    }
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
        let books = Books::new(setup, dir.path()).await;
        let servers = setup.engine.servers();
        let mut ledger = Self {
            programs: (0..servers).map(|_| None).collect(),
            addresses: vec![String::new(); servers],
            api: Api::new("http://127.0.0.1:9", None),
            token: String::new(),
            setup: setup.clone(),
            after_restore: false,
            provider: provider.to_owned(),
            books,
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
        std::fs::write(
            self.config(),
            self.setup.render(self.dir.path(), &self.books.address(), &self.provider),
        )
        .unwrap();
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

    /// Serves, with as many servers as the engine says, until all of them listen.
    pub async fn serve(&mut self) {
        for number in 0..self.programs.len() {
            self.serve_one(number).await;
        }
    }

    /// Starts one of the servers, counted from 0.
    pub async fn serve_one(&mut self, number: usize) {
        let log = if number == 0 { "serve.log".to_owned() } else { format!("serve-{}.log", number + 1) };
        self.serve_with(number, &self.config(), &log).await;
    }

    /// Starts one of the servers on another way to the same database: through a [`Line`](crate::Line).
    pub async fn serve_through(&mut self, number: usize, database: &str) {
        let config = self.path(&format!("through-{number}.toml"));
        let text = self.setup.render(self.dir.path(), database, &self.provider);
        std::fs::write(&config, text).unwrap();
        self.serve_with(number, &config, &format!("serve-{}.log", number + 1)).await;
    }

    async fn serve_with(&mut self, number: usize, config: &Path, log: &str) {
        assert!(self.programs[number].is_none(), "already running");
        let mut command = Command::new(binary());
        command.arg("serve").arg("--config").arg(config).current_dir(self.dir.path());
        if self.setup.test_clock {
            command.arg("--test-clock").arg(self.path("clock"));
        }
        if self.after_restore {
            command.arg("--after-restore");
        }
        let mut program = Program::spawn(command, &self.path(log));
        self.addresses[number] = program.line_after("counterfoil listening on ").await;
        self.programs[number] = Some(program);
        let up = self.addresses.iter().filter(|address| !address.is_empty()).cloned().collect();
        self.api = Api::of_all(up, Some(&self.token));
    }

    /// `kill -9`, all servers.
    pub fn kill_9(&mut self) {
        for program in &mut self.programs {
            program.take().expect("not running").kill_9();
        }
    }

    /// How many servers there are.
    pub fn servers(&self) -> usize {
        self.programs.len()
    }

    /// SIGTERM, one of the servers.
    pub async fn terminate_one(&mut self, number: usize) -> ExitStatus {
        self.programs[number].take().expect("not running").terminate().await
    }

    /// `kill -9`, one of the servers.
    pub fn kill_one(&mut self, number: usize) {
        self.programs[number].take().expect("not running").kill_9();
    }

    /// One of the servers as a process.
    pub fn server(&self, number: usize) -> &Program {
        self.programs[number].as_ref().expect("not running")
    }

    /// SIGTERM; returns how it ended: the first that ended badly, if any.
    pub async fn terminate(&mut self) -> ExitStatus {
        let mut ended = ExitStatus::default();
        for program in &mut self.programs {
            let status = program.take().expect("not running").terminate().await;
            if ended.success() {
                ended = status;
            }
        }
        ended
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
        match &self.books {
            Books::File(file) => Database::open(file).await,
            Books::Postgres { direct, .. } => Database::connect(direct).await,
        }
    }

    /// The address of its database, as the configuration names it, past any pooler.
    pub fn database_address(&self) -> String {
        match &self.books {
            Books::File(_) => self.books.address(),
            Books::Postgres { direct, .. } => direct.clone(),
        }
    }

    /// A copy of the stopped ledger's database as it is now, by address.
    pub async fn copied_database(&self) -> String {
        match &self.books {
            Books::File(file) => {
                for suffix in ["", "-wal", "-shm"] {
                    let to = self.path(&format!("copy.db{suffix}"));
                    std::fs::remove_file(&to).ok();
                    std::fs::copy(format!("{}{suffix}", file.display()), &to).ok();
                }
                format!("sqlite:{}", self.path("copy.db").display())
            }
            Books::Postgres { direct, server, .. } => server.copy_of(direct).await,
        }
    }

    /// Puts the stopped ledger's books back to a copy, by address, and serves with `--after-restore`.
    pub async fn restored_from(&mut self, copy: &str) {
        match &mut self.books {
            Books::File(file) => *file = copy.trim_start_matches("sqlite:").into(),
            Books::Postgres { url, direct, .. } => {
                *direct = copy.to_owned();
                *url = copy.to_owned();
            }
        }
        self.write_config();
        self.after_restore = true;
        self.serve().await;
        self.after_restore = false;
    }

    /// Everything that its database keeps, as it is stored.
    pub async fn stored_bytes(&self) -> Vec<u8> {
        if let Books::File(file) = &self.books {
            let mut bytes = std::fs::read(file).unwrap();
            bytes.extend(std::fs::read(format!("{}-wal", file.display())).unwrap_or_default());
            return bytes;
        }
        let mut database = self.database().await;
        database.execute("SET bytea_output = 'escape'").await;
        let mut bytes = Vec::new();
        for table in database.tables().await {
            for row in database.texts(&format!("SELECT CAST(stored AS text) FROM \"{table}\" stored")).await {
                bytes.extend_from_slice(row.as_bytes());
            }
        }
        bytes
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

    /// Runs a command that must end well.
    pub async fn succeeds(&self, args: &[&str]) -> Run {
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
