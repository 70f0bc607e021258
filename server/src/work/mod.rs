//! The verbs: the only code that moves an operation, and only through the ledger's decisions.
//!
//! Each file is one thing that happens. They read the store, ask [`counterfoil_ledger::decide`] and carry out what it says;
//! none of them writes a state, a class or a conclusion of its own.

pub mod account;
pub mod authorize;
pub mod cancel;
pub mod commit;
pub mod look_up;
pub mod orders;
pub mod people;
pub mod reconcile;
pub mod restore;
pub mod schedule;
pub mod send;
pub mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use counterfoil_ledger::decide::{Action, Circumstances, Decision};
use counterfoil_ledger::entry::Actor;
use counterfoil_ledger::identity::{AccountName, KindName, Namespace};
use counterfoil_ledger::intent::Intent;
use counterfoil_ledger::kind::Kind;
use counterfoil_ledger::state::State;
use counterfoil_ledger::words::Speaker;
use jiff::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::store::{Clock, Step, Store, StoreError};
pub use account::Account;

/// What the verbs work with: one per process, shared.
pub struct Works {
    pub store: Arc<dyn Store>,
    /// The offset that a test puts on the store's time; none in production.
    pub clock: Clock,
    pub namespace: Namespace,
    pub accounts: BTreeMap<AccountName, Account>,
    pub kinds: BTreeMap<KindName, Kind>,
    /// This process, as it stands in entries and leases.
    pub worker: String,
    pub lease: Duration,
    /// Rung when a commit made something due.
    pub due: Notify,
    /// Work that goes on when a caller hangs up, and is waited for at shutdown.
    pub tasks: TaskTracker,
    /// From here on nothing new is sent.
    pub stopping: CancellationToken,
}

/// Why a verb couldn't.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fault of ours: what was decided contradicts the ledger's own rules. Nothing was written.
    #[error("a decision broke the ledger's rules: {0}")]
    Decide(#[from] counterfoil_ledger::decide::DecideError),
    /// The configuration no longer has the account.
    #[error("account {0} is not in the configuration")]
    NoAccount(AccountName),
}

impl From<counterfoil_ledger::operation::HistoryError> for WorkError {
    fn from(error: counterfoil_ledger::operation::HistoryError) -> Self {
        Self::Decide(error.into())
    }
}

impl Works {
    /// The account of an intent.
    ///
    /// # Errors
    /// [`WorkError::NoAccount`] when the configuration lost it.
    pub fn account(&self, intent: &Intent) -> Result<&Account, WorkError> {
        self.accounts.get(&intent.account).ok_or_else(|| WorkError::NoAccount(intent.account.clone()))
    }

    /// How the account's provider is called and counts.
    pub fn speaker(&self, account: &AccountName) -> Option<Speaker<'_>> {
        self.accounts.get(account).map(Account::speaker)
    }

    /// A lease of this process, no two alike.
    pub fn new_lease(&self) -> String {
        format!("{}/{}", self.worker, uuid::Uuid::new_v4())
    }

    fn sender(&self) -> Actor {
        Actor::Sender(self.worker.clone())
    }

    fn reconciler(&self) -> Actor {
        Actor::Reconciler(self.worker.clone())
    }

    /// What stands around a decision on an operation now.
    async fn circumstances(&self, intent: &Intent, state: State) -> Result<Circumstances, WorkError> {
        let sends = matches!(state, State::Authorized | State::Unknown);
        let payment_blocked = sends
            && self
                .store
                .payment(&intent.account, &intent.target)
                .await?
                .is_some_and(|payment| payment.is_blocked());
        let pause = if sends { self.store.paused(&intent.account).await? } else { None };
        let now = self.store.now().await?;
        // When a canary is due, or the secret changed, the send itself finds out.
        let secret_digest = &self.account(intent)?.secret_digest;
        let account_paused =
            pause.is_some_and(|pause| pause.canary_at > now && pause.secret_digest == *secret_digest);
        let newest_in_ledger = self.store.newest().await?.unwrap_or(now);
        let restored_at = self.store.restored_at().await?;
        Ok(Circumstances { now, newest_in_ledger, account_paused, payment_blocked, restored_at })
    }
}

/// When an operation is due again, as a decision says.
pub(crate) fn step_of(decision: &Decision, now: Timestamp) -> Step {
    let due_at = match decision.action {
        Action::Send | Action::LookUp | Action::Resend => Some(now),
        Action::WaitUntil { at } => Some(at),
        Action::Rest => None,
    };
    Step { due_at, reason: decision.reason }
}
