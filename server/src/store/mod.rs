//! Where the ledger is kept: one trait, an implementation per engine, one conformance suite.
//!
//! The store knows rows and transactions, and none of the rules: what may be written comes in as values that the ledger made.
//! Reads and statements are shared between the engines (`shared/`, compiled once for each); connections, locks and commits are
//! not. Nothing here is retried behind the caller's back.

mod chain;
mod clock;
mod model;
pub mod postgres;
pub mod sqlite;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::chain::Sealed;
use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::identity::{AccountName, KindName, Namespace, OperationId};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;

use crate::config::DatabaseUrl;

pub use chain::{LedgerAct, RawAct, RawRow};
pub use clock::Clock;
pub use model::*;

/// Opens the ledger that a configuration names, and migrates it unless told not to.
///
/// # Errors
/// [`StoreError`]: it can't be opened, or it is another version's.
pub async fn open(database: &DatabaseUrl, clock: Clock, migrate: bool) -> Result<Arc<dyn Store>, StoreError> {
    Ok(match database {
        DatabaseUrl::Sqlite(file) => Arc::new(sqlite::SqliteStore::open(file, clock, migrate).await?),
        DatabaseUrl::Postgres(url) => {
            Arc::new(postgres::PostgresStore::open(url.expose_secret(), clock, migrate).await?)
        }
    })
}

/// Why the store couldn't.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was written.
    #[error("the database didn't do it: {step}")]
    Failed {
        step: &'static str,
        #[source]
        source: sqlx::Error,
    },
    /// The answer to COMMIT was lost: it may be written. Re-read before acting.
    #[error("the answer to the commit was lost: {step}")]
    CommitUnknown {
        step: &'static str,
        #[source]
        source: sqlx::Error,
    },
    /// A row that this version can't read. The row is named, and only that row is lost to the work.
    #[error("{table} {row} can't be read: {why}")]
    Unreadable { table: &'static str, row: String, why: String },
    /// The ledger on disk is another one than the configuration says.
    #[error("{0}")]
    OtherLedger(String),
    /// The writer has stopped: the process is going down.
    #[error("the store is closing")]
    Closing,
}

impl StoreError {
    /// Names the step that failed.
    pub fn at(step: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Failed { step, source }
    }
}

/// A pure judgement over what the store read under lock: the operation to record, or why not. May be called again when a
/// transaction has to be repeated.
pub type Judge = Arc<dyn Fn(&Surroundings) -> Result<NewOperation, Refusal> + Send + Sync>;

/// The ledger's store.
#[async_trait]
pub trait Store: Send + Sync {
    /// The database's time, plus what a test clock adds. Whole microseconds.
    async fn now(&self) -> Result<Timestamp, StoreError>;

    /// The newest time that stands in the ledger.
    async fn newest(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Fixes namespace and identity schemas at first start, and refuses others ever after.
    async fn bind(
        &self,
        namespace: &Namespace,
        kinds: &[(KindName, Vec<String>)],
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Writes an act that concerns the whole ledger into its chain.
    async fn chain_act(&self, act: LedgerAct, at: Timestamp) -> Result<(), StoreError>;

    /// The restore from a backup that is in force, if there is one (rule 17).
    async fn restored_at(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Begins one, no earlier than anything that stands in the ledger, and returns its time. Everything unsettled becomes due;
    /// what is before its first send waits for the reason given for its account.
    async fn begin_restore(
        &self,
        doubts: Vec<(AccountName, Reason)>,
        now: Timestamp,
    ) -> Result<Timestamp, StoreError>;

    /// Ends the one in force, by a person's word, and returns its time; `None`: none is.
    async fn end_restore(
        &self,
        person: &str,
        note: &str,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Records an operation in one transaction: read the surroundings with the payment locked, judge, write.
    async fn record(&self, place: Place, judge: Judge) -> Result<Recorded, StoreError>;

    /// One operation.
    async fn load(&self, id: &OperationId) -> Result<Option<Loaded>, StoreError>;

    /// The entries of one operation, in order.
    async fn entries(&self, id: &OperationId) -> Result<Vec<Sealed>, StoreError>;

    /// Writes entries and the head that follows from them, if nobody was faster.
    async fn write(&self, change: Change) -> Result<Written, StoreError>;

    /// Takes the lease on up to `limit` due rows of an account, most overdue first.
    async fn claim_due(
        &self,
        account: &AccountName,
        claim: &Claim,
        limit: u32,
    ) -> Result<Vec<OperationId>, StoreError>;

    /// When the next row of an account is due that nobody holds, if there is one.
    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// Moves who does what next, without touching what is known. Only under the lease given.
    async fn reschedule(&self, id: &OperationId, lease: &str, step: &Step) -> Result<(), StoreError>;

    /// Asks for a look-up: the row becomes due now, once per `gap` however many ask. Says whether it did.
    async fn ask_look_up(&self, id: &OperationId, now: Timestamp, gap: Duration) -> Result<bool, StoreError>;

    /// Makes every unsettled row of an account due: its provider is back.
    async fn wake_account(&self, account: &AccountName, now: Timestamp) -> Result<u64, StoreError>;

    /// Takes a row that can't be read out of the work, visibly.
    async fn set_aside(&self, id: &OperationId, why: &str) -> Result<(), StoreError>;

    /// Operations by filter, from behind `after` on.
    async fn list(
        &self,
        filter: &Filter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<Listed>, StoreError>;

    /// How many operations are open, and need attention.
    async fn tally(&self, limits: Limits) -> Result<Tally, StoreError>;

    /// An order's snapshot.
    async fn order(&self, id: &str) -> Result<Option<OrderSnapshot>, StoreError>;

    /// Takes in an order's snapshot.
    async fn put_order(&self, order: OrderSnapshot, now: Timestamp) -> Result<OrderPut, StoreError>;

    /// Everything known about a payment: what was captured, who holds it, what is out.
    async fn payment(&self, account: &AccountName, payment: &str)
    -> Result<Option<PaymentSheet>, StoreError>;

    /// A person by name.
    async fn person(&self, name: &str) -> Result<Option<Person>, StoreError>;

    /// The name of the person with this stable id.
    async fn person_name(&self, id: &str) -> Result<Option<String>, StoreError>;

    /// Adds a person. `false`: the name is taken.
    async fn add_person(&self, person: Person, at: Timestamp) -> Result<bool, StoreError>;

    /// Adds a token. `false`: the name is taken.
    async fn add_token(&self, token: Token, secret_hash: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// The token whose secret hashes to this.
    async fn token(&self, secret_hash: &str) -> Result<Option<Token>, StoreError>;

    /// Pauses an account's writes.
    async fn pause(
        &self,
        account: &AccountName,
        secret_digest: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Ends a pause.
    async fn resume(&self, account: &AccountName, now: Timestamp) -> Result<(), StoreError>;

    /// The pause of an account, if there is one.
    async fn paused(&self, account: &AccountName) -> Result<Option<Pause>, StoreError>;

    /// Takes the one canary send that is due, if it is, and doubles the delay to the next.
    async fn take_canary(&self, account: &AccountName, now: Timestamp) -> Result<bool, StoreError>;

    /// Raises an alarm, once while it is open. Says whether it is new.
    async fn raise_alarm(
        &self,
        account: &str,
        kind: AlarmKind,
        detail: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Clears an alarm, if it is open.
    async fn clear_alarm(&self, account: &str, kind: AlarmKind, now: Timestamp) -> Result<(), StoreError>;

    /// Open alarms, oldest first.
    async fn alarms(&self) -> Result<Vec<Alarm>, StoreError>;

    /// Notes that a job of the daemon began or ended.
    async fn note_run(&self, run: &Run) -> Result<(), StoreError>;

    /// When each job last ran.
    async fn runs(&self) -> Result<Vec<Run>, StoreError>;

    /// Operation IDs in order of recording, for a walk over the whole ledger.
    async fn ids_after(&self, ordinal: i64, limit: u32) -> Result<Vec<(i64, OperationId)>, StoreError>;

    /// An operation as its row stands, unread, for `verify`.
    async fn raw(&self, id: &OperationId) -> Result<Option<RawRow>, StoreError>;

    /// The ledger-wide chain, in order.
    async fn chain(&self) -> Result<Vec<RawAct>, StoreError>;

    /// Number and hash of the act with which that chain ends.
    async fn chain_head(&self) -> Result<Option<(i64, String)>, StoreError>;

    /// Digests of stored raw answers that no longer fit their bytes, and entries of operations that don't exist.
    async fn misfits(&self) -> Result<Vec<String>, StoreError>;

    /// Answers, if the database does.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Takes no more writes, finishes those that came, and closes.
    async fn close(&self);
}
