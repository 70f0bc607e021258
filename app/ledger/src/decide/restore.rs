//! After a restore from a backup (rule 17): what is written as never sent may have been sent after the backup was taken.
//!
//! Until absence is proved for the time before the restore as well, nothing goes out for the first time, and everything that
//! claims not to have happened is looked up.

use std::time::Duration;

use jiff::Timestamp;

use crate::evidence::Walk;
use crate::operation::{LastLookUp, Operation};
use crate::state::{Event, State};
use crate::window::later;

use super::next::{contradicted, gap_after, look_up_at};
use super::{Action, Circumstances, DecideError, Draft, Policy, Reason};

/// The restore that leaves it in doubt whether this was sent: one that is in force, of which neither absence is proved nor a
/// person has said that it may be sent all the same.
fn in_doubt(operation: &Operation, circumstances: &Circumstances) -> Option<Timestamp> {
    let restored_at = circumstances.restored_at?;
    let facts = &operation.facts;
    let may_have_been_sent = match facts.state {
        State::AwaitingApproval | State::Authorized => true,
        // What a backup has as cancelled was never sent; what was cancelled since may have been.
        State::Cancelled => facts.state_since >= restored_at,
        _ => false,
    };
    let proved = facts.absence_proved && facts.absence.restored_at >= Some(restored_at);
    let allowed_since = facts.held_back.is_some_and(|held| held.approved && held.at >= restored_at);
    (may_have_been_sent && !proved && !allowed_since).then_some(restored_at)
}

/// What to do about the doubt before anything is sent; `None`: there is none.
pub(super) fn before_the_first_send(
    draft: &mut Draft,
    just_looked: bool,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<Option<(Action, Reason)>, DecideError> {
    let Some(restored_at) = in_doubt(&draft.operation, circumstances) else { return Ok(None) };
    if draft.operation.facts.state == State::Authorized
        && no_walk_can_end_it(&draft.operation, policy, restored_at)
    {
        draft.raise(Event::RestoreInDoubt)?;
    }
    let operation = &draft.operation;
    let conclusion = &operation.facts.conclusion;
    // What was found is a person's; what can't be asked, too.
    if !conclusion.hits.is_empty() {
        return Ok(contradicted(operation, just_looked, policy, circumstances.now));
    }
    if !policy.offers_look_up {
        return Ok(None);
    }
    let due = due(operation, policy, restored_at);
    let reason = reason(operation, policy, restored_at);
    Ok(Some(look_up_at(due, just_looked, circumstances.now, reason)))
}

/// Nothing can be asked; or the answer doesn't reach to the end; or it shows something that only a person can judge.
fn no_walk_can_end_it(operation: &Operation, policy: &Policy, restored_at: Timestamp) -> bool {
    let facts = &operation.facts;
    !policy.offers_look_up
        || !facts.conclusion.hits.is_empty()
        || !facts.conclusion.unclaimed_equal.is_empty()
        || looked_since(operation, restored_at).is_some_and(|last| matches!(last.walk, Walk::Inconclusive(_)))
}

fn looked_since(operation: &Operation, restored_at: Timestamp) -> Option<LastLookUp> {
    operation.facts.last_look_up.filter(|last| last.started_at >= restored_at)
}

/// At once, to find what is there; then when a walk counts.
fn due(operation: &Operation, policy: &Policy, restored_at: Timestamp) -> Timestamp {
    let facts = &operation.facts;
    let Some(last) = looked_since(operation, restored_at) else { return restored_at };
    let horizon = operation
        .absence_counts_from(policy.send_timeout, policy.absence_lag, Some(restored_at))
        .unwrap_or(restored_at);
    let counts = match facts.absence.last_at {
        Some(counted) if facts.absence.restored_at >= Some(restored_at) => {
            horizon.max(later(counted, policy.absence_gap))
        }
        _ => horizon,
    };
    let gap = match last.walk {
        Walk::Complete => Duration::ZERO,
        Walk::Inconclusive(_) | Walk::Unavailable(_) => gap_after(facts.look_ups, policy),
    };
    counts.max(later(last.started_at, gap))
}

fn reason(operation: &Operation, policy: &Policy, restored_at: Timestamp) -> Reason {
    let facts = &operation.facts;
    Reason::RestoreInDoubt {
        walks: if facts.absence.restored_at >= Some(restored_at) { facts.absence.walks } else { 0 },
        needed: policy.absence_count,
        unavailable: looked_since(operation, restored_at).and_then(|last| match last.walk {
            Walk::Unavailable(why) => Some(why),
            Walk::Complete | Walk::Inconclusive(_) => None,
        }),
    }
}
