//! What stands under the five headings, for every state and every reason.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_ledger::attempt::{AttemptEnd, Class, Why};
use counterfoil_ledger::decide::{Escalation, Reason, RuledOut, Seen};
use counterfoil_ledger::evidence::{Doubt, EffectSeen, EffectStatus, Unavailable, Walk};
use counterfoil_ledger::state::State;

use super::fixture::*;
use crate::headings::{Headings, headings};
use crate::i18n::{Message, Voice};
use crate::*;

fn of(story: &Story) -> Headings {
    headings(&story.sheet(), at(NOW))
}

fn said(messages: &[Message]) -> Vec<String> {
    let voice = Voice::of(&viewer(Lang::En, "/"));
    messages.iter().map(|message| voice.plain(message)).collect()
}

#[test]
fn a_lost_answer_is_said_as_the_mission_says_it() {
    let headings = of(&unknown());
    assert_eq!(
        said(&headings.known),
        [
            "Send 1 left us 10:03:11; at 10:03:21: the connection was cut.",
            "Look-up 10:03:36: complete (pages: 1), not found; too early to count.",
            "It was asked for 2 times. It is one operation, and asking again sends nothing.",
        ]
    );
    assert_eq!(said(&headings.not_known), ["Whether Stripe moved 380.00 TWD."]);
    assert_eq!(
        said(&headings.next),
        [
            "The last look-up came too early to count.",
            "Look-up 2 now (every refund on the payment).",
            // escalate_after is 20 h from the first unknown, and comes before the window's end.
            "To a person at Tue 1 Dec 06:03:21 at the latest.",
        ]
    );
    assert_eq!(
        said(&headings.you),
        [
            "Nothing until Tue 1 Dec 06:03:21.",
            "Do not refund it on Stripe's site as well.",
            "The customer may be told: it is being confirmed.",
        ]
    );
    assert_eq!(
        said(&headings.not_allowed)[0],
        // Mark 10:03:11, send time-out 10 s, lag 60 s.
        "Sending it again: absence isn't proved yet (it needs 2 complete look-ups after 10:04:21)."
    );
}

#[test]
fn every_heading_says_something_in_every_state() {
    let mut seen = std::collections::BTreeSet::new();
    for story in stories() {
        let state = story.operation.facts.state;
        seen.insert(state);
        let headings = of(&story);
        for (heading, says) in [
            ("known", &headings.known),
            ("not known", &headings.not_known),
            ("next", &headings.next),
            ("you", &headings.you),
            ("not allowed", &headings.not_allowed),
        ] {
            assert!(!says.is_empty(), "{state}: {heading}");
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), State::ALL);
}

/// The claim of the mission, per state.
#[test]
fn what_the_customer_may_be_told_follows_the_state() {
    for story in stories() {
        let expected = match story.operation.facts.state {
            State::AwaitingApproval | State::Authorized => Message::ClaimNothingYet,
            State::Submitted | State::Unknown | State::Pending | State::Escalated => Message::ClaimInProgress,
            State::Confirmed => Message::ClaimDone,
            State::Failed if story.operation.facts.bounced => Message::ClaimBounced,
            State::Failed | State::Cancelled => Message::ClaimNotDone,
        };
        assert_eq!(of(&story).you.last(), Some(&expected), "{}", story.operation.id);
    }
}

#[test]
fn before_the_mark_nothing_can_have_happened() {
    let awaiting = of(&awaiting());
    assert_eq!(
        said(&awaiting.known),
        [
            "Recorded 09:40:00. Nothing was sent, so nothing can have happened.",
            "It waits because it is revision 2: doing the same thing once more always needs a person.",
        ]
    );
    assert_eq!(awaiting.not_known, [Message::NotKnownNothing]);
    assert_eq!(awaiting.next, [Message::NextNothingApproval]);
    assert_eq!(awaiting.you[0], Message::YouApprove);

    let twin = said(&of(&above_limit_and_twin()).known);
    assert_eq!(
        twin[1],
        "It waits because this order's refunds in 30 days make 6120.00 TWD with it; the limit is 5000.00 TWD."
    );
    assert_eq!(twin[2], "It waits because it looks like refund-2203-LI_4 written another way.");

    let deferred = of(&deferred());
    assert_eq!(said(&deferred.known), ["Sends so far: 1. Each of them provably did nothing."]);
    assert_eq!(said(&deferred.next), ["It is sent at 10:07:32; nothing can have happened so far."]);
}

#[test]
fn an_approval_that_lapsed_says_so_and_not_why_it_was_first_held() {
    let story = Story::recorded("01:00:00", wanted("77", "li_1", 100));
    let later = at("01:00:00") + jiff::SignedDuration::from_hours(73);
    let story = story.see_at(later, Seen::Timer);
    assert_eq!(story.operation.facts.state, State::AwaitingApproval);
    let known = said(&headings(&story.sheet(), later).known);
    assert_eq!(known[1], "It waits because it was not sent within 3 d of being allowed.");
}

#[test]
fn an_effect_that_does_not_match_holds_the_first_send_back() {
    let story = Story::recorded("01:00:00", wanted("76", "li_1", 500));
    let wrong = EffectSeen { amount_minor: 600, ..story.effect("re_wrong", EffectStatus::Live) };
    let story = story.see("01:00:01", Seen::Told(wrong));
    assert_eq!(story.operation.facts.state, State::AwaitingApproval);
    let headings = of(&story);
    assert!(headings.known.contains(&Message::KnownHeldBack));
    assert_eq!(said(&headings.you)[0], "Compare re_wrong with what was intended, field by field.");
}

#[test]
fn after_a_restore_nothing_is_called_certain_and_the_look_ups_are_told() {
    let story = Story::recorded("01:00:00", wanted("76", "li_1", 500)).restored("01:30:00");
    let headings = of(&story);
    let known = "Recorded 09:00:00. The ledger was restored from a backup, so it may have been sent without standing here.";
    assert_eq!(said(&headings.known), [known]);
    assert_eq!(said(&headings.not_known), ["Whether Stripe moved 5.00 TWD."]);
    assert_eq!(
        said(&headings.next),
        [
            "Nothing is sent before it is proved that it was not sent before the restore. \
             Complete look-ups that did not find it: 0 of 2.",
            "Look-up 1 now (every refund on the payment).",
        ]
    );
    assert_eq!(said(&headings.you), ["Nothing now.", "The customer may be told: it is being confirmed."]);

    let mut no_look_up = Story::recorded("01:00:00", wanted("76", "li_1", 500));
    no_look_up.policy.offers_look_up = false;
    let headings = of(&no_look_up.restored("01:30:00"));
    assert_eq!(headings.known[1], Message::KnownHeldForRestore);
    assert_eq!(
        said(&headings.you)[0],
        "Before anybody approves: search the payment on Stripe's own site for a refund with the marker below."
    );
    assert_eq!(headings.you.last(), Some(&Message::ClaimInProgress));
}

#[test]
fn what_was_sent_before_a_restore_is_not_sent_again_and_it_says_why() {
    let headings = of(&unknown().restored("02:03:50"));
    assert_eq!(
        said(&headings.not_allowed)[0],
        "Sending it again by the machine: it was sent before the ledger was restored from a backup, \
         which may not know every send."
    );
}

#[test]
fn two_words_of_the_provider_against_each_other_are_both_said() {
    let back = bounced();
    let live = back.effect("re_3PqC9", EffectStatus::Live);
    let headings = of(&back.see("01:55:00", Seen::Told(live)));
    let both = "Stripe said both that it exists and that it failed, last 09:55:00.";
    assert!(said(&headings.known).iter().any(|said| said == both));
    assert_eq!(headings.not_known, [Message::NotKnownCustomerPaid, Message::NotKnownContradicted]);
    assert_eq!(headings.you[0], Message::YouBounced);
}

#[test]
fn while_it_is_being_sent_nobody_may_send_it_or_take_it_back() {
    let headings = of(&submitted());
    assert_eq!(said(&headings.known), ["Send 1 was marked 10:07:28. From then on it may have happened."]);
    assert_eq!(said(&headings.not_known), ["Whether Stripe has it: it is on its way."]);
    assert_eq!(
        said(&headings.next),
        ["Its answer arrives, or at 10:07:38 the outcome is unknown and look-ups begin."]
    );
    assert_eq!(headings.not_allowed, [Message::NotAllowedResendWhileSending, Message::NotAllowedTakeBack]);
}

#[test]
fn a_sender_that_died_is_said_to_have_died() {
    let story = submitted().see("02:07:38", Seen::Timer);
    assert_eq!(story.operation.facts.state, State::Unknown);
    assert_eq!(
        said(&headings(&story.sheet(), at("02:07:39")).known),
        ["Send 1 was marked 10:07:28, and its sender never reported back."]
    );
}

/// Rule 9: an outage is not evidence.
#[test]
fn a_look_up_that_failed_says_nothing_about_the_refund() {
    let headings = of(&look_up_down());
    assert_eq!(
        said(&headings.next)[0],
        "The last look-up brought nothing (credentials not accepted (401)); that says nothing about the refund."
    );
    assert!(said(&headings.you)[0].contains("stripe-main"));
    // Rule 8: its answer was a stored 5xx.
    assert_eq!(headings.not_allowed[0], Message::NotAllowedResendStoredFailure);
}

#[test]
fn an_effect_that_nobody_claims_is_for_a_person_and_blocks_a_resend() {
    let headings = of(&escalated());
    assert_eq!(
        said(&headings.known)[0],
        "With a person since 09:00:26: an effect of equal amount on the payment is claimed by nobody."
    );
    assert_eq!(said(&headings.not_known)[1], "Whether re_hand is this refund: it bears nobody's marker.");
    assert_eq!(said(&headings.you)[0], "Find out who made re_hand. If it is this refund, it has happened.");
    assert_eq!(said(&headings.not_allowed)[0], "Sending it again: re_hand may be this refund.");
    assert_eq!(
        said(&headings.next),
        ["Look-ups go on, the next at 15:00:26; webhooks are heard. Evidence may still settle it."]
    );
}

/// Later decisions only say that it still is with a person; the facts tell why.
#[test]
fn the_reason_for_a_person_outlives_the_decision_that_found_it() {
    for story in [escalated(), escalated_absent()] {
        let first = of(&story).known[0].clone();
        let again = story.see("02:00:00", Seen::Timer);
        assert_eq!(again.sheet().step.reason, Reason::StillWithPerson);
        assert_eq!(of(&again).known[0], first);
    }
    let absent = of(&escalated_absent());
    assert_eq!(
        said(&absent.known)[0],
        "With a person since 09:02:10: absence is proved, and sending again is ruled out: somebody asked to stop it."
    );
    assert_eq!(absent.you[0], Message::YouDecideAbsent);
    assert!(absent.known.contains(&Message::KnownCancelAsked));
}

#[test]
fn what_is_done_or_proved_to_have_failed_is_not_sent_again() {
    let done = of(&confirmed());
    assert_eq!(said(&done.known), ["It exists at Stripe as re_3PqA7.", "Settled 09:12:26 by a look-up."]);
    assert_eq!(done.not_known, [Message::NotKnownBounce]);
    assert_eq!(done.you[0], Message::YouNothing);
    assert_eq!(done.not_allowed, [Message::NotAllowedResendDone]);

    let refused = of(&failed());
    assert_eq!(
        said(&refused.known),
        [
            "Stripe refused it definitely (charge_already_refunded).",
            "Settled 09:20:02 by the provider's answer."
        ]
    );
    assert_eq!(refused.next, [Message::NextNothing]);

    let back = of(&bounced());
    assert_eq!(
        said(&back.known)[..2],
        [
            "It existed as re_3PqC9 and came back: Stripe says so since 09:50:00.",
            "The reason it gives: expired_or_canceled_card.",
        ]
    );
    assert_eq!(back.you[0], Message::YouBounced);

    let denied = of(&cancelled());
    assert_eq!(said(&denied.known), ["Denied by a person 09:46:00, before it was sent."]);
    assert_eq!(denied.not_allowed, [Message::NotAllowedWithdrawn]);
}

#[test]
fn two_effects_are_said_and_asked_about() {
    let headings = of(&two_effects());
    assert!(headings.not_known.contains(&Message::NotKnownWhichEffect));
    assert_eq!(
        said(&headings.you)[0],
        "Look into it: re_one, re_two exist for one operation. More left than was meant."
    );
}

#[test]
fn an_effect_that_differs_is_compared_field_by_field() {
    let lost =
        Story::recorded("01:00:00", wanted("78", "li_1", 500)).marked("01:00:01").ended("01:00:11", lost());
    let wrong = EffectSeen { amount_minor: 50_000, ..lost.effect("re_wrong", EffectStatus::Live) };
    let headings = of(&lost.see("01:00:26", look_up(at("01:00:26"), Walk::Complete, vec![wrong])));
    assert!(said(&headings.known).contains(&"re_wrong bears our marker and differs in: amount.".to_owned()));
    assert_eq!(said(&headings.you)[0], "Compare re_wrong with what was intended, field by field.");
}

#[test]
fn pending_waits_for_the_provider_and_after_the_limit_asks_a_person_to_ask() {
    let story = pending();
    let headings_now = of(&story);
    assert_eq!(said(&headings_now.known), ["Stripe holds it as re_3PqB1 (status pending)."]);
    assert_eq!(
        said(&headings_now.you)[0],
        "Nothing until Thu 3 Dec 09:30:02; after that it counts as pending too long."
    );
    let later = at("01:30:02") + jiff::SignedDuration::from_hours(72);
    assert_eq!(
        said(&headings(&story.sheet(), later).you)[0],
        "It has been pending too long: ask Stripe about re_3PqB1."
    );
}

#[test]
fn a_row_that_was_set_aside_is_for_an_engineer() {
    let mut sheet = unknown().sheet();
    sheet.set_aside = Some("entry 4 can't be read back".to_owned());
    let headings = headings(&sheet, at(NOW));
    assert_eq!(headings.next[0], Message::NextSetAside);
    assert_eq!(headings.you[0], Message::YouEngineer);
}

/// Every reason of the ledger has its words in both languages, whatever it is combined with.
#[test]
fn every_reason_is_said_in_both_languages() {
    let reasons = [
        Reason::WaitsForApproval,
        Reason::ReadyToSend,
        Reason::SendsAgainLater,
        Reason::AccountPaused,
        Reason::PaymentBlocked,
        Reason::SenderAtWork,
        Reason::LooksUpNext,
        Reason::LookUpFailed { why: Unavailable::ServerError },
        Reason::TooEarlyToCount,
        Reason::AbsenceNotProvedYet { walks: 1, needed: 2 },
        Reason::AbsentAndProtected,
        Reason::KeyIsTheQuestion,
        Reason::RestoreInDoubt { walks: 1, needed: 2, unavailable: None },
        Reason::RestoreInDoubt { walks: 0, needed: 2, unavailable: Some(Unavailable::NoAnswer) },
        Reason::WaitsForEvidence,
        Reason::ResendWaitsForClock,
        Reason::ResendWaitsForAccount,
        Reason::ResendWaitsForPayment,
        Reason::StoredFailureReplays,
        Reason::AtProvider,
        Reason::WatchedForBounce,
        Reason::Settled,
        Reason::StoppedBeforeSending,
        Reason::ToPerson { why: Escalation::WalkInDoubt(Doubt::PageCap) },
        Reason::ToPerson { why: Escalation::WalkInDoubt(Doubt::CursorLoop) },
        Reason::ToPerson { why: Escalation::ResendRuledOut(RuledOut::WindowClosed) },
        Reason::ToPerson { why: Escalation::TimeIsUp },
        Reason::StillWithPerson,
    ];
    for reason in reasons {
        for due_at in [None, Some(at("02:00:00")), Some(at("03:00:00"))] {
            let mut sheet = unknown().sheet();
            sheet.step = NextStep { reason, due_at };
            let headings = headings(&sheet, at(NOW));
            for lang in Lang::ALL {
                let voice = Voice::of(&viewer(lang, "/"));
                for message in headings.next.iter().chain(&headings.you) {
                    let said = voice.plain(message);
                    assert!(!said.is_empty() && !said.contains(['{', '}']), "{reason:?}: {said}");
                }
            }
        }
    }
}

#[test]
fn no_look_up_is_promised_where_the_provider_offers_none() {
    for reason in [Reason::StoredFailureReplays, Reason::WaitsForEvidence, Reason::ResendWaitsForAccount] {
        let mut sheet = unknown().sheet();
        sheet.policy.offers_look_up = false;
        sheet.step.reason = reason;
        let next = said(&headings(&sheet, at(NOW)).next);
        assert!(next.iter().any(|said| said.contains("offers no look-up")), "{next:?}");
        assert!(!next.iter().any(|said| said.starts_with("Look-up")), "{next:?}");
    }
}

#[test]
fn a_resend_that_is_ruled_out_says_why() {
    let mut sheet = unknown().sheet();
    sheet.policy.max_resends = 0;
    let not_allowed = said(&headings(&sheet, at(NOW)).not_allowed);
    assert_eq!(not_allowed[0], "Sending it again by the machine: all allowed sends are used up.");
}

#[test]
fn evidence_says_what_it_proves_and_what_it_does_not() {
    let voice = Voice::of(&viewer(Lang::En, "/"));
    let say = |messages: &[Message]| -> Vec<String> { messages.iter().map(|m| voice.plain(m)).collect() };
    let pieces = evidence::evidence(&unknown().sheet());
    assert_eq!(pieces.len(), 2);
    assert_eq!(pieces[0].proves, []);
    assert_eq!(say(&pieces[0].not_proves), ["whether it happened"]);
    assert_eq!(pieces[1].proves, []);
    assert_eq!(say(&pieces[1].not_proves), ["absence: only look-ups begun after 10:04:21 count"]);

    let absent = evidence::evidence(&escalated_absent().sheet());
    assert_eq!(say(&absent[1].proves), ["one more look-up towards absence: 1 of 2"]);
    assert_eq!(say(&absent[2].proves), ["that no effect of the sends so far exists"]);

    let by_hand = evidence::evidence(&escalated().sheet());
    assert_eq!(by_hand[1].proves, []);
    assert_eq!(say(&by_hand[1].not_proves), ["that re_hand is this refund"]);

    let second = Story::recorded("01:00:00", wanted("79", "li_1", 500))
        .marked("01:00:01")
        .ended("01:00:02", AttemptEnd { ..end(Class::NotSent, Why::ConnectFailed, None) });
    let pieces = evidence::evidence(&second.sheet());
    assert_eq!(say(&pieces[0].proves), ["that send 1 did nothing"]);
}
