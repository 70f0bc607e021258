//! After a restore from a backup nothing goes out for the first time without proof, and no window is believed (rule 17).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use counterfoil_ledger::attempt::AttemptEnd;
use counterfoil_ledger::decide::{Action, Escalation, Policy, Reason, RuledOut};
use counterfoil_ledger::entry::Incident;
use counterfoil_ledger::evidence::EffectStatus::{Failed, Live};
use counterfoil_ledger::evidence::{Doubt, Unavailable, Verdict, Walk};
use counterfoil_ledger::money::ExponentTable;
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::later;
use counterfoil_ledger::words::{Claim, Speaker, claim, message};
use support::*;

/// Recorded before the backup, allowed, and restored an hour later: what was done in between nobody wrote here.
fn restored_with(policy: Policy) -> Story {
    let mut story = Story::begins_with(policy);
    story.after(hours(1));
    story.is_restored();
    story
}

fn restored() -> Story {
    restored_with(policy())
}

fn doubt(walks: u32) -> Reason {
    Reason::RestoreInDoubt { walks, needed: 2, unavailable: None }
}

#[test]
fn nothing_is_sent_for_the_first_time_before_it_was_looked_for() {
    let mut story = restored();
    let decision = story.timer();
    assert_eq!((decision.action, decision.reason), (Action::LookUp, doubt(0)));
    assert_eq!(story.state(), State::Authorized);
}

#[test]
fn an_effect_that_the_backup_does_not_know_is_found_and_confirmed_with_an_incident() {
    for state in [State::Authorized, State::AwaitingApproval] {
        let mut story = Story::begins_in(state, policy());
        story.after(hours(1));
        story.is_restored();
        assert_eq!(story.timer().action, Action::LookUp);
        story.finds(ours("re_1", Live));
        assert_eq!(story.state(), State::Confirmed);
        let against = Incident::EffectAgainstState { state, external_id: "re_1".to_owned() };
        assert_eq!(story.incidents(), [against]);
    }
}

/// Rule 6, the restore in the place of the mark: restore + send time-out + lag, twice, a gap apart.
#[test]
fn absence_is_counted_from_the_restore_on_and_then_it_is_sent() {
    let mut story = restored();
    let restored_at = story.now();
    let horizon = later(restored_at, secs(10 + 60));
    let decision = story.finds_nothing();
    assert_eq!((decision.action, decision.reason), (waits_until(horizon), doubt(0)));
    story.at(horizon.checked_sub(ms(1)).unwrap()).finds_nothing();
    assert_eq!(story.operation.facts.absence.walks, 0, "too early to count");
    let decision = story.at(horizon).finds_nothing();
    assert_eq!((decision.action, decision.reason), (waits_until(later(horizon, secs(10))), doubt(1)));
    let decision = story.after(secs(10)).finds_nothing();
    assert_eq!((decision.action, decision.reason), (Action::Send, Reason::ReadyToSend));
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Absent);
}

#[test]
fn an_operation_created_after_the_restore_waits_for_the_same_proof() {
    let mut story = Story::begins();
    story.circumstances.restored_at = Some(recorded_at().checked_sub(mins(5)).unwrap());
    assert_eq!(story.timer().action, Action::LookUp);
    assert!(matches!(story.finds_nothing().action, Action::WaitUntil { .. }));
    assert_eq!(story.after(secs(10)).finds_nothing().action, Action::Send);
}

#[test]
fn walks_before_the_restore_prove_nothing_about_it() {
    let mut story = restored();
    story.after(mins(2)).finds_nothing();
    story.after(secs(10)).finds_nothing();
    assert!(story.operation.facts.absence_proved);
    // Restored once more, from a backup that was taken now: what that one doesn't know has to be looked for again.
    story.after(mins(1)).is_restored();
    let decision = story.timer();
    assert_eq!((decision.action, decision.reason), (Action::LookUp, doubt(0)));
    story.finds_nothing();
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Nothing);
    story.after(secs(70)).finds_nothing();
    assert_eq!(story.after(secs(10)).finds_nothing().action, Action::Send);
}

#[test]
fn an_outage_makes_it_wait_with_the_reason_and_sends_nothing() {
    let mut story = restored();
    for _ in 0..20 {
        let decision = story.after(hours(1)).cannot_look_up();
        let unavailable = Some(Unavailable::ServerError);
        assert_eq!(decision.reason, Reason::RestoreInDoubt { walks: 0, needed: 2, unavailable });
        assert_eq!(story.state(), State::Authorized);
    }
    story.after(hours(1)).finds_nothing();
    assert_eq!(story.after(secs(10)).finds_nothing().action, Action::Send);
}

#[test]
fn it_lapses_as_ever_and_is_looked_for_all_the_same() {
    let mut story = restored();
    story.cannot_look_up();
    let decision = story.at(later(recorded_at(), hours(72))).timer();
    assert_eq!(story.state(), State::AwaitingApproval);
    assert!(matches!(decision.reason, Reason::RestoreInDoubt { .. }));
    story.finds(ours("re_1", Live));
    assert_eq!(story.state(), State::Confirmed);
}

/// Without complete look-up a person must look first, and is asked once.
#[test]
fn where_no_walk_can_be_complete_a_person_must_look_first() {
    let cannot_be_asked = Policy { offers_look_up: false, ..policy() };
    let mut story = restored_with(cannot_be_asked);
    let decision = story.timer();
    assert_eq!((decision.action, decision.reason), (Action::Rest, Reason::WaitsForApproval));
    assert_eq!(story.state(), State::AwaitingApproval);
    story.after(mins(5)).raises(Event::Approved);
    assert_eq!(story.timer().action, Action::Send);

    for doubt in [Doubt::PageCap, Doubt::CursorLoop] {
        let mut story = restored();
        story.looks_up(Walk::Inconclusive(doubt), Vec::new());
        assert_eq!(story.state(), State::AwaitingApproval);
        story.after(mins(5)).raises(Event::Approved);
        assert_eq!(story.timer().action, Action::Send);
    }
}

#[test]
fn what_was_found_and_is_not_a_live_effect_of_ours_is_a_persons() {
    for seen in [ours("re_1", Failed), by_hand("re_2"), wrong_amount("re_3")] {
        let mut story = restored();
        story.finds(seen);
        assert_eq!(story.state(), State::AwaitingApproval);
    }
}

/// An approval from before the backup says nothing about the doubt.
#[test]
fn an_approval_ends_no_doubt_that_the_person_was_not_shown() {
    let mut story = Story::begins_in(State::AwaitingApproval, policy());
    story.after(hours(1));
    story.is_restored();
    story.after(mins(1)).raises(Event::Approved);
    assert_eq!(story.timer().action, Action::LookUp);
    // Nor does one that was given to an older doubt.
    let mut story = restored_with(Policy { offers_look_up: false, ..policy() });
    story.timer();
    story.after(mins(1)).raises(Event::Approved);
    story.after(mins(1)).is_restored();
    story.timer();
    assert_eq!(story.state(), State::AwaitingApproval);
}

#[test]
fn a_row_that_is_cancelled_in_doubt_is_looked_for_all_the_same() {
    let mut story = restored();
    story.cancel_is_asked();
    assert_eq!(story.state(), State::Cancelled);
    assert_eq!(story.timer().action, Action::LookUp);
    story.finds(ours("re_1", Live));
    assert_eq!(story.state(), State::Confirmed);
    // What the backup knew as cancelled was never sent.
    let mut story = Story::begins();
    story.cancel_is_asked();
    story.after(hours(1)).is_restored();
    assert_eq!(story.timer().action, Action::Rest);
}

#[test]
fn when_a_person_ends_the_doubt_it_is_sent_at_once() {
    let mut story = restored();
    story.finds_nothing();
    story.circumstances.restored_at = None;
    assert_eq!(story.timer().action, Action::Send);
}

/// Windows of rows unsettled at the restore count as closed: absence proved is then a person's at once, and nothing is resent.
#[test]
fn what_was_sent_before_the_restore_is_looked_up_and_never_resent() {
    let mut story = Story::sent_and_no_answer();
    story.after(mins(5)).is_restored();
    let restored_at = story.now();
    story.finds_nothing();
    story.at(later(restored_at, secs(69))).finds_nothing();
    assert_eq!(story.operation.facts.absence.walks, 0, "a resend may have left just before the restore");
    story.at(later(restored_at, secs(70))).finds_nothing();
    let decision = story.after(secs(10)).finds_nothing();
    assert_eq!(to_person(&decision), Some(Escalation::ResendRuledOut(RuledOut::Restored)));
    // Nor where the key alone would be the question.
    let mut story = Story::sent_and_no_answer_with(Policy { offers_look_up: false, ..policy() });
    story.after(mins(5)).is_restored();
    assert_eq!(story.timer().reason, Reason::WaitsForEvidence);
}

#[test]
fn a_proof_from_before_the_restore_does_not_say_absent_after_it() {
    let mut story = Story::sent_and_no_answer_with(Policy {
        key_window: hours(1),
        escalate_after: hours(48),
        ..policy()
    });
    story.circumstances.account_paused = true;
    story.proves_absence();
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Absent);
    story.after(mins(5)).is_restored();
    story.finds_nothing();
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Nothing);
    assert_eq!(story.state(), State::Unknown);
}

#[test]
fn what_is_first_sent_after_the_restore_is_resent_as_ever() {
    let mut story = restored();
    story.after(mins(2)).finds_nothing();
    assert_eq!(story.after(secs(10)).finds_nothing().action, Action::Send);
    story.marks();
    story.after(secs(10)).ends(1, no_answer());
    story.proves_absence();
    assert_eq!(story.finds_nothing().action, Action::Resend);
}

#[test]
fn what_was_turned_away_after_the_restore_needs_its_proof_anew() {
    let mut story = restored();
    story.after(mins(2)).finds_nothing();
    story.after(secs(10)).finds_nothing();
    story.marks();
    story.after(secs(1)).ends(1, AttemptEnd { retry_after_s: Some(1), ..deferred() });
    assert_eq!(story.state(), State::Authorized);
    assert!(matches!(story.timer().reason, Reason::RestoreInDoubt { walks: 0, .. }));
    story.proves_absence();
    assert_eq!(story.timer().action, Action::Send);
}

#[test]
fn the_caller_is_told_that_it_may_have_happened() {
    let speaker = Speaker { provider: "Stripe", exponents: ExponentTable::Stripe };
    let told = |story: &Story, in_doubt| message(&story.operation, speaker, None, in_doubt);
    let story = restored();
    let text = told(&story, true);
    assert!(text.contains("It may already have happened. Do not send it another way."), "{text}");
    assert!(!text.contains("certainly has not happened"), "{text}");
    assert_eq!(claim(&story.operation, true), Claim::InProgress);
    assert_eq!(claim(&story.operation, false), Claim::NothingYet);
    let mut story = restored_with(Policy { offers_look_up: false, ..policy() });
    story.timer();
    let text = told(&story, false);
    assert!(
        text.contains("A person must look first.") && text.contains("may already have happened"),
        "{text}"
    );
    assert_eq!(claim(&story.operation, false), Claim::InProgress);
}
