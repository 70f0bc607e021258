//! The trait, once for both engines: which statement it is, and how it must be run.
//!
//! The engine's `Database` brings the rest: `reader` (a connection for one statement), `moment` (one in which everything is seen
//! as of one moment), `write` (a transaction that goes on when the caller hangs up), its time and its end.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::chain::Sealed;
use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::identity::{AccountName, KindName, Namespace, OperationId};
use jiff::Timestamp;

use super::super::{Database, engine};
use crate::store::*;

/// One statement.
macro_rules! read {
    ($self:ident, $conn:ident => $work:expr) => {{
        let mut reader = $self.reader().await?;
        let $conn = &mut *reader;
        in_time($work).await
    }};
}

/// Statements that must see the same moment.
macro_rules! read_together {
    ($self:ident, $conn:ident => $work:expr) => {{
        let mut moment = $self.moment().await?;
        let $conn = &mut *moment;
        in_time($work).await
    }};
}

/// A transaction of its own, over what is named in brackets. It may be run again when the database asks for that.
macro_rules! write {
    ($self:ident, [$($kept:ident),*], $conn:ident => $work:expr) => {{
        $(let $kept = Arc::new($kept);)*
        $self
            .write(move |$conn| {
                $(let $kept = Arc::clone(&$kept);)*
                Box::pin(async move { $work.await })
            })
            .await
    }};
}

/// How long a reader waits for what the database doesn't bound itself: a network that went dark.
const READ_MAX: Duration = Duration::from_secs(30);

async fn in_time<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let late = || sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    tokio::time::timeout(READ_MAX, work).await.unwrap_or_else(|_| Err(StoreError::at("read in time")(late())))
}

#[async_trait]
impl Store for Database {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.clock().apply(self.database_time_us().await?))
    }

    async fn newest(&self) -> Result<Option<Timestamp>, StoreError> {
        read!(self, conn => super::newest(conn))
    }

    async fn bind(
        &self,
        namespace: &Namespace,
        kinds: &[(KindName, Vec<String>)],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (namespace, kinds) = (namespace.clone(), kinds.to_vec());
        write!(self, [namespace, kinds], conn => super::bind(conn, &namespace, &kinds, at))
    }

    async fn chain_act(&self, act: LedgerAct, at: Timestamp) -> Result<(), StoreError> {
        write!(self, [act], conn => super::chain_act(conn, &act, at))
    }

    async fn restored_at(&self) -> Result<Option<Timestamp>, StoreError> {
        read!(self, conn => super::restored_at(conn))
    }

    async fn begin_restore(
        &self,
        doubts: Vec<(AccountName, Reason)>,
        now: Timestamp,
    ) -> Result<Timestamp, StoreError> {
        write!(self, [doubts], conn => super::begin_restore(conn, &doubts, now))
    }

    async fn end_restore(
        &self,
        person: &str,
        note: &str,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let (person, note) = (person.to_owned(), note.to_owned());
        write!(self, [person, note], conn => super::end_restore(conn, &person, &note, now))
    }

    async fn record(&self, place: Place, judge: Judge) -> Result<Recorded, StoreError> {
        write!(self, [place, judge], conn => super::record(conn, &place, &judge))
    }

    async fn load(&self, id: &OperationId) -> Result<Option<Loaded>, StoreError> {
        read!(self, conn => super::load(conn, id))
    }

    async fn entries(&self, id: &OperationId) -> Result<Vec<Sealed>, StoreError> {
        read!(self, conn => super::entries(conn, id))
    }

    async fn write(&self, change: Change) -> Result<Written, StoreError> {
        write!(self, [change], conn => super::write(conn, &change))
    }

    async fn claim_due(
        &self,
        account: &AccountName,
        claim: &Claim,
        limit: u32,
    ) -> Result<Vec<OperationId>, StoreError> {
        let (account, claim) = (account.clone(), claim.clone());
        write!(self, [account, claim], conn => engine::claim_due(conn, &account, &claim, limit))
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        read!(self, conn => super::next_due(conn, now))
    }

    async fn reschedule(&self, id: &OperationId, lease: &str, step: &Step) -> Result<(), StoreError> {
        let (id, lease, step) = (id.clone(), lease.to_owned(), step.clone());
        write!(self, [id, lease, step], conn => super::reschedule(conn, &id, &lease, &step))
    }

    async fn ask_look_up(&self, id: &OperationId, now: Timestamp, gap: Duration) -> Result<bool, StoreError> {
        let id = id.clone();
        write!(self, [id], conn => super::ask_look_up(conn, &id, now, gap))
    }

    async fn wake_account(&self, account: &AccountName, now: Timestamp) -> Result<u64, StoreError> {
        let account = account.clone();
        write!(self, [account], conn => super::wake_account(conn, &account, now))
    }

    async fn set_aside(&self, id: &OperationId, why: &str) -> Result<(), StoreError> {
        let (id, why) = (id.clone(), why.to_owned());
        write!(self, [id, why], conn => super::set_aside(conn, &id, &why))
    }

    async fn list(
        &self,
        filter: &Filter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<Listed>, StoreError> {
        read!(self, conn => super::list(conn, filter, after, limit))
    }

    async fn tally(&self, limits: Limits) -> Result<Tally, StoreError> {
        read_together!(self, conn => super::tally(conn, limits))
    }

    async fn order(&self, id: &str) -> Result<Option<OrderSnapshot>, StoreError> {
        read!(self, conn => super::order(conn, id))
    }

    async fn put_order(&self, order: OrderSnapshot, now: Timestamp) -> Result<OrderPut, StoreError> {
        write!(self, [order], conn => super::put_order(conn, &order, now))
    }

    async fn payment(
        &self,
        account: &AccountName,
        payment: &str,
    ) -> Result<Option<PaymentSheet>, StoreError> {
        read_together!(self, conn => super::payment(conn, account, payment))
    }

    async fn person(&self, name: &str) -> Result<Option<Person>, StoreError> {
        read!(self, conn => super::person(conn, name))
    }

    async fn person_name(&self, id: &str) -> Result<Option<String>, StoreError> {
        read!(self, conn => super::person_name(conn, id))
    }

    async fn add_person(&self, person: Person, at: Timestamp) -> Result<bool, StoreError> {
        write!(self, [person], conn => super::add_person(conn, &person, at))
    }

    async fn add_token(&self, token: Token, secret_hash: &str, at: Timestamp) -> Result<bool, StoreError> {
        let secret_hash = secret_hash.to_owned();
        write!(self, [token, secret_hash], conn => super::add_token(conn, &token, &secret_hash, at))
    }

    async fn token(&self, secret_hash: &str) -> Result<Option<Token>, StoreError> {
        read!(self, conn => super::token(conn, secret_hash))
    }

    async fn pause(
        &self,
        account: &AccountName,
        secret_digest: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (account, secret_digest) = (account.clone(), secret_digest.to_owned());
        write!(self, [account, secret_digest], conn => super::pause(conn, &account, &secret_digest, now))
    }

    async fn resume(&self, account: &AccountName, now: Timestamp) -> Result<(), StoreError> {
        let account = account.clone();
        write!(self, [account], conn => super::resume(conn, &account, now))
    }

    async fn paused(&self, account: &AccountName) -> Result<Option<Pause>, StoreError> {
        read!(self, conn => super::paused(conn, account))
    }

    async fn take_canary(&self, account: &AccountName, now: Timestamp) -> Result<bool, StoreError> {
        let account = account.clone();
        write!(self, [account], conn => super::take_canary(conn, &account, now))
    }

    async fn raise_alarm(
        &self,
        account: &str,
        kind: AlarmKind,
        detail: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (account, detail) = (account.to_owned(), detail.to_owned());
        write!(self, [account, detail], conn => super::raise_alarm(conn, &account, kind, &detail, now))
    }

    async fn clear_alarm(&self, account: &str, kind: AlarmKind, now: Timestamp) -> Result<(), StoreError> {
        let account = account.to_owned();
        write!(self, [account], conn => super::clear_alarm(conn, &account, kind, now))
    }

    async fn alarms(&self) -> Result<Vec<Alarm>, StoreError> {
        read!(self, conn => super::alarms(conn))
    }

    async fn note_run(&self, run: &Run) -> Result<(), StoreError> {
        let run = run.clone();
        write!(self, [run], conn => super::note_run(conn, &run))
    }

    async fn runs(&self) -> Result<Vec<Run>, StoreError> {
        read!(self, conn => super::runs(conn))
    }

    async fn ids_after(&self, ordinal: i64, limit: u32) -> Result<Vec<(i64, OperationId)>, StoreError> {
        read!(self, conn => super::ids_after(conn, ordinal, limit))
    }

    async fn raw(&self, id: &OperationId) -> Result<Option<RawRow>, StoreError> {
        read_together!(self, conn => super::raw(conn, id))
    }

    async fn chain(&self) -> Result<Vec<RawAct>, StoreError> {
        read!(self, conn => super::chain(conn))
    }

    async fn chain_head(&self) -> Result<Option<(i64, String)>, StoreError> {
        read!(self, conn => super::chain_head(conn))
    }

    async fn misfits(&self) -> Result<Vec<String>, StoreError> {
        read_together!(self, conn => super::misfits(conn))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        read!(self, conn => super::newest(conn)).map(|_| ())
    }

    async fn close(&self) {
        self.shut().await;
    }
}
