//! Builders for stories: one refund of 380.00 TWD, the default policy of `api.md`, and a [`Story`] that does with the ledger what
//! the server does: asks [`decide`], writes the findings down, and keeps everything that was written.
#![allow(dead_code, unreachable_pub, reason = "every test file uses its own part of the builders")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use counterfoil_ledger::attempt::{AttemptEnd, Class, Why};
use counterfoil_ledger::chain;
use counterfoil_ledger::decide::{Action, Circumstances, Decision, Draft, Policy, Reason, Seen, decide};
use counterfoil_ledger::entry::{Actor, Entered, Entry, Incident, Subject};
use counterfoil_ledger::evidence::{EffectSeen, EffectStatus, LookUp, Unavailable, Walk};
use counterfoil_ledger::identity::{Key, KeyRule, Marker, Namespace, OperationId, Revision};
use counterfoil_ledger::intent::{EffectKind, Intent, ProviderRequest};
use counterfoil_ledger::money::Money;
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::{KeyProtects, earlier, later};
use jiff::Timestamp;

pub const AMOUNT: i64 = 38_000;
pub const PAYMENT: &str = "pi_1043";
pub const MARKER: &str = "shop.refund-1043-li_2";

pub const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
pub const fn mins(n: u64) -> Duration {
    secs(n * 60)
}
pub const fn hours(n: u64) -> Duration {
    mins(n * 60)
}
pub const fn days(n: u64) -> Duration {
    hours(n * 24)
}

/// When the stories begin: the operation is recorded.
pub fn recorded_at() -> Timestamp {
    "2026-11-30T10:02:58Z".parse().unwrap()
}

/// The defaults of `api.md` for a Stripe account.
pub fn policy() -> Policy {
    Policy {
        send_timeout: secs(10),
        key_window: hours(24),
        window_margin: mins(15),
        key_protects: KeyProtects::All,
        offers_look_up: true,
        absence_lag: secs(60),
        absence_count: 2,
        absence_gap: secs(10),
        max_resends: 3,
        look_up_after: vec![secs(15), secs(30), mins(2), mins(10), mins(30), hours(2), hours(6)],
        escalate_after: hours(20),
        pending_attention: days(3),
    }
}

pub fn intent() -> Intent {
    let namespace: Namespace = "shop".parse().unwrap();
    let id = operation_id();
    let body =
        format!("payment_intent={PAYMENT}&amount={AMOUNT}&metadata[operation_id]=shop.refund-1043-li_2");
    Intent {
        account: "stripe-main".parse().unwrap(),
        effect: EffectKind::Refund,
        target: PAYMENT.to_owned(),
        money: Money::new(AMOUNT, "TWD".parse().unwrap()).unwrap(),
        marker: Marker::compute(&namespace, &id),
        key: Key::compute(KeyRule::Readable { bytes_max: 255 }, &namespace, &id),
        request: ProviderRequest {
            method: "POST".to_owned(),
            path: "/v1/refunds".to_owned(),
            content_type: "application/x-www-form-urlencoded".to_owned(),
            body,
        },
    }
}

pub fn operation_id() -> OperationId {
    let values = ["1043", "li_2"].map(|value| value.to_owned().try_into().unwrap());
    OperationId::compute(&"refund".parse().unwrap(), &values, Revision::FIRST).unwrap()
}

pub fn subject() -> Subject {
    Subject {
        kind: "refund".parse().unwrap(),
        identity: vec![
            ("order".to_owned(), "1043".to_owned().try_into().unwrap()),
            ("line_item".to_owned(), "li_2".to_owned().try_into().unwrap()),
        ],
        revision: Revision::FIRST,
        order: "1043".to_owned().try_into().unwrap(),
        customer: None,
        params: None,
        send_within_s: 72 * 3600,
    }
}

/// The end of an attempt of which only the class matters.
pub fn end(class: Class) -> AttemptEnd {
    let (why, http_status) = match class {
        Class::NotSent => (Why::ConnectFailed, None),
        Class::Deferred => (Why::RateLimitNamed, Some(429)),
        Class::Refused => (Why::DefiniteRefusal, Some(400)),
        Class::Effect => (Why::Accepted, Some(200)),
        Class::Indeterminate => (Why::TimedOut, None),
    };
    AttemptEnd {
        class,
        why,
        duration_ms: 10_000,
        http_status,
        code: None,
        provider_request_id: None,
        replayed: false,
        stored_failure: false,
        retry_after_s: None,
        body_digest: None,
        effect: None,
    }
}

pub fn not_sent() -> AttemptEnd {
    end(Class::NotSent)
}
pub fn deferred() -> AttemptEnd {
    end(Class::Deferred)
}
pub fn refused() -> AttemptEnd {
    end(Class::Refused)
}
pub fn no_answer() -> AttemptEnd {
    end(Class::Indeterminate)
}
pub fn replayed(end: AttemptEnd) -> AttemptEnd {
    AttemptEnd { replayed: true, ..end }
}
/// A 500 that the provider keeps under the key.
pub fn stored_500() -> AttemptEnd {
    AttemptEnd {
        why: Why::ServerError,
        http_status: Some(500),
        stored_failure: true,
        ..end(Class::Indeterminate)
    }
}
/// A 500 of which nobody says that it is kept.
pub fn plain_500() -> AttemptEnd {
    AttemptEnd { why: Why::ServerError, http_status: Some(500), ..end(Class::Indeterminate) }
}
pub fn accepted(effect: EffectSeen) -> AttemptEnd {
    AttemptEnd { effect: Some(effect), ..end(Class::Effect) }
}

/// An effect as the provider shows it, everything as intended.
pub fn ours(external_id: &str, status: EffectStatus) -> EffectSeen {
    EffectSeen {
        external_id: external_id.to_owned(),
        marker: Some(MARKER.to_owned()),
        targets: vec![PAYMENT.to_owned(), "ch_1043".to_owned()],
        amount_minor: AMOUNT,
        currency: "TWD".to_owned(),
        status,
        provider_status: match status {
            EffectStatus::Pending => "pending",
            EffectStatus::Live => "succeeded",
            EffectStatus::Failed => "failed",
        }
        .to_owned(),
        failure_reason: None,
        created_at: None,
    }
}

/// A refund that somebody made by hand: no marker, our amount, our payment.
pub fn by_hand(external_id: &str) -> EffectSeen {
    EffectSeen { marker: None, ..ours(external_id, EffectStatus::Live) }
}

/// It bears our marker and moved another amount.
pub fn wrong_amount(external_id: &str) -> EffectSeen {
    EffectSeen { amount_minor: AMOUNT + 1, ..ours(external_id, EffectStatus::Live) }
}

pub fn reconciler() -> Actor {
    Actor::Reconciler("w-1".to_owned())
}

/// One operation and everything that was written about it.
#[derive(Debug, Clone)]
pub struct Story {
    pub operation: Operation,
    pub entries: Vec<Entered>,
    pub policy: Policy,
    pub circumstances: Circumstances,
    /// Whether the whole story is told anew after every entry; long stories do that once, at their end.
    pub tells_anew: bool,
}

impl Story {
    /// Recorded and allowed at 10:02:58.
    pub fn begins() -> Self {
        Self::begins_with(policy())
    }

    pub fn begins_with(policy: Policy) -> Self {
        Self::begins_in(State::Authorized, policy)
    }

    pub fn begins_in(state: State, policy: Policy) -> Self {
        let now = recorded_at();
        let intent = intent();
        let (_, intent_hash) = intent.seal().unwrap();
        let first = Entered {
            seq: 1,
            at: now,
            actor: Actor::Token("shop".to_owned()),
            entry: Entry::Recorded { subject: Box::new(subject()), state, holds: Vec::new() },
        };
        let operation =
            Operation::replay(operation_id(), intent, intent_hash, std::slice::from_ref(&first)).unwrap();
        let circumstances =
            Circumstances { now, newest_in_ledger: now, account_paused: false, payment_blocked: false };
        Self { operation, entries: vec![first], policy, circumstances, tells_anew: true }
    }

    /// Sent at 10:02:58, and no answer came within the ten seconds.
    pub fn sent_and_no_answer() -> Self {
        Self::sent_and_no_answer_with(policy())
    }

    pub fn sent_and_no_answer_with(policy: Policy) -> Self {
        let mut story = Self::begins_with(policy);
        story.marks();
        story.after(story.policy.send_timeout);
        story.ends(1, no_answer());
        assert_eq!(story.state(), State::Unknown);
        story
    }

    pub fn now(&self) -> Timestamp {
        self.circumstances.now
    }

    pub fn state(&self) -> State {
        self.operation.facts.state
    }

    /// Time passes.
    pub fn after(&mut self, gap: Duration) -> &mut Self {
        self.at(later(self.now(), gap))
    }

    /// It is now this time; the ledger's newest time is never older than what was written.
    pub fn at(&mut self, now: Timestamp) -> &mut Self {
        self.circumstances.now = now;
        self
    }

    /// The clock is set back.
    pub fn clock_goes_back(&mut self, gap: Duration) -> &mut Self {
        self.circumstances.now = earlier(self.now(), gap);
        self
    }

    pub fn take(&mut self, entries: Vec<Entered>, after: Operation) {
        self.operation = after;
        self.entries.extend(entries);
        let newest = self.entries.iter().rev().map(|entered| entered.at).take(50).max().unwrap();
        self.circumstances.newest_in_ledger = self.circumstances.newest_in_ledger.max(newest);
        if self.tells_anew {
            self.is_told_by_its_entries();
        }
    }

    pub fn is_told_by_its_entries(&self) {
        let replayed = Operation::replay(
            self.operation.id.clone(),
            self.operation.intent.clone(),
            self.operation.intent_hash.clone(),
            &self.entries,
        )
        .unwrap();
        assert_eq!(replayed, self.operation, "the entries tell the same story as the live operation");
    }

    pub fn draft<T>(&mut self, write: impl FnOnce(&mut Draft) -> T) -> T {
        let mut draft = Draft::of(&self.operation, &reconciler(), self.now());
        let out = write(&mut draft);
        self.take(draft.entries, draft.operation);
        out
    }

    /// Marks one attempt, as the sender does just before the bytes leave. Returns its number.
    pub fn marks(&mut self) -> u32 {
        let number = u32::try_from(self.operation.facts.attempts.len() + 1).unwrap();
        let send_timeout_ms = u64::try_from(self.policy.send_timeout.as_millis()).unwrap();
        let key_window_s = self.policy.key_window.as_secs();
        self.draft(|draft| {
            draft
                .write(Entry::AttemptStarted {
                    number,
                    client_request_id: format!("client-{number}"),
                    send_timeout_ms,
                    key_window_s,
                })
                .unwrap();
            draft.raise(Event::Marked).unwrap();
        });
        number
    }

    /// Raises an event that a person or a caller brings about.
    pub fn raises(&mut self, event: Event) -> &mut Self {
        self.draft(|draft| draft.raise(event).unwrap());
        self
    }

    /// Somebody asks to stop, as the API does it.
    pub fn cancel_is_asked(&mut self) -> &mut Self {
        self.draft(|draft| {
            draft.write(Entry::CancelAsked).unwrap();
            draft.raise(Event::Cancelled).unwrap();
        });
        self
    }

    pub fn decides(&mut self, seen: Seen) -> Decision {
        let decision =
            decide(&self.operation, seen, &reconciler(), &self.policy, &self.circumstances).unwrap();
        self.take(decision.findings.clone(), decision.after.clone());
        decision
    }

    pub fn timer(&mut self) -> Decision {
        self.decides(Seen::Timer)
    }

    pub fn ends(&mut self, number: u32, end: AttemptEnd) -> Decision {
        self.decides(Seen::AttemptEnded { number, end })
    }

    pub fn is_told(&mut self, effect: EffectSeen) -> Decision {
        self.decides(Seen::Told(effect))
    }

    pub fn look_up(&self, walk: Walk, effects: Vec<EffectSeen>) -> LookUp {
        LookUp {
            started_at: self.now(),
            duration_ms: 40,
            walk,
            pages: 1,
            retries: 0,
            http_status: Some(200),
            provider_request_id: None,
            effects,
            others: 0,
        }
    }

    /// A look-up of this moment.
    pub fn looks_up(&mut self, walk: Walk, effects: Vec<EffectSeen>) -> Decision {
        let look_up = self.look_up(walk, effects);
        self.decides(Seen::LookedUp(look_up))
    }

    pub fn finds_nothing(&mut self) -> Decision {
        self.looks_up(Walk::Complete, Vec::new())
    }

    pub fn finds(&mut self, effect: EffectSeen) -> Decision {
        self.looks_up(Walk::Complete, vec![effect])
    }

    pub fn cannot_look_up(&mut self) -> Decision {
        self.looks_up(Walk::Unavailable(Unavailable::ServerError), Vec::new())
    }

    /// Two complete empty walks, late enough and far enough apart: absence is proved. Returns what follows.
    pub fn proves_absence(&mut self) -> Decision {
        let horizon = later(
            self.operation.facts.attempts.iter().map(|attempt| attempt.deadline()).max().unwrap(),
            self.policy.absence_lag,
        );
        self.at(self.now().max(horizon));
        let mut decision = self.finds_nothing();
        for _ in 1..self.policy.absence_count {
            self.after(self.policy.absence_gap);
            decision = self.finds_nothing();
        }
        assert!(self.operation.facts.absence_proved, "absence is proved");
        decision
    }

    pub fn incidents(&self) -> &[Incident] {
        &self.operation.facts.incidents
    }

    /// Whether the last things written hold together as a chain.
    pub fn chain_holds(&self) {
        let id = &self.operation.id;
        let hash = &self.operation.intent_hash;
        let mut head = chain::begin(id, hash);
        let mut sealed = Vec::new();
        for entered in &self.entries {
            let row = chain::seal(id, &head, entered).unwrap();
            assert_eq!(chain::open(&row).unwrap(), *entered);
            head.clone_from(&row.hash);
            sealed.push(row);
        }
        assert_eq!(chain::walk(id, hash, &sealed).unwrap(), head);
    }
}

/// The action waits until this moment.
pub fn waits_until(at: Timestamp) -> Action {
    Action::WaitUntil { at }
}

/// The operation went to a person, and why.
pub fn to_person(decision: &Decision) -> Option<counterfoil_ledger::decide::Escalation> {
    match decision.reason {
        Reason::ToPerson { why } => Some(why),
        _ => None,
    }
}
