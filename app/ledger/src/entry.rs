//! What is written down about an operation, one entry after the other, never edited or removed.
//!
//! Everything that the ledger holds true of an operation can be told again from its entries: see
//! [`crate::operation::Operation::absorb`]. How they are chained is in [`crate::chain`].

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::attempt::AttemptEnd;
use crate::evidence::{Difference, EffectSeen, LookUp};
use crate::identity::{IdentityValue, KindName, OperationId, Revision};
use crate::state::{Event, State};

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A token, by name: a program, never a person.
    Token(String),
    /// A person, by stable id.
    Person(String),
    /// The sender of an attempt, by its process's name.
    Sender(String),
    /// The reconciliation daemon, by its process's name.
    Reconciler(String),
    /// The provider, speaking unasked.
    Provider(String),
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (role, name) = match self {
            Self::Token(name) => ("token", name),
            Self::Person(name) => ("person", name),
            Self::Sender(name) => ("sender", name),
            Self::Reconciler(name) => ("reconciler", name),
            Self::Provider(name) => ("provider", name),
        };
        write!(f, "{role}:{name}")
    }
}

/// Who asked for an operation, and in what words. The words are kept with each request, outside the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The token's name.
    pub token: String,
    /// The stable id of the person who owned the token when it asked.
    pub owner: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requested_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// What an operation is, beside its intent. Fixed when it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub kind: KindName,
    /// Field names and values, in the kind's order.
    pub identity: Vec<(String, IdentityValue)>,
    pub revision: Revision,
    pub order: IdentityValue,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub customer: Option<String>,
    /// The caller's own parameters as given; a repeat must give the same.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub params: Option<serde_json::Value>,
    /// How long it may wait to be sent, in seconds.
    pub send_within_s: u64,
}

impl Subject {
    /// The identity's values alone.
    pub fn values(&self) -> Vec<IdentityValue> {
        self.identity.iter().map(|(_, value)| value.clone()).collect()
    }

    /// One identity value by field name.
    pub fn value(&self, field: &str) -> Option<&IdentityValue> {
        self.identity.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }
}

/// Why an operation waits for a person before its first send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "hold", rename_all = "snake_case")]
pub enum Hold {
    /// A revision: a token can never vouch for its own.
    Revision,
    /// Above the kind's limit for one order in 30 days, in minor units.
    AboveLimit {
        #[serde(with = "crate::money::minor_text")]
        limit_minor: i64,
        #[serde(with = "crate::money::minor_text")]
        together_minor: i64,
    },
    /// It looks like another operation on the same payment and amount.
    Twin { operation: OperationId },
}

/// Something that must be looked into, whatever the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Incident {
    /// An effect with our marker where there should be none.
    EffectAgainstState { state: State, external_id: String },
    /// More than one effect for one operation.
    TwoEffects { external_ids: Vec<String> },
    /// An effect with our marker that isn't what was intended.
    Mismatch { external_id: String, differences: Vec<Difference> },
    /// A confirmed effect came back.
    Bounced { external_id: String },
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "body", rename_all = "snake_case")]
pub enum Entry {
    /// The operation exists. Its intent is bound by the chain's first link.
    Recorded {
        subject: Box<Subject>,
        state: State,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        holds: Vec<Hold>,
    },
    /// Somebody asked for it, the first time or again.
    Asked(Asked),
    /// The state moved.
    State { from: State, to: State, event: Event },
    /// The mark: committed before a byte leaves.
    AttemptStarted { number: u32, client_request_id: String, send_timeout_ms: u64, key_window_s: u64 },
    /// What became of an attempt.
    AttemptEnded { number: u32, end: AttemptEnd },
    /// We asked the provider. `counted`: one more walk towards the proof of absence; `proves_absence`: enough of them.
    /// `restored_at`: the restore that was in force, so that the walk counts for what may have been sent before it, too.
    LookedUp {
        look_up: LookUp,
        counted: bool,
        proves_absence: bool,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        restored_at: Option<Timestamp>,
    },
    /// The provider told us, unasked.
    Told { effect: EffectSeen },
    /// Somebody asked us to stop.
    CancelAsked,
    /// Something to look into.
    Incident(Incident),
}

impl Entry {
    /// The type's label in SQL and JSON.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Recorded { .. } => "recorded",
            Self::Asked(_) => "asked",
            Self::State { .. } => "state",
            Self::AttemptStarted { .. } => "attempt_started",
            Self::AttemptEnded { .. } => "attempt_ended",
            Self::LookedUp { .. } => "looked_up",
            Self::Told { .. } => "told",
            Self::CancelAsked => "cancel_asked",
            Self::Incident(_) => "incident",
        }
    }
}

/// An entry with its place in the chain of its operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entered {
    /// From 1.
    pub seq: u64,
    pub at: Timestamp,
    pub actor: Actor,
    #[serde(flatten)]
    pub entry: Entry,
}
