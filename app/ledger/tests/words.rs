//! What a caller is told: the text is acted on by a model, so it is part of the product.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use counterfoil_ledger::evidence::EffectStatus::{Failed, Live, Pending};
use counterfoil_ledger::money::ExponentTable;
use counterfoil_ledger::state::State;
use counterfoil_ledger::words::{Claim, Speaker, message};
use support::*;

fn told(story: &Story) -> String {
    let speaker = Speaker { provider: "Stripe", exponents: ExponentTable::Stripe };
    message(&story.operation, speaker, Some("2026-11-30T10:03:31Z".parse().unwrap()), false)
}

#[test]
fn a_lost_answer_is_told_as_the_mission_words_it() {
    assert_eq!(
        told(&Story::sent_and_no_answer()),
        "The refund of 380.00 TWD was sent to Stripe and no answer arrived. It may already have happened. \
         Do not send it again. Counterfoil is checking; next check at 2026-11-30T10:03:31Z. \
         Tell the customer it is being confirmed."
    );
}

#[test]
fn a_cancel_after_the_mark_says_that_it_only_stops_further_sends() {
    let mut story = Story::begins();
    story.marks();
    story.cancel_is_asked();
    assert!(told(&story).contains("nothing more is sent, and what left may still count"), "{}", told(&story));
    story.after(secs(10)).ends(1, no_answer());
    assert!(told(&story).contains("nothing more is sent, and what left may still count"), "{}", told(&story));
    assert!(!told(&Story::sent_and_no_answer()).contains("nothing more is sent"));
}

#[test]
fn a_refusal_a_failed_effect_and_a_bounce_are_three_different_things() {
    let mut refusal = Story::begins();
    refusal.marks();
    let mut end = refused();
    end.code = Some("amount_too_large".to_owned());
    refusal.after(secs(1)).ends(1, end);
    assert!(told(&refusal).contains("was refused by Stripe (amount_too_large) and did not happen"));

    let mut failed = Story::sent_and_no_answer();
    failed.after(secs(15)).finds(ours("re_1", Pending));
    failed.after(hours(1)).finds(ours("re_1", Failed));
    assert_eq!(failed.state(), State::Failed);
    assert!(told(&failed).contains("took the refund of 380.00 TWD up and says that it failed"));
    assert!(!told(&failed).contains("refused"));

    let mut bounced = Story::sent_and_no_answer();
    bounced.after(secs(15)).finds(ours("re_1", Live));
    bounced.after(days(3)).finds(ours("re_1", Failed));
    assert!(told(&bounced).contains("had succeeded at Stripe and came back"));
}

#[test]
fn only_a_definite_failure_is_ever_called_one() {
    let stories =
        [Story::begins_in(State::AwaitingApproval, policy()), Story::begins(), Story::sent_and_no_answer()];
    for story in stories {
        for word in ["failed", "try again", "retry"] {
            assert!(!told(&story).contains(word), "{}", told(&story));
        }
        assert!(told(&story).contains("Do not send it"));
    }
}

#[test]
fn the_claim_follows_from_the_state_alone() {
    let expected = [
        (State::AwaitingApproval, Claim::NothingYet),
        (State::Authorized, Claim::NothingYet),
        (State::Submitted, Claim::InProgress),
        (State::Unknown, Claim::InProgress),
        (State::Pending, Claim::InProgress),
        (State::Confirmed, Claim::Done),
        (State::Failed, Claim::NotDone),
        (State::Escalated, Claim::InProgress),
        (State::Cancelled, Claim::NotDone),
    ];
    assert_eq!(expected.map(|(state, _)| Claim::of(state)), expected.map(|(_, claim)| claim));
    assert_eq!(serde_json::to_value(Claim::NothingYet).unwrap(), "nothing_yet");
}
