//! The embedded store: one SQLite file, one writer that groups commits, readers beside it.

mod engine;
#[path = "../shared/mod.rs"]
mod shared;
mod writer;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use counterfoil_ledger::chain::Sealed;
use counterfoil_ledger::identity::{AccountName, KindName, Namespace, OperationId};
use jiff::Timestamp;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use super::*;
use writer::Writer;

/// How long a statement waits for another process's write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const READERS: u32 = 4;

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
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        if migrate {
            let pool = SqlitePoolOptions::new()
                .max_connections(1)
                .connect_with(options.clone())
                .await
                .map_err(StoreError::at("open the database"))?;
            engine::MIGRATIONS.run(&pool).await.map_err(|error| StoreError::Failed {
                step: "migrate the database",
                source: sqlx::Error::Migrate(Box::new(error)),
            })?;
            pool.close().await;
        }
        let writer = Writer::start(&options).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(BUSY_TIMEOUT)
            .connect_with(options.read_only(true))
            .await
            .map_err(StoreError::at("open the database for reading"))?;
        Ok(Self { readers, writer, clock })
    }
}

/// One statement or a few, beside the writer.
macro_rules! read {
    ($self:ident, $conn:ident => $work:expr) => {{
        let mut pooled = $self.readers.acquire().await.map_err(StoreError::at("get a reader"))?;
        let $conn = &mut *pooled;
        $work.await
    }};
}

/// A transaction of its own, in the writer's next group.
macro_rules! write {
    ($self:ident, $conn:ident => $work:expr) => {
        $self.writer.write(move |$conn| Box::pin(async move { $work.await })).await
    };
}

#[async_trait]
impl Store for SqliteStore {
    #[allow(clippy::disallowed_methods, reason = "an embedded database has no clock of its own: this is it")]
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.clock.apply(Timestamp::now().as_microsecond()))
    }

    async fn newest(&self) -> Result<Option<Timestamp>, StoreError> {
        read!(self, conn => shared::newest(conn))
    }

    async fn bind(
        &self,
        namespace: &Namespace,
        kinds: &[(KindName, Vec<String>)],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (namespace, kinds) = (namespace.clone(), kinds.to_vec());
        write!(self, conn => shared::bind(conn, &namespace, &kinds, at))
    }

    async fn chain_act(&self, act: LedgerAct, at: Timestamp) -> Result<(), StoreError> {
        write!(self, conn => shared::chain_act(conn, &act, at))
    }

    async fn record(&self, place: Place, judge: Judge) -> Result<Recorded, StoreError> {
        write!(self, conn => shared::record(conn, &place, &judge))
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Loaded>, StoreError> {
        read!(self, conn => shared::load(conn, id))
    }

    async fn entries(&self, id: &OperationId) -> Result<Vec<Sealed>, StoreError> {
        read!(self, conn => shared::entries(conn, id))
    }

    async fn write(&self, change: Change) -> Result<Written, StoreError> {
        write!(self, conn => shared::write(conn, &change))
    }

    async fn claim_due(
        &self,
        account: &AccountName,
        claim: &Claim,
        limit: u32,
    ) -> Result<Vec<OperationId>, StoreError> {
        let (account, claim) = (account.clone(), claim.clone());
        write!(self, conn => engine::claim_due(conn, &account, &claim, limit))
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        read!(self, conn => shared::next_due(conn, now))
    }

    async fn reschedule(&self, id: &OperationId, lease: &str, step: &Step) -> Result<(), StoreError> {
        let (id, lease, step) = (id.clone(), lease.to_owned(), step.clone());
        write!(self, conn => shared::reschedule(conn, &id, &lease, &step))
    }

    async fn ask_look_up(&self, id: &OperationId, now: Timestamp, gap: Duration) -> Result<bool, StoreError> {
        let id = id.clone();
        write!(self, conn => shared::ask_look_up(conn, &id, now, gap))
    }

    async fn wake_account(&self, account: &AccountName, now: Timestamp) -> Result<u64, StoreError> {
        let account = account.clone();
        write!(self, conn => shared::wake_account(conn, &account, now))
    }

    async fn set_aside(&self, id: &OperationId, why: &str) -> Result<(), StoreError> {
        let (id, why) = (id.clone(), why.to_owned());
        write!(self, conn => shared::set_aside(conn, &id, &why))
    }

    async fn list(
        &self,
        filter: &Filter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<Listed>, StoreError> {
        read!(self, conn => shared::list(conn, filter, after, limit))
    }

    async fn tally(&self, limits: Limits) -> Result<Tally, StoreError> {
        read!(self, conn => shared::tally(conn, limits))
    }

    async fn order(&self, id: &str) -> Result<Option<OrderSnapshot>, StoreError> {
        read!(self, conn => shared::order(conn, id))
    }

    async fn put_order(&self, order: OrderSnapshot, now: Timestamp) -> Result<OrderPut, StoreError> {
        write!(self, conn => shared::put_order(conn, &order, now))
    }

    async fn payment(
        &self,
        account: &AccountName,
        payment: &str,
    ) -> Result<Option<PaymentSheet>, StoreError> {
        read!(self, conn => shared::payment(conn, account, payment))
    }

    async fn person(&self, name: &str) -> Result<Option<Person>, StoreError> {
        read!(self, conn => shared::person(conn, name))
    }

    async fn add_person(&self, person: Person, at: Timestamp) -> Result<bool, StoreError> {
        write!(self, conn => shared::add_person(conn, &person, at))
    }

    async fn add_token(&self, token: Token, secret_hash: &str, at: Timestamp) -> Result<bool, StoreError> {
        let secret_hash = secret_hash.to_owned();
        write!(self, conn => shared::add_token(conn, &token, &secret_hash, at))
    }

    async fn token(&self, secret_hash: &str) -> Result<Option<Token>, StoreError> {
        read!(self, conn => shared::token(conn, secret_hash))
    }

    async fn pause(
        &self,
        account: &AccountName,
        secret_digest: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (account, secret_digest) = (account.clone(), secret_digest.to_owned());
        write!(self, conn => shared::pause(conn, &account, &secret_digest, now))
    }

    async fn resume(&self, account: &AccountName, now: Timestamp) -> Result<(), StoreError> {
        let account = account.clone();
        write!(self, conn => shared::resume(conn, &account, now))
    }

    async fn paused(&self, account: &AccountName) -> Result<Option<Pause>, StoreError> {
        read!(self, conn => shared::paused(conn, account))
    }

    async fn take_canary(&self, account: &AccountName, now: Timestamp) -> Result<bool, StoreError> {
        let account = account.clone();
        write!(self, conn => shared::take_canary(conn, &account, now))
    }

    async fn raise_alarm(
        &self,
        account: &str,
        kind: AlarmKind,
        detail: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (account, detail) = (account.to_owned(), detail.to_owned());
        write!(self, conn => shared::raise_alarm(conn, &account, kind, &detail, now))
    }

    async fn clear_alarm(&self, account: &str, kind: AlarmKind, now: Timestamp) -> Result<(), StoreError> {
        let account = account.to_owned();
        write!(self, conn => shared::clear_alarm(conn, &account, kind, now))
    }

    async fn alarms(&self) -> Result<Vec<Alarm>, StoreError> {
        read!(self, conn => shared::alarms(conn))
    }

    async fn note_run(&self, run: &Run) -> Result<(), StoreError> {
        let run = run.clone();
        write!(self, conn => shared::note_run(conn, &run))
    }

    async fn runs(&self) -> Result<Vec<Run>, StoreError> {
        read!(self, conn => shared::runs(conn))
    }

    async fn ids_after(&self, ordinal: i64, limit: u32) -> Result<Vec<(i64, OperationId)>, StoreError> {
        read!(self, conn => shared::ids_after(conn, ordinal, limit))
    }

    async fn raw(&self, id: &OperationId) -> Result<Option<RawRow>, StoreError> {
        read!(self, conn => shared::raw(conn, id))
    }

    async fn chain(&self) -> Result<Vec<RawAct>, StoreError> {
        read!(self, conn => shared::chain(conn))
    }

    async fn misfits(&self) -> Result<Vec<String>, StoreError> {
        read!(self, conn => shared::misfits(conn))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        read!(self, conn => shared::newest(conn)).map(|_| ())
    }

    async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }
}
