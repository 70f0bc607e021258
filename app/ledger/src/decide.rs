//! What happens next: one function that takes an operation, what was just seen, the policy and the time, and returns what is to
//! be written down, the one action to take, and why.
//!
//! [`decide`] is pure. Whoever calls it writes the findings and carries the action out; the reason is what the desk shows.

mod finding;
mod next;
mod policy;
mod restore;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use finding::Seen;
pub use next::{escalates_at, look_up_due, mark_before, resend_ruled_out};
pub use policy::{Circumstances, Policy};

use crate::entry::{Actor, Entered, Entry};
use crate::evidence::{Doubt, Unavailable, Verdict};
use crate::operation::{HistoryError, Operation};
use crate::state::IllegalEvent;

/// The one thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Mark and send for the first time (or again, when nothing can have happened yet).
    Send,
    /// Ask the provider.
    LookUp,
    /// Mark and send again: same bytes, same key, and the key protects.
    Resend,
    /// Nothing before this time.
    WaitUntil { at: Timestamp },
    /// Nothing by itself any more.
    Rest,
}

/// Why that, and not something else. Each has its words in every language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Reason {
    WaitsForApproval,
    ReadyToSend,
    /// Turned away or not sent; it goes again later.
    SendsAgainLater,
    AccountPaused,
    PaymentBlocked,
    SenderAtWork,
    /// The ledger was restored from a backup, and it isn't proved yet that this wasn't sent before (rule 17). `unavailable`: why
    /// the last look-up brought nothing.
    RestoreInDoubt {
        walks: u32,
        needed: u32,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        unavailable: Option<Unavailable>,
    },
    /// The next look-up is due then.
    LooksUpNext,
    LookUpFailed {
        why: Unavailable,
    },
    TooEarlyToCount,
    AbsenceNotProvedYet {
        walks: u32,
        needed: u32,
    },
    AbsentAndProtected,
    /// The provider offers no look-up: the same key is the question.
    KeyIsTheQuestion,
    /// There is nothing to ask and nothing to send: the provider may still speak, and then it is time for a person.
    WaitsForEvidence,
    ResendWaitsForClock,
    ResendWaitsForAccount,
    ResendWaitsForPayment,
    /// Rule 8.
    StoredFailureReplays,
    AtProvider,
    WatchedForBounce,
    Settled,
    StoppedBeforeSending,
    /// With a person, and why.
    ToPerson {
        why: Escalation,
    },
    StillWithPerson,
}

/// Why only a person may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", content = "detail", rename_all = "snake_case")]
pub enum Escalation {
    WalkInDoubt(Doubt),
    Mismatch,
    UnclaimedEqualEffect,
    /// Absence is proved, and sending again is ruled out for good.
    ResendRuledOut(RuledOut),
    /// `escalate_after`, or the end of the key's window.
    TimeIsUp,
}

/// Why the machine will never send this again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuledOut {
    CancelAsked,
    NoKeys,
    KeyProtectsSuccessOnly,
    WindowClosed,
    /// It was first sent before the ledger was restored from a backup, which doesn't know all that was done with its key: its
    /// window counts as closed.
    Restored,
    AttemptsUsed,
}

/// What [`decide`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The operation with its findings taken in.
    pub after: Operation,
    /// What to write down, in order.
    pub findings: Vec<Entered>,
    pub action: Action,
    pub reason: Reason,
}

/// A fault of ours: what was decided contradicts the ledger's own rules. Nothing is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    #[error(transparent)]
    Illegal(#[from] IllegalEvent),
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// Decides.
///
/// # Errors
/// [`DecideError`], which no input from outside can bring about.
pub fn decide(
    operation: &Operation,
    seen: Seen,
    actor: &Actor,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<Decision, DecideError> {
    let just_looked = matches!(seen, Seen::LookedUp(_));
    let mut draft = Draft::of(operation, actor, circumstances.now);
    finding::take_in(&mut draft, seen, policy, circumstances.restored_at)?;
    let (action, reason) = next::next(&mut draft, just_looked, policy, circumstances)?;
    Ok(Decision { after: draft.operation, findings: draft.entries, action, reason })
}

/// An operation on which entries are being written.
pub struct Draft {
    pub operation: Operation,
    pub entries: Vec<Entered>,
    actor: Actor,
    now: Timestamp,
}

impl Draft {
    /// Begins to write.
    pub fn of(operation: &Operation, actor: &Actor, now: Timestamp) -> Self {
        Self { operation: operation.clone(), entries: Vec::new(), actor: actor.clone(), now }
    }

    /// Writes one entry and takes it in.
    ///
    /// # Errors
    /// [`HistoryError`] when it can't stand here.
    pub fn write(&mut self, entry: Entry) -> Result<(), HistoryError> {
        let entered =
            Entered { seq: self.operation.facts.seq + 1, at: self.now, actor: self.actor.clone(), entry };
        self.operation.absorb(&entered)?;
        self.entries.push(entered);
        Ok(())
    }

    /// Raises an event: writes the move, if it moves anything.
    ///
    /// # Errors
    /// [`DecideError`] when the event is illegal in this state.
    pub fn raise(&mut self, event: crate::state::Event) -> Result<(), DecideError> {
        use crate::state::{Transition, transition};
        let from = self.operation.facts.state;
        match transition(from, event)? {
            Transition::Stay => {}
            Transition::To(to) => self.write(Entry::State { from, to, event })?,
            Transition::ToWithIncident(to) => {
                let external_id =
                    self.operation.facts.conclusion.external_id().unwrap_or_default().to_owned();
                self.write(Entry::State { from, to, event })?;
                self.write(Entry::Incident(crate::entry::Incident::EffectAgainstState {
                    state: from,
                    external_id,
                }))?;
            }
        }
        Ok(())
    }

    fn verdict(&self) -> Verdict {
        self.operation.facts.conclusion.verdict
    }
}
