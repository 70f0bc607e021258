//! The outside world: one adapter per provider, and the transport they share.
//!
//! An adapter reports what it saw. It knows no state machine, no store and no policy: whether a send may happen was decided
//! before it is called, and what its report means is decided after.

pub mod stripe;
pub mod transport;

use std::time::Instant;

use async_trait::async_trait;
use counterfoil_ledger::attempt::AttemptEnd;
use counterfoil_ledger::evidence::{EffectSeen, LookUp};
use counterfoil_ledger::identity::{Key, KeyRule, Marker};
use counterfoil_ledger::intent::{EffectKind, Intent, ProviderRequest};
use counterfoil_ledger::money::{ExponentTable, Money};
use jiff::Timestamp;

/// What an adapter says about its provider. Decisions read it; the desk shows it.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// The provider's name as people write it.
    pub name: &'static str,
    pub key_rule: KeyRule,
    pub exponents: ExponentTable,
    /// Whether a strongly consistent list of a payment's effects can be read.
    pub offers_look_up: bool,
    /// Where an effect can be looked at by a person; `{}` stands for the external id.
    pub console_url: &'static str,
}

/// What is to be done, before it is a request.
#[derive(Debug, Clone)]
pub struct Terms<'a> {
    pub effect: EffectKind,
    pub target: &'a str,
    pub money: Money,
    pub marker: &'a Marker,
    pub key: &'a Key,
}

/// What became of one send, with the raw answer for the archive.
#[derive(Debug, Clone)]
pub struct SendReport {
    pub end: AttemptEnd,
    /// The raw body, as far as it was read; its digest stands in `end`.
    pub body: Option<Vec<u8>>,
}

/// What one look-up saw.
#[derive(Debug, Clone)]
pub struct LookUpReport {
    pub look_up: LookUp,
    /// Every effect on the target, whoever's.
    pub all: Vec<EffectSeen>,
}

/// One provider account.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What it says about itself.
    fn declaration(&self) -> &Declaration;

    /// The exact request for these terms. Pure: the same terms make the same bytes.
    fn prepare(&self, terms: &Terms<'_>) -> ProviderRequest;

    /// Waits for the account's turn at its rate. Each request of a look-up does so by itself; whoever sends does so before the
    /// mark, because the deadline runs from there.
    async fn pace(&self) {}

    /// Sends the stored request once, with the stored key. Nothing below retries; nothing is put on the wire after `deadline`.
    async fn send(&self, intent: &Intent, client_request_id: &str, deadline: Instant) -> SendReport;

    /// Reads every effect on the intent's target, and each that bears its marker (and each of `known`) again by its own id.
    /// `started_at` is the database's time just before the call.
    async fn look_up(&self, intent: &Intent, known: &[String], started_at: Timestamp) -> LookUpReport;
}
