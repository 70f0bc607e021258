//! A [`Story`] does with one operation what the server does: asks [`decide`], writes the findings down, and keeps all that was
//! written.

use std::time::Duration;

use counterfoil_ledger::attempt::AttemptEnd;
use counterfoil_ledger::chain;
use counterfoil_ledger::decide::{Circumstances, Decision, Draft, Policy, Seen, decide};
use counterfoil_ledger::entry::{Actor, Entered, Entry, Incident};
use counterfoil_ledger::evidence::{EffectSeen, LookUp, Unavailable, Walk};
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::{earlier, later};
use jiff::Timestamp;

use super::{intent, no_answer, operation_id, policy, reconciler, recorded_at, subject};

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
        let circumstances = Circumstances {
            now,
            newest_in_ledger: now,
            account_paused: false,
            payment_blocked: false,
            restored_at: None,
        };
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

    /// The ledger is put back from a backup that was taken just now.
    pub fn is_restored(&mut self) -> &mut Self {
        self.circumstances.restored_at = Some(self.now().max(self.circumstances.newest_in_ledger));
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
