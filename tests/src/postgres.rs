//! A throw-away PostgreSQL, shared by the tests that run at the same time, and a pgbouncer before it.
//!
//! The store's conformance suite includes this file too: nothing of this crate is used here.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use pgtemp::{PgTempDB, PgTempDBBuilder};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
static NEXT_DATABASE: AtomicU32 = AtomicU32::new(1);

/// One PostgreSQL from the machine's own binaries; stopped and removed when nobody holds it any more.
pub struct Server {
    // Stopped in this order: the pooler first.
    pgbouncer: Option<Pgbouncer>,
    postgres: PgTempDB,
    /// Another process than the one that was started serves now.
    restarted: AtomicBool,
}

impl Server {
    /// The one that runs, or a new one. `None`: it can't be had here.
    pub async fn shared() -> Option<Arc<Self>> {
        let start = || {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(server) = shared.upgrade() {
                return Some(server);
            }
            let server = Arc::new(Self::start()?);
            *shared = Arc::downgrade(&server);
            Some(server)
        };
        tokio::task::block_in_place(start)
    }

    /// A server of its own, for a test that stops it or breaks it.
    pub fn alone() -> Option<Self> {
        tokio::task::block_in_place(Self::start)
    }

    fn start() -> Option<Self> {
        let Some(bin) = postgres_binaries() else {
            return skipped("no PostgreSQL: install the package postgresql (and sudo, when run as root)");
        };
        let postgres = PgTempDBBuilder::new()
            .with_bin_path(bin)
            .with_config_param("max_connections", "300")
            .with_config_param("deadlock_timeout", "100ms")
            // Processes are killed here, machines aren't.
            .with_config_param("fsync", "off")
            // The server's own default is the unsafe one: the store must put it right.
            .with_config_param("synchronous_commit", "off")
            .start();
        let pgbouncer = Pgbouncer::start(postgres.db_port());
        let server = Self { pgbouncer, postgres, restarted: AtomicBool::new(false) };
        wait_for_port(server.port());
        Some(server)
    }

    /// Where it listens on loopback.
    pub fn port(&self) -> u16 {
        self.postgres.db_port()
    }

    /// Kills every connection and comes up again, as after a crash.
    pub fn restart(&self) {
        self.restarted.store(true, Ordering::Relaxed);
        self.control(&["restart", "-m", "immediate", "-w"]);
    }

    /// Starts it again as what a failover leaves behind: a standby, which reads and doesn't write.
    pub fn restart_as_standby(&self) {
        self.restarted.store(true, Ordering::Relaxed);
        let signal = self.postgres.data_dir().join("standby.signal");
        // Owned by whoever owns the directory, or the server couldn't remove it.
        assert!(as_postgres("touch").arg(signal).status().unwrap().success());
        self.control(&["restart", "-m", "fast", "-w"]);
    }

    /// Makes a standby the one that writes again.
    pub fn promote(&self) {
        self.control(&["promote", "-w"]);
    }

    fn control(&self, words: &[&str]) {
        let program = postgres_binaries().unwrap().join("pg_ctl");
        let mut command = as_postgres(&program);
        let data = self.postgres.data_dir();
        command.args(words).arg("-D").arg(data).stdout(Stdio::null()).stderr(Stdio::null());
        let done = tokio::task::block_in_place(|| command.status().unwrap());
        assert!(done.success(), "{words:?}");
    }

    /// The address of the maintenance database.
    pub fn url(&self) -> String {
        self.postgres.connection_uri().replace("localhost", "127.0.0.1")
    }

    /// A new database, by address.
    pub async fn fresh_database(&self) -> String {
        // Another collation than the ledger's: text must be compared byte for byte all the same.
        self.made_from("template0 LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'").await
    }

    /// A copy of a database to which nobody is connected, by address.
    pub async fn copy_of(&self, url: &str) -> String {
        self.made_from(url.rsplit_once('/').unwrap().1).await
    }

    async fn made_from(&self, template: &str) -> String {
        let name = format!("ledger_{}", NEXT_DATABASE.fetch_add(1, Ordering::Relaxed));
        let mut conn = connected(&self.url()).await;
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
        conn.execute(AssertSqlSafe(sql)).await.unwrap();
        conn.close().await.unwrap();
        let url = self.url();
        format!("{}/{name}", url.rsplit_once('/').unwrap().0)
    }

    /// Whether there is a pooler.
    pub fn has_pgbouncer(&self) -> bool {
        self.pgbouncer.is_some()
    }

    /// The same database through the pooler.
    pub fn through_pgbouncer(&self, direct: &str) -> Option<String> {
        let Some(pgbouncer) = &self.pgbouncer else {
            return skipped("no pgbouncer: install the package pgbouncer");
        };
        Some(direct.replace(&format!(":{}/", self.port()), &format!(":{}/", pgbouncer.port)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if *self.restarted.get_mut() {
            self.control(&["stop", "-m", "fast", "-w"]);
        }
    }
}

/// Says that a test was left out, so that nobody thinks it passed.
#[allow(clippy::print_stderr, reason = "a test that is left out says so")]
pub fn skipped<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("COUNTERFOIL_REQUIRE_ALL").is_none(), "{why}");
    eprintln!("SKIPPED: {why}");
    None
}

fn postgres_binaries() -> Option<PathBuf> {
    let root = is_root();
    let sudo = Command::new("sudo").arg("-V").stdout(Stdio::null()).status().is_ok();
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    versions.sort();
    versions.into_iter().rev().find(|bin| bin.join("initdb").exists()).filter(|_| !root || sudo)
}

/// The program as somebody whom PostgreSQL serves: not root.
fn as_postgres(program: impl AsRef<OsStr>) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["-u", "postgres"]).arg(program);
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// A connection, as soon as the server takes one.
pub async fn connected(url: &str) -> PgConnection {
    let give_up_at = Instant::now() + Duration::from_secs(20);
    // pgbouncer refuses a start-up parameter that it doesn't know.
    let options = url.parse::<PgConnectOptions>().unwrap().extra_float_digits(None);
    loop {
        match PgConnection::connect_with(&options).await {
            Ok(conn) => return conn,
            Err(error) => assert!(Instant::now() < give_up_at, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn wait_for_port(port: u16) {
    let give_up_at = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < give_up_at, "nobody listens on port {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// pgbouncer in transaction mode with few sessions, so that transactions of one connection run in many of them.
struct Pgbouncer {
    port: u16,
    child: Child,
    _directory: tempfile::TempDir,
}

impl Pgbouncer {
    fn start(postgres: u16) -> Option<Self> {
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
            .into_iter()
            .find(|path| Path::new(path).exists())?;
        let directory = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let users = directory.path().join("users.txt");
        let file = directory.path().join("pgbouncer.ini");
        std::fs::write(&users, "\"postgres\" \"password\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={postgres}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             auth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 4\nunix_socket_dir =\n",
            users.display()
        );
        std::fs::write(&file, text).unwrap();
        if is_root() {
            let owned =
                Command::new("chown").args(["-R", "postgres"]).arg(directory.path()).status().unwrap();
            assert!(owned.success());
        }
        let child =
            as_postgres(program).arg(file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        wait_for_port(port);
        Some(Self { port, child, _directory: directory })
    }
}

impl Drop for Pgbouncer {
    fn drop(&mut self) {
        // By its own id; sudo hands the signal on.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}
