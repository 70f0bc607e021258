//! When the same key may be sent once more (rules 7 and 8), and the window in which it protects.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use counterfoil_ledger::decide::{Action, Escalation, Policy, Reason, RuledOut};
use counterfoil_ledger::evidence::EffectStatus::Live;
use counterfoil_ledger::evidence::Verdict;
use counterfoil_ledger::state::State;
use counterfoil_ledger::window::{KeyProtects, later};
use support::*;

/// Patience longer than the window, so that the window alone decides.
fn patient() -> Policy {
    Policy { escalate_after: days(10), ..policy() }
}

/// Absence is proved by this moment, and only now, so that the resend is decided at `at`.
fn proves_absence_at(story: &mut Story, at: jiff::Timestamp) -> counterfoil_ledger::decide::Decision {
    story.at(at.checked_sub(secs(10)).unwrap()).finds_nothing();
    story.at(at).finds_nothing()
}

/// B11: one minute before the window's end less the margin goes, one minute after doesn't.
#[test]
fn a_resend_goes_until_the_windows_end_less_the_margin_and_not_after() {
    let last = later(recorded_at(), hours(24) - mins(15));
    for (at, goes) in [
        (last.checked_sub(mins(1)).unwrap(), true),
        (last, true),
        (later(last, ms(1)), false),
        (later(last, mins(1)), false),
    ] {
        let mut story = Story::sent_and_no_answer_with(patient());
        let decision = proves_absence_at(&mut story, at);
        if goes {
            assert_eq!((decision.action, decision.reason), (Action::Resend, Reason::AbsentAndProtected));
        } else {
            assert_eq!(to_person(&decision), Some(Escalation::ResendRuledOut(RuledOut::WindowClosed)));
        }
    }
}

#[test]
fn the_window_is_measured_from_the_first_attempt_that_may_have_arrived() {
    let mut story = Story::begins_with(patient());
    // The first never left; the second did, an hour later.
    story.marks();
    story.after(secs(3)).ends(1, not_sent());
    assert_eq!(story.operation.facts.window, None);
    story.at(later(recorded_at(), hours(1))).marks();
    story.after(secs(10)).ends(2, no_answer());
    let opened_at = later(recorded_at(), hours(1));
    assert_eq!(story.operation.facts.window.unwrap().opened_at, opened_at);
    let last = later(opened_at, hours(24) - mins(15));
    assert_eq!(proves_absence_at(&mut story.clone(), last).action, Action::Resend);
    assert_ne!(proves_absence_at(&mut story, later(last, secs(1))).action, Action::Resend);
}

#[test]
fn an_attempt_that_was_turned_away_has_arrived_and_keeps_the_window() {
    let mut story = Story::begins_with(patient());
    story.marks();
    story.after(secs(1)).ends(1, deferred());
    assert_eq!(story.operation.facts.window.unwrap().opened_at, recorded_at());
    story.after(hours(1)).marks();
    story.after(secs(3)).ends(2, not_sent());
    assert_eq!(story.operation.facts.window.unwrap().opened_at, recorded_at());
}

#[test]
fn a_resend_never_moves_the_window() {
    let mut story = Story::sent_and_no_answer_with(patient());
    for number in 2..=3 {
        story.after(hours(3));
        assert_eq!(story.proves_absence().action, Action::Resend);
        story.marks();
        story.after(secs(3)).ends(number, if number == 2 { not_sent() } else { no_answer() });
        assert_eq!(story.operation.facts.window.unwrap().opened_at, recorded_at());
    }
}

#[test]
fn a_window_margin_below_the_send_time_out_still_leaves_time_for_the_whole_send() {
    let mut story = Story::sent_and_no_answer_with(Policy { window_margin: secs(0), ..patient() });
    let closes_at = later(recorded_at(), hours(24));
    let decision = proves_absence_at(&mut story, closes_at.checked_sub(secs(9)).unwrap());
    assert_ne!(decision.action, Action::Resend, "its bytes could arrive after the window's end");
}

/// Rule 7: the look-up of this moment must say absent; what one said before is no leave to send.
#[test]
fn a_resend_follows_only_on_a_look_up_that_says_absent_itself() {
    let mut story = Story::sent_and_no_answer();
    story.circumstances.account_paused = true;
    let decision = story.proves_absence();
    assert_eq!(decision.reason, Reason::ResendWaitsForAccount);
    story.circumstances.account_paused = false;
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Absent);
    assert!(matches!(story.timer().action, Action::WaitUntil { .. }), "a timer is no look-up");
    let decision = story.after(mins(30)).cannot_look_up();
    assert!(matches!(decision.action, Action::WaitUntil { .. }), "an outage says nothing");
    assert_eq!(story.after(mins(30)).timer().action, Action::LookUp);
    assert_eq!(story.finds_nothing().action, Action::Resend);
}

#[test]
fn a_resend_waits_for_its_account_and_its_payment() {
    type Set = fn(&mut Story);
    let cases: [(Set, Reason); 2] = [
        (|story| story.circumstances.account_paused = true, Reason::ResendWaitsForAccount),
        (|story| story.circumstances.payment_blocked = true, Reason::ResendWaitsForPayment),
    ];
    for (set, reason) in cases {
        let mut story = Story::sent_and_no_answer();
        set(&mut story);
        let decision = story.proves_absence();
        assert_eq!(decision.reason, reason);
        assert!(matches!(decision.action, Action::WaitUntil { .. }));
        assert_eq!(story.state(), State::Unknown);
    }
}

#[test]
fn three_resends_are_made_and_no_fourth() {
    let mut story = Story::sent_and_no_answer();
    for number in 2..=4 {
        assert_eq!(story.proves_absence().action, Action::Resend, "attempt {number}");
        story.marks();
        story.after(secs(10)).ends(number, no_answer());
    }
    let decision = story.proves_absence();
    assert_eq!(to_person(&decision), Some(Escalation::ResendRuledOut(RuledOut::AttemptsUsed)));
}

#[test]
fn nothing_is_resent_while_the_last_sender_may_still_be_at_work() {
    let mut story = Story::sent_and_no_answer();
    story.proves_absence();
    story.marks();
    let deadline = later(story.now(), secs(10));
    let decision = story.after(secs(5)).finds_nothing();
    assert_eq!((decision.action, decision.reason), (waits_until(deadline), Reason::SenderAtWork));
}

/// Rule 8: the same key only returns it again. It is looked up, webhooks are heard, and then a person decides.
#[test]
fn a_stored_500_is_never_resent_and_waits_for_escalate_after() {
    let mut story = Story::begins();
    story.marks();
    story.after(secs(1)).ends(1, stored_500());
    let unknown_since = story.now();
    let decision = story.proves_absence();
    assert_eq!(decision.reason, Reason::StoredFailureReplays);
    while story.now() < later(unknown_since, hours(19)) {
        let decision = story.after(mins(30)).finds_nothing();
        assert!(matches!(decision.action, Action::WaitUntil { .. }));
        assert_eq!(story.state(), State::Unknown);
    }
    let decision = story.at(later(unknown_since, hours(20))).finds_nothing();
    assert_eq!(to_person(&decision), Some(Escalation::TimeIsUp));
}

#[test]
fn a_stored_500_waits_for_escalate_after_even_when_something_else_rules_the_resend_out() {
    let mut story = Story::begins();
    story.marks();
    story.after(secs(1)).ends(1, stored_500());
    story.cancel_is_asked();
    let decision = story.proves_absence();
    assert_eq!((story.state(), decision.reason), (State::Unknown, Reason::StoredFailureReplays));
}

#[test]
fn a_replayed_stored_500_falls_under_the_same_rule() {
    let mut story = Story::sent_and_no_answer();
    story.proves_absence();
    story.marks();
    story.after(secs(1)).ends(2, replayed(stored_500()));
    let decision = story.proves_absence();
    assert_eq!((story.state(), decision.reason), (State::Unknown, Reason::StoredFailureReplays));
}

#[test]
fn a_500_that_nobody_keeps_is_resent_like_any_lost_answer() {
    let mut story = Story::begins();
    story.marks();
    story.after(secs(1)).ends(1, plain_500());
    assert_eq!(story.proves_absence().action, Action::Resend);
}

/// B23: with keys kept on success only, whatever happened may have been executed and forgotten.
#[test]
fn where_the_key_protects_success_only_nothing_is_resent_after_a_lost_answer_or_a_5xx() {
    for lost in [no_answer(), plain_500(), stored_500()] {
        let mut story = Story::begins_with(Policy { key_protects: KeyProtects::Success, ..policy() });
        story.marks();
        story.after(secs(1)).ends(1, lost);
        assert_ne!(story.proves_absence().action, Action::Resend);
    }
}

#[test]
fn where_the_key_protects_nothing_what_provably_did_nothing_still_goes_again() {
    for key_protects in [KeyProtects::None, KeyProtects::Success] {
        let mut story = Story::begins_with(Policy { key_protects, ..policy() });
        story.marks();
        story.after(secs(1)).ends(1, deferred());
        assert_eq!(story.after(mins(1)).timer().action, Action::Send);
    }
}

/// E14: absence of ours beside an effect that might be ours under a person's hand.
#[test]
fn nothing_is_resent_beside_an_unclaimed_equal_effect() {
    let mut story = Story::sent_and_no_answer();
    story.at(later(recorded_at(), mins(2))).finds_nothing();
    let decision = story.after(secs(10)).finds(by_hand("re_hand"));
    assert_eq!(to_person(&decision), Some(Escalation::UnclaimedEqualEffect));
}

/// A clock that went back would hold a closed window open: the resend waits, and nobody is escalated by it.
#[test]
fn a_clock_behind_the_ledger_makes_resends_wait_and_escalates_nobody() {
    let mut story = Story::sent_and_no_answer();
    story.after(mins(2)).finds_nothing();
    story.after(secs(20));
    // Somebody else's entry is eleven seconds ahead of this clock.
    let decision = {
        let ahead = later(story.now(), ms(10_001));
        let look_up = story.look_up(counterfoil_ledger::evidence::Walk::Complete, Vec::new());
        story.circumstances.newest_in_ledger = ahead;
        story.decides(counterfoil_ledger::decide::Seen::LookedUp(look_up))
    };
    assert_eq!(decision.reason, Reason::ResendWaitsForClock);
    assert!(matches!(decision.action, Action::WaitUntil { .. }));
    assert_eq!(story.state(), State::Unknown);
    // Ten seconds are within tolerance.
    story.after(mins(5));
    story.circumstances.newest_in_ledger = later(story.now(), secs(10));
    assert_eq!(story.finds_nothing().action, Action::Resend);
}

#[test]
fn a_clock_behind_the_ledger_does_not_call_a_window_closed() {
    let mut story = Story::sent_and_no_answer_with(patient());
    let after_the_end = later(recorded_at(), hours(24) - mins(10));
    story.at(after_the_end.checked_sub(secs(10)).unwrap()).finds_nothing();
    story.at(after_the_end);
    story.circumstances.newest_in_ledger = later(after_the_end, hours(1));
    let decision = story.finds_nothing();
    assert_eq!((story.state(), decision.reason), (State::Unknown, Reason::ResendWaitsForClock));
}

/// Without look-up the same key is the question, and a replay the answer.
#[test]
fn without_look_up_the_same_key_asks_and_the_replay_answers() {
    let mut story = Story::sent_and_no_answer_with(Policy { offers_look_up: false, ..policy() });
    let due = later(story.now(), secs(15));
    let decision = story.timer();
    assert_eq!((decision.action, decision.reason), (waits_until(due), Reason::KeyIsTheQuestion));
    let decision = story.at(due).timer();
    assert_eq!((decision.action, decision.reason), (Action::Resend, Reason::KeyIsTheQuestion));
    story.marks();
    story.after(secs(1)).ends(2, replayed(accepted(ours("re_1", Live))));
    assert_eq!(story.state(), State::Confirmed);
}

#[test]
fn without_look_up_the_key_is_asked_three_times_and_then_patience_decides() {
    let mut story = Story::sent_and_no_answer_with(Policy { offers_look_up: false, ..policy() });
    let unknown_since = story.now();
    for number in 2..=4 {
        assert_eq!(story.after(mins(1)).timer().action, Action::Resend);
        story.marks();
        story.after(secs(10)).ends(number, no_answer());
    }
    let decision = story.after(mins(1)).timer();
    assert_eq!((story.state(), decision.reason), (State::Unknown, Reason::WaitsForEvidence));
    assert_eq!(decision.action, waits_until(later(unknown_since, hours(20))));
}

#[test]
fn a_late_answer_after_the_resend_is_one_effect_and_one_operation() {
    let mut story = Story::begins();
    story.marks();
    story.after(secs(10)).timer();
    story.proves_absence();
    story.marks();
    story.after(secs(1)).ends(2, accepted(ours("re_1", Live)));
    let version = story.operation.facts.version;
    story.after(secs(1)).ends(1, accepted(ours("re_1", Live)));
    assert_eq!((story.state(), story.operation.facts.version), (State::Confirmed, version));
    assert_eq!(story.operation.holds_minor(), AMOUNT);
}

#[test]
fn without_look_up_a_stored_500_is_left_alone_until_its_time() {
    let mut story = Story::begins_with(Policy { offers_look_up: false, ..policy() });
    story.marks();
    let decision = story.after(secs(1)).ends(1, stored_500());
    assert_eq!(decision.reason, Reason::StoredFailureReplays);
    assert_eq!(decision.action, waits_until(later(story.now(), hours(20))));
    assert_eq!(to_person(&story.after(hours(20)).timer()), Some(Escalation::TimeIsUp));
}
