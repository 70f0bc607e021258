//! When the machine looks, what an empty answer proves, and when a person must act (rules 3, 6, 7 and 9).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use counterfoil_ledger::decide::{Action, Escalation, Policy, Reason, RuledOut, Seen};
use counterfoil_ledger::entry::Entry;
use counterfoil_ledger::evidence::EffectStatus::Live;
use counterfoil_ledger::evidence::{Doubt, Unavailable, Verdict, Walk};
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::{KeyProtects, later};
use support::*;

/// `look_up_after`: 15 s from the attempt's end, then 30 s, 2 m, 10 m, 30 m, 2 h, 6 h, and 6 h again.
#[test]
fn look_ups_follow_the_schedule_and_its_last_gap_repeats() {
    let mut story =
        Story::sent_and_no_answer_with(Policy { escalate_after: days(30), key_window: days(40), ..policy() });
    let mut due = story.now();
    for gap in [secs(15), secs(30), mins(2), mins(10), mins(30), hours(2), hours(6), hours(6), hours(6)] {
        due = later(due, gap);
        assert_eq!(story.timer().action, waits_until(due));
        story.at(due);
        assert_eq!(story.timer().action, Action::LookUp);
        story.cannot_look_up();
    }
}

#[test]
fn a_sender_without_a_report_is_looked_for_15_seconds_after_mark_and_send_time_out() {
    let mut story = Story::begins();
    story.marks();
    let due = later(recorded_at(), secs(10 + 15));
    assert_eq!(story.after(mins(5)).timer().action, Action::LookUp);
    assert_eq!(story.operation.facts.state_since, later(recorded_at(), mins(5)));
    let mut story = Story::begins();
    story.marks();
    assert_eq!(story.after(secs(10)).timer().action, waits_until(due));
}

#[test]
fn each_attempt_restarts_the_schedule() {
    let mut story = Story::sent_and_no_answer();
    story.proves_absence();
    story.marks();
    let decision = story.after(secs(10)).ends(2, no_answer());
    assert_eq!(decision.action, waits_until(later(story.now(), secs(15))));
}

/// I7: an empty answer before mark + send time-out + lag is too early to count.
#[test]
fn an_empty_walk_counts_from_mark_and_send_time_out_and_lag_on() {
    let horizon = later(recorded_at(), secs(10 + 60));
    for (at, counts) in [(horizon.checked_sub(ms(1)).unwrap(), false), (horizon, true)] {
        let mut story = Story::sent_and_no_answer();
        let decision = story.at(at).finds_nothing();
        assert_eq!(story.operation.facts.absence.walks, u32::from(counts));
        let expected = if counts {
            Reason::AbsenceNotProvedYet { walks: 1, needed: 2 }
        } else {
            Reason::TooEarlyToCount
        };
        assert_eq!(decision.reason, expected);
        assert_eq!(story.state(), State::Unknown);
    }
}

#[test]
fn a_walk_that_began_too_early_does_not_count_however_late_it_ends() {
    let mut story = Story::sent_and_no_answer();
    story.at(later(recorded_at(), secs(69)));
    let began_early = story.look_up(Walk::Complete, Vec::new());
    story.after(mins(1)).decides(Seen::LookedUp(began_early));
    assert_eq!(story.operation.facts.absence.walks, 0);
}

#[test]
fn after_the_first_counted_walk_the_next_is_due_in_absence_gap() {
    let mut story = Story::sent_and_no_answer();
    let decision = story.at(later(recorded_at(), mins(2))).finds_nothing();
    assert_eq!(decision.action, waits_until(later(story.now(), secs(10))));
}

/// I8: absence needs the walks that the policy says, that far apart.
#[test]
fn walks_that_are_too_close_together_count_once() {
    let mut story = Story::sent_and_no_answer();
    story.at(later(recorded_at(), mins(2))).finds_nothing();
    story.after(secs(9)).finds_nothing();
    assert_eq!(story.operation.facts.absence.walks, 1);
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Nothing);
    let decision = story.after(secs(1)).finds_nothing();
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Absent);
    assert_eq!((decision.action, decision.reason), (Action::Resend, Reason::AbsentAndProtected));
}

#[test]
fn the_policy_says_how_many_walks_prove_absence() {
    let mut story = Story::sent_and_no_answer_with(Policy { absence_count: 4, ..policy() });
    story.at(later(recorded_at(), mins(2)));
    for _ in 0..3 {
        let decision = story.after(secs(10)).finds_nothing();
        assert!(matches!(decision.action, Action::WaitUntil { .. }));
    }
    assert_eq!(story.after(secs(10)).finds_nothing().action, Action::Resend);
}

#[test]
fn absence_has_to_be_proved_again_after_every_attempt() {
    let mut story = Story::sent_and_no_answer();
    story.proves_absence();
    story.marks();
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Nothing);
    let marked_at = story.now();
    story.after(secs(10)).ends(2, no_answer());
    story.at(later(marked_at, secs(69))).finds_nothing();
    assert_eq!(story.operation.facts.absence.walks, 0);
    story.at(later(marked_at, secs(70))).finds_nothing();
    assert_eq!(story.after(secs(10)).finds_nothing().action, Action::Resend);
}

/// I15: only a well-formed, whole answer can mean absent.
#[test]
fn an_answer_that_is_no_answer_changes_nothing_but_the_reason() {
    for why in [
        Unavailable::NotConnected,
        Unavailable::NoAnswer,
        Unavailable::Unauthorized,
        Unavailable::Forbidden,
        Unavailable::NotFound,
        Unavailable::RateLimited,
        Unavailable::ServerError,
        Unavailable::UnexpectedStatus,
        Unavailable::NotWellFormed,
        Unavailable::AccountDown,
    ] {
        let mut story = Story::sent_and_no_answer();
        let version = story.operation.facts.version;
        for _ in 0..5 {
            let decision = story.after(mins(2)).looks_up(Walk::Unavailable(why), Vec::new());
            assert_eq!(decision.reason, Reason::LookUpFailed { why });
        }
        assert_eq!(story.state(), State::Unknown);
        assert_eq!(story.operation.facts.absence.walks, 0);
        assert_eq!(story.operation.facts.version, version);
    }
}

/// I3: a page cap or a cursor loop is inconclusive, never absent, and a person's at once.
#[test]
fn a_page_cap_or_a_cursor_loop_goes_to_a_person_at_once() {
    for doubt in [Doubt::PageCap, Doubt::CursorLoop] {
        let mut story = Story::sent_and_no_answer();
        let decision = story.after(mins(2)).looks_up(Walk::Inconclusive(doubt), Vec::new());
        assert_eq!(to_person(&decision), Some(Escalation::WalkInDoubt(doubt)));
        assert_eq!(story.state(), State::Escalated);
        assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Nothing);
    }
}

/// I3: neither is it absent later, when a person would rely on it.
#[test]
fn walks_in_doubt_never_add_up_to_absence() {
    let mut story = Story::sent_and_no_answer();
    for _ in 0..5 {
        story.after(hours(6)).looks_up(Walk::Inconclusive(Doubt::PageCap), Vec::new());
        assert_eq!(story.operation.facts.absence.walks, 0);
        assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Nothing);
    }
}

#[test]
fn a_walk_in_doubt_that_shows_our_effect_has_found_it() {
    let mut story = Story::sent_and_no_answer();
    story.after(mins(2)).looks_up(Walk::Inconclusive(Doubt::PageCap), vec![ours("re_1", Live)]);
    assert_eq!(story.state(), State::Confirmed);
}

/// Rule 9: an outage is no reason to escalate early, and the end of patience is the policy's.
#[test]
fn an_outage_waits_for_escalate_after_counted_from_the_first_unknown() {
    let mut story = Story::sent_and_no_answer();
    let unknown_since = story.now();
    let at = later(unknown_since, hours(20));
    for hour in 1..20 {
        story.at(later(unknown_since, hours(hour))).cannot_look_up();
        assert_eq!(story.state(), State::Unknown, "after {hour} h");
    }
    let decision = story.at(at.checked_sub(ms(1)).unwrap()).cannot_look_up();
    assert_eq!(decision.action, waits_until(at));
    // The last look comes before the person.
    assert_eq!(story.at(at).timer().action, Action::LookUp);
    let decision = story.cannot_look_up();
    assert_eq!(to_person(&decision), Some(Escalation::TimeIsUp));
}

#[test]
fn what_the_last_look_finds_is_nobodys_task() {
    let mut story = Story::sent_and_no_answer();
    story.after(hours(20)).finds(ours("re_1", Live));
    assert_eq!(story.state(), State::Confirmed);
}

#[test]
fn the_end_of_the_key_window_comes_first_when_it_is_nearer() {
    let mut story = Story::sent_and_no_answer_with(Policy {
        key_window: hours(2),
        escalate_after: hours(20),
        ..policy()
    });
    let closes_at = later(recorded_at(), hours(2));
    story.at(closes_at.checked_sub(ms(1)).unwrap()).cannot_look_up();
    assert_eq!(story.state(), State::Unknown);
    let decision = story.at(closes_at).cannot_look_up();
    assert_eq!(to_person(&decision), Some(Escalation::TimeIsUp));
}

#[test]
fn the_end_of_patience_is_never_reset_by_another_attempt() {
    let mut story = Story::sent_and_no_answer();
    let unknown_since = story.now();
    story.after(hours(10));
    story.proves_absence();
    story.marks();
    story.after(secs(10)).ends(2, no_answer());
    story.at(later(unknown_since, hours(20))).cannot_look_up();
    assert_eq!(story.state(), State::Escalated);
}

#[test]
fn absence_proved_with_the_resend_ruled_out_for_good_is_a_persons_at_once() {
    type Spoil = fn(&mut Story);
    let cases: [(Policy, Spoil, RuledOut); 5] = [
        (Policy { key_protects: KeyProtects::None, ..policy() }, |_| {}, RuledOut::NoKeys),
        (Policy { key_protects: KeyProtects::Success, ..policy() }, |_| {}, RuledOut::KeyProtectsSuccessOnly),
        (Policy { max_resends: 0, ..policy() }, |_| {}, RuledOut::AttemptsUsed),
        (policy(), |story| _ = story.cancel_is_asked(), RuledOut::CancelAsked),
        (
            Policy { key_window: mins(16), window_margin: mins(15), ..policy() },
            |story| _ = story.after(secs(51)),
            RuledOut::WindowClosed,
        ),
    ];
    for (policy, spoil, why) in cases {
        let mut story = Story::sent_and_no_answer_with(policy);
        spoil(&mut story);
        let decision = story.proves_absence();
        assert_eq!(to_person(&decision), Some(Escalation::ResendRuledOut(why)));
        assert_eq!(story.state(), State::Escalated);
        // Proved absence is never failure (rule 3): the machine leaves that to people.
        assert_eq!(story.operation.holds_minor(), AMOUNT);
    }
}

#[test]
fn a_resend_that_is_ruled_out_escalates_nobody_while_absence_is_not_proved() {
    let mut story = Story::sent_and_no_answer_with(Policy { key_protects: KeyProtects::None, ..policy() });
    for _ in 0..10 {
        story.after(mins(30)).cannot_look_up();
        assert_eq!(story.state(), State::Unknown);
    }
}

#[test]
fn an_escalated_row_is_looked_up_every_6_hours_for_30_days_then_daily() {
    let mut story = Story::sent_and_no_answer();
    story.after(hours(20)).cannot_look_up();
    let escalated_at = story.now();
    let mut looks = 0;
    while story.now() < later(escalated_at, days(60)) {
        let at = match story.timer().action {
            Action::WaitUntil { at } => at,
            other => panic!("{other:?}"),
        };
        let gap = if story.now() < later(escalated_at, days(30)) { hours(6) } else { days(1) };
        assert_eq!(at, later(story.now(), gap));
        assert_eq!(story.at(at).timer().action, Action::LookUp);
        let decision = story.finds_nothing();
        assert_eq!(decision.reason, Reason::StillWithPerson);
        assert_eq!(story.state(), State::Escalated);
        looks += 1;
    }
    assert_eq!(looks, 30 * 4 + 30);
    story.after(hours(1)).finds(ours("re_1", Live));
    assert_eq!(story.state(), State::Confirmed, "evidence still counts");
}

#[test]
fn a_person_alone_brings_an_escalated_row_back_and_evidence_goes_on_counting() {
    let mut story = Story::sent_and_no_answer();
    story.after(hours(20)).cannot_look_up();
    story.raises(Event::Permitted);
    assert_eq!(story.state(), State::Unknown);
    // Without a send it goes back to the person after one more look.
    assert_eq!(story.timer().action, Action::LookUp);
    assert_eq!(to_person(&story.finds_nothing()), Some(Escalation::TimeIsUp));
}

/// Rule 7 names what escalates at once; everything else waits, no look-up to be had included.
#[test]
fn without_look_up_a_ruled_out_resend_waits_for_escalate_after() {
    for (policy, cancel) in [
        (Policy { offers_look_up: false, key_protects: KeyProtects::None, ..policy() }, false),
        (Policy { offers_look_up: false, key_protects: KeyProtects::Success, ..policy() }, false),
        (Policy { offers_look_up: false, ..policy() }, true),
    ] {
        let mut story = Story::sent_and_no_answer_with(policy);
        let unknown_since = story.now();
        if cancel {
            story.cancel_is_asked();
        }
        let decision = story.after(hours(1)).timer();
        assert_eq!(story.state(), State::Unknown);
        assert_eq!(decision.reason, Reason::WaitsForEvidence);
        assert_eq!(decision.action, waits_until(later(unknown_since, hours(20))));
        let decision = story.after(hours(19)).timer();
        assert_eq!(to_person(&decision), Some(Escalation::TimeIsUp));
        assert_eq!(story.after(days(1)).timer().action, Action::Rest);
        story.is_told(ours("re_1", Live));
        assert_eq!(story.state(), State::Confirmed);
    }
}

#[test]
fn every_look_up_is_written_down_with_whether_it_counts() {
    let mut story = Story::sent_and_no_answer();
    story.proves_absence();
    let counted: Vec<(bool, bool)> = story
        .entries
        .iter()
        .filter_map(|entered| match entered.entry {
            Entry::LookedUp { counted, proves_absence, .. } => Some((counted, proves_absence)),
            _ => None,
        })
        .collect();
    assert_eq!(counted, [(true, false), (true, true)]);
    story.chain_holds();
}
