//! What goes into the store and comes out of it.

use std::collections::BTreeMap;

use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::balance::Holder;
use counterfoil_ledger::chain::Link;
use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::entry::Entered;
use counterfoil_ledger::evidence::{EffectSeen, EffectStatus};
use counterfoil_ledger::identity::{AccountName, IdentityValue, KindName, Marker, OperationId, Revision};
use counterfoil_ledger::intent::{Intent, IntentHash};
use counterfoil_ledger::money::Currency;
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Who does what next: execution, not outcome. A crash may lose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub due_at: Option<Timestamp>,
    pub reason: Reason,
}

/// A lease to take.
#[derive(Debug, Clone)]
pub struct Claim {
    pub token: String,
    pub now: Timestamp,
    pub until: Timestamp,
}

/// An operation with what stands around it.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub ordinal: i64,
    pub operation: Operation,
    /// The last link of its chain.
    pub head: Link,
    pub step: Step,
    pub lease: Option<(String, Timestamp)>,
    /// A look-up that was asked for and hasn't been made since.
    pub look_up_asked_at: Option<Timestamp>,
    /// Taken out of the work, and why.
    pub set_aside: Option<String>,
}

/// An operation in a list: one that can't be read is still shown.
#[derive(Debug, Clone)]
pub struct Listed {
    pub place: Cursor,
    pub id: OperationId,
    pub loaded: Result<Box<Loaded>, String>,
    pub set_aside: Option<String>,
    pub plain: Plain,
}

/// What a row's columns say by themselves, for one whose history can't be read.
#[derive(Debug, Clone)]
pub struct Plain {
    pub kind: String,
    pub order: String,
    pub account: String,
    pub state: String,
    pub amount_minor: i64,
    pub currency: String,
    pub updated_at: Timestamp,
}

/// Which operations, and in which order. Everything that is set must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub view: View,
    pub states: Vec<State>,
    pub order: Option<String>,
    pub external_id: Option<String>,
    pub kind: Option<String>,
    pub account: Option<String>,
    /// Recorded at or after.
    pub from: Option<Timestamp>,
    /// Recorded before.
    pub before: Option<Timestamp>,
    /// `Some`: by urgency as of then (window open, closing soonest; the rest by age). `None`: newest first.
    pub urgent_as_of: Option<Timestamp>,
}

/// What people look at.
#[derive(Debug, Clone, Copy, Default)]
pub enum View {
    #[default]
    All,
    /// With a person, with an incident, set aside, pending too long or with a window that closes.
    Attention(Limits),
    /// Unsettled, and the window closes soon.
    WindowClosing(Limits),
    PendingTooLong(Limits),
}

/// What *soon* and *too long* mean, as of now.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub now: Timestamp,
    pub window_until: Timestamp,
    pub pending_since: Timestamp,
}

/// Where the next page begins: behind the last row's place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub key: i64,
    pub ordinal: i64,
}

/// Exact counts of what is open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Per state that isn't final.
    pub open: BTreeMap<State, u64>,
    pub attention: u64,
    pub window_closing: u64,
    pub pending_too_long: u64,
    /// No operation was ever recorded.
    pub ledger_is_empty: bool,
}

/// What is to be written about an operation.
#[derive(Debug, Clone)]
pub struct Change {
    pub after: Operation,
    /// The entries that were there when it was decided; somebody else's entry in between makes it a conflict.
    pub expected_seq: u64,
    pub head: Link,
    pub entries: Vec<Entered>,
    /// `None`: who does what next stays as it is.
    pub step: Option<Step>,
    pub lease: LeaseRule,
    /// What was seen on the payment.
    pub effects: Vec<EffectSeen>,
    /// Raw answers by digest.
    pub bodies: Vec<(String, Vec<u8>)>,
    pub now: Timestamp,
}

/// What a change needs of the lease, and does with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseRule {
    /// Evidence and people's acts are never fenced out; the lease stays as it is.
    NotNeeded,
    /// The lease must be held and not have run out; it stays.
    Held(String),
    /// Written whoever holds it; if it is this one, it is given back.
    GivenBack(String),
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It stands, and this is the chain's new head.
    Done(Link),
    /// Somebody else wrote first, or the lease is gone: reload and decide again.
    Conflict,
}

/// Where a new operation belongs.
#[derive(Debug, Clone)]
pub struct Place {
    pub id: OperationId,
    /// The Operation ID of its first revision.
    pub base_id: OperationId,
    pub order: String,
    pub now: Timestamp,
}

/// What the store read before an operation is judged, the payment locked.
#[derive(Debug, Clone)]
pub struct Surroundings {
    pub order: Option<OrderSnapshot>,
    pub captured_minor: i64,
    /// Effects on the payment that no operation claims.
    pub unclaimed: Vec<KnownEffect>,
    /// The restore from a backup that is in force.
    pub restored_at: Option<Timestamp>,
    /// Operations on the same payment, and every revision of the same thing.
    pub neighbours: Vec<Neighbour>,
}

impl Surroundings {
    /// Minor units that stand on the payment and are nobody's, but for what bears `marker`.
    pub fn foreign_minor(&self, marker: &Marker) -> i64 {
        let foreign = self.unclaimed.iter().filter(|effect| {
            effect.status != EffectStatus::Failed && effect.marker.as_deref() != Some(marker.as_str())
        });
        foreign.fold(0_i64, |sum, effect| sum.saturating_add(effect.amount_minor))
    }
}

/// Another operation nearby.
#[derive(Debug, Clone)]
pub struct Neighbour {
    pub id: OperationId,
    pub base_id: OperationId,
    pub kind: KindName,
    pub revision: Revision,
    pub order: String,
    pub identity: Vec<IdentityValue>,
    pub account: String,
    pub target: String,
    pub state: State,
    pub amount_minor: i64,
    pub currency: Currency,
    pub holds_minor: i64,
    pub created_at: Timestamp,
}

impl Neighbour {
    /// As a holder of money.
    pub fn holder(&self) -> Holder {
        Holder { operation: self.id.clone(), state: self.state, minor: self.holds_minor }
    }
}

/// An operation to record.
#[derive(Debug, Clone)]
pub struct NewOperation {
    pub intent: Intent,
    pub intent_text: String,
    pub intent_hash: IntentHash,
    /// The first is `recorded`.
    pub entries: Vec<Entered>,
    pub step: Step,
    /// The lease under which its first send goes out at once.
    pub lease: Option<(String, Timestamp)>,
}

/// Why an operation isn't recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A field is wrong.
    Field { field: String, detail: String },
    /// More than is left.
    Exceeds { of: &'static str, exceeds: Box<counterfoil_ledger::balance::Exceeds>, currency: Currency },
    /// The revision before isn't final.
    RevisionNotOpen { previous: OperationId, state: State },
    /// A fault of ours.
    Fault(String),
}

/// What became of a request to record.
#[derive(Debug)]
pub enum Recorded {
    New(Box<Loaded>),
    /// It was there; nothing was judged.
    Existing(Box<Loaded>),
    Refused(Refusal),
}

/// One line of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quantity: Option<u32>,
    #[serde(with = "counterfoil_ledger::money::minor_text")]
    pub amount_minor: i64,
}

/// The shop's word on an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderSnapshot {
    pub id: String,
    pub account: AccountName,
    pub payment: String,
    pub currency: Currency,
    pub captured_minor: i64,
    pub customer: Option<String>,
    pub lines: Vec<OrderLine>,
    pub updated_at: Timestamp,
}

/// What became of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderPut {
    New,
    Replaced,
    /// The payment can't change while operations hold money on it.
    PaymentHeld(Vec<Holder>),
    /// The payment is known in another currency.
    OtherCurrency(Currency),
}

/// A payment with everything on it.
#[derive(Debug, Clone)]
pub struct PaymentSheet {
    pub account: AccountName,
    pub payment: String,
    pub currency: Currency,
    pub captured_minor: i64,
    pub holders: Vec<Holder>,
    pub effects: Vec<KnownEffect>,
}

impl PaymentSheet {
    /// Effects that no operation of ours claims and that stand.
    pub fn foreign_minor(&self) -> i64 {
        self.effects
            .iter()
            .filter(|effect| effect.operation.is_none() && effect.status != EffectStatus::Failed)
            .fold(0_i64, |sum, effect| sum.saturating_add(effect.amount_minor))
    }

    /// Whether more is held than was captured: nothing is sent until somebody looked.
    pub fn is_blocked(&self) -> bool {
        counterfoil_ledger::balance::held_minor(&self.holders).saturating_add(self.foreign_minor())
            > self.captured_minor
    }
}

/// An effect that was seen on a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEffect {
    pub external_id: String,
    pub operation: Option<OperationId>,
    pub marker: Option<String>,
    pub amount_minor: i64,
    pub currency: String,
    pub status: EffectStatus,
    /// The provider's own word.
    pub provider_status: String,
    pub created_at: Option<Timestamp>,
    pub last_seen_at: Timestamp,
}

/// What a person may do. Checked where people act; kept from the first day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Viewer,
    Operator,
    Reviewer,
    Auditor,
    Administrator,
}

/// A person.
#[derive(Debug, Clone)]
pub struct Person {
    /// Stable for ever; what decisions and owners refer to.
    pub id: String,
    pub name: String,
    pub role: Role,
    /// PHC string, argon2id.
    pub password_hash: String,
}

/// A token: a program's name, owned by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub name: String,
    /// The owner's stable id.
    pub owner: String,
    pub scopes: Vec<String>,
}

/// A pause of an account's writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub paused_at: Timestamp,
    pub canary_at: Timestamp,
    pub secret_digest: String,
}

/// An open alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// What it is about: an account, `account/payment`, or nothing for the whole ledger.
    pub account: String,
    pub kind: AlarmKind,
    pub detail: String,
    pub raised_at: Timestamp,
}

/// One run of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub job: String,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// Rows it worked on.
    pub found: u64,
}
