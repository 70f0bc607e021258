//! What exists at the provider: payments and refunds, and the rules of money between them.
//!
//! No wire, no keys, no faults: what is asked here happens at once or is refused.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    payment::Payment,
    refund::{Refund, Status},
    wire::Refusal,
};

/// The provider's books. A clone is a copy, on which one can try what would happen.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    payments: BTreeMap<String, Payment>,
    charges: BTreeMap<String, String>,
    refunds: Vec<Refund>,
    positions: BTreeMap<String, usize>,
    /// What happened since somebody last took it, to be told by webhook.
    pub(super) events: Vec<Event>,
}

/// Something that a webhook tells.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) kind: &'static str,
    pub(super) object: Value,
    pub(super) at: Timestamp,
}

/// A refund to be made.
#[derive(Clone, Debug)]
pub(super) struct RefundOrder {
    /// The number of the payment or of its charge.
    pub(super) on: String,
    /// The parameter that named it.
    pub(super) named_by: &'static str,
    /// Minor units; none for all that remains.
    pub(super) amount: Option<i64>,
    pub(super) reason: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    /// A number chosen by the tester.
    pub(super) id: Option<String>,
}

/// Whether a refund is held against what remains of the payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Remaining,
    /// The duplicate of a fault `twice` is made even if it exceeds the payment.
    None,
}

impl Account {
    pub(super) fn payments(&self) -> impl Iterator<Item = &Payment> {
        self.payments.values()
    }

    /// Every refund ever made, in order of application.
    pub(super) fn refunds(&self) -> &[Refund] {
        &self.refunds
    }

    pub(super) fn refund(&self, id: &str) -> Option<&Refund> {
        self.positions.get(id).and_then(|position| self.refunds.get(*position))
    }

    /// The payment that `id` names, by its own number or its charge's.
    pub(super) fn payment(&self, id: &str) -> Option<&Payment> {
        self.payments.get(self.charges.get(id).map_or(id, String::as_str))
    }

    pub(super) fn refunds_of<'a>(&'a self, payment: &'a Payment) -> impl Iterator<Item = &'a Refund> {
        payment.refunds.iter().filter_map(|position| self.refunds.get(*position))
    }

    /// Minor units of `payment` that have gone back.
    pub(super) fn refunded(&self, payment: &Payment) -> i64 {
        self.refunds_of(payment).filter(|refund| refund.holds_money()).map(|refund| refund.amount).sum()
    }

    /// Enters a payment, captured if it has a charge.
    pub(super) fn enter(&mut self, payment: Payment) {
        if let Some(charge) = &payment.charge {
            self.charges.insert(charge.clone(), payment.id.clone());
        }
        self.payments.insert(payment.id.clone(), payment);
    }

    /// Confirms and captures a payment intent.
    ///
    /// # Errors
    /// 404 for an unknown one; 400 if it is captured already or has no payment method.
    pub(super) fn confirm(&mut self, id: &str, method: Option<String>) -> Result<Value, Refusal> {
        let payment =
            self.payments.get_mut(id).ok_or_else(|| Refusal::missing("payment intent", id, "intent"))?;
        if payment.charge.is_some() {
            return Err(Refusal::invalid("The payment intent is captured already")
                .code("payment_intent_unexpected_state"));
        }
        payment.method = method.or_else(|| payment.method.take());
        if payment.method.is_none() {
            return Err(Refusal::invalid("The payment intent has no payment method")
                .code("payment_intent_unexpected_state"));
        }
        let charge = charge_number(id);
        payment.charge = Some(charge.clone());
        let intent = payment.intent();
        self.charges.insert(charge, id.to_owned());
        Ok(intent)
    }

    /// Makes a refund.
    ///
    /// # Errors
    /// 404 for an unknown payment; 400 if it isn't captured, all of it has gone back, or too much is asked for.
    pub(super) fn make_refund(
        &mut self,
        order: RefundOrder,
        limit: Limit,
        now: Timestamp,
    ) -> Result<Value, Refusal> {
        let kind = if order.named_by == "charge" { "charge" } else { "payment intent" };
        let missing = || Refusal::missing(kind, &order.on, order.named_by);
        let payment = self.payment(&order.on).ok_or_else(missing)?;
        let Some(charge) = payment.charge.clone() else {
            return Err(Refusal::invalid("The payment intent has no successful charge to refund")
                .code("payment_intent_unexpected_state")
                .param(order.named_by));
        };
        let remaining = payment.amount.saturating_sub(self.refunded(payment));
        if limit == Limit::Remaining && remaining <= 0 {
            return Err(Refusal::invalid(format!("'{charge}' has been refunded in full"))
                .code("charge_already_refunded"));
        }
        let amount = order.amount.unwrap_or(remaining);
        if limit == Limit::Remaining && amount > remaining {
            return Err(Refusal::invalid(format!("{amount} is more than the {remaining} that remain"))
                .code("amount_too_large")
                .param("amount"));
        }
        let position = self.refunds.len();
        let refund = Refund {
            id: order.id.unwrap_or_else(|| new_number("re_")),
            payment: payment.id.clone(),
            charge,
            amount,
            currency: payment.currency.clone(),
            reason: order.reason,
            metadata: order.metadata,
            created: now,
            status: payment.refunds_start,
            failure_reason: None,
            position,
        };
        let object = refund.object();
        let id = refund.payment.clone();
        self.positions.insert(refund.id.clone(), position);
        self.refunds.push(refund);
        self.events.push(Event { kind: "refund.created", object: object.clone(), at: now });
        if let Some(payment) = self.payments.get_mut(&id) {
            payment.refunds.push(position);
        }
        if let Some(payment) = self.payments.get(&id) {
            let charge = payment.charge(self.refunded(payment));
            self.events.push(Event { kind: "charge.refunded", object: charge, at: now });
        }
        Ok(object)
    }

    /// Moves a refund to another status, any to any.
    ///
    /// # Errors
    /// 404 for an unknown refund.
    pub(super) fn move_refund(
        &mut self,
        id: &str,
        status: Status,
        failure_reason: Option<String>,
        now: Timestamp,
    ) -> Result<Value, Refusal> {
        let refund = self
            .positions
            .get(id)
            .and_then(|position| self.refunds.get_mut(*position))
            .ok_or_else(|| Refusal::missing("refund", id, "refund"))?;
        refund.status = status;
        refund.failure_reason =
            (status == Status::Failed).then(|| failure_reason.unwrap_or("unknown".into()));
        let object = refund.object();
        self.events.push(Event { kind: "refund.updated", object: object.clone(), at: now });
        if status == Status::Failed {
            self.events.push(Event { kind: "refund.failed", object: object.clone(), at: now });
        }
        Ok(object)
    }
}

/// The number of the charge that belongs to a payment intent.
pub(super) fn charge_number(payment: &str) -> String {
    format!("ch_{}", payment.trim_start_matches("pi_"))
}

/// A fresh number in Stripe's style: a prefix and 24 characters.
pub(super) fn new_number(prefix: &str) -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("{prefix}{}", random.get(..24).unwrap_or(&random))
}
