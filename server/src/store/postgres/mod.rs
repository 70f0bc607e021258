//! The store for several servers: PostgreSQL, directly or behind a pooler.

mod engine;
mod session;
#[allow(
    clippy::duplicate_mod,
    reason = "the shared statements are compiled once for each engine, over its own connection"
)]
#[path = "../shared/mod.rs"]
mod shared;

use std::str::FromStr as _;
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgConnection};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::{Clock, StoreError};
use session::Session;

/// Connections of one server. More would only queue up inside the database.
const CONNECTIONS_MAX: u32 = 10;
/// Connecting included.
const ACQUIRE_MAX: Duration = Duration::from_secs(5);
const IDLE_MAX: Duration = Duration::from_secs(10 * 60);
const AGE_MAX: Duration = Duration::from_secs(30 * 60);
/// All statements of one transaction together.
const WORK_MAX: Duration = Duration::from_secs(15);
/// How often a transaction is run that the database asks to run again.
const TRIES: u32 = 5;

/// What the shared statements call this engine's store.
type Database = PostgresStore;

/// The store for several servers.
pub struct PostgresStore {
    pool: PgPool,
    clock: Clock,
    /// Transactions under way: they go on when the caller hangs up, and are waited for at the end.
    writes: TaskTracker,
}

impl PostgresStore {
    /// Connects, and migrates unless told not to.
    ///
    /// # Errors
    /// When the address is wrong, the database can't be reached or is another version's.
    pub async fn open(url: &str, clock: Clock, migrate: bool) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(StoreError::at("read the database's address"))?
            // A start-up parameter that pgbouncer would have to be told to ignore.
            .extra_float_digits(None);
        let migrations = engine::migrations();
        if migrate {
            self::migrate(&options, &migrations).await?;
        }
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(ACQUIRE_MAX)
            .idle_timeout(IDLE_MAX)
            .max_lifetime(AGE_MAX)
            // BEGIN is the test: see `session`.
            .test_before_acquire(false)
            .connect_with(options)
            .await
            .map_err(StoreError::at("connect to the database"))?;
        let store = Self { pool, clock, writes: TaskTracker::new() };
        shared::migrated(&mut *store.moment().await?, &migrations).await?;
        Ok(store)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    async fn database_time_us(&self) -> Result<i64, StoreError> {
        Session::time_us(&self.pool).await
    }

    /// Even one statement needs a transaction behind a pooler: it is parsed in one exchange and run in the next.
    async fn reader(&self) -> Result<Session, StoreError> {
        self.moment().await
    }

    async fn moment(&self) -> Result<Session, StoreError> {
        Session::to_read(&self.pool).await
    }

    /// Runs `work` in a transaction and answers after COMMIT. It goes on if the caller hangs up.
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send + Sync + 'static,
    {
        if self.writes.is_closed() {
            return Err(StoreError::Closing);
        }
        let pool = self.pool.clone();
        let task = self.writes.spawn(async move { repeated(&pool, &work).await }.in_current_span());
        task.await.unwrap_or_else(|_| Err(StoreError::at("work on a write")(sqlx::Error::WorkerCrashed)))
    }

    async fn shut(&self) {
        self.writes.close();
        self.writes.wait().await;
        self.pool.close().await;
    }
}

async fn migrate(options: &PgConnectOptions, migrations: &Migrator) -> Result<(), StoreError> {
    // The library names its statements, and behind a pooler the next one who migrates may meet the names in this session.
    const FORGET_NAMES: &str = "DEALLOCATE ALL";
    let step = "migrate the database";
    let mut conn = tokio::time::timeout(ACQUIRE_MAX, options.connect())
        .await
        .unwrap_or_else(|_| Err(session::late()))
        .map_err(StoreError::at("connect to the database"))?;
    let mut transaction = conn.begin().await.map_err(StoreError::at(step))?;
    engine::lock_schema(&mut transaction).await?;
    transaction.execute(FORGET_NAMES).await.map_err(StoreError::at(step))?;
    migrations
        .run_direct(None, &mut *transaction, false)
        .await
        .map_err(|error| StoreError::at(step)(sqlx::Error::Migrate(Box::new(error))))?;
    transaction.execute(FORGET_NAMES).await.map_err(StoreError::at(step))?;
    transaction.commit().await.map_err(StoreError::at(step))?;
    conn.close().await.map_err(StoreError::at(step))
}

/// Runs a transaction again when the database asks for it, and only then: it says itself that nothing was committed.
async fn repeated<T, F>(pool: &PgPool, work: &F) -> Result<T, StoreError>
where
    F: for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, StoreError>>,
{
    const PAUSE: Duration = Duration::from_millis(20);
    let mut tries = 1;
    loop {
        match once(pool, work).await {
            Err(StoreError::Failed { step, source }) if tries < TRIES && asks_again(&source) => {
                tracing::debug!(step, error = %source, tries, "a transaction is run again");
                tokio::time::sleep(PAUSE * tries).await;
                tries += 1;
            }
            result => return result,
        }
    }
}

async fn once<T, F>(pool: &PgPool, work: &F) -> Result<T, StoreError>
where
    F: for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, StoreError>>,
{
    let mut session = Session::to_write(pool).await?;
    match tokio::time::timeout(WORK_MAX, work(&mut session)).await {
        Ok(Ok(value)) => session.commit().await.map(|()| value),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(StoreError::at("write in time")(session::late())),
    }
}

/// Serialisation failure, deadlock, and a key that somebody wrote a moment before us: run again, we find it.
fn asks_again(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| matches!(code.as_ref(), "40001" | "40P01" | "23505"))
}
