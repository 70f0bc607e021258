//! The configuration of one ledger under test.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::{Table, Value};

use crate::postgres::{Server, skipped};

/// Where a story runs: the database, and how many processes serve on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The embedded default: one file in the test's directory.
    Sqlite,
    /// One server on PostgreSQL.
    Postgres,
    /// Two servers on one PostgreSQL, asked in turn.
    TwoServers,
    /// Two servers, asked in turn, behind one pgbouncer in transaction mode.
    Pooled,
}

impl Engine {
    /// How many processes serve.
    pub fn servers(self) -> usize {
        if matches!(self, Self::TwoServers | Self::Pooled) { 2 } else { 1 }
    }

    /// Whether this machine has what it takes. When not, it is said loudly, or fails where everything is required.
    pub async fn can_be_had(self) -> bool {
        if self == Self::Sqlite {
            return true;
        }
        let Some(server) = Server::shared().await else { return false };
        self != Self::Pooled
            || server.has_pgbouncer()
            || skipped::<()>("no pgbouncer: install the package pgbouncer").is_some()
    }
}

/// What goes into `counterfoil.toml`. The defaults are those of `api.md` with delays a test can wait for: a send has 2 s, a look-up comes 2 s
/// after it, and two empty walks 1 s apart prove absence from 1 s after the provider can't be working on it any more.
#[derive(Clone)]
pub struct Setup {
    pub(crate) engine: Engine,
    pub(crate) test_clock: bool,
    pub(crate) server: Option<Arc<Server>>,
    pub(crate) disk: Option<PathBuf>,
    changes: Vec<(String, Value)>,
    removed: Vec<String>,
}

impl Setup {
    pub fn new(engine: Engine) -> Self {
        Self { engine, test_clock: false, server: None, disk: None, changes: Vec::new(), removed: Vec::new() }
    }

    /// Starts the ledger on a clock that the test moves with [`Ledger::advance`](crate::Ledger::advance).
    #[must_use]
    pub fn with_test_clock(mut self) -> Self {
        self.test_clock = true;
        self
    }

    /// Keeps the books in this PostgreSQL, instead of the one that tests share.
    #[must_use]
    pub fn on_server(mut self, server: &Arc<Server>) -> Self {
        self.server = Some(Arc::clone(server));
        self
    }

    /// Keeps an embedded database in this directory, instead of the ledger's own.
    #[must_use]
    pub fn on_disk(mut self, directory: &Path) -> Self {
        self.disk = Some(directory.to_owned());
        self
    }

    /// Sets one key, named by its path in the file: `accounts.stripe-main.send_timeout`.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.changes.push((key.to_owned(), value.into()));
        self
    }

    /// Sets one key of the account `stripe-main`.
    #[must_use]
    pub fn account(self, key: &str, value: impl Into<Value>) -> Self {
        self.with(&format!("accounts.stripe-main.{key}"), value)
    }

    /// Sets one key of `[daemon]`.
    #[must_use]
    pub fn daemon(self, key: &str, value: impl Into<Value>) -> Self {
        self.with(&format!("daemon.{key}"), value)
    }

    /// Look-ups this long after an attempt's end, again and again.
    #[must_use]
    pub fn look_up_after(self, gap: &str) -> Self {
        self.daemon("look_up_after", vec![gap.to_owned()])
    }

    /// Leaves one key out of the file.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.removed.push(key.to_owned());
        self
    }

    /// The text of the file for a ledger that lives in `dir`, keeps its books in `database` and sends to `provider`.
    pub(crate) fn render(&self, dir: &Path, database: &str, provider: &str) -> String {
        let mut table = defaults(dir, database, provider);
        for (key, value) in &self.changes {
            let (parent, name) = parent_of(&mut table, key);
            parent.insert(name.to_owned(), value.clone());
        }
        for key in &self.removed {
            let (parent, name) = parent_of(&mut table, key);
            parent.remove(name);
        }
        toml::to_string(&table).unwrap()
    }
}

fn defaults(dir: &Path, database: &str, provider: &str) -> Table {
    let dir = dir.display();
    let text = format!(
        r#"
            namespace = "shop"

            [server]
            listen = "127.0.0.1:0"
            database = "{database}"
            time_zone = "Asia/Taipei"

            [accounts.stripe-main]
            provider = "stripe"
            base_url = "{provider}"
            secret_key_file = "{dir}/stripe.key"
            webhook_secret_file = "{dir}/webhook.key"
            connect_timeout = "500ms"
            send_timeout = "2s"
            key_window = "24h"
            window_margin = "15m"
            key_protects = "all"
            absence_lag = "1s"
            absence_count = 2
            absence_gap = "1s"
            max_resends = 3
            rate_limit_per_s = 100

            [kinds.refund]
            account = "stripe-main"
            effect = "refund"
            identity = ["order", "line_item"]
            amount_from = "order"
            send_within = "72h"

            [daemon]
            reconcile = "* * * * * *"
            look_up_after = ["2s"]
            escalate_after = "20h"
            lease = "4s"
            "#
    );
    toml::from_str(&text).unwrap()
}

/// The table that holds `key`, made where it is missing, and the key's last part.
fn parent_of<'t, 'k>(table: &'t mut Table, key: &'k str) -> (&'t mut Table, &'k str) {
    let mut parts: Vec<&str> = key.split('.').collect();
    let name = parts.pop().unwrap();
    let parent = parts.into_iter().fold(table, |table, part| {
        table.entry(part).or_insert_with(|| Table::new().into()).as_table_mut().unwrap()
    });
    (parent, name)
}
