//! The rules of the mission as conditions that hold after every step, worked out from the entries and from the truth at the
//! provider, not from what `decide` believes.

use counterfoil_ledger::attempt::Class;
use counterfoil_ledger::decide::{Decision, Escalation, Reason, RuledOut};
use counterfoil_ledger::entry::{Entered, Entry};
use counterfoil_ledger::evidence::{EffectSeen, Relation, Verdict, Walk, relate};
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::{Event, State, Transition, transition};
use counterfoil_ledger::window::{KeyProtects, later};
use jiff::Timestamp;

use crate::support::{Story, secs};
use crate::world::World;

/// Everything that must be so at any time. `told` is the operation as its entries told it up to the last step.
pub(crate) fn hold(world: &World, told: &mut Operation) {
    one_effect(world);
    state_is_true(world);
    conclusion_is_true(world);
    window_is_of_the_first_arrival(world);
    nothing_is_stuck(world);
    money_is_held(world);
    entries_are_lawful(&world.story, told);
}

/// Effects per authorised operation: 0 or 1.
pub(crate) fn one_effect(world: &World) {
    let ours = u32::try_from(world.provider.ours().count()).unwrap();
    assert!(
        ours <= 1 + world.excuses.sum(),
        "{ours} effects for one operation, and only this to excuse them: {:?}",
        world.excuses
    );
}

/// Rule 1: not marked = cannot have happened.
pub(crate) fn is_marked(world: &World, number: u32) {
    let marked = world
        .story
        .entries
        .iter()
        .any(|entered| matches!(entered.entry, Entry::AttemptStarted { number: n, .. } if n == number));
    assert!(marked, "attempt {number} reached the provider and was never marked");
}

/// A first send leaves only when certainly nothing can have happened yet.
pub(crate) fn nothing_has_happened(world: &World) {
    let story = &world.story;
    if world.excuses.clock == 0 {
        let under_way = world.provider.something_is_under_way();
        assert!(!under_way, "sent for the first time while a request is under way");
        assert_eq!(world.provider.ours().count(), 0, "sent for the first time, and the effect exists");
    }
    if let Some(restored_at) = story.circumstances.restored_at {
        assert!(story.policy.offers_look_up, "sent for the first time, and nobody could look");
        assert!(absence_is_proved(story, Some(restored_at)), "sent for the first time without proof");
    }
    let facts = &story.operation.facts;
    assert!(!facts.cancel_asked, "sent although it was asked to stop");
    assert!(!story.circumstances.account_paused, "sent on a paused account");
    assert!(!story.circumstances.payment_blocked, "sent on a blocked payment");
    let allowed = story.entries.iter().rev().find_map(|entered| match entered.entry {
        Entry::Recorded { .. } | Entry::State { event: Event::Approved, .. } => Some(entered.at),
        _ => None,
    });
    let lapses_at = later(allowed.unwrap(), secs(facts.subject.send_within_s));
    assert!(story.now() < lapses_at, "sent after it had lapsed");
}

fn state_is_true(world: &World) {
    let facts = &world.story.operation.facts;
    let ours: Vec<_> = world.provider.ours().collect();
    let under_way = world.provider.something_is_under_way();
    match facts.state {
        // A restored backup doesn't know better yet.
        State::AwaitingApproval | State::Authorized | State::Cancelled if world.restored.is_some() => {}
        State::AwaitingApproval | State::Authorized | State::Cancelled => {
            assert!(ours.is_empty(), "{}, and an effect exists: {ours:?}", facts.state);
            assert!(!under_way, "{}, and a request is under way", facts.state);
        }
        State::Failed => {
            let excused = world.revived || world.excuses.provider_made_two > 0 || world.excuses.clock > 0;
            let stands: Vec<_> = ours.iter().filter(|effect| effect.stands()).collect();
            assert!(stands.is_empty() || excused, "failed, and an effect stands: {stands:?}");
            assert!(!under_way, "failed, and a request is under way");
        }
        State::Confirmed | State::Pending => {
            assert!(ours.iter().any(|effect| effect.matches()), "{} without an effect", facts.state);
            assert!(facts.conclusion.standing().count() > 0, "{} on nothing that stands", facts.state);
        }
        State::Submitted | State::Unknown | State::Escalated => {
            assert!(!facts.attempts.is_empty(), "{} and never sent", facts.state);
        }
    }
}

/// Absent is said of what is proved absent, and of nothing else.
fn conclusion_is_true(world: &World) {
    if world.story.operation.facts.conclusion.verdict == Verdict::Absent {
        assert!(
            absence_is_proved(&world.story, world.story.operation.facts.absence.restored_at),
            "absent, and that isn't proved"
        );
    }
}

/// The key's window was opened by the first attempt that may have arrived, or by one before it, and never moved since.
fn window_is_of_the_first_arrival(world: &World) {
    let facts = &world.story.operation.facts;
    let arrived = facts
        .attempts
        .iter()
        .position(|attempt| attempt.end.as_ref().is_none_or(|end| end.class != Class::NotSent));
    let opened_at = facts.window.map(|window| window.opened_at);
    match arrived {
        None => assert_eq!(opened_at, None, "a window is open, and nothing may have arrived"),
        Some(first) => {
            let marks = facts.attempts[..=first].iter().map(|attempt| Some(attempt.marked_at));
            assert!(
                marks.into_iter().any(|mark| mark == opened_at),
                "the window was opened at {opened_at:?}"
            );
        }
    }
}

/// Every row that waits has a time or a person.
fn nothing_is_stuck(world: &World) {
    let state = world.story.state();
    let needs_a_time = match state {
        State::Authorized | State::Submitted | State::Unknown => true,
        State::Pending | State::Escalated => world.story.policy.offers_look_up,
        State::AwaitingApproval | State::Confirmed | State::Failed | State::Cancelled => false,
    };
    if !needs_a_time {
        return;
    }
    let due = world.due.unwrap_or_else(|| panic!("{state}, and nobody ever comes by"));
    // A clock that was set back leaves due times behind that it has to reach again.
    let newest = world.latest_clock;
    let patience = match state {
        State::Escalated => secs(24 * 3600),
        _ if world.story.policy.offers_look_up => world.longest_wait(),
        // Without look-up nothing is to be done before it is a person's.
        _ => world.story.policy.escalate_after,
    };
    assert!(
        due <= later(newest, patience),
        "{state}, and nobody comes by before {due} ({newest} at the latest so far)"
    );
}

/// Rule 11: unknown money is spent money.
fn money_is_held(world: &World) {
    let operation = &world.story.operation;
    let held = operation.holds_minor();
    assert!(held >= operation.facts.conclusion.standing_minor(), "less is held than is known to have left");
    let standing: Vec<_> =
        world.provider.ours().filter(|effect| effect.matches() && effect.stands()).collect();
    let denied = world.restored.is_some() && !operation.facts.state.holds_money();
    let excused = world.revived || world.excuses.sum() > 0 || denied;
    if let [one] = standing.as_slice()
        && !excused
    {
        assert!(held >= one.seen.amount_minor, "an effect stands that nobody holds money for");
    }
}

/// State moves only as the transition table says, the version moves with state and conclusion alone, and the chain holds.
fn entries_are_lawful(story: &Story, operation: &mut Operation) {
    let checked = usize::try_from(operation.facts.seq).unwrap();
    for entered in &story.entries[checked..] {
        if let Entry::State { from, to, event } = entered.entry {
            let lawful = match transition(from, event) {
                Ok(Transition::To(state) | Transition::ToWithIncident(state)) => state == to,
                Ok(Transition::Stay) | Err(_) => false,
            };
            assert!(lawful, "{from} moved to {to} on {event:?}");
        }
        let before = operation.facts.clone();
        operation.absorb(entered).unwrap();
        let after = &operation.facts;
        let moved = before.state != after.state || before.conclusion != after.conclusion;
        assert_eq!(after.version, before.version + u64::from(moved), "the version at {entered:?}");
        for hit in &before.conclusion.hits {
            let now = after.conclusion.hit(&hit.external_id);
            let now = now.unwrap_or_else(|| panic!("{} was un-found", hit.external_id)).status;
            let read = matches!(entered.entry, Entry::LookedUp { .. });
            assert!(now >= hit.status || read, "{:?} became {now:?}, and nobody read it again", hit.status);
        }
    }
    assert_eq!(*operation, story.operation, "told from its entries it is another operation");
}

fn says_of_us(story: &Story, effects: &[EffectSeen]) -> bool {
    effects
        .iter()
        .any(|seen| matches!(relate(&story.operation.intent, seen), Relation::Ours | Relation::Mismatch(_)))
}

/// Rule 6, counted anew from the entries: complete empty walks that began late enough, far enough apart, since the last mark
/// and since the restore, if there was one.
fn absence_is_proved(story: &Story, restored_at: Option<Timestamp>) -> bool {
    let last_mark =
        story.entries.iter().rposition(|entered| matches!(entered.entry, Entry::AttemptStarted { .. }));
    let marked_at = last_mark.map(|index| story.entries[index].at);
    let Some(last_sent) = marked_at.max(restored_at) else { return false };
    let found_before = story.entries.iter().any(|entered| match &entered.entry {
        Entry::LookedUp { look_up, .. } => says_of_us(story, &look_up.effects),
        Entry::Told { effect } => says_of_us(story, std::slice::from_ref(effect)),
        Entry::AttemptEnded { end, .. } => {
            end.effect.as_ref().is_some_and(|effect| says_of_us(story, std::slice::from_ref(effect)))
        }
        _ => false,
    });
    let horizon = later(later(last_sent, story.policy.send_timeout), story.policy.absence_lag);
    let mut count = 0;
    let mut next = horizon;
    for Entered { entry, .. } in &story.entries[last_mark.unwrap_or(0)..] {
        if let Entry::LookedUp { look_up, .. } = entry
            && look_up.walk == Walk::Complete
            && look_up.started_at >= next
        {
            count += 1;
            next = later(look_up.started_at, story.policy.absence_gap);
        }
    }
    !found_before && count >= story.policy.absence_count
}

/// Why the machine may never send this again; the order is nobody's business.
fn ruled_out(story: &Story) -> Vec<RuledOut> {
    let facts = &story.operation.facts;
    let policy = &story.policy;
    let executed = facts.attempts.iter().filter(|attempt| {
        !attempt.end.as_ref().is_some_and(|end| matches!(end.class, Class::NotSent | Class::Deferred))
    });
    let resends = u32::try_from(executed.count().saturating_sub(1)).unwrap();
    let last = facts.window.map(|window| window.last_resend_at(policy.window_margin));
    let all = [
        (RuledOut::CancelAsked, facts.cancel_asked),
        (RuledOut::NoKeys, policy.key_protects == KeyProtects::None),
        (RuledOut::KeyProtectsSuccessOnly, policy.key_protects == KeyProtects::Success),
        (RuledOut::WindowClosed, last.is_some_and(|last| story.now() > last)),
        (
            RuledOut::Restored,
            story.circumstances.restored_at.is_some_and(|restored_at| {
                facts.window.is_some_and(|window| window.opened_at <= restored_at)
            }),
        ),
        (RuledOut::AttemptsUsed, resends >= policy.max_resends),
    ];
    all.into_iter().filter(|(_, so)| *so).map(|(why, _)| why).collect()
}

fn stored_failure(story: &Story) -> bool {
    let ends = story.operation.facts.attempts.iter().filter_map(|attempt| attempt.end.as_ref());
    ends.into_iter().any(|end| end.stored_failure)
}

/// Rule 7, all of it, at the moment of a resend.
pub(crate) fn may_resend(world: &World) {
    let story = &world.story;
    let facts = &story.operation.facts;
    assert_eq!(facts.state, State::Unknown, "only what is unknown is resent");
    let at_work =
        facts.attempts.iter().any(|attempt| attempt.end.is_none() && attempt.deadline() > story.now());
    assert!(!at_work, "resent while a sender may still be at work");
    assert_eq!(ruled_out(story), [], "resent, and it was ruled out");
    assert!(!stored_failure(story), "resent after a stored 5xx");
    assert!(facts.conclusion.hits.is_empty(), "resent, and something of ours was found");
    assert!(facts.conclusion.unclaimed_equal.is_empty(), "resent beside an unclaimed equal effect");
    assert!(!world.clock_was_set_back(), "resent by a clock that is behind the ledger");
    assert!(!story.circumstances.account_paused, "resent on a paused account");
    assert!(!story.circumstances.payment_blocked, "resent on a blocked payment");
    if story.policy.offers_look_up {
        assert!(
            absence_is_proved(story, story.circumstances.restored_at),
            "resent, and absence isn't proved"
        );
        let looked_last = story.entries.iter().rev().find_map(|entered| match &entered.entry {
            Entry::LookedUp { look_up, .. } => Some(look_up),
            _ => None,
        });
        let says_absent = looked_last.is_some_and(|look_up| look_up.walk == Walk::Complete);
        assert!(says_absent, "resent, and the look-up of this moment doesn't say absent");
        let written_now = story.entries.last().is_some_and(|entered| entered.at == story.now());
        assert!(written_now, "resent on an older look-up");
    }
}

/// Whoever is sent to a person is sent there for a reason that is true.
pub(crate) fn reason_is_true(world: &World, decision: &Decision) {
    let Reason::ToPerson { why } = decision.reason else { return };
    let story = &world.story;
    let facts = &story.operation.facts;
    let true_reason = match why {
        Escalation::WalkInDoubt(doubt) => {
            facts.last_look_up.is_some_and(|last| last.walk == Walk::Inconclusive(doubt))
        }
        Escalation::Mismatch => world.provider.ours().any(|effect| !effect.matches()),
        Escalation::UnclaimedEqualEffect => world.provider.effects.iter().any(|effect| !effect.is_ours()),
        Escalation::ResendRuledOut(why) => {
            absence_is_proved(story, story.circumstances.restored_at)
                && ruled_out(story).contains(&why)
                && !stored_failure(story)
        }
        Escalation::TimeIsUp => story.now() >= time_is_up(story),
    };
    assert!(true_reason, "to a person for {why:?}, which isn't so");
}

/// `escalate_after` from the first unknown, or the window's end if that comes first.
fn time_is_up(story: &Story) -> Timestamp {
    let first_unknown = story.entries.iter().find_map(|entered| match entered.entry {
        Entry::State { to: State::Unknown, .. } => Some(entered.at),
        _ => None,
    });
    let by_time = later(first_unknown.unwrap(), story.policy.escalate_after);
    match story.operation.facts.window {
        Some(window) if story.policy.key_protects != KeyProtects::None => by_time.min(window.closes_at()),
        _ => by_time,
    }
}

/// After the faults stopped and time has passed: the state that its effects prove, or with a person.
pub(crate) fn is_settled_as_its_effects_prove(world: &World) {
    let facts = &world.story.operation.facts;
    let matching: Vec<_> = world.provider.ours().filter(|effect| effect.matches()).collect();
    let odd = world.provider.ours().any(|effect| !effect.matches());
    let sends = facts.attempts.iter().filter(|attempt| attempt.may_have_executed()).count();
    let state = facts.state;
    // A restored backup has it as never sent.
    let with_a_person =
        world.restored.is_some() && matches!(state, State::AwaitingApproval | State::Cancelled);
    if matching.iter().any(|effect| effect.stands()) {
        let unasked = (world.revived || world.excuses.clock > 0) && !world.story.policy.offers_look_up;
        assert!(state == State::Confirmed || unasked, "{state}, and the effect stands: {matching:?}");
    } else if !matching.is_empty() {
        let settled =
            state == State::Failed || (state == State::Escalated && (sends > 1 || odd)) || with_a_person;
        assert!(settled, "{state}, and all that ever was has failed: {matching:?}");
    } else if odd {
        assert!(state == State::Escalated || with_a_person, "{state}, and a mismatch is a person's");
    } else {
        let nothing =
            matches!(state, State::AwaitingApproval | State::Cancelled | State::Failed | State::Escalated);
        assert!(nothing, "{state}, and nothing ever happened");
        if state == State::Failed {
            let refused = facts
                .attempts
                .iter()
                .filter_map(|attempt| attempt.end.as_ref())
                .any(|end| end.class == Class::Refused);
            assert!(refused, "failed without a refusal and without an effect");
        }
    }
    world.story.is_told_by_its_entries();
    world.story.chain_holds();
}
