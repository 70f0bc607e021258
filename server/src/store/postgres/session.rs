//! A connection on loan, inside a transaction: how one begins, how it ends, and what is known when it doesn't end well.
//!
//! Nothing of it outlives the transaction, so that a pooler may give each one another session: time-outs are `SET LOCAL`, and
//! statements have no names.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgDatabaseError, PgPool, PgRow, PgSeverity};
use sqlx::{Executor as _, PgConnection, Postgres, Row as _};

use crate::store::StoreError;

/// The server gives a statement up after 5 s, a wait for a lock after 3 s, and a transaction that we forgot after 10 s. A commit
/// is on disk when it is answered, whatever the role's default says.
macro_rules! begin {
    ($mode:literal) => {
        concat!(
            "BEGIN ISOLATION LEVEL ",
            $mode,
            "; SELECT set_config('lock_timeout', '3s', true), set_config('statement_timeout', '5s', true), ",
            "set_config('idle_in_transaction_session_timeout', '10s', true), ",
            "set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ",
            "ELSE current_setting('synchronous_commit') END, true)"
        )
    };
}

const TO_WRITE: &str = begin!("READ COMMITTED READ WRITE");
const TO_READ: &str = begin!("REPEATABLE READ READ ONLY");

/// Our own patience for one answer, past the server's: for a network that went dark.
const ANSWER_MAX: Duration = Duration::from_secs(8);

/// A connection inside a transaction. Dropped, it is rolled back and returned.
pub(super) struct Session {
    conn: Option<PoolConnection<Postgres>>,
}

impl Session {
    pub(super) async fn to_write(pool: &PgPool) -> Result<Self, StoreError> {
        Self::begin(pool, TO_WRITE).await
    }

    pub(super) async fn to_read(pool: &PgPool) -> Result<Self, StoreError> {
        Self::begin(pool, TO_READ).await
    }

    async fn begin(pool: &PgPool, statement: &'static str) -> Result<Self, StoreError> {
        Self::first_word(pool, statement).await.map(|(session, _)| session)
    }

    /// The server's time, outside of any transaction: one exchange.
    pub(super) async fn time_us(pool: &PgPool) -> Result<i64, StoreError> {
        const TIME: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
        let (mut session, row) = Self::first_word(pool, TIME).await?;
        session.give_back();
        row.try_get(0).map_err(StoreError::at("read the database's time"))
    }

    /// The first exchange on a connection that may have died in the pool. It writes nothing, so it may go to the next one.
    async fn first_word(pool: &PgPool, statement: &'static str) -> Result<(Self, PgRow), StoreError> {
        let mut last = late();
        for _ in 0..=pool.options().get_max_connections() {
            let conn = pool.acquire().await.map_err(StoreError::at("get a connection"))?;
            let mut session = Self { conn: Some(conn) };
            match tokio::time::timeout(ANSWER_MAX, session.fetch_one(statement)).await {
                Ok(Ok(row)) => return Ok((session, row)),
                Ok(Err(error)) => last = error,
                Err(_) => break,
            }
            session.close();
        }
        Err(StoreError::at("begin")(last))
    }

    /// Commits. An answer that is lost, or that the server gave while going down, says nothing.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        let step = "commit";
        match tokio::time::timeout(ANSWER_MAX, self.execute("COMMIT")).await {
            Ok(Ok(_)) => {
                self.give_back();
                Ok(())
            }
            Ok(Err(source)) if is_definite(&source) => Err(StoreError::Failed { step, source }),
            Ok(Err(source)) => {
                self.close();
                Err(StoreError::CommitUnknown { step, source })
            }
            Err(_) => {
                self.close();
                Err(StoreError::CommitUnknown { step, source: late() })
            }
        }
    }

    /// The transaction is over: the connection goes back as it is.
    fn give_back(&mut self) {
        drop(self.conn.take());
    }

    /// Nothing is assumed about the connection any more.
    fn close(&mut self) {
        if let Some(mut conn) = self.conn.take() {
            conn.close_on_drop();
        }
    }
}

impl Deref for Session {
    type Target = PgConnection;
    #[allow(
        clippy::expect_used,
        reason = "only what consumes the session, and Drop, take the connection out"
    )]
    fn deref(&self) -> &PgConnection {
        self.conn.as_ref().expect("a session holds its connection until it ends")
    }
}

impl DerefMut for Session {
    #[allow(
        clippy::expect_used,
        reason = "only what consumes the session, and Drop, take the connection out"
    )]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.conn.as_mut().expect("a session holds its connection until it ends")
    }
}

impl Drop for Session {
    /// Also when the caller hung up in the middle of a statement: the roll-back waits for its answer first.
    fn drop(&mut self) {
        let Some(mut conn) = self.conn.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let rolled_back = tokio::time::timeout(ANSWER_MAX, conn.execute("ROLLBACK")).await;
            if !matches!(rolled_back, Ok(Ok(_))) {
                conn.close_on_drop();
            }
        });
    }
}

/// Whether the server said of this very transaction that it isn't committed.
fn is_definite(error: &sqlx::Error) -> bool {
    const COMPLETION_UNKNOWN: &str = "40003";
    error
        .as_database_error()
        .and_then(|error| error.try_downcast_ref::<PgDatabaseError>())
        .is_some_and(|error| error.severity() == PgSeverity::Error && error.code() != COMPLETION_UNKNOWN)
}

pub(super) fn late() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())
}
