//! What effects prove, whenever and however they are seen (rules 3 and 10, E1 to E6, D1 to D6).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use counterfoil_ledger::decide::{Action, Escalation, Policy, Reason};
use counterfoil_ledger::entry::Incident;
use counterfoil_ledger::evidence::EffectStatus::{Failed, Live, Pending};
use counterfoil_ledger::evidence::{Difference, EffectSeen, Verdict};
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::{KeyProtects, later};
use support::*;

/// A story that has come to this state without any effect.
fn in_state(state: State) -> Story {
    match state {
        State::AwaitingApproval => Story::begins_in(state, policy()),
        State::Authorized => Story::begins(),
        State::Submitted => {
            let mut story = Story::begins();
            story.marks();
            story
        }
        State::Unknown => Story::sent_and_no_answer(),
        State::Pending => {
            let mut story = Story::sent_and_no_answer();
            story.after(secs(15)).finds(ours("re_1", Pending));
            story
        }
        State::Confirmed => {
            let mut story = Story::sent_and_no_answer();
            story.after(secs(15)).finds(ours("re_1", Live));
            story
        }
        State::Failed => {
            let mut story = Story::begins();
            story.marks();
            story.after(secs(1)).ends(1, refused());
            story
        }
        State::Escalated => {
            let mut story = Story::sent_and_no_answer();
            story.after(hours(20)).cannot_look_up();
            story
        }
        State::Cancelled => {
            let mut story = Story::begins();
            story.cancel_is_asked();
            story
        }
    }
}

#[test]
fn a_verified_effect_confirms_any_state_and_is_an_incident_where_none_should_be() {
    for state in State::ALL {
        let mut story = in_state(state);
        assert_eq!(story.state(), state);
        story.after(secs(1)).is_told(ours("re_1", Live));
        assert_eq!(story.state(), State::Confirmed, "from {state}");
        let never_sent_or_over =
            matches!(state, State::AwaitingApproval | State::Authorized | State::Failed | State::Cancelled);
        let against = Incident::EffectAgainstState { state, external_id: "re_1".to_owned() };
        assert_eq!(story.incidents().contains(&against), never_sent_or_over, "from {state}");
        story.chain_holds();
    }
}

#[test]
fn a_pending_effect_makes_any_unsettled_state_pending() {
    for state in State::ALL {
        let mut story = in_state(state);
        story.after(secs(1)).is_told(ours("re_1", Pending));
        let expected = if state == State::Confirmed { State::Confirmed } else { State::Pending };
        assert_eq!(story.state(), expected, "from {state}");
    }
}

/// E2: the webhook commits before the answer's handler; the handler changes nothing.
#[test]
fn an_answer_that_comes_after_its_webhook_moves_nothing_twice() {
    let mut story = in_state(State::Submitted);
    story.after(secs(1)).is_told(ours("re_1", Live));
    let version = story.operation.facts.version;
    story.after(secs(1)).ends(1, accepted(ours("re_1", Live)));
    assert_eq!((story.state(), story.operation.facts.version), (State::Confirmed, version));
    assert_eq!(story.operation.facts.conclusion.hits.len(), 1);
    assert_eq!(story.incidents(), []);
}

#[test]
fn the_version_moves_with_state_and_conclusion_and_with_nothing_else() {
    let mut story = Story::sent_and_no_answer();
    let version = story.operation.facts.version;
    for _ in 0..3 {
        story.after(secs(1)).finds_nothing();
        story.after(secs(1)).cannot_look_up();
    }
    story.cancel_is_asked();
    assert_eq!(story.operation.facts.version, version, "repeats and notes say nothing new");
    story.after(mins(2)).finds_nothing();
    assert_eq!(story.operation.facts.version, version, "one counted walk is no conclusion yet");
    story.after(secs(10)).finds_nothing();
    // Absent, and to a person, because a cancel rules the resend out.
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Absent);
    assert_eq!(story.state(), State::Escalated);
    assert_eq!(story.operation.facts.version, version + 2);
    story.after(hours(6)).finds_nothing();
    assert_eq!(story.operation.facts.version, version + 2);
}

/// I8: empty, hit, empty.
#[test]
fn an_empty_answer_never_un_finds() {
    let mut story = Story::sent_and_no_answer();
    story.after(mins(2)).finds_nothing();
    story.after(secs(10)).finds(ours("re_1", Pending));
    for _ in 0..4 {
        story.after(mins(2)).finds_nothing();
        assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Found);
        assert_eq!(story.state(), State::Pending);
    }
}

/// E4 E5: news is bound to the provider's object, and older news moves nothing.
#[test]
fn an_older_status_never_undoes_a_newer_one() {
    let mut story = in_state(State::Confirmed);
    story.after(secs(1)).is_told(ours("re_1", Pending));
    assert_eq!(story.state(), State::Confirmed);
    assert_eq!(story.operation.facts.conclusion.hits[0].status, Live);

    story.after(days(3)).is_told(ours("re_1", Failed));
    assert_eq!(story.state(), State::Failed);
    story.after(secs(1)).is_told(ours("re_1", Live));
    assert_eq!(story.state(), State::Failed, "the older word of success arrives late");
}

/// The provider contradicts itself: only its own object, read directly, can say which word is the newer.
#[test]
fn a_word_of_success_after_a_failure_is_read_again_and_counts_only_then() {
    let mut story = in_state(State::Confirmed);
    story.after(days(3)).is_told(ours("re_1", Failed));
    let decision = story.after(secs(1)).is_told(ours("re_1", Live));
    assert_eq!(decision.action, Action::LookUp);
    // Whoever comes by later still knows it.
    assert_eq!(story.after(mins(5)).timer().action, Action::LookUp);
    assert!(matches!(story.cannot_look_up().action, Action::WaitUntil { .. }));
    assert_eq!(story.after(hours(6)).timer().action, Action::LookUp);
    let decision = story.finds(ours("re_1", Failed));
    assert_eq!((decision.action, story.state()), (Action::Rest, State::Failed));
    story.after(secs(1)).is_told(ours("re_1", Live));
    story.after(secs(1)).finds(ours("re_1", Live));
    assert_eq!(story.state(), State::Confirmed);
}

/// A look-up that began before the webhook came is the older word, even if it is written down later.
#[test]
fn a_look_up_that_began_before_the_webhook_undoes_nothing() {
    let mut story = in_state(State::Confirmed);
    story.after(days(1));
    let began_before = story.look_up(counterfoil_ledger::evidence::Walk::Complete, vec![ours("re_1", Live)]);
    story.after(secs(1)).is_told(ours("re_1", Failed));
    assert_eq!(story.state(), State::Failed);
    story.after(secs(1)).decides(counterfoil_ledger::decide::Seen::LookedUp(began_before));
    assert_eq!(story.state(), State::Failed);
    story.after(secs(1)).finds(ours("re_1", Live));
    assert_eq!(story.state(), State::Confirmed, "read again, it counts");
}

#[test]
fn a_look_up_that_began_before_another_and_returns_later_undoes_nothing() {
    let mut story = in_state(State::Confirmed);
    story.after(days(3)).is_told(ours("re_1", Failed));
    let began_before =
        story.look_up(counterfoil_ledger::evidence::Walk::Complete, vec![ours("re_1", Failed)]);
    story.after(secs(1)).finds(ours("re_1", Live));
    assert_eq!(story.state(), State::Confirmed);
    story.after(secs(1)).decides(counterfoil_ledger::decide::Seen::LookedUp(began_before));
    assert_eq!(story.state(), State::Confirmed);
}

/// D1 D2: success, and days later the money comes back.
#[test]
fn a_confirmed_refund_that_bounces_is_failed_and_somebodys_task() {
    let mut story = in_state(State::Confirmed);
    assert_eq!(story.operation.holds_minor(), AMOUNT);
    let decision = story.after(days(3)).is_told(ours("re_1", Failed));
    // Webhooks come in any order, so the refund itself is read once more.
    assert_eq!((story.state(), decision.action), (State::Failed, Action::LookUp));
    assert_eq!(story.after(secs(1)).finds(ours("re_1", Failed)).action, Action::Rest);
    assert!(story.operation.facts.bounced);
    assert_eq!(story.incidents(), [Incident::Bounced { external_id: "re_1".to_owned() }]);
    assert_eq!(story.operation.holds_minor(), 0);
}

/// D3 D6: the provider's own word, and only that.
#[test]
fn a_pending_refund_ends_as_the_provider_says() {
    let mut story = in_state(State::Pending);
    story.after(hours(1)).cannot_look_up();
    assert_eq!(story.state(), State::Pending);
    story.after(hours(1)).finds(ours("re_1", Failed));
    assert_eq!(story.state(), State::Failed);
    assert!(!story.operation.facts.bounced);
}

/// Two sends that no single window protects: the failure of one says nothing of the other.
fn sent_twice_and_the_first_effect_is(status: counterfoil_ledger::evidence::EffectStatus) -> Story {
    let mut story = Story::sent_and_no_answer_with(Policy { key_protects: KeyProtects::None, ..policy() });
    story.proves_absence();
    assert_eq!(story.state(), State::Escalated);
    story.raises(Event::Permitted);
    story.marks();
    story.after(secs(10)).ends(2, no_answer());
    story.after(secs(15)).finds(ours("re_1", status));
    story
}

#[test]
fn a_failed_execution_beside_an_unprotected_one_leaves_the_operation_unknown() {
    for status in [Pending, Live] {
        let mut story = sent_twice_and_the_first_effect_is(status);
        story.after(days(1)).is_told(ours("re_1", Failed));
        assert_eq!(story.state(), State::Unknown, "{status:?}, then failed");
        assert_eq!(story.operation.holds_minor(), AMOUNT);
        let bounced = Incident::Bounced { external_id: "re_1".to_owned() };
        assert_eq!(story.incidents().contains(&bounced), status == Live);
        // Long past its time: looked up at once, then a person.
        assert_eq!(story.timer().action, Action::LookUp);
        let decision = story.finds_nothing();
        assert_eq!(to_person(&decision), Some(Escalation::TimeIsUp));
    }
}

#[test]
fn never_failed_while_something_else_with_our_marker_stands() {
    let mut story = in_state(State::Confirmed);
    story.after(secs(1)).is_told(wrong_amount("re_odd"));
    story.after(days(2)).is_told(ours("re_1", Failed));
    assert_eq!(story.state(), State::Escalated);
}

#[test]
fn two_effects_are_confirmed_with_an_incident_and_both_counted() {
    let mut story = in_state(State::Confirmed);
    story.after(secs(1)).is_told(ours("re_2", Live));
    assert_eq!(story.state(), State::Confirmed);
    let both = vec!["re_1".to_owned(), "re_2".to_owned()];
    assert_eq!(story.incidents(), [Incident::TwoEffects { external_ids: both }]);
    assert_eq!(story.operation.facts.conclusion.verdict, Verdict::Contradiction);
    assert_eq!(story.operation.holds_minor(), 2 * AMOUNT);
    // Said again, it is the same incident.
    story.after(days(1)).finds(ours("re_2", Live));
    assert_eq!(story.incidents().len(), 1);
}

#[test]
fn a_mismatch_is_an_incident_for_a_person_at_once() {
    type Spoil = fn(&mut EffectSeen);
    let cases: [(Difference, Spoil); 3] = [
        (Difference::Amount, |seen| seen.amount_minor -= 1),
        (Difference::Currency, |seen| seen.currency = "twd".to_owned()),
        (Difference::Target, |seen| seen.targets = vec!["pi_10430".to_owned()]),
    ];
    for (difference, spoil) in cases {
        let mut story = Story::sent_and_no_answer();
        let mut seen = ours("re_odd", Live);
        spoil(&mut seen);
        let decision = story.after(secs(15)).finds(seen);
        assert_eq!(to_person(&decision), Some(Escalation::Mismatch));
        assert_eq!(story.state(), State::Escalated);
        let incident = Incident::Mismatch { external_id: "re_odd".to_owned(), differences: vec![difference] };
        assert_eq!(story.incidents(), [incident]);
    }
}

/// C13: a marker of another case is another marker.
#[test]
fn markers_are_compared_byte_for_byte() {
    let mut story = Story::sent_and_no_answer();
    let seen = EffectSeen { marker: Some(MARKER.to_uppercase()), ..ours("re_1", Live) };
    story.after(secs(15)).finds(seen);
    assert_eq!(story.state(), State::Unknown);
    assert_eq!(story.operation.facts.conclusion.hits, []);
}

/// A disputed amount counts beside what is still possible (rule 11).
#[test]
fn a_mismatched_effect_holds_money_beside_the_operations_own() {
    let mut story = Story::sent_and_no_answer();
    story.after(secs(15)).finds(wrong_amount("re_odd"));
    assert_eq!(story.operation.holds_minor(), AMOUNT + AMOUNT + 1);
    story.after(hours(6)).finds(ours("re_1", Live));
    assert_eq!(story.operation.holds_minor(), AMOUNT + AMOUNT + 1);
}

#[test]
fn unknown_money_is_held_in_every_state_that_may_still_cost_it() {
    for state in State::ALL {
        let held = if matches!(state, State::Failed | State::Cancelled) { 0 } else { AMOUNT };
        assert_eq!(in_state(state).operation.holds_minor(), held, "{state}");
    }
}

/// E14: somebody refunded by hand. It might be this one, so nothing is resent and a person decides.
#[test]
fn an_unclaimed_equal_effect_goes_to_a_person_at_once_and_is_never_adopted() {
    let mut story = Story::sent_and_no_answer();
    let decision = story.after(secs(15)).finds(by_hand("re_hand"));
    assert_eq!(to_person(&decision), Some(Escalation::UnclaimedEqualEffect));
    assert_eq!(story.operation.facts.conclusion.unclaimed_equal, ["re_hand"]);
    assert_eq!(story.operation.facts.conclusion.hits, []);
}

#[test]
fn an_unclaimed_effect_that_turns_out_to_be_ours_or_anothers_is_unclaimed_no_more() {
    let mut story = Story::sent_and_no_answer();
    story.after(secs(15)).finds(by_hand("re_1"));
    story.after(hours(6)).finds(ours("re_1", Live));
    assert_eq!(story.state(), State::Confirmed);
    assert_eq!(story.operation.facts.conclusion.unclaimed_equal, Vec::<String>::new());

    let mut story = Story::sent_and_no_answer();
    story.after(secs(15)).finds(by_hand("re_1"));
    let theirs = EffectSeen { marker: Some("shop.refund-1043-li_3".to_owned()), ..ours("re_1", Live) };
    story.after(hours(6)).finds(theirs);
    assert_eq!(story.operation.facts.conclusion.unclaimed_equal, Vec::<String>::new());
}

/// E5: what once was ours is known by the provider's number, whatever became of its metadata.
#[test]
fn a_known_effect_is_followed_by_its_external_id_when_its_marker_is_gone() {
    let mut story = in_state(State::Confirmed);
    story.after(days(2)).is_told(by_hand("re_1"));
    assert_eq!(story.state(), State::Confirmed);
    assert_eq!(story.operation.facts.conclusion.unclaimed_equal, Vec::<String>::new());
    let bounced = EffectSeen { marker: None, ..ours("re_1", Failed) };
    story.after(days(1)).is_told(bounced);
    assert_eq!(story.state(), State::Failed);
}

#[test]
fn pending_never_goes_to_a_person_by_time_and_is_asked_about_for_ever() {
    let mut story = in_state(State::Pending);
    for _ in 0..60 {
        let decision = story.after(days(1)).timer();
        assert_eq!((decision.action, decision.reason), (Action::LookUp, Reason::AtProvider));
        let decision = story.finds(ours("re_1", Pending));
        assert!(matches!(decision.action, Action::WaitUntil { .. }));
        assert_eq!(story.state(), State::Pending);
    }
    assert_eq!(story.timer().action, waits_until(later(story.now(), hours(6))));
}

#[test]
fn a_provider_without_look_up_is_never_asked_what_became_of_a_pending_effect() {
    let mut story = Story::begins_with(Policy { offers_look_up: false, ..policy() });
    story.marks();
    story.after(secs(1)).ends(1, accepted(ours("re_1", Pending)));
    let decision = story.after(days(2)).timer();
    assert_eq!((decision.action, decision.reason), (Action::Rest, Reason::AtProvider));
    story.is_told(ours("re_1", Live));
    assert_eq!(story.timer().action, Action::Rest);
}

#[test]
fn a_confirmed_effect_is_watched_after_1_3_7_14_and_30_days_and_then_rests() {
    let mut story = in_state(State::Confirmed);
    let confirmed_at = story.now();
    for day in [1, 3, 7, 14, 30] {
        let due = later(confirmed_at, days(day));
        assert_eq!(story.timer().action, waits_until(due), "day {day}");
        assert_eq!(story.at(due).timer().action, Action::LookUp);
        story.after(secs(1)).cannot_look_up();
        assert_eq!(
            story.after(hours(2)).timer().action,
            Action::LookUp,
            "what couldn't be read is still due"
        );
        story.finds(ours("re_1", Live));
    }
    assert_eq!(story.timer().action, Action::Rest);
}

/// A look-up that found it says more than that absence was walked for.
#[test]
fn a_walk_that_found_something_of_ours_counts_towards_no_absence() {
    let mut story = Story::sent_and_no_answer();
    story.after(mins(2)).finds(ours("re_1", Live));
    assert_eq!(story.operation.facts.absence.walks, 0);
    story.after(mins(2)).finds_nothing();
    assert_eq!(story.operation.facts.absence.walks, 0);
    assert!(!story.operation.facts.absence_proved);
}
