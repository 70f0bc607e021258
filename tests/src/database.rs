//! SQL on the ledger's database, beside the running ledger: for what a crash leaves, and for what no caller may do.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row, SqliteConnection};

/// One connection of the test's own.
pub struct Database {
    connection: SqliteConnection,
}

impl Database {
    pub async fn open(file: &Path) -> Self {
        let options = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(20));
        Self { connection: options.connect().await.unwrap() }
    }

    pub async fn execute(&mut self, sql: &str) -> u64 {
        self.try_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Rows affected, or why the database refused.
    pub async fn try_execute(&mut self, sql: &str) -> Result<u64, sqlx::Error> {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut self.connection).await?;
        Ok(done.rows_affected())
    }

    /// The first column of the first row.
    pub async fn number(&mut self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
            .fetch_one(&mut self.connection)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The first column of every row, as text.
    pub async fn texts(&mut self, sql: &str) -> Vec<String> {
        let rows = sqlx::query(AssertSqlSafe(sql.to_owned())).fetch_all(&mut self.connection).await;
        let rows = rows.unwrap_or_else(|error| panic!("{sql}: {error}"));
        rows.iter().map(|row| row.get_unchecked::<Option<String>, _>(0).unwrap_or_default()).collect()
    }

    /// How many facts of one type an operation has.
    pub async fn facts(&mut self, operation: &str, kind: &str) -> i64 {
        self.number(&format!(
            "SELECT count(*) FROM entries WHERE operation_id = '{operation}' AND type = '{kind}'"
        ))
        .await
    }

    /// The states that an operation moved to, in order.
    pub async fn moves(&mut self, operation: &str) -> Vec<String> {
        self.texts(&format!(
            "SELECT json_extract(body, '$.to') FROM entries \
             WHERE operation_id = '{operation}' AND type = 'state' ORDER BY seq"
        ))
        .await
    }

    /// Takes the write lock: until [`release`](Self::release) nobody else commits anything.
    pub async fn hold_write_lock(&mut self) {
        self.execute("BEGIN IMMEDIATE").await;
    }

    pub async fn release(&mut self) {
        self.execute("ROLLBACK").await;
    }

    /// Until [`accept_facts`](Self::accept_facts), a transaction that adds a fact of this type fails, as on a full disk.
    pub async fn refuse_facts(&mut self, kind: &str) {
        self.execute(&format!(
            "CREATE TRIGGER test_refuses_facts BEFORE INSERT ON entries WHEN NEW.type = '{kind}' \
             BEGIN SELECT RAISE(ABORT, 'disk I/O error (made by a test)'); END"
        ))
        .await;
    }

    pub async fn accept_facts(&mut self) {
        self.execute("DROP TRIGGER test_refuses_facts").await;
    }

    pub async fn close(self) {
        self.connection.close().await.unwrap();
    }
}
