//! The first send, and what the end of an attempt proves (rules 1, 4 and 14).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use counterfoil_ledger::decide::{Action, Reason};
use counterfoil_ledger::entry::Incident;
use counterfoil_ledger::evidence::EffectStatus::{Failed, Live, Pending};
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::{KeyProtects, later};
use support::*;

/// B19: recorded and not marked is safe to send, whoever died in between.
#[test]
fn a_recorded_operation_is_ready_to_send() {
    let mut story = Story::begins();
    let decision = story.timer();
    assert_eq!((decision.action, decision.reason), (Action::Send, Reason::ReadyToSend));
    assert!(decision.findings.is_empty());
}

#[test]
fn an_operation_that_waits_for_approval_is_left_alone() {
    let mut story = Story::begins_in(State::AwaitingApproval, policy());
    let decision = story.after(days(400)).timer();
    assert_eq!((decision.action, decision.reason), (Action::Rest, Reason::WaitsForApproval));
    assert_eq!(story.state(), State::AwaitingApproval);
}

#[test]
fn what_was_not_sent_within_72_hours_needs_a_person_again() {
    let mut story = Story::begins();
    assert_eq!(story.at(later(recorded_at(), hours(72) - secs(1))).timer().action, Action::Send);
    let decision = story.at(later(recorded_at(), hours(72))).timer();
    assert_eq!((decision.action, story.state()), (Action::Rest, State::AwaitingApproval));
    story.after(hours(5)).raises(Event::Approved);
    let approved_at = story.now();
    assert_eq!(story.at(later(approved_at, hours(71))).timer().action, Action::Send);
    assert_eq!(story.at(later(approved_at, hours(72))).timer().action, Action::Rest);
}

#[test]
fn coming_back_from_submitted_does_not_restart_send_within() {
    let mut story = Story::begins();
    story.after(hours(71)).marks();
    story.after(secs(3)).ends(1, not_sent());
    assert_eq!(story.state(), State::Authorized);
    story.at(later(recorded_at(), hours(72))).timer();
    assert_eq!(story.state(), State::AwaitingApproval);
}

#[test]
fn a_paused_account_and_a_blocked_payment_send_nothing() {
    let mut story = Story::begins();
    story.circumstances.account_paused = true;
    let decision = story.timer();
    assert_eq!(decision.reason, Reason::AccountPaused);
    assert!(matches!(decision.action, Action::WaitUntil { .. }));
    story.circumstances.account_paused = false;
    story.circumstances.payment_blocked = true;
    let decision = story.timer();
    assert_eq!(decision.reason, Reason::PaymentBlocked);
    assert!(matches!(decision.action, Action::WaitUntil { .. }));
}

#[test]
fn while_its_sender_is_at_work_nobody_else_moves() {
    let mut story = Story::begins();
    story.marks();
    let deadline = later(recorded_at(), secs(10));
    let decision = story.after(secs(9)).timer();
    assert_eq!((decision.action, decision.reason), (waits_until(deadline), Reason::SenderAtWork));
    assert_eq!(story.state(), State::Submitted);
}

/// A8: a process that died after the mark leaves an operation that may have happened.
#[test]
fn a_dead_senders_row_becomes_unknown_at_the_senders_own_deadline() {
    let mut story = Story::begins();
    story.marks();
    let decision = story.after(secs(10)).timer();
    assert_eq!(story.state(), State::Unknown);
    // 15 s after mark + send time-out, because there is no end to count from.
    assert_eq!(decision.action, waits_until(later(recorded_at(), secs(25))));
}

/// A3: five seconds of silence aren't a failure.
#[test]
fn a_lost_answer_makes_it_unknown_never_failed() {
    for lost in [no_answer(), plain_500(), stored_500()] {
        let mut story = Story::begins();
        story.marks();
        story.after(secs(10)).ends(1, lost);
        assert_eq!(story.state(), State::Unknown);
    }
}

#[test]
fn an_answer_that_carries_the_effect_confirms_and_a_pending_one_is_pending() {
    for (status, state) in [(Live, State::Confirmed), (Pending, State::Pending), (Failed, State::Failed)] {
        let mut story = Story::begins();
        story.marks();
        story.after(secs(1)).ends(1, accepted(ours("re_1", status)));
        assert_eq!(story.state(), state);
    }
}

/// D13: a rate limit that names itself is certainly not executed: back to the outbox, never failed.
#[test]
fn a_named_rate_limit_on_the_first_send_goes_back_to_the_outbox_and_again_later() {
    let mut story = Story::begins();
    story.marks();
    let decision = story.after(secs(1)).ends(1, deferred());
    assert_eq!(story.state(), State::Authorized);
    assert_eq!(decision.reason, Reason::SendsAgainLater);
    assert_eq!(decision.action, waits_until(later(recorded_at(), secs(2))));
    assert_eq!(story.after(secs(1)).timer().action, Action::Send);
}

#[test]
fn a_provider_that_says_when_to_come_back_is_heard() {
    let mut story = Story::begins();
    story.marks();
    let mut end = deferred();
    end.retry_after_s = Some(90);
    let decision = story.after(secs(1)).ends(1, end);
    assert_eq!(decision.action, waits_until(later(recorded_at(), secs(91))));
}

#[test]
fn what_never_left_goes_again_and_the_gaps_grow() {
    let mut story = Story::begins();
    for (number, gap) in (1..).zip([1, 2, 5, 15, 60]) {
        story.marks();
        let decision = story.after(secs(3)).ends(number, not_sent());
        assert_eq!(story.state(), State::Authorized);
        assert_eq!(decision.action, waits_until(later(story.now(), secs(gap))), "attempt {number}");
        story.after(secs(gap));
    }
}

/// D13: on a resend the same answer says nothing of the first send.
#[test]
fn a_named_rate_limit_or_a_connect_failure_on_a_resend_leaves_it_unknown() {
    for end in [deferred(), not_sent()] {
        let mut story = Story::sent_and_no_answer();
        assert_eq!(story.proves_absence().action, Action::Resend);
        story.marks();
        story.after(secs(1)).ends(2, end);
        assert_eq!(story.state(), State::Unknown);
    }
}

#[test]
fn a_definite_refusal_of_the_only_send_is_failure() {
    let mut story = Story::begins();
    story.marks();
    let decision = story.after(secs(1)).ends(1, refused());
    assert_eq!((decision.action, story.state()), (Action::Rest, State::Failed));
}

#[test]
fn a_refusal_after_sends_that_did_nothing_is_failure_too() {
    let mut story = Story::begins();
    for (number, end) in [(1, not_sent()), (2, deferred())] {
        story.marks();
        story.after(secs(1)).ends(number, end);
        story.after(mins(1));
    }
    story.marks();
    story.after(secs(1)).ends(3, refused());
    assert_eq!(story.state(), State::Failed);
}

/// A16: the refusal of a resend says nothing of the first send.
#[test]
fn a_refused_resend_leaves_it_unknown() {
    let mut story = Story::sent_and_no_answer();
    story.proves_absence();
    story.marks();
    story.after(secs(1)).ends(2, refused());
    assert_eq!(story.state(), State::Unknown);
}

#[test]
fn a_replayed_refusal_speaks_for_the_first_execution_and_proves_failure() {
    let mut story = Story::sent_and_no_answer();
    story.proves_absence();
    story.marks();
    story.after(secs(1)).ends(2, replayed(refused()));
    assert_eq!(story.state(), State::Failed);
}

#[test]
fn a_replayed_refusal_proves_nothing_once_a_send_left_the_window() {
    let mut story = Story::sent_and_no_answer();
    // Two people sign for a late send: the key may have been forgotten since.
    story.after(hours(25)).timer();
    story.proves_absence();
    assert_eq!(story.state(), State::Escalated);
    story.raises(Event::Permitted);
    story.marks();
    story.after(secs(1)).ends(2, replayed(refused()));
    assert_ne!(story.state(), State::Failed);
}

#[test]
fn a_replayed_refusal_proves_nothing_where_the_key_protects_success_only() {
    let mut story = Story::sent_and_no_answer_with(policy_success());
    story.proves_absence();
    assert_eq!(story.state(), State::Escalated);
    story.raises(Event::Permitted);
    story.marks();
    story.after(secs(1)).ends(2, replayed(refused()));
    assert_ne!(story.state(), State::Failed);
}

fn policy_success() -> counterfoil_ledger::decide::Policy {
    counterfoil_ledger::decide::Policy { key_protects: KeyProtects::Success, ..policy() }
}

/// H7: a sender that slept through its deadline tells late that it put nothing on the wire.
#[test]
fn a_late_not_sent_of_a_slept_sender_proves_that_nothing_happened() {
    let mut story = Story::begins();
    story.marks();
    story.after(secs(10)).timer();
    assert_eq!(story.state(), State::Unknown);
    story.after(mins(3)).ends(1, not_sent());
    assert_eq!(story.state(), State::Authorized);
    assert_eq!(story.operation.facts.window, None);
    assert_eq!(story.after(secs(1)).timer().action, Action::Send);
}

#[test]
fn a_late_not_sent_of_the_first_says_nothing_of_the_second() {
    let mut story = Story::begins();
    story.marks();
    story.after(secs(10)).timer();
    story.proves_absence();
    story.marks();
    story.after(secs(1)).ends(1, not_sent());
    assert_eq!(story.state(), State::Unknown);
    let window = story.operation.facts.window.unwrap();
    assert_eq!(window.opened_at, recorded_at(), "the second may have arrived: the start never moves");
}

/// The first provably never left, the second was provably refused: nothing is left that could have acted.
#[test]
fn a_refused_resend_proves_failure_once_the_first_send_turns_out_not_to_have_left() {
    let mut story = Story::begins();
    story.marks();
    story.after(secs(10)).timer();
    story.proves_absence();
    story.marks();
    story.after(secs(1)).ends(2, refused());
    assert_eq!(story.state(), State::Unknown);
    story.after(secs(5)).ends(1, not_sent());
    assert_eq!(story.state(), State::Failed);
}

#[test]
fn cancel_before_the_mark_cancels_and_after_it_only_stops_further_sends() {
    let mut story = Story::begins();
    story.cancel_is_asked();
    assert_eq!(story.state(), State::Cancelled);
    assert_eq!(story.timer().reason, Reason::StoppedBeforeSending);

    let mut story = Story::sent_and_no_answer();
    story.cancel_is_asked();
    assert_eq!(story.state(), State::Unknown);
    let decision = story.finds(ours("re_1", Live));
    assert_eq!((story.state(), decision.reason), (State::Confirmed, Reason::WatchedForBounce));
}

/// Rule 14: back in the outbox, a send that was stopped never goes again.
#[test]
fn a_cancel_during_the_send_holds_when_the_attempt_turns_out_to_have_done_nothing() {
    for end in [not_sent(), deferred()] {
        let mut story = Story::begins();
        story.marks();
        story.cancel_is_asked();
        assert_eq!(story.state(), State::Submitted);
        let decision = story.after(secs(1)).ends(1, end);
        assert_eq!((decision.action, decision.reason), (Action::Rest, Reason::StoppedBeforeSending));
        assert_eq!(story.state(), State::Cancelled);
        assert_eq!(story.after(hours(1)).timer().action, Action::Rest);
    }
}

/// Rule 10: an effect with our marker and another amount is never a silent choice, the first send included.
#[test]
fn nothing_is_sent_for_the_first_time_beside_a_mismatch() {
    let mut story = Story::begins();
    let decision = story.is_told(wrong_amount("re_odd"));
    assert_eq!(story.state(), State::AwaitingApproval);
    assert_eq!((decision.action, decision.reason), (Action::Rest, Reason::WaitsForApproval));
    assert!(matches!(story.incidents(), [Incident::Mismatch { .. }]));
    // Somebody who has seen it approves: told again, the same mismatch holds nothing back.
    story.raises(Event::Approved);
    assert_eq!(story.is_told(wrong_amount("re_odd")).action, Action::Send);
}
