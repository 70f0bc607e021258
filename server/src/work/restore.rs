//! The ledger was put back from a backup (rule 17): what was done since then nobody wrote here.

use counterfoil_ledger::decide::{Policy, Reason};
use jiff::Timestamp;

use super::{WorkError, Works};
use crate::store::{Role, Store, StoreError};

/// What a person has to say about it, at most.
const NOTE_CHARS_MAX: usize = 500;

/// Why a restore wasn't ended.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("there is no person named {0:?}")]
    NoSuchPerson(String),
    #[error("{0} may look but not act: an operator, a reviewer or an administrator ends it")]
    MayNotAct(String),
    #[error("the note says why it is over, in 1 to {NOTE_CHARS_MAX} characters without control characters")]
    Note,
    #[error("no restore is in force")]
    NoneInForce,
}

impl Works {
    /// From now on nothing is sent for the first time without proof, and everything unsettled is looked up. Each start after a
    /// restore begins anew: a backup may have been taken while an earlier one was in force.
    ///
    /// # Errors
    /// [`WorkError`]: then nothing may be served.
    pub async fn begin_restore(&self) -> Result<Timestamp, WorkError> {
        let doubts = self.accounts.iter().map(|(name, account)| (name.clone(), in_doubt(&account.policy)));
        let now = self.store.now().await?;
        Ok(self.store.begin_restore(doubts.collect(), now).await?)
    }
}

/// Why nothing that was never sent, as far as is known, is sent at once while a restore is in force.
pub(super) fn in_doubt(policy: &Policy) -> Reason {
    Reason::RestoreInDoubt { walks: 0, needed: policy.absence_count, unavailable: None }
}

/// Ends the restore that is in force, by a person's word, and returns when it had begun.
///
/// # Errors
/// [`RestoreError`]; it stays in force then.
pub async fn end_restore(store: &dyn Store, by: &str, note: &str) -> Result<Timestamp, RestoreError> {
    let note = note.trim();
    let length = note.chars().count();
    if length == 0 || length > NOTE_CHARS_MAX || note.chars().any(char::is_control) {
        return Err(RestoreError::Note);
    }
    let person = store.person(by).await?.ok_or_else(|| RestoreError::NoSuchPerson(by.to_owned()))?;
    if !matches!(person.role, Role::Operator | Role::Reviewer | Role::Administrator) {
        return Err(RestoreError::MayNotAct(by.to_owned()));
    }
    let now = store.now().await?;
    store.end_restore(&person.id, note, now).await?.ok_or(RestoreError::NoneInForce)
}
