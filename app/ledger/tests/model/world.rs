//! The driver: does with one operation what `server/work` does, in a world where senders die, clocks are set and answers are lost.

use counterfoil_ledger::attempt::AttemptEnd;
use counterfoil_ledger::decide::{Action, Decision, Policy, Seen};
use counterfoil_ledger::entry::{Asked, Entry};
use counterfoil_ledger::evidence::EffectStatus::{Failed, Live, Pending};
use counterfoil_ledger::evidence::{LookUp, Verdict, Walk};
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::{KeyProtects, later};
use jiff::Timestamp;

use crate::provider::{Keys, LANDS_AFTER_MS, Listing, Provider};
use crate::rules;
use crate::steps::{Fate, Fortune, Setup, Step};
use crate::support::{self, AMOUNT, Story, days, hours, mins, ms, recorded_at, secs};

mod restores;
mod sends;

/// What a person may have to answer for, or nobody can: each makes room for one effect more than one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Excuses {
    /// People permitted a send that no key protected.
    pub(crate) permitted: u32,
    /// The provider made two effects of one request.
    pub(crate) provider_made_two: u32,
    /// Somebody set the clock back by more than the margin while the window ran: the ledger can't see how late it is.
    pub(crate) clock: u32,
}

impl Excuses {
    pub(crate) fn sum(&self) -> u32 {
        self.permitted + self.provider_made_two + self.clock
    }
}

/// The true time of a mark, and how far the clock was off at that moment.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: i64,
    skew: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) story: Story,
    pub(crate) provider: Provider,
    pub(crate) excuses: Excuses,
    /// Resends that the machine made.
    pub(crate) resends: u32,
    /// An effect came back to life, which no rule foresees.
    pub(crate) revived: bool,
    /// When somebody comes by next; `None`: the machine rests.
    pub(crate) due: Option<Timestamp>,
    /// True milliseconds since the operation was recorded.
    now: i64,
    /// How far the ledger's clock is ahead of the truth.
    skew: i64,
    marks: Vec<Mark>,
    late_reports: Vec<(u32, AttemptEnd)>,
    late_look_ups: Vec<LookUp>,
    /// The furthest that the ledger's clock ever showed.
    pub(crate) latest_clock: Timestamp,
    /// The operation as its entries told it up to the last step.
    told: Operation,
    backup: Option<restores::Backup>,
    /// True time of the last restore; `None`: there was none.
    pub(crate) restored: Option<i64>,
}

fn policy_of(setup: Setup) -> Policy {
    Policy {
        key_protects: match setup.keys {
            Keys::KeptForEver | Keys::PrunedAtTheWindowsEnd => KeyProtects::All,
            Keys::KeptOnSuccessOnly => KeyProtects::Success,
            Keys::Ignored => KeyProtects::None,
        },
        offers_look_up: setup.listing.is_some(),
        key_window: if setup.short_window { mins(20) } else { hours(24) },
        window_margin: if setup.short_window { mins(1) } else { mins(15) },
        escalate_after: if setup.patient { days(10) } else { hours(20) },
        ..support::policy()
    }
}

impl World {
    pub(crate) fn begins(setup: Setup) -> Self {
        let policy = policy_of(setup);
        let window_ms = i64::try_from(policy.key_window.as_millis()).unwrap();
        let mut story = Story::begins_in(setup.begins, policy);
        story.tells_anew = false;
        let mut world = Self {
            told: story.operation.clone(),
            provider: Provider::new(setup.keys, setup.listing.unwrap_or(Listing::Down), window_ms),
            story,
            excuses: Excuses::default(),
            resends: 0,
            revived: false,
            due: None,
            now: 0,
            skew: 0,
            marks: Vec::new(),
            late_reports: Vec::new(),
            late_look_ups: Vec::new(),
            latest_clock: recorded_at(),
            backup: None,
            restored: None,
        };
        let decision = world.story.timer();
        world.schedules(&decision);
        world
    }

    pub(crate) fn happens(&mut self, step: &Step) {
        match *step {
            Step::TimePasses { seconds } => self.passes(i64::from(seconds) * 1000),
            Step::DueTimeComes(fortune) => self.due_time_comes(fortune),
            Step::DaemonComesBy(fortune) => self.comes_by(fortune),
            Step::CallerAsksAgain(fortune) => self.is_asked_again(fortune),
            Step::CallerCancels => {
                if !self.story.state().is_final() {
                    self.story.cancel_is_asked();
                    self.decides(Seen::Timer);
                }
            }
            Step::ReviewerApproves => self.reviewer_says(Event::Approved),
            Step::ReviewerDenies => self.reviewer_says(Event::Denied),
            Step::TwoPeoplePermitALateResend(fortune) => self.is_permitted(fortune),
            Step::WebhookArrives { nth, will_be_repeated } => self.webhook_arrives(nth, will_be_repeated),
            Step::LateReportArrives { nth } => {
                if let Some((number, end)) = take_nth(&mut self.late_reports, nth) {
                    self.decides(Seen::AttemptEnded { number, end });
                }
            }
            Step::LateLookUpReturns { nth } => {
                if let Some(look_up) = take_nth(&mut self.late_look_ups, nth) {
                    let decision = self.decides(Seen::LookedUp(look_up));
                    self.carries_out(&decision, Fortune::GOOD);
                }
            }
            Step::ProviderMoves { nth, to } => self.provider_moves(nth, to),
            Step::ClockIsSet { seconds } => {
                self.excuse_a_clock_set_forward_after_a_restore(seconds);
                self.skew += i64::from(seconds) * 1000;
                self.passes(0);
            }
            Step::SomebodyRefundsByHand { equal } => {
                self.provider.is_used_by_hand(self.now, if equal { AMOUNT } else { AMOUNT - 1 });
            }
            Step::LookUpsTurn(listing) => self.provider.listing = listing,
            Step::AccountIsPaused(paused) => self.story.circumstances.account_paused = paused,
            Step::PaymentIsBlocked(blocked) => self.story.circumstances.payment_blocked = blocked,
            Step::BackupIsTaken => self.backup_is_taken(),
            Step::BackupIsRestored => self.backup_is_restored(),
        }
        self.is_checked();
    }

    pub(crate) fn is_checked(&mut self) {
        let mut told = self.told.clone();
        rules::hold(self, &mut told);
        self.told = told;
    }

    /// True time passes, and what is under way arrives.
    pub(crate) fn passes(&mut self, gap_ms: i64) {
        self.now += gap_ms;
        self.provider.time_has_come(self.now);
        let clock = recorded_at().as_millisecond() + self.now + self.skew;
        self.story.circumstances.now = Timestamp::from_millisecond(clock).unwrap();
        self.latest_clock = self.latest_clock.max(self.story.now());
        rules::one_effect(self);
    }

    fn due_time_comes(&mut self, fortune: Fortune) {
        let Some(due) = self.due else { return };
        let gap = due.as_millisecond() - self.story.now().as_millisecond();
        self.passes(gap.max(0));
        self.comes_by(fortune);
    }

    fn comes_by(&mut self, fortune: Fortune) {
        if self.due.is_some_and(|due| due <= self.story.now()) {
            let decision = self.decides(Seen::Timer);
            self.carries_out(&decision, fortune);
        }
    }

    fn decides(&mut self, seen: Seen) -> Decision {
        let decision = self.story.decides(seen);
        rules::reason_is_true(self, &decision);
        self.schedules(&decision);
        decision
    }

    /// Whoever doesn't carry an action out leaves a due time behind.
    fn schedules(&mut self, decision: &Decision) {
        self.due = match decision.action {
            Action::Send | Action::LookUp | Action::Resend => Some(self.story.now()),
            Action::WaitUntil { at } => Some(at),
            Action::Rest => None,
        };
    }

    fn carries_out(&mut self, decision: &Decision, fortune: Fortune) {
        match decision.action {
            Action::Send => self.sends(fortune, false),
            Action::Resend => {
                rules::may_resend(self);
                self.resends += 1;
                self.sends(fortune, false);
            }
            Action::LookUp => self.looks_up(fortune),
            Action::WaitUntil { .. } | Action::Rest => {}
        }
    }

    fn looks_up(&mut self, fortune: Fortune) {
        assert!(self.story.policy.offers_look_up, "nobody asks a provider that offers no look-up");
        let (walk, effects) = self.provider.lists(self.now);
        let look_up = self.story.look_up(walk, effects);
        self.passes(40);
        if fortune.look_up_returns_later {
            self.late_look_ups.push(look_up);
            // The lease runs out, and somebody else comes by.
            self.due = Some(later(self.story.now(), secs(60)));
            return;
        }
        let decision = self.decides(Seen::LookedUp(look_up));
        self.carries_out(&decision, fortune);
    }

    fn is_asked_again(&mut self, fortune: Fortune) {
        let asked = Asked {
            token: "shop".to_owned(),
            owner: "ann".to_owned(),
            requested_by: None,
            reason: Some("again".to_owned()),
        };
        self.story.draft(|draft| draft.write(Entry::Asked(asked)).unwrap());
        let unsettled = matches!(
            self.story.state(),
            State::Submitted | State::Unknown | State::Pending | State::Escalated
        );
        if unsettled && self.story.policy.offers_look_up {
            self.looks_up(fortune);
        }
    }

    fn reviewer_says(&mut self, event: Event) {
        if self.story.state() == State::AwaitingApproval {
            self.story.raises(event);
            self.decides(Seen::Timer);
        }
    }

    /// A look-up of this moment says absent, and two people sign: the same key, outside its window.
    fn is_permitted(&mut self, fortune: Fortune) {
        if self.story.state() != State::Escalated || !self.story.policy.offers_look_up {
            return;
        }
        // Who reviews looks as often as absence asks for.
        for _ in 0..=self.story.policy.absence_count {
            self.passes(i64::try_from(self.story.policy.absence_gap.as_millis()).unwrap());
            if self.story.state() == State::Escalated {
                self.looks_up(Fortune { look_up_returns_later: false, ..fortune });
            }
        }
        let facts = &self.story.operation.facts;
        let says_absent = facts.conclusion.verdict == Verdict::Absent
            && facts.last_look_up.is_some_and(|last| last.walk == Walk::Complete);
        let guarded = facts.cancel_asked
            || !facts.conclusion.unclaimed_equal.is_empty()
            || facts.attempts.iter().filter_map(|attempt| attempt.end.as_ref()).any(|end| end.stored_failure);
        if facts.state == State::Escalated
            && says_absent
            && !guarded
            && fortune.sender != Fate::DiesBeforeTheMark
        {
            self.story.raises(Event::Permitted);
            self.sends(fortune, true);
        }
    }

    fn webhook_arrives(&mut self, nth: usize, will_be_repeated: bool) {
        if self.provider.webhooks.is_empty() {
            return;
        }
        let index = nth % self.provider.webhooks.len();
        let effect = if will_be_repeated {
            self.provider.webhooks[index].clone()
        } else {
            self.provider.webhooks.remove(index)
        };
        self.decides(Seen::Told(effect));
    }

    fn provider_moves(&mut self, nth: usize, to: counterfoil_ledger::evidence::EffectStatus) {
        let count = self.provider.ours().count();
        if count == 0 {
            return;
        }
        let was = self.provider.ours().nth(nth % count).map(|effect| effect.seen.status);
        self.revived |= was == Some(Failed) && to != Failed;
        self.provider.moves(nth, to);
    }

    /// The faults stop, everything that is late arrives, and time passes until nobody but a person has anything to do.
    pub(crate) fn faults_stop(&mut self) {
        self.provider.listing = Listing::Complete;
        self.story.circumstances.account_paused = false;
        self.story.circumstances.payment_blocked = false;
        self.passes(LANDS_AFTER_MS);
        while let Some((number, end)) = take_nth(&mut self.late_reports, 0) {
            self.decides(Seen::AttemptEnded { number, end });
            self.is_checked();
        }
        while !self.late_look_ups.is_empty() {
            self.happens(&Step::LateLookUpReturns { nth: 0 });
        }
        let newest: Vec<_> = self.provider.ours().map(|effect| effect.seen.clone()).collect();
        for round in 0..400 {
            for nth in 0..self.provider.ours().count() {
                if self.provider.ours().nth(nth).is_some_and(|effect| effect.seen.status == Pending) {
                    self.provider.moves(nth, Live);
                }
            }
            while !self.provider.webhooks.is_empty() {
                self.happens(&Step::WebhookArrives { nth: 0, will_be_repeated: false });
            }
            if round == 0 {
                // Whatever order the others came in, the newest word on each effect comes last.
                for effect in newest.clone() {
                    self.decides(Seen::Told(effect));
                    self.is_checked();
                }
            }
            let settled = matches!(
                self.story.state(),
                State::AwaitingApproval
                    | State::Confirmed
                    | State::Failed
                    | State::Cancelled
                    | State::Escalated
            );
            // One look more than needed: what stands at the provider is found by then, whoever it is with.
            if settled && (self.due.is_none() || round > 60) {
                return;
            }
            self.happens(&Step::DueTimeComes(Fortune::GOOD));
        }
        panic!("after the faults stopped it was still {} and going on", self.story.state());
    }

    pub(crate) fn clock_was_set_back(&self) -> bool {
        self.story.circumstances.clock_is_behind()
    }

    /// Between two glances of the daemon nothing waits longer than this.
    pub(crate) fn longest_wait(&self) -> std::time::Duration {
        self.story.policy.look_up_after.iter().max().copied().unwrap_or(ms(0))
    }
}

fn take_nth<T>(list: &mut Vec<T>, nth: usize) -> Option<T> {
    if list.is_empty() { None } else { Some(list.remove(nth % list.len())) }
}
