//! An operation: what it is, which never changes, and what is known of it, which its entries tell.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::attempt::{Attempt, Class};
use crate::entry::{Asked, Entered, Entry, Hold, Incident, Subject};
use crate::evidence::{Absence, Conclusion, EffectSeen, EffectStatus, Source, Walk};
use crate::identity::OperationId;
use crate::intent::{Intent, IntentHash};
use crate::state::{Event, State};
use crate::window::{KeyProtects, KeyWindow, later};

/// The last look-up, as far as decisions need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLookUp {
    pub started_at: Timestamp,
    #[serde(flatten)]
    pub walk: Walk,
    pub counted: bool,
}

/// Why and when the first send was held back for a person, after it had been allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBack {
    pub at: Timestamp,
    /// Because of a restore from a backup, and not of something that was seen.
    pub for_restore: bool,
    /// A person has allowed it since.
    pub approved: bool,
}

/// As of when the status of an effect is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// The newest word that counted, from anywhere.
    pub heard_at: Timestamp,
    /// When the newest direct read began.
    pub read_at: Option<Timestamp>,
}

/// What is known of an operation: the sum of its entries, and nothing that they don't say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub subject: Subject,
    pub state: State,
    /// Moves with state, decisions and the conclusion; not with leases, claims, notes or repeated look-ups.
    pub version: u64,
    /// Entries so far.
    pub seq: u64,
    pub created_at: Timestamp,
    /// The newest time of any entry.
    pub updated_at: Timestamp,
    /// When the present state was entered.
    pub state_since: Timestamp,
    /// When it was last allowed to be sent: recording, or the latest approval. `send_within` runs from here.
    pub allowed_at: Option<Timestamp>,
    /// The last doubt that held it back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub held_back: Option<HeldBack>,
    /// When it first became unknown. Never reset.
    pub unknown_since: Option<Timestamp>,
    pub holds: Vec<Hold>,
    pub asked: Option<Asked>,
    /// How often it was asked for.
    pub asked_count: u32,
    pub attempts: Vec<Attempt>,
    pub window: Option<KeyWindow>,
    pub conclusion: Conclusion,
    pub absence: Absence,
    /// Enough counted walks since the latest attempt (rule 6).
    pub absence_proved: bool,
    pub last_look_up: Option<LastLookUp>,
    /// Look-ups since the latest attempt.
    pub look_ups: u32,
    /// The last walk that was read at all, whole or not: the watch on confirmed effects goes by it.
    pub last_read_at: Option<Timestamp>,
    /// How fresh the status of each effect with our marker is, by external id.
    #[serde(default)]
    pub freshness: BTreeMap<String, Freshness>,
    /// Since when the provider's word on whether an effect failed disagrees with the one before: webhooks come in any order, so
    /// the effect itself is asked.
    #[serde(default)]
    pub contradicted_since: Option<Timestamp>,
    pub cancel_asked: bool,
    /// `failed` after it had been `confirmed`.
    pub bounced: bool,
    pub incidents: Vec<Incident>,
}

/// An operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub id: OperationId,
    pub intent: Intent,
    pub intent_hash: IntentHash,
    pub facts: Facts,
}

/// An entry that can't stand where it stands: the stored history was changed, or we have a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    #[error("entry {seq} doesn't follow: {what}")]
    OutOfPlace { seq: u64, what: &'static str },
    #[error("there is no first entry")]
    Empty,
}

impl Facts {
    fn begin(first: &Entered) -> Result<Self, HistoryError> {
        let Entry::Recorded { subject, state, holds } = &first.entry else {
            return Err(HistoryError::OutOfPlace {
                seq: first.seq,
                what: "the first entry records the operation",
            });
        };
        Ok(Self {
            subject: subject.as_ref().clone(),
            state: *state,
            version: 1,
            seq: first.seq,
            created_at: first.at,
            updated_at: first.at,
            state_since: first.at,
            allowed_at: (*state == State::Authorized).then_some(first.at),
            held_back: None,
            unknown_since: None,
            holds: holds.clone(),
            asked: None,
            asked_count: 0,
            attempts: Vec::new(),
            window: None,
            conclusion: Conclusion::default(),
            absence: Absence::default(),
            absence_proved: false,
            last_look_up: None,
            look_ups: 0,
            last_read_at: None,
            freshness: BTreeMap::new(),
            contradicted_since: None,
            cancel_asked: false,
            bounced: false,
            incidents: Vec::new(),
        })
    }

    /// Takes in one effect as of `as_of`. A direct read that began before a newer one says nothing; one that began before other
    /// news was heard is no better than hearsay.
    fn see(&mut self, intent: &Intent, effect: &EffectSeen, source: Source, as_of: Timestamp) {
        let before = self.freshness.get(&effect.external_id).copied();
        let direct = source == Source::ReadDirectly;
        if direct && before.and_then(|fresh| fresh.read_at).is_some_and(|read_at| as_of < read_at) {
            return;
        }
        let stale = direct && before.is_some_and(|fresh| as_of < fresh.heard_at);
        self.conclusion.take_in(intent, effect, if stale { Source::Webhook } else { source });
        if self.conclusion.hit(&effect.external_id).is_some_and(|hit| hit.status == effect.status) {
            let heard_at = before.map_or(as_of, |fresh| fresh.heard_at.max(as_of));
            let read_at = if direct { Some(as_of) } else { before.and_then(|fresh| fresh.read_at) };
            self.freshness.insert(effect.external_id.clone(), Freshness { heard_at, read_at });
        }
    }
}

impl Operation {
    /// Tells the whole story from the first entry on.
    ///
    /// # Errors
    /// [`HistoryError`] names the first entry that doesn't follow.
    pub fn replay(
        id: OperationId,
        intent: Intent,
        intent_hash: IntentHash,
        entries: &[Entered],
    ) -> Result<Self, HistoryError> {
        let (first, rest) = entries.split_first().ok_or(HistoryError::Empty)?;
        let mut operation = Self { id, intent, intent_hash, facts: Facts::begin(first)? };
        for entered in rest {
            operation.absorb(entered)?;
        }
        Ok(operation)
    }

    /// Takes in the next entry.
    ///
    /// # Errors
    /// [`HistoryError`] when it can't stand here; the operation is then no longer to be used.
    pub fn absorb(&mut self, entered: &Entered) -> Result<(), HistoryError> {
        let Entered { seq, at, entry, .. } = entered;
        let out_of_place = |what| HistoryError::OutOfPlace { seq: *seq, what };
        if *seq != self.facts.seq + 1 {
            return Err(out_of_place("its number isn't the next one"));
        }
        let before = (self.facts.state, self.facts.conclusion.clone());
        let facts = &mut self.facts;
        match entry {
            Entry::Recorded { .. } => return Err(out_of_place("an operation is recorded once")),
            Entry::Asked(asked) => {
                facts.asked_count += 1;
                if facts.asked.is_none() {
                    facts.asked = Some(asked.clone());
                }
            }
            Entry::State { from, to, event } => {
                if *from != facts.state {
                    return Err(out_of_place("it leaves a state that the operation isn't in"));
                }
                facts.bounced = *from == State::Confirmed && *to == State::Failed;
                facts.state = *to;
                facts.state_since = *at;
                if *to == State::Unknown && facts.unknown_since.is_none() {
                    facts.unknown_since = Some(*at);
                }
                match event {
                    Event::Approved => {
                        facts.allowed_at = Some(*at);
                        if let Some(held_back) = &mut facts.held_back {
                            held_back.approved = true;
                        }
                    }
                    Event::HeldBack | Event::RestoreInDoubt => {
                        let for_restore = *event == Event::RestoreInDoubt;
                        facts.held_back = Some(HeldBack { at: *at, for_restore, approved: false });
                    }
                    _ => {}
                }
            }
            Entry::AttemptStarted { number, client_request_id, send_timeout_ms, key_window_s } => {
                if usize::try_from(*number).ok() != Some(facts.attempts.len() + 1) {
                    return Err(out_of_place("attempts are numbered in order"));
                }
                facts.attempts.push(Attempt {
                    number: *number,
                    client_request_id: client_request_id.clone(),
                    marked_at: *at,
                    send_timeout_ms: *send_timeout_ms,
                    ended_at: None,
                    end: None,
                });
                facts.window.get_or_insert(KeyWindow { opened_at: *at, length_s: *key_window_s });
                // Absence has to be proved again for what this attempt may do.
                facts.absence = Absence::default();
                facts.absence_proved = false;
                facts.look_ups = 0;
            }
            Entry::AttemptEnded { number, end } => {
                let attempt = facts
                    .attempts
                    .iter_mut()
                    .find(|attempt| attempt.number == *number)
                    .ok_or_else(|| out_of_place("it ends an attempt that never started"))?;
                if attempt.end.is_some() {
                    return Err(out_of_place("an attempt ends once"));
                }
                attempt.ended_at = Some(*at);
                attempt.end = Some(end.clone());
                if end.class == Class::NotSent && !facts.attempts.iter().any(Attempt::may_have_arrived) {
                    facts.window = None;
                }
                if let Some(effect) = &end.effect {
                    facts.see(&self.intent, effect, Source::Answer, *at);
                }
            }
            Entry::LookedUp { look_up, counted, proves_absence, restored_at } => {
                // What was proved before a restore says nothing about what the backup doesn't know.
                if *restored_at > facts.absence.restored_at {
                    facts.absence = Absence { restored_at: *restored_at, ..Absence::default() };
                    facts.absence_proved = false;
                }
                for effect in &look_up.effects {
                    facts.see(&self.intent, effect, Source::ReadDirectly, look_up.started_at);
                }
                if *counted {
                    facts.absence.walks += 1;
                    facts.absence.last_at = Some(look_up.started_at);
                }
                facts.absence_proved |= *proves_absence;
                facts.look_ups += 1;
                facts.last_look_up = Some(LastLookUp {
                    started_at: look_up.started_at,
                    walk: look_up.walk,
                    counted: *counted,
                });
                if !matches!(look_up.walk, Walk::Unavailable(_)) {
                    facts.last_read_at = Some(look_up.started_at);
                    if facts.contradicted_since.is_some_and(|since| since <= look_up.started_at) {
                        facts.contradicted_since = None;
                    }
                }
            }
            Entry::Told { effect } => {
                let stood = facts.conclusion.hit(&effect.external_id).map(|hit| hit.status);
                facts.see(&self.intent, effect, Source::Webhook, *at);
                let failed = EffectStatus::Failed;
                if stood.is_some_and(|was| was != effect.status && (was == failed || effect.status == failed))
                {
                    // A read that began before the word of failure can't outweigh it, whatever the clock did meanwhile.
                    let heard_at =
                        facts.freshness.get(&effect.external_id).map_or(*at, |fresh| fresh.heard_at);
                    facts.contradicted_since = Some(heard_at.max(*at));
                }
            }
            Entry::CancelAsked => facts.cancel_asked = true,
            Entry::Incident(incident) => facts.incidents.push(incident.clone()),
        }
        facts.conclusion.weigh(facts.absence_proved);
        if before != (facts.state, facts.conclusion.clone()) {
            facts.version += 1;
        }
        facts.seq = *seq;
        // A clock that went back doesn't take the ledger's newest time back with it: that is how it is noticed.
        facts.updated_at = facts.updated_at.max(*at);
        Ok(())
    }

    /// From when on a complete empty walk says something about every send that there may have been (rule 6): those written here,
    /// and those before a restore, of which a backup knows nothing. `None`: there was none, and no restore.
    pub fn absence_counts_from(
        &self,
        send_timeout: Duration,
        absence_lag: Duration,
        restored_at: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let known = self.facts.attempts.last().map(Attempt::deadline);
        let unknown = restored_at.map(|at| later(at, send_timeout));
        known.max(unknown).map(|over| later(over, absence_lag))
    }

    /// The attempt that is on its way: started, and its end not known.
    pub fn open_attempt(&self) -> Option<&Attempt> {
        self.facts.attempts.last().filter(|attempt| attempt.end.is_none())
    }

    /// Whether every attempt that may have been executed fell into one window in which the key makes them one execution. Only
    /// then does what is known of one of them hold for the operation.
    pub fn one_protected_window(&self, protects: KeyProtects) -> bool {
        let mut executed = self.facts.attempts.iter().filter(|attempt| attempt.may_have_executed());
        let Some(first) = executed.next() else { return true };
        let Some(window) = self.facts.window else { return false };
        let closes_at = window.closes_at();
        let mut others = executed.peekable();
        if others.peek().is_none() {
            return true;
        }
        protects == KeyProtects::All
            && first.deadline() <= closes_at
            && others.all(|attempt| attempt.deadline() <= closes_at)
    }

    /// The minor units that count as spent for this operation (rule 11): its own while it isn't disproved, never less than what
    /// its matching effects add up to, and every disputed amount on top.
    pub fn holds_minor(&self) -> i64 {
        let conclusion = &self.facts.conclusion;
        let own = if self.facts.state.holds_money() { self.intent.money.minor() } else { 0 };
        let disputed = conclusion.disputed_minor();
        own.saturating_add(disputed).max(conclusion.standing_minor())
    }

    /// When the first bytes may have left.
    pub fn first_sent_at(&self) -> Option<Timestamp> {
        self.facts.attempts.iter().find(|attempt| attempt.may_have_arrived()).map(|attempt| attempt.marked_at)
    }
}
