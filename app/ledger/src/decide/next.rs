//! The one action that follows from what is known.

use std::time::Duration;

use jiff::Timestamp;

use crate::attempt::{Attempt, Class};
use crate::evidence::{Verdict, Walk};
use crate::operation::Operation;
use crate::state::{Event, State};
use crate::window::{KeyProtects, later};

use super::{Action, Circumstances, DecideError, Draft, Escalation, Policy, Reason, RuledOut, restore};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// An escalated row is looked up this often, for this long, then daily.
const ESCALATED_GAP: Duration = Duration::from_secs(6 * 3600);
const ESCALATED_OFTEN_FOR: Duration = Duration::from_secs(30 * 24 * 3600);
/// A confirmed effect is read again this many days after it was confirmed: a return can take 30 days (`providers.md` §1).
const WATCH_DAYS: [u64; 5] = [1, 3, 7, 14, 30];
/// Sends that provably did nothing go again after these gaps in seconds; the last repeats.
const SEND_AGAIN_S: [u64; 8] = [1, 2, 5, 15, 60, 120, 300, 900];

pub(super) fn next(
    draft: &mut Draft,
    just_looked: bool,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<(Action, Reason), DecideError> {
    match draft.operation.facts.state {
        State::AwaitingApproval => awaiting(draft, just_looked, policy, circumstances),
        State::Authorized => authorized(draft, just_looked, policy, circumstances),
        State::Submitted => Ok(sender_at_work(&draft.operation)),
        State::Unknown => unknown(draft, just_looked, policy, circumstances),
        State::Escalated => Ok(escalated(&draft.operation, just_looked, policy, circumstances)),
        State::Pending if !policy.offers_look_up => Ok((Action::Rest, Reason::AtProvider)),
        State::Pending => {
            let due = look_up_due(&draft.operation, policy);
            Ok(look_up_at(due, just_looked, circumstances.now, Reason::AtProvider))
        }
        State::Confirmed => Ok(watched(&draft.operation, just_looked, policy, circumstances.now)),
        State::Failed => Ok(failed(&draft.operation, just_looked, policy, circumstances.now)),
        State::Cancelled => stopped(draft, just_looked, policy, circumstances),
    }
}

fn stopped(
    draft: &mut Draft,
    just_looked: bool,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<(Action, Reason), DecideError> {
    Ok(restore::before_the_first_send(draft, just_looked, policy, circumstances)?
        .unwrap_or((Action::Rest, Reason::StoppedBeforeSending)))
}

fn awaiting(
    draft: &mut Draft,
    just_looked: bool,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<(Action, Reason), DecideError> {
    Ok(restore::before_the_first_send(draft, just_looked, policy, circumstances)?
        .unwrap_or((Action::Rest, Reason::WaitsForApproval)))
}

fn authorized(
    draft: &mut Draft,
    just_looked: bool,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<(Action, Reason), DecideError> {
    let facts = &draft.operation.facts;
    let now = circumstances.now;
    // Asked during a send that turned out to have done nothing: it holds now (rule 14).
    if facts.cancel_asked {
        draft.raise(Event::Cancelled)?;
        return stopped(draft, just_looked, policy, circumstances);
    }
    let lapses_at = lapses_at(&draft.operation);
    if now >= lapses_at {
        draft.raise(Event::Lapsed)?;
        return awaiting(draft, just_looked, policy, circumstances);
    }
    if let Some((action, reason)) = restore::before_the_first_send(draft, just_looked, policy, circumstances)?
    {
        return Ok((sooner(action, lapses_at), reason));
    }
    if draft.operation.facts.state == State::AwaitingApproval {
        return Ok((Action::Rest, Reason::WaitsForApproval));
    }
    let facts = &draft.operation.facts;
    if circumstances.payment_blocked {
        return Ok((Action::WaitUntil { at: later(now, HOUR).min(lapses_at) }, Reason::PaymentBlocked));
    }
    let again_at = facts.attempts.last().map(|latest| send_again_at(latest, facts.attempts.len()));
    match again_at {
        Some(at) if at > now => Ok((Action::WaitUntil { at: at.min(lapses_at) }, Reason::SendsAgainLater)),
        _ if circumstances.account_paused => Ok((
            Action::WaitUntil { at: later(now, Duration::from_secs(60)).min(lapses_at) },
            Reason::AccountPaused,
        )),
        _ => Ok((Action::Send, Reason::ReadyToSend)),
    }
}

/// The same, but no later than `at`.
fn sooner(action: Action, at: Timestamp) -> Action {
    match action {
        Action::WaitUntil { at: then } => Action::WaitUntil { at: then.min(at) },
        other => other,
    }
}

/// When an allowance to send runs out: `send_within` after recording or the latest approval.
fn lapses_at(operation: &Operation) -> Timestamp {
    let facts = &operation.facts;
    later(facts.allowed_at.unwrap_or(facts.created_at), Duration::from_secs(facts.subject.send_within_s))
}

/// From here on a send that was decided may no longer be marked: it waited for its turn at the account meanwhile.
pub fn mark_before(operation: &Operation, policy: &Policy) -> Timestamp {
    match operation.facts.window {
        Some(window) if operation.facts.state == State::Unknown => window.last_resend_at(margin(policy)),
        _ => lapses_at(operation),
    }
}

/// The bytes may leave until the send time-out, and the key must still be known when they arrive.
fn margin(policy: &Policy) -> Duration {
    policy.window_margin.max(policy.send_timeout)
}

fn send_again_at(latest: &Attempt, sends: usize) -> Timestamp {
    let index = sends.saturating_sub(1).min(SEND_AGAIN_S.len() - 1);
    let asked_s = latest.end.as_ref().and_then(|end| end.retry_after_s).unwrap_or(0);
    let gap = Duration::from_secs(SEND_AGAIN_S[index].max(asked_s));
    later(latest.ended_at.unwrap_or(latest.deadline()), gap)
}

fn sender_at_work(operation: &Operation) -> (Action, Reason) {
    let at = operation.open_attempt().map_or(operation.facts.state_since, Attempt::deadline);
    (Action::WaitUntil { at }, Reason::SenderAtWork)
}

fn unknown(
    draft: &mut Draft,
    just_looked: bool,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<(Action, Reason), DecideError> {
    let now = circumstances.now;
    if draft.operation.open_attempt().is_some_and(|attempt| attempt.deadline() > now) {
        return Ok(sender_at_work(&draft.operation));
    }
    if let Some(why) = at_once(&draft.operation, just_looked) {
        return escalate(draft, why, policy, circumstances);
    }
    let escalates_at = escalates_at(&draft.operation, policy);
    let due = look_up_due(&draft.operation, policy);
    if !policy.offers_look_up {
        return without_look_up(draft, due, escalates_at, policy, circumstances);
    }
    // Only a look-up of this very moment may lead to a resend or to a person.
    if !just_looked {
        let next = due.min(escalates_at);
        return Ok(look_up_at(next, false, now, waiting_reason(&draft.operation, policy)));
    }
    let mut reason = waiting_reason(&draft.operation, policy);
    let says_absent = draft.verdict() == Verdict::Absent
        && draft.operation.facts.last_look_up.is_some_and(|last| last.walk == Walk::Complete);
    if says_absent {
        match resend_gate(&draft.operation, policy, circumstances) {
            Gate::Open => return Ok((Action::Resend, Reason::AbsentAndProtected)),
            Gate::Waits(waits) => reason = waits,
            Gate::Closed(ruled_out) => {
                return escalate(draft, Escalation::ResendRuledOut(ruled_out), policy, circumstances);
            }
        }
    }
    if now >= escalates_at {
        return escalate(draft, Escalation::TimeIsUp, policy, circumstances);
    }
    let at = if due > now { due } else { later(now, first_gap(policy)) };
    Ok((Action::WaitUntil { at: at.min(escalates_at) }, reason))
}

/// No look-up to be had: the same key is the question, and a replay the answer. Absence can't be proved, so nothing but time
/// sends it to a person.
fn without_look_up(
    draft: &mut Draft,
    due: Timestamp,
    escalates_at: Timestamp,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<(Action, Reason), DecideError> {
    let now = circumstances.now;
    if now >= escalates_at {
        return escalate(draft, Escalation::TimeIsUp, policy, circumstances);
    }
    let (at, reason) = match resend_gate(&draft.operation, policy, circumstances) {
        Gate::Open if now >= due => return Ok((Action::Resend, Reason::KeyIsTheQuestion)),
        Gate::Open => (due, Reason::KeyIsTheQuestion),
        // No time that passes changes the first, and only that much the second.
        Gate::Waits(reason @ Reason::StoredFailureReplays) => (escalates_at, reason),
        Gate::Waits(reason @ Reason::ResendWaitsForClock) => (circumstances.newest_in_ledger, reason),
        Gate::Waits(reason) => (due.max(later(now, first_gap(policy))), reason),
        Gate::Closed(_) => (escalates_at, Reason::WaitsForEvidence),
    };
    Ok((Action::WaitUntil { at: at.min(escalates_at) }, reason))
}

/// What sends a row to a person without waiting (rule 7).
fn at_once(operation: &Operation, just_looked: bool) -> Option<Escalation> {
    let conclusion = &operation.facts.conclusion;
    if conclusion.hits.iter().any(|hit| !hit.matches()) {
        return Some(Escalation::Mismatch);
    }
    if !conclusion.unclaimed_equal.is_empty() {
        return Some(Escalation::UnclaimedEqualEffect);
    }
    match operation.facts.last_look_up {
        Some(last) if just_looked => match last.walk {
            Walk::Inconclusive(doubt) => Some(Escalation::WalkInDoubt(doubt)),
            Walk::Complete | Walk::Unavailable(_) => None,
        },
        _ => None,
    }
}

fn escalate(
    draft: &mut Draft,
    why: Escalation,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Result<(Action, Reason), DecideError> {
    draft.raise(Event::Escalated)?;
    let (action, _) = escalated(&draft.operation, true, policy, circumstances);
    Ok((action, Reason::ToPerson { why }))
}

fn escalated(
    operation: &Operation,
    just_looked: bool,
    policy: &Policy,
    circumstances: &Circumstances,
) -> (Action, Reason) {
    if !policy.offers_look_up {
        return (Action::Rest, Reason::StillWithPerson);
    }
    let facts = &operation.facts;
    let last = facts.last_look_up.map_or(facts.state_since, |last| last.started_at);
    let often = last < later(facts.state_since, ESCALATED_OFTEN_FOR);
    let gap = if often { ESCALATED_GAP } else { DAY };
    look_up_at(later(last, gap), just_looked, circumstances.now, Reason::StillWithPerson)
}

fn watched(operation: &Operation, just_looked: bool, policy: &Policy, now: Timestamp) -> (Action, Reason) {
    let facts = &operation.facts;
    let days = WATCH_DAYS.map(|days| later(facts.state_since, DAY * u32::try_from(days).unwrap_or(1)));
    let next = days.into_iter().find(|day| facts.last_read_at.is_none_or(|read| read < *day));
    match next {
        Some(day) if policy.offers_look_up => {
            // A watch that couldn't be read is tried again within the hour.
            let day = if just_looked && day <= now { later(now, HOUR) } else { day };
            look_up_at(day, just_looked, now, Reason::WatchedForBounce)
        }
        _ => (Action::Rest, Reason::Settled),
    }
}

/// Settled, unless the provider contradicted itself on whether its effect failed: then the effect itself is asked once more.
fn failed(operation: &Operation, just_looked: bool, policy: &Policy, now: Timestamp) -> (Action, Reason) {
    contradicted(operation, just_looked, policy, now).unwrap_or((Action::Rest, Reason::Settled))
}

/// Asks the effect itself, if the provider contradicted itself on whether it failed.
pub(super) fn contradicted(
    operation: &Operation,
    just_looked: bool,
    policy: &Policy,
    now: Timestamp,
) -> Option<(Action, Reason)> {
    let facts = &operation.facts;
    let since = facts.contradicted_since.filter(|_| policy.offers_look_up)?;
    let tried = facts.last_look_up.is_some_and(|last| last.started_at >= since);
    let due = if tried { look_up_due(operation, policy) } else { since };
    Some(look_up_at(due, just_looked, now, Reason::LooksUpNext))
}

pub(super) fn look_up_at(
    due: Timestamp,
    just_looked: bool,
    now: Timestamp,
    reason: Reason,
) -> (Action, Reason) {
    if due <= now && !just_looked {
        (Action::LookUp, reason)
    } else {
        (Action::WaitUntil { at: due.max(later(now, Duration::from_millis(1))) }, reason)
    }
}

/// When a person must act: `escalate_after` from the first unknown, or the window's end if that comes first.
pub fn escalates_at(operation: &Operation, policy: &Policy) -> Timestamp {
    let facts = &operation.facts;
    let by_time = later(facts.unknown_since.unwrap_or(facts.state_since), policy.escalate_after);
    match facts.window {
        Some(window) if policy.key_protects != KeyProtects::None => by_time.min(window.closes_at()),
        _ => by_time,
    }
}

/// When the next look-up is due: the gaps count from the attempt's end (no end: mark and send time-out), then from look-up to
/// look-up; after a counted walk the next one follows in `absence_gap`.
pub fn look_up_due(operation: &Operation, policy: &Policy) -> Timestamp {
    let facts = &operation.facts;
    let attempt_end = facts
        .attempts
        .last()
        .map_or(facts.state_since, |latest| latest.ended_at.unwrap_or(latest.deadline()));
    let from = match facts.last_look_up {
        Some(last) if facts.look_ups > 0 => last.started_at,
        _ => attempt_end,
    };
    if facts.look_ups > 0
        && facts.last_look_up.is_some_and(|last| last.counted)
        && !facts.absence_proved
        && facts.conclusion.hits.is_empty()
    {
        return later(from, policy.absence_gap);
    }
    later(from, gap_after(facts.look_ups, policy))
}

/// The gap that follows so many look-ups.
pub(super) fn gap_after(look_ups: u32, policy: &Policy) -> Duration {
    let index = usize::try_from(look_ups).unwrap_or(usize::MAX);
    policy.look_up_after.get(index).copied().unwrap_or(repeat_gap(policy))
}

fn first_gap(policy: &Policy) -> Duration {
    policy.look_up_after.first().copied().unwrap_or(HOUR)
}

fn repeat_gap(policy: &Policy) -> Duration {
    policy.look_up_after.last().copied().unwrap_or(HOUR)
}

fn waiting_reason(operation: &Operation, policy: &Policy) -> Reason {
    let facts = &operation.facts;
    match facts.last_look_up {
        Some(last) if facts.look_ups > 0 => match last.walk {
            Walk::Unavailable(why) => Reason::LookUpFailed { why },
            Walk::Complete if facts.absence_proved => Reason::LooksUpNext,
            Walk::Complete if facts.absence.walks > 0 => {
                Reason::AbsenceNotProvedYet { walks: facts.absence.walks, needed: policy.absence_count }
            }
            Walk::Complete => Reason::TooEarlyToCount,
            Walk::Inconclusive(_) => Reason::LooksUpNext,
        },
        _ => Reason::LooksUpNext,
    }
}

/// Whether the same key may be sent once more (rule 7), less the look-up that must say absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    Open,
    Waits(Reason),
    Closed(RuledOut),
}

fn resend_gate(operation: &Operation, policy: &Policy, circumstances: &Circumstances) -> Gate {
    let facts = &operation.facts;
    let answers = || facts.attempts.iter().filter_map(|attempt| attempt.end.as_ref());
    let executed = facts.attempts.iter().filter(|attempt| attempt.may_have_executed()).count();
    let resends = executed.saturating_sub(1);
    // First of all: a stored failure waits for its time whatever else there is (rules 7 and 8).
    if answers().any(|end| end.stored_failure && end.class != Class::Effect) {
        return Gate::Waits(Reason::StoredFailureReplays);
    }
    if facts.cancel_asked {
        return Gate::Closed(RuledOut::CancelAsked);
    }
    match policy.key_protects {
        KeyProtects::None => return Gate::Closed(RuledOut::NoKeys),
        // A lost answer may have been one that wasn't kept.
        KeyProtects::Success if executed > 0 => return Gate::Closed(RuledOut::KeyProtectsSuccessOnly),
        KeyProtects::Success | KeyProtects::All => {}
    }
    // Known to the backup is not all that was done with the key.
    if circumstances
        .restored_at
        .is_some_and(|restored_at| facts.window.is_some_and(|window| window.opened_at <= restored_at))
    {
        return Gate::Closed(RuledOut::Restored);
    }
    // A clock that went back would hold a closed window open: nothing about windows is decided by it.
    if circumstances.clock_is_behind() {
        return Gate::Waits(Reason::ResendWaitsForClock);
    }
    if facts.window.is_some_and(|window| circumstances.now > window.last_resend_at(margin(policy))) {
        return Gate::Closed(RuledOut::WindowClosed);
    }
    if resends >= usize::try_from(policy.max_resends).unwrap_or(usize::MAX) {
        return Gate::Closed(RuledOut::AttemptsUsed);
    }
    if circumstances.account_paused {
        return Gate::Waits(Reason::ResendWaitsForAccount);
    }
    if circumstances.payment_blocked {
        return Gate::Waits(Reason::ResendWaitsForPayment);
    }
    Gate::Open
}

/// Why the machine will never send it again, by what is known now; `None`: nothing rules it out for good.
pub fn resend_ruled_out(
    operation: &Operation,
    policy: &Policy,
    circumstances: &Circumstances,
) -> Option<RuledOut> {
    match resend_gate(operation, policy, circumstances) {
        Gate::Closed(ruled_out) => Some(ruled_out),
        Gate::Open | Gate::Waits(_) => None,
    }
}
