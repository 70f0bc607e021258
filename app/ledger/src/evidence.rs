//! What was seen at the provider, how it relates to an intent, and what all of it adds up to.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::intent::Intent;

/// What a provider says about one effect, in three words that the ledger knows. The provider's own word is kept beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectStatus {
    /// Held, not finished.
    Pending,
    /// It exists.
    Live,
    /// It does not exist any more, or never came to be.
    Failed,
}

/// One object at the provider, as an answer, a look-up or a webhook showed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectSeen {
    /// The provider's number for it.
    pub external_id: String,
    /// What stands in the field that we write the marker into; `None` when it is empty.
    pub marker: Option<String>,
    /// Every name of what it was done to (payment intent, charge).
    pub targets: Vec<String>,
    #[serde(with = "crate::money::minor_text")]
    pub amount_minor: i64,
    /// In capitals, as compared; not checked to be a currency.
    pub currency: String,
    pub status: EffectStatus,
    /// The provider's own word for the status.
    pub provider_status: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub created_at: Option<Timestamp>,
}

/// A field in which an effect that bears our marker differs from the intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    Amount,
    Currency,
    Target,
}

/// What an effect is to an intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// It bears our marker, and everything else is right byte for byte.
    Ours,
    /// It bears our marker, and something else is wrong: an incident, never a silent choice.
    Mismatch(Vec<Difference>),
    /// Nobody's marker, and the same amount on the same target: it might be ours under a person's hand.
    UnclaimedEqual,
    /// Somebody else's, or of another amount.
    Foreign,
}

/// The effect check (rule 10): marker, amount, currency and target, byte for byte.
pub fn relate(intent: &Intent, seen: &EffectSeen) -> Relation {
    let mut differences = Vec::new();
    if seen.amount_minor != intent.money.minor() {
        differences.push(Difference::Amount);
    }
    if seen.currency != intent.money.currency().code() {
        differences.push(Difference::Currency);
    }
    if !seen.targets.contains(&intent.target) {
        differences.push(Difference::Target);
    }
    match seen.marker.as_deref() {
        Some(marker) if marker == intent.marker.as_str() => {
            if differences.is_empty() {
                Relation::Ours
            } else {
                Relation::Mismatch(differences)
            }
        }
        None if differences.is_empty() && seen.status != EffectStatus::Failed => Relation::UnclaimedEqual,
        Some(_) | None => Relation::Foreign,
    }
}

/// How far a look-up came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "walk", content = "why", rename_all = "snake_case")]
pub enum Walk {
    /// Every page of a strongly consistent list was read.
    Complete,
    /// It was read, and not all of it: says nothing about what wasn't seen.
    Inconclusive(Doubt),
    /// It couldn't be read: says nothing at all.
    Unavailable(Unavailable),
}

/// Why a walk doesn't count as whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    PageCap,
    CursorLoop,
}

/// Why a look-up brought nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unavailable {
    NotConnected,
    NoAnswer,
    Unauthorized,
    Forbidden,
    NotFound,
    RateLimited,
    ServerError,
    UnexpectedStatus,
    NotWellFormed,
    /// Our own breaker: the account has been failing, and a probe is not due yet.
    AccountDown,
}

/// One look-up: a walk over all effects on the target, each found effect read again by its own id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookUp {
    /// Before the first request left: what was created later may be missing.
    pub started_at: Timestamp,
    pub duration_ms: u64,
    #[serde(flatten)]
    pub walk: Walk,
    /// Pages read.
    pub pages: u32,
    /// Requests that failed and were tried again, within the read budget.
    pub retries: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider_request_id: Option<String>,
    /// Effects on the target that bear our marker, or nobody's with our amount. Others are only counted.
    pub effects: Vec<EffectSeen>,
    /// Effects on the target that have nothing to do with this intent.
    pub others: u32,
}

/// How the ledger came to know of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The answer to one of our attempts.
    Answer,
    /// A look-up that read the effect by its own id: the newest word there is.
    ReadDirectly,
    /// The provider told us.
    Webhook,
}

/// An effect that bears our marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    pub external_id: String,
    pub status: EffectStatus,
    #[serde(with = "crate::money::minor_text")]
    pub amount_minor: i64,
    pub currency: String,
    /// Empty: the effect check passed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub differences: Vec<Difference>,
}

impl Hit {
    /// Whether the effect check passed.
    pub fn matches(&self) -> bool {
        self.differences.is_empty()
    }
}

/// What all the evidence adds up to, in one word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    #[default]
    Nothing,
    /// Proved by rule 6, for every attempt so far.
    Absent,
    Found,
    /// A mismatch, or more than one effect.
    Contradiction,
}

/// What all the evidence so far adds up to. Walk counts, ages and unavailability are no part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    pub verdict: Verdict,
    /// In order of first sight; never removed.
    pub hits: Vec<Hit>,
    /// External ids of unclaimed effects of equal amount on the target.
    pub unclaimed_equal: Vec<String>,
}

impl Conclusion {
    /// Takes in one effect. An older status never undoes a newer one: back from failed, or from live to pending, only when the
    /// effect was read directly. What once bore our marker is known by its external id ever after.
    pub fn take_in(&mut self, intent: &Intent, seen: &EffectSeen, source: Source) {
        let relation = relate(intent, seen);
        let unclaimed = relation == Relation::UnclaimedEqual;
        let differences = match relation {
            Relation::Ours => Some(Vec::new()),
            Relation::Mismatch(differences) => Some(differences),
            Relation::UnclaimedEqual | Relation::Foreign => None,
        };
        let known = self.hits.iter().position(|hit| hit.external_id == seen.external_id);
        if !unclaimed || known.is_some() {
            self.unclaimed_equal.retain(|id| *id != seen.external_id);
        } else if !self.unclaimed_equal.contains(&seen.external_id) {
            self.unclaimed_equal.push(seen.external_id.clone());
        }
        match (known.and_then(|index| self.hits.get_mut(index)), differences) {
            (Some(hit), differences) => {
                if seen.status >= hit.status || source == Source::ReadDirectly {
                    hit.status = seen.status;
                }
                if let Some(differences) = differences {
                    hit.amount_minor = seen.amount_minor;
                    hit.currency.clone_from(&seen.currency);
                    hit.differences = differences;
                }
            }
            (None, Some(differences)) => self.hits.push(Hit {
                external_id: seen.external_id.clone(),
                status: seen.status,
                amount_minor: seen.amount_minor,
                currency: seen.currency.clone(),
                differences,
            }),
            (None, None) => {}
        }
    }

    /// The hit with this external id.
    pub fn hit(&self, external_id: &str) -> Option<&Hit> {
        self.hits.iter().find(|hit| hit.external_id == external_id)
    }

    /// Says the verdict anew. `absence_proved` counts only while nothing was ever found: an empty answer never un-finds.
    pub fn weigh(&mut self, absence_proved: bool) {
        let standing = self.standing().count();
        self.verdict = if self.hits.iter().any(|hit| !hit.matches()) || standing > 1 {
            Verdict::Contradiction
        } else if !self.hits.is_empty() {
            Verdict::Found
        } else if absence_proved {
            Verdict::Absent
        } else {
            Verdict::Nothing
        };
    }

    /// Matching effects that exist or may come to exist.
    pub fn standing(&self) -> impl Iterator<Item = &Hit> {
        self.hits.iter().filter(|hit| hit.matches() && hit.status != EffectStatus::Failed)
    }

    /// The external id that stands for the operation: the first standing match, else the first match at all.
    pub fn external_id(&self) -> Option<&str> {
        self.standing()
            .next()
            .or_else(|| self.hits.iter().find(|hit| hit.matches()))
            .map(|hit| hit.external_id.as_str())
    }

    /// Minor units of every standing effect with our marker, mismatches included: it left, whatever we meant.
    pub fn standing_minor(&self) -> i64 {
        sum_minor(self.standing()).saturating_add(self.disputed_minor())
    }

    /// Minor units of the standing effects that bear our marker and aren't what was intended.
    pub fn disputed_minor(&self) -> i64 {
        sum_minor(self.hits.iter().filter(|hit| !hit.matches() && hit.status != EffectStatus::Failed))
    }
}

fn sum_minor<'a>(hits: impl Iterator<Item = &'a Hit>) -> i64 {
    hits.fold(0_i64, |sum, hit| sum.saturating_add(hit.amount_minor))
}

/// How often and how late an empty walk must be seen before it is proof (rule 6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// Complete empty walks that count, since the latest attempt.
    pub walks: u32,
    /// When the last of them began.
    pub last_at: Option<Timestamp>,
    /// The restore from a backup that they speak for: every one of them began late enough to show what was sent before it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restored_at: Option<Timestamp>,
}

impl Absence {
    /// Whether one more complete empty walk that began at `started_at` counts.
    pub fn counts(&self, started_at: Timestamp, horizon: Timestamp, gap: Duration) -> bool {
        started_at >= horizon && self.last_at.is_none_or(|last| started_at >= crate::window::later(last, gap))
    }
}
