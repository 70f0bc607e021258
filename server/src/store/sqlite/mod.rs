//! The embedded store: one SQLite file, one writer that groups commits, readers beside it.

mod engine;
#[path = "../shared/mod.rs"]
mod shared;
mod writer;

use std::path::Path;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, Sqlite, SqliteConnection, Transaction};

use super::{Clock, StoreError};
use writer::Writer;

/// How long a statement waits for another process's write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const READERS: u32 = 4;

/// What the shared statements call this engine's store.
type Database = SqliteStore;

/// The embedded store.
pub struct SqliteStore {
    readers: SqlitePool,
    writer: Writer,
    clock: Clock,
}

impl SqliteStore {
    /// Opens the file, makes it if it isn't there, and migrates it unless told not to.
    ///
    /// # Errors
    /// When the file can't be opened or is another version's.
    pub async fn open(file: &Path, clock: Clock, migrate: bool) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(migrate)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        let mut conn = options.connect().await.map_err(StoreError::at("open the database"))?;
        if migrate {
            engine::MIGRATIONS.run_direct(None, &mut conn, false).await.map_err(|error| {
                StoreError::at("migrate the database")(sqlx::Error::Migrate(Box::new(error)))
            })?;
        }
        shared::migrated(&mut conn, &engine::MIGRATIONS).await?;
        conn.close().await.map_err(StoreError::at("open the database"))?;
        let writer = Writer::start(&options).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(BUSY_TIMEOUT)
            .connect_with(options.read_only(true))
            .await
            .map_err(StoreError::at("open the database for reading"))?;
        Ok(Self { readers, writer, clock })
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    #[allow(clippy::disallowed_methods, reason = "an embedded database has no clock of its own: this is it")]
    async fn database_time_us(&self) -> Result<i64, StoreError> {
        Ok(Timestamp::now().as_microsecond())
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>, StoreError> {
        self.readers.acquire().await.map_err(StoreError::at("get a reader"))
    }

    #[allow(clippy::disallowed_methods, reason = "it only reads: nothing is committed")]
    async fn moment(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        self.readers.begin().await.map_err(StoreError::at("get a reader"))
    }

    /// In the writer's next group.
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        self.writer.write(work).await
    }

    async fn shut(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }
}
