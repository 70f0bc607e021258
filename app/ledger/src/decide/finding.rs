//! From what was seen to what is written: evidence first, then the move that it proves.

use jiff::Timestamp;

use crate::attempt::{Attempt, AttemptEnd, Class};
use crate::entry::{Entry, Incident};
use crate::evidence::{Absence, EffectSeen, EffectStatus, LookUp, Relation, Walk, relate};
use crate::operation::Operation;
use crate::state::{Event, State};

use super::{DecideError, Draft, Policy};

/// What was just seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Nothing: a due time came.
    Timer,
    /// An attempt ended.
    AttemptEnded { number: u32, end: AttemptEnd },
    /// We asked the provider.
    LookedUp(LookUp),
    /// The provider told us, unasked and verified.
    Told(EffectSeen),
}

pub(super) fn take_in(
    draft: &mut Draft,
    seen: Seen,
    policy: &Policy,
    restored_at: Option<Timestamp>,
) -> Result<(), DecideError> {
    match seen {
        Seen::Timer => sender_gone(draft),
        Seen::AttemptEnded { number, end } => attempt_ended(draft, number, end, policy),
        Seen::LookedUp(look_up) => {
            sender_gone(draft)?;
            looked_up(draft, look_up, policy, restored_at)
        }
        Seen::Told(effect) => {
            draft.write(Entry::Told { effect })?;
            weigh_hits(draft, policy)
        }
    }
}

/// A sender that is past its own deadline puts nothing on the wire any more; if its report isn't here, it may never come.
fn sender_gone(draft: &mut Draft) -> Result<(), DecideError> {
    let gone = draft.operation.facts.state == State::Submitted
        && draft.operation.open_attempt().is_some_and(|attempt| attempt.deadline() <= draft.now);
    if gone { draft.raise(Event::AnswerLost) } else { Ok(()) }
}

fn attempt_ended(
    draft: &mut Draft,
    number: u32,
    end: AttemptEnd,
    policy: &Policy,
) -> Result<(), DecideError> {
    let class = end.class;
    let replayed = end.replayed;
    draft.write(Entry::AttemptEnded { number, end })?;
    match class {
        Class::NotSent | Class::Deferred | Class::Refused => {
            let event = proved_by_ends(&draft.operation, class == Class::Refused && replayed, policy);
            draft.raise(event)?;
        }
        Class::Effect => weigh_hits(draft, policy)?,
        Class::Indeterminate => {
            draft.raise(Event::AnswerLost)?;
            weigh_hits(draft, policy)?;
        }
    }
    // An effect whose status proves nothing yet leaves the answer as good as lost.
    if draft.operation.open_attempt().is_none() && draft.operation.facts.state == State::Submitted {
        draft.raise(Event::AnswerLost)?;
    }
    Ok(())
}

/// What the ends of all attempts prove together. Each speaks for its own attempt alone, so every one must be provably not
/// executed; only a refusal that the provider replays speaks for the first execution, and so for all in one protected window.
fn proved_by_ends(operation: &Operation, replayed_refusal: bool, policy: &Policy) -> Event {
    let facts = &operation.facts;
    let refused = |attempt: &Attempt| attempt.end.as_ref().is_some_and(|end| end.class == Class::Refused);
    if !facts.conclusion.hits.is_empty() {
        return Event::AnswerLost;
    }
    if replayed_refusal && operation.one_protected_window(policy.key_protects) {
        return Event::Refused;
    }
    if facts.attempts.iter().any(|attempt| attempt.may_have_executed() && !refused(attempt)) {
        return Event::AnswerLost;
    }
    if facts.attempts.iter().any(refused) { Event::Refused } else { Event::NothingHappened }
}

fn looked_up(
    draft: &mut Draft,
    look_up: LookUp,
    policy: &Policy,
    restored_at: Option<Timestamp>,
) -> Result<(), DecideError> {
    let facts = &draft.operation.facts;
    let found = !facts.conclusion.hits.is_empty()
        || look_up.effects.iter().any(|seen| {
            matches!(relate(&draft.operation.intent, seen), Relation::Ours | Relation::Mismatch(_))
        });
    // Walks for an older restore, or for none, begin anew.
    let absence = if facts.absence.restored_at < restored_at { Absence::default() } else { facts.absence };
    let counted = look_up.walk == Walk::Complete
        && !found
        && draft
            .operation
            .absence_counts_from(policy.send_timeout, policy.absence_lag, restored_at)
            .is_some_and(|horizon| absence.counts(look_up.started_at, horizon, policy.absence_gap));
    let proves_absence = counted && absence.walks + 1 >= policy.absence_count.max(1);
    draft.write(Entry::LookedUp { look_up, counted, proves_absence, restored_at })?;
    weigh_hits(draft, policy)
}

/// Moves the state to what the effects with our marker prove, and opens the incidents that they are.
fn weigh_hits(draft: &mut Draft, policy: &Policy) -> Result<(), DecideError> {
    let conclusion = &draft.operation.facts.conclusion;
    let matching: Vec<_> = conclusion.hits.iter().filter(|hit| hit.matches()).cloned().collect();
    let mismatched: Vec<_> = conclusion.hits.iter().filter(|hit| !hit.matches()).cloned().collect();
    let best = |status| matching.iter().any(|hit| hit.status == status);
    if best(EffectStatus::Live) {
        draft.raise(Event::EffectLive)?;
    } else if best(EffectStatus::Pending) {
        draft.raise(Event::EffectPending)?;
    } else if let Some(failed) = matching.first() {
        // One failed execution settles the operation only if nothing else of ours can stand.
        let alone = draft.operation.one_protected_window(policy.key_protects)
            && mismatched.iter().all(|hit| hit.status == EffectStatus::Failed);
        let event = if alone { Event::EffectFailed } else { Event::ExecutionFailed };
        let bounced = draft.operation.facts.state == State::Confirmed;
        draft.raise(event)?;
        if bounced {
            let external_id = failed.external_id.clone();
            draft.write(Entry::Incident(Incident::Bounced { external_id }))?;
        }
    }
    let standing: Vec<String> =
        draft.operation.facts.conclusion.standing().map(|hit| hit.external_id.clone()).collect();
    if standing.len() > 1 {
        open_once(draft, Incident::TwoEffects { external_ids: standing })?;
    }
    let mut doubted = false;
    for hit in mismatched {
        let incident = Incident::Mismatch { external_id: hit.external_id, differences: hit.differences };
        doubted |= open_once(draft, incident)?;
    }
    // Once per mismatch: whoever approves afterwards has seen it.
    if doubted && draft.operation.facts.state == State::Authorized {
        draft.raise(Event::HeldBack)?;
    }
    Ok(())
}

/// Opens an incident unless it is open already, and says whether it was new.
fn open_once(draft: &mut Draft, incident: Incident) -> Result<bool, DecideError> {
    let new = !draft.operation.facts.incidents.contains(&incident);
    if new {
        draft.write(Entry::Incident(incident))?;
    }
    Ok(new)
}
