//! A store to try, its database reachable from beside.

use std::path::PathBuf;
use std::sync::Arc;

use counterfoil::config::DatabaseUrl;
use counterfoil::store::{Clock, Store, open};

use crate::server::Server;

/// A fresh ledger, and the database under it.
pub struct Bench {
    pub store: Arc<dyn Store>,
    pub database: Database,
}

pub enum Database {
    Sqlite {
        file: PathBuf,
        /// Removed at the end.
        _directory: tempfile::TempDir,
    },
    Postgres {
        /// Where the store connects; a pooler, perhaps.
        url: String,
        /// The database itself.
        direct: String,
        _server: Arc<Server>,
    },
}

impl Database {
    pub fn url(&self) -> DatabaseUrl {
        match self {
            Self::Sqlite { file, .. } => DatabaseUrl::Sqlite(file.clone()),
            Self::Postgres { url, .. } => DatabaseUrl::Postgres(url.clone().into()),
        }
    }
}

impl Bench {
    pub async fn sqlite() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("counterfoil.db");
        Some(Self::on(Database::Sqlite { file, _directory: directory }).await)
    }

    /// `None`: there is no PostgreSQL here, and it was said loudly.
    pub async fn postgres() -> Option<Self> {
        let server = Server::shared().await?;
        let direct = server.fresh_database().await;
        Some(Self::on(Database::Postgres { url: direct.clone(), direct, _server: server }).await)
    }

    /// `None`: there is no pgbouncer here, and it was said loudly.
    pub async fn pgbouncer() -> Option<Self> {
        let server = Server::shared().await?;
        let direct = server.fresh_database().await;
        let url = server.through_pgbouncer(&direct)?;
        Some(Self::on(Database::Postgres { url, direct, _server: server }).await)
    }

    async fn on(database: Database) -> Self {
        let store = open(&database.url(), Clock::true_time(), true).await.unwrap();
        Self { store, database }
    }

    /// Another server on the same ledger.
    pub async fn another_server(&self) -> Arc<dyn Store> {
        open(&self.database.url(), Clock::true_time(), false).await.unwrap()
    }

    /// A statement that goes past the store. Rows that it touched.
    pub async fn beside(&self, sql: &str) -> Result<u64, sqlx::Error> {
        use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
        match &self.database {
            Database::Sqlite { file, .. } => {
                let options = sqlx::sqlite::SqliteConnectOptions::new()
                    .filename(file)
                    .busy_timeout(std::time::Duration::from_secs(5));
                let mut conn = sqlx::SqliteConnection::connect_with(&options).await?;
                let result = conn.execute(AssertSqlSafe(sql)).await?;
                conn.close().await?;
                Ok(result.rows_affected())
            }
            Database::Postgres { direct, .. } => {
                let mut conn = sqlx::PgConnection::connect(direct).await?;
                let result = conn.execute(AssertSqlSafe(sql)).await?;
                conn.close().await?;
                Ok(result.rows_affected())
            }
        }
    }

    pub fn is_sqlite(&self) -> bool {
        matches!(self.database, Database::Sqlite { .. })
    }

    /// One statement that puts aside what keeps history whole, for tests of what notices that it was touched.
    pub async fn without_triggers(&self, sql: &str) {
        let (off, on) = if self.is_sqlite() {
            let triggers = ["entries_no_update", "chain_no_update", "bodies_no_update", "operations_fixed"];
            (triggers.map(|name| format!("DROP TRIGGER {name};")).concat(), String::new())
        } else {
            ("SET session_replication_role = replica;".to_owned(), String::new())
        };
        self.beside(&format!("{off} {sql}; {on}")).await.unwrap();
    }
}

/// Runs each test on each store.
#[macro_export]
macro_rules! on_every_store {
    ($($test:ident),* $(,)?) => {
        mod sqlite { $($crate::on_every_store!(@one sqlite $test);)* }
        mod postgres { $($crate::on_every_store!(@one postgres $test);)* }
        mod pgbouncer { $($crate::on_every_store!(@one pgbouncer $test);)* }
    };
    (@one $engine:ident $test:ident) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            if let Some(bench) = $crate::bench::Bench::$engine().await {
                super::$test(&bench).await;
                bench.store.close().await;
            }
        }
    };
}
