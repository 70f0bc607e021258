//! SQL on the ledger's database, beside the running ledger: for what a crash leaves, and for what no caller may do.
//!
//! What the two engines write differently stands here once, so that a story needn't know where it runs.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, Row, SqliteConnection};

use crate::postgres::connected;

/// One connection of the test's own.
pub enum Database {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Database {
    /// The database in a file.
    pub async fn open(file: &Path) -> Self {
        let options = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(20));
        Self::Sqlite(options.connect().await.unwrap())
    }

    /// The database at an address.
    pub async fn connect(url: &str) -> Self {
        Self::Postgres(connected(url).await)
    }

    pub async fn execute(&mut self, sql: &str) -> u64 {
        self.try_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Rows affected, or why the database refused.
    pub async fn try_execute(&mut self, sql: &str) -> Result<u64, sqlx::Error> {
        let query = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        Ok(match self {
            Self::Sqlite(connection) => query.execute(connection).await?.rows_affected(),
            Self::Postgres(connection) => query.execute(connection).await?.rows_affected(),
        })
    }

    /// The first column of the first row.
    pub async fn number(&mut self, sql: &str) -> i64 {
        let texts = self.texts(sql).await;
        let first = texts.first().unwrap_or_else(|| panic!("{sql}: no row"));
        first.parse().unwrap_or_else(|error| panic!("{sql}: {first:?}: {error}"))
    }

    /// The first column of every row, as text; null is empty.
    pub async fn texts(&mut self, sql: &str) -> Vec<String> {
        let query = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        // Unprepared, so that PostgreSQL too gives everything as text.
        let texts = match self {
            Self::Sqlite(connection) => query.fetch_all(connection).await.map(|rows| {
                rows.iter().map(|row| row.get_unchecked::<Option<String>, _>(0).unwrap_or_default()).collect()
            }),
            Self::Postgres(connection) => query.fetch_all(connection).await.map(|rows| {
                rows.iter().map(|row| row.get_unchecked::<Option<String>, _>(0).unwrap_or_default()).collect()
            }),
        };
        texts.unwrap_or_else(|error| panic!("{sql}: {error}"))
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
        let to = match self {
            Self::Sqlite(_) => "json_extract(body, '$.to')",
            Self::Postgres(_) => "CAST(body AS json) ->> 'to'",
        };
        self.texts(&format!(
            "SELECT {to} FROM entries WHERE operation_id = '{operation}' AND type = 'state' ORDER BY seq"
        ))
        .await
    }

    /// Every table of the ledger.
    pub async fn tables(&mut self) -> Vec<String> {
        let sql = match self {
            Self::Sqlite(_) => {
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            }
            Self::Postgres(_) => {
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
            }
        };
        self.texts(sql).await
    }

    /// The columns of a table, in order.
    pub async fn columns(&mut self, table: &str) -> Vec<String> {
        let sql = match self {
            Self::Sqlite(_) => format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"),
            Self::Postgres(_) => format!(
                "SELECT column_name FROM information_schema.columns \
                 WHERE table_schema = 'public' AND table_name = '{table}' ORDER BY ordinal_position"
            ),
        };
        self.texts(&sql).await
    }

    /// The columns of a table's primary key, in order.
    pub async fn key_columns(&mut self, table: &str) -> Vec<String> {
        let sql = match self {
            Self::Sqlite(_) => {
                format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk")
            }
            Self::Postgres(_) => format!(
                "SELECT a.attname FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY k (num, place) \
                 JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num \
                 WHERE i.indisprimary AND i.indrelid = CAST('{table}' AS regclass) ORDER BY k.place"
            ),
        };
        self.texts(&sql).await
    }

    /// An SQL expression: the value as an SQL literal.
    pub fn quoted(&self, column: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("quote(\"{column}\")"),
            Self::Postgres(_) => format!("quote_nullable(\"{column}\")"),
        }
    }

    /// An SQL expression: another value in one byte of it, whatever its type; a number moves far enough to meet no other row's.
    pub async fn changed(&mut self, table: &str, column: &str) -> String {
        let middle = format!("(length(\"{column}\") + 1) / 2");
        let text = format!(
            "substr(\"{column}\", 1, {middle} - 1) \
             || CASE substr(\"{column}\", {middle}, 1) WHEN '0' THEN '1' ELSE '0' END \
             || substr(\"{column}\", {middle} + 1)"
        );
        if let Self::Sqlite(_) = self {
            return format!(
                "CASE typeof(\"{column}\") \
                 WHEN 'integer' THEN \"{column}\" + 1000 \
                 WHEN 'blob' THEN CAST(substr(\"{column}\", 1, length(\"{column}\") - 1) || X'7A' AS BLOB) \
                 ELSE {text} END"
            );
        }
        let kind = format!(
            "SELECT data_type FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name = '{table}' AND column_name = '{column}'"
        );
        match self.texts(&kind).await.remove(0).as_str() {
            "bigint" => format!("\"{column}\" + 1000"),
            "bytea" => format!("set_byte(\"{column}\", 0, (get_byte(\"{column}\", 0) + 1) % 256)"),
            "text" => text,
            other => panic!("{table}.{column} is {other}"),
        }
    }

    /// Nothing holds this connection back any more: no triggers, no references between tables.
    pub async fn ignore_rules(&mut self) {
        if let Self::Postgres(_) = self {
            self.execute("SET session_replication_role = replica").await;
            return;
        }
        for trigger in self.texts("SELECT name FROM sqlite_master WHERE type = 'trigger'").await {
            self.execute(&format!("DROP TRIGGER \"{trigger}\"")).await;
        }
        self.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").await;
    }

    /// Takes the write lock: until [`release`](Self::release) nobody else commits anything, and everybody reads.
    pub async fn hold_write_lock(&mut self) {
        match self {
            Self::Sqlite(_) => self.execute("BEGIN IMMEDIATE").await,
            Self::Postgres(_) => {
                self.execute(
                    "BEGIN; LOCK TABLE payments, orders, operations, entries, chain IN EXCLUSIVE MODE",
                )
                .await
            }
        };
    }

    pub async fn release(&mut self) {
        self.execute("ROLLBACK").await;
    }

    /// Until [`accept_facts`](Self::accept_facts), a transaction that adds a fact of this type fails, as on a full disk.
    pub async fn refuse_facts(&mut self, kind: &str) {
        let sql = match self {
            Self::Sqlite(_) => format!(
                "CREATE TRIGGER test_refuses_facts BEFORE INSERT ON entries WHEN NEW.type = '{kind}' \
                 BEGIN SELECT RAISE(ABORT, 'disk I/O error (made by a test)'); END"
            ),
            Self::Postgres(_) => format!(
                "CREATE OR REPLACE FUNCTION test_refuses() RETURNS trigger LANGUAGE plpgsql AS \
                     $$ BEGIN RAISE EXCEPTION 'could not extend file (made by a test)' USING ERRCODE = 'disk_full'; END $$; \
                 CREATE TRIGGER test_refuses_facts BEFORE INSERT ON entries FOR EACH ROW WHEN (NEW.type = '{kind}') \
                     EXECUTE FUNCTION test_refuses()"
            ),
        };
        self.execute(&sql).await;
    }

    pub async fn accept_facts(&mut self) {
        let sql = match self {
            Self::Sqlite(_) => "DROP TRIGGER test_refuses_facts",
            Self::Postgres(_) => "DROP TRIGGER test_refuses_facts ON entries",
        };
        self.execute(sql).await;
    }

    pub async fn close(self) {
        match self {
            Self::Sqlite(connection) => connection.close().await.unwrap(),
            Self::Postgres(connection) => connection.close().await.unwrap(),
        }
    }
}
