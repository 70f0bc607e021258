//! What a tester can order and ask, in process or through `control`: payments, foreign refunds, bounces, faults, modes, time.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    Effect, Seen, Simulator, Status, Webhook,
    account::{Limit, RefundOrder, charge_number, new_number},
    clock::later,
    fault::Fault,
    mode::{Mode, ModeChange},
    payment::Payment,
    refund::Refund,
    state::State,
    wire::Refusal,
};

/// An amount in minor units, at least 1, written as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MinorUnits(pub i64);

impl TryFrom<String> for MinorUnits {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let amount = text.parse().ok().filter(|amount| digits && *amount > 0);
        amount.map(Self).ok_or_else(|| format!("'{text}' isn't an amount in minor units"))
    }
}

impl From<MinorUnits> for String {
    fn from(amount: MinorUnits) -> Self {
        amount.0.to_string()
    }
}

/// A captured payment to be entered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewPayment {
    /// `pi_…`; made up if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What was captured.
    pub amount: MinorUnits,
    /// Three letters.
    pub currency: String,
    /// The status that refunds of this payment start with.
    #[serde(default)]
    pub refund_status: Status,
}

/// A captured payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paid {
    /// `pi_…`
    pub id: String,
    /// `ch_…`
    pub charge: String,
    /// What was captured.
    pub amount: MinorUnits,
    /// Upper case.
    pub currency: String,
    /// The status that refunds of this payment start with.
    pub refund_status: Status,
    /// Whether it was there before.
    #[serde(skip, default)]
    pub existed: bool,
}

/// A refund made past the ledger, as if in the provider's own dashboard.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRefund {
    /// The payment or its charge.
    pub payment: String,
    /// At most what remains.
    pub amount: MinorUnits,
    /// None by default, so no marker either.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// `re_…`; made up if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How long ago it was made.
    #[serde(default)]
    pub created_s_ago: u32,
}

/// A move of a refund to another status.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefundChange {
    /// The new one.
    pub status: Status,
    /// With `failed` only; `unknown` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
}

/// Why an order isn't carried out.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    /// It contradicts itself, or says nothing that exists.
    #[error("{0}")]
    Invalid(String),
    /// What it is about doesn't exist.
    #[error("{0}")]
    Missing(String),
    /// There is one already, and it is different.
    #[error("{0}")]
    Conflict(String),
}

impl Simulator {
    /// Enters a captured payment; the same one again changes nothing.
    ///
    /// # Errors
    /// If its number or currency isn't one, or it exists with other values.
    pub fn add_payment(&self, new: NewPayment) -> Result<Paid, Rejected> {
        let id = new.id.unwrap_or_else(|| new_number("pi_"));
        if !is_number(&id, "pi_") {
            return Err(Rejected::Invalid(format!("'{id}' isn't pi_ and letters, digits or _")));
        }
        let currency = new.currency.to_lowercase();
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Err(Rejected::Invalid(format!("'{}' isn't a currency", new.currency)));
        }
        let charge = charge_number(&id);
        let mut paid = Paid {
            id: id.clone(),
            charge: charge.clone(),
            amount: new.amount,
            currency: currency.to_uppercase(),
            refund_status: new.refund_status,
            existed: false,
        };
        let mut state = self.state();
        if let Some(known) = state.provider.account.payment(&id) {
            let same = known.amount == new.amount.0
                && known.currency == currency
                && known.refunds_start == new.refund_status;
            if !same {
                return Err(Rejected::Conflict(format!("{id} exists with other values")));
            }
            paid.existed = true;
            return Ok(paid);
        }
        let created = state.clock.now();
        state.provider.account.enter(Payment {
            id,
            charge: Some(charge),
            amount: new.amount.0,
            currency,
            created,
            method: Some("pm_card_visa".to_owned()),
            description: None,
            metadata: BTreeMap::new(),
            refunds_start: new.refund_status,
            refunds: Vec::new(),
        });
        Ok(paid)
    }

    /// Makes a refund as if in the provider's own dashboard.
    ///
    /// # Errors
    /// If the payment doesn't exist, has less left, or the refund's number is taken.
    pub fn add_refund(&self, new: NewRefund) -> Result<Effect, Rejected> {
        let id = new.id.unwrap_or_else(|| new_number("re_"));
        if !is_number(&id, "re_") {
            return Err(Rejected::Invalid(format!("'{id}' isn't re_ and letters, digits or _")));
        }
        let mut state = self.state();
        let account = &state.provider.account;
        if account.refund(&id).is_some() {
            return Err(Rejected::Conflict(format!("{id} exists")));
        }
        if account.payment(&new.payment).is_none() {
            return Err(Rejected::Missing(format!("there is no payment {}", new.payment)));
        }
        let order = RefundOrder {
            on: new.payment,
            named_by: "payment_intent",
            amount: Some(new.amount.0),
            reason: None,
            metadata: new.metadata,
            id: Some(id.clone()),
        };
        let made = later(state.clock.now(), -SignedDuration::from_secs(i64::from(new.created_s_ago)));
        state.provider.account.make_refund(order, Limit::Remaining, made).map_err(rejected)?;
        state.collect_events("", None);
        find_effect(&state, &id)
    }

    /// Moves a refund to another status and tells the receiver of webhooks.
    ///
    /// # Errors
    /// If it doesn't exist, or a failure reason goes with another status than `failed`.
    pub fn move_refund(&self, id: &str, change: RefundChange) -> Result<Effect, Rejected> {
        if change.failure_reason.is_some() && change.status != Status::Failed {
            return Err(Rejected::Invalid("failure_reason goes with status \"failed\"".to_owned()));
        }
        let mut state = self.state();
        find_effect(&state, id)?;
        let now = state.clock.now();
        state
            .provider
            .account
            .move_refund(id, change.status, change.failure_reason, now)
            .map_err(rejected)?;
        state.collect_events("", None);
        find_effect(&state, id)
    }

    /// Adds a fault behind those that wait already.
    ///
    /// # Errors
    /// If it contradicts itself.
    pub fn add_fault(&self, fault: Fault) -> Result<(), Rejected> {
        fault.check().map_err(Rejected::Invalid)?;
        self.state().faults.add(fault);
        Ok(())
    }

    /// Forgets every fault, those under way excepted.
    pub fn clear_faults(&self) {
        self.state().faults.clear();
    }

    /// Changes how the provider behaves; answers with how it does now.
    ///
    /// # Errors
    /// If lists are to lag by nothing.
    pub fn set_mode(&self, change: ModeChange) -> Result<Mode, Rejected> {
        let mut state = self.state();
        state.provider.mode = state.provider.mode.changed(change).map_err(Rejected::Invalid)?;
        Ok(state.provider.mode)
    }

    /// Moves the clock forward and carries out what falls due by that; answers with the new time.
    pub fn advance(&self, seconds: u32) -> Timestamp {
        self.state().clock.advance(seconds);
        let now = self.state().clock.now();
        self.stir();
        now
    }

    /// Sets who is told by webhook from now on.
    ///
    /// # Errors
    /// If the address isn't an `http://` one.
    pub fn set_webhook(&self, webhook: Webhook) -> Result<(), Rejected> {
        if !webhook.url.starts_with("http://") {
            return Err(Rejected::Invalid("the simulator delivers to http:// addresses only".to_owned()));
        }
        self.state().outbox.receiver = Some(webhook);
        Ok(())
    }

    /// Every effect ever applied, in order of application, duplicates too.
    #[must_use]
    pub fn effects(&self) -> Vec<Effect> {
        self.state().provider.account.refunds().iter().map(Refund::effect).collect()
    }

    /// Every request that the provider's side has seen, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Seen> {
        self.state().requests.clone()
    }
}

fn is_number(id: &str, prefix: &str) -> bool {
    let rest = id.strip_prefix(prefix).unwrap_or_default();
    !rest.is_empty()
        && id.len() <= 255
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn find_effect(state: &State, id: &str) -> Result<Effect, Rejected> {
    let refund = state.provider.account.refund(id);
    refund.map(Refund::effect).ok_or_else(|| Rejected::Missing(format!("there is no refund {id}")))
}

fn rejected(refusal: Refusal) -> Rejected {
    Rejected::Invalid(refusal.into_message())
}
