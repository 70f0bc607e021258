//! What the ledger can't protect against: accounts whose declarations aren't true. One wrong word alone duplicates nothing where the
//! provider can be asked, because a resend needs both the key and the list; two wrong words, or one where there is no list, can.
//! Even then nothing is hidden: both effects are found, counted, and somebody's incident.

use counterfoil_ledger::decide::{Action, Policy, Reason, Seen};
use counterfoil_ledger::entry::Incident;
use counterfoil_ledger::state::State;

use crate::provider::{Behaviour, Keys, Listing, Provider};
use crate::support::{AMOUNT, Story, hours, mins, no_answer, policy, secs};

const HOURS_24_MS: i64 = 24 * 3_600_000;

/// Plays one lost answer out: sent at once, applied, no answer; then look-ups and resends as the policy believes they are safe,
/// for a day. Returns how many effects there are, and the story.
fn a_lost_answer(declared: Policy, mut provider: Provider) -> (usize, Story) {
    let mut story = Story::begins_with(declared);
    let began = story.now();
    let true_ms = |story: &Story| story.now().as_millisecond() - began.as_millisecond();
    story.marks();
    provider.receives(0, Behaviour::Executes);
    let mut decision = story.after(secs(10)).ends(1, no_answer());
    for _ in 0..200 {
        decision = match decision.action {
            Action::WaitUntil { at } if true_ms(&story) < HOURS_24_MS => story.at(at).timer(),
            Action::LookUp => {
                let (walk, effects) = provider.lists(true_ms(&story));
                story.looks_up(walk, effects)
            }
            Action::Resend | Action::Send => {
                let number = story.marks();
                provider.receives(true_ms(&story), Behaviour::Executes);
                story.after(secs(10)).ends(number, no_answer())
            }
            Action::WaitUntil { .. } | Action::Rest => break,
        };
    }
    let effects = provider.ours().count();
    for effect in provider.webhooks.drain(..) {
        story.after(secs(1)).decides(Seen::Told(effect));
    }
    (effects, story)
}

fn provider(keys: Keys, listing: Listing) -> Provider {
    Provider::new(keys, listing, HOURS_24_MS)
}

#[test]
fn keys_that_are_not_kept_duplicate_nothing_where_the_list_is_true() {
    for keys in [Keys::Ignored, Keys::KeptOnSuccessOnly] {
        for listing in [Listing::Complete, Listing::Lagging] {
            let (effects, story) = a_lost_answer(policy(), provider(keys, listing));
            assert_eq!((effects, story.state()), (1, State::Confirmed));
        }
    }
}

#[test]
fn a_window_that_is_shorter_than_declared_duplicates_nothing_where_the_list_is_true() {
    let short = Provider::new(Keys::PrunedAtTheWindowsEnd, Listing::Complete, 60_000);
    let (effects, story) = a_lost_answer(policy(), short);
    assert_eq!((effects, story.state()), (1, State::Confirmed));
}

#[test]
fn a_list_that_lags_more_than_declared_duplicates_nothing_where_the_key_is_kept() {
    let declared = Policy { absence_lag: secs(0), absence_gap: secs(1), send_timeout: secs(1), ..policy() };
    let (effects, story) = a_lost_answer(declared, provider(Keys::KeptForEver, Listing::Lagging));
    assert_eq!((effects, story.state()), (1, State::Confirmed));
}

#[test]
fn a_list_that_lags_and_a_key_that_is_not_kept_can_duplicate_and_nobody_hides_it() {
    let declared = Policy {
        absence_lag: secs(0),
        absence_gap: secs(1),
        send_timeout: secs(1),
        look_up_after: vec![secs(2)],
        ..policy()
    };
    let (effects, story) = a_lost_answer(declared, provider(Keys::Ignored, Listing::Lagging));
    assert!(effects > 1);
    assert_eq!(story.state(), State::Confirmed);
    assert!(story.incidents().iter().any(|incident| matches!(incident, Incident::TwoEffects { .. })));
    assert_eq!(story.operation.holds_minor(), AMOUNT * i64::try_from(effects).unwrap());
}

#[test]
fn without_a_list_keys_that_are_not_kept_duplicate_and_nobody_hides_it() {
    let declared = Policy { offers_look_up: false, ..policy() };
    let (effects, story) = a_lost_answer(declared, provider(Keys::Ignored, Listing::Down));
    assert_eq!(effects, 1 + 3, "every resend");
    assert_eq!(story.state(), State::Confirmed);
    assert!(story.incidents().iter().any(|incident| matches!(incident, Incident::TwoEffects { .. })));
    assert_eq!(story.operation.holds_minor(), 4 * AMOUNT);
}

#[test]
fn without_a_list_keys_that_are_kept_make_one() {
    let declared = Policy { offers_look_up: false, ..policy() };
    let (effects, story) = a_lost_answer(declared, provider(Keys::KeptForEver, Listing::Down));
    assert_eq!((effects, story.state()), (1, State::Confirmed));
}

/// The window is measured by the ledger's clock. Set back by more than the margin, and reached again by the time that passes, it
/// hides that the provider has forgotten the key: then only the list protects. With the default policy patience ends before.
#[test]
fn a_clock_set_back_can_hide_the_windows_end_and_then_only_the_list_protects() {
    let mut story = Story::begins_with(Policy { escalate_after: hours(48), ..policy() });
    story.marks();
    story.after(secs(10)).ends(1, no_answer());
    story.clock_goes_back(hours(2));
    // 25 and a half hours after the mark the clock shows 23 and a half.
    story.after(hours(25) + mins(30)).finds_nothing();
    assert_eq!(story.after(secs(10)).finds_nothing().action, Action::Resend);
    // The default says: a person after 20 hours, whatever else.
    story.policy = policy();
    story.after(secs(10)).cannot_look_up();
    assert_eq!(story.state(), State::Escalated);
}

/// The worst that a clock can do: without a list nothing is left to protect, and the refusal of a second execution is replayed as
/// if it spoke for the first. The effect's own webhook still puts it right.
#[test]
fn without_a_list_a_clock_set_back_can_prove_a_failure_that_is_none_until_the_effect_speaks() {
    let mut provider = provider(Keys::PrunedAtTheWindowsEnd, Listing::Down);
    let mut story = Story::begins_with(Policy { offers_look_up: false, ..policy() });
    story.marks();
    provider.receives(0, Behaviour::Executes);
    story.after(secs(10)).ends(1, no_answer());
    story.clock_goes_back(hours(25));
    assert_eq!(story.timer().reason, Reason::ResendWaitsForClock);
    story.after(hours(25) + secs(15));
    for number in 2..=3 {
        assert_eq!(story.timer().action, Action::Resend);
        story.marks();
        let answer = provider.receives(HOURS_24_MS + 3_600_000, Behaviour::Refuses { kept: true });
        story.after(secs(1)).ends(number, if number == 2 { no_answer() } else { answer });
        story.after(secs(15));
    }
    assert_eq!((provider.ours().count(), story.state()), (1, State::Failed));
    story.is_told(provider.webhooks.remove(0));
    assert_eq!(story.state(), State::Confirmed);
}
