//! A provider that keeps its promises: what it executes, what it keeps under a key, what it lists and what it tells unasked.
//! It lives in true time, in milliseconds; the ledger sees a clock that people may set.

use counterfoil_ledger::attempt::{AttemptEnd, Class, Why};
use counterfoil_ledger::evidence::EffectStatus::{Failed, Live, Pending};
use counterfoil_ledger::evidence::{Doubt, EffectSeen, EffectStatus, Unavailable, Walk};

use crate::support::{self, AMOUNT, end, ours, replayed};

/// What it keeps under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    KeptForEver,
    PrunedAtTheWindowsEnd,
    KeptOnSuccessOnly,
    Ignored,
}

/// What its list of effects is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    Complete,
    /// An effect shows half a minute after it was made.
    Lagging,
    Capped,
    Looping,
    Down,
}

/// What it does with a request whose key it doesn't know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Executes,
    ExecutesSlowly,
    Refuses { kept: bool },
    TurnsAway,
    Answers500 { applied: bool },
    Answers500BeforeTheKey,
    ExecutesTheWrongAmount,
    ExecutesTwice,
}

/// One effect that ever was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) seen: EffectSeen,
    made_at: i64,
}

impl Effect {
    pub(crate) fn is_ours(&self) -> bool {
        self.seen.marker.is_some()
    }
    pub(crate) fn matches(&self) -> bool {
        self.is_ours() && self.seen.amount_minor == AMOUNT
    }
    pub(crate) fn stands(&self) -> bool {
        self.seen.status != Failed
    }
}

/// A request that is still under way when its sender has given up.
#[derive(Debug, Clone, Copy)]
struct Landing {
    at: i64,
    behaviour: Behaviour,
}

/// How long after it was made a lagging list shows an effect. Together with [`LANDS_AFTER_MS`] less than the declared lag.
const LISTS_AFTER_MS: i64 = 30_000;
/// How long after the mark a slow network still delivers.
pub(crate) const LANDS_AFTER_MS: i64 = 35_000;

#[derive(Debug, Clone)]
pub(crate) struct Provider {
    pub(crate) keys: Keys,
    pub(crate) listing: Listing,
    pub(crate) window_ms: i64,
    pub(crate) effects: Vec<Effect>,
    /// What it still has to tell, in the order of events; whoever delivers may choose another.
    pub(crate) webhooks: Vec<EffectSeen>,
    /// One key is enough: there is one operation.
    stored: Option<(i64, AttemptEnd)>,
    landing: Vec<Landing>,
}

impl Provider {
    pub(crate) fn new(keys: Keys, listing: Listing, window_ms: i64) -> Self {
        Self {
            keys,
            listing,
            window_ms,
            effects: Vec::new(),
            webhooks: Vec::new(),
            stored: None,
            landing: Vec::new(),
        }
    }

    /// Everything with our marker, standing or not.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Effect> {
        self.effects.iter().filter(|effect| effect.is_ours())
    }

    /// Whether a request is under way that would be executed when it arrives.
    pub(crate) fn something_is_under_way(&self) -> bool {
        !self.landing.is_empty() && self.stored.is_none()
    }

    /// Whether a request that arrives now is recognised by its key, so that it makes nothing new.
    pub(crate) fn protects(&self, now: i64) -> bool {
        self.stored.as_ref().is_some_and(|(at, _)| !self.forgets(*at, now))
            || (self.keys != Keys::Ignored && !self.landing.is_empty())
    }

    fn forgets(&self, stored_at: i64, now: i64) -> bool {
        self.keys == Keys::PrunedAtTheWindowsEnd && now - stored_at >= self.window_ms
    }

    /// A request arrives.
    pub(crate) fn receives(&mut self, now: i64, behaviour: Behaviour) -> AttemptEnd {
        if let Some((at, answer)) = self.stored.clone() {
            if !self.forgets(at, now) {
                return replayed(answer);
            }
            self.stored = None;
        }
        if self.keys != Keys::Ignored && !self.landing.is_empty() {
            return AttemptEnd { why: Why::InFlight, http_status: Some(409), ..end(Class::Indeterminate) };
        }
        let answer = self.executes(now, behaviour);
        let keeps = match (self.keys, behaviour) {
            (
                _,
                Behaviour::TurnsAway | Behaviour::Answers500BeforeTheKey | Behaviour::Refuses { kept: false },
            ) => false,
            (Keys::KeptForEver | Keys::PrunedAtTheWindowsEnd, _) => true,
            (Keys::KeptOnSuccessOnly, _) => answer.http_status == Some(200),
            (Keys::Ignored, _) => false,
        };
        if keeps {
            self.stored = Some((now, answer.clone()));
        }
        answer
    }

    /// A request will arrive later; nobody waits for its answer any more.
    pub(crate) fn receives_later(&mut self, at: i64, behaviour: Behaviour) {
        self.landing.push(Landing { at, behaviour });
    }

    /// What is under way arrives, in its order.
    pub(crate) fn time_has_come(&mut self, now: i64) {
        self.landing.sort_by_key(|landing| landing.at);
        while let Some(landing) = self.landing.first().copied().filter(|landing| landing.at <= now) {
            self.landing.remove(0);
            self.receives(landing.at, landing.behaviour);
        }
    }

    fn executes(&mut self, now: i64, behaviour: Behaviour) -> AttemptEnd {
        let keeps_failures = matches!(self.keys, Keys::KeptForEver | Keys::PrunedAtTheWindowsEnd);
        match behaviour {
            Behaviour::Executes => self.makes(now, Live, AMOUNT),
            Behaviour::ExecutesSlowly => self.makes(now, Pending, AMOUNT),
            Behaviour::ExecutesTwice => {
                self.makes(now, Live, AMOUNT);
                self.makes(now, Live, AMOUNT)
            }
            // The effect check of the adapter fails: the answer proves nothing.
            Behaviour::ExecutesTheWrongAmount => AttemptEnd {
                class: Class::Indeterminate,
                why: Why::EffectMismatch,
                ..self.makes(now, Live, AMOUNT + 1)
            },
            Behaviour::Refuses { .. } => support::refused(),
            Behaviour::TurnsAway => support::deferred(),
            Behaviour::Answers500 { applied } => {
                if applied {
                    self.makes(now, Live, AMOUNT);
                }
                if keeps_failures { support::stored_500() } else { support::plain_500() }
            }
            Behaviour::Answers500BeforeTheKey => support::plain_500(),
        }
    }

    fn makes(&mut self, now: i64, status: EffectStatus, amount_minor: i64) -> AttemptEnd {
        let external_id = format!("re_{}", self.effects.len() + 1);
        let seen = EffectSeen { amount_minor, ..ours(&external_id, status) };
        self.effects.push(Effect { seen: seen.clone(), made_at: now });
        self.webhooks.push(seen.clone());
        support::accepted(seen)
    }

    /// Somebody refunds in the provider's own console.
    pub(crate) fn is_used_by_hand(&mut self, now: i64, amount_minor: i64) {
        let external_id = format!("re_{}", self.effects.len() + 1);
        let seen = EffectSeen { amount_minor, ..support::by_hand(&external_id) };
        self.effects.push(Effect { seen, made_at: now });
    }

    /// One of our effects moves on.
    pub(crate) fn moves(&mut self, nth: usize, status: EffectStatus) {
        let mut ours: Vec<&mut Effect> = self.effects.iter_mut().filter(|effect| effect.is_ours()).collect();
        if ours.is_empty() {
            return;
        }
        let index = nth % ours.len();
        let effect = &mut ours[index];
        if effect.seen.status != status {
            effect.seen.status = status;
            self.webhooks.push(effect.seen.clone());
        }
    }

    /// What a look-up shows: how far it came, and what of it concerns us.
    pub(crate) fn lists(&self, now: i64) -> (Walk, Vec<EffectSeen>) {
        let shows = |effect: &&Effect| {
            (effect.is_ours() || (effect.seen.amount_minor == AMOUNT && effect.stands()))
                && (self.listing != Listing::Lagging || now - effect.made_at >= LISTS_AFTER_MS)
        };
        let all = || self.effects.iter().filter(shows).map(|effect| effect.seen.clone()).collect();
        match self.listing {
            Listing::Complete | Listing::Lagging => (Walk::Complete, all()),
            // Ours stands on a page that isn't reached.
            Listing::Capped => (Walk::Inconclusive(Doubt::PageCap), Vec::new()),
            Listing::Looping => (Walk::Inconclusive(Doubt::CursorLoop), Vec::new()),
            Listing::Down => (Walk::Unavailable(Unavailable::ServerError), Vec::new()),
        }
    }
}
