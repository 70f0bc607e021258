//! A refund: the effect that the simulator is about.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Where a refund stands, in Stripe's words. `succeeded` isn't final: the bank can return the money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not yet with the bank.
    Pending,
    /// Waits for something that the customer must do.
    RequiresAction,
    /// With the bank.
    #[default]
    Succeeded,
    /// The money came back.
    Failed,
    /// Stopped while pending.
    Canceled,
}

impl Status {
    fn label(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::RequiresAction => "requires_action",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}

/// One effect, as `GET /simulator/effects` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The provider's number, `re_…`.
    pub external_id: String,
    /// `metadata.operation_id` as it was sent; none for a foreign refund.
    pub marker: Option<String>,
    /// The marker without its namespace.
    pub operation_id: Option<String>,
    /// The payment, `pi_…`.
    pub target: String,
    /// Minor units.
    pub amount: String,
    /// Upper case.
    pub currency: String,
    /// As of now.
    pub status: Status,
    /// On the simulator's clock.
    pub created_at: Timestamp,
}

/// One refund.
#[derive(Clone, Debug)]
pub(super) struct Refund {
    pub(super) id: String,
    pub(super) payment: String,
    pub(super) charge: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) reason: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) created: Timestamp,
    pub(super) status: Status,
    pub(super) failure_reason: Option<String>,
    /// Place in the order of application.
    pub(super) position: usize,
}

impl Refund {
    /// Whether its money counts as gone.
    pub(super) fn holds_money(&self) -> bool {
        !matches!(self.status, Status::Failed | Status::Canceled)
    }

    /// The marker, if it has one.
    pub(super) fn marker(&self) -> Option<&str> {
        self.metadata.get("operation_id").map(String::as_str)
    }

    /// The refund as Stripe writes it.
    pub(super) fn object(&self) -> Value {
        let number = self.id.trim_start_matches("re_");
        let mut object = json!({
            "id": self.id,
            "object": "refund",
            "amount": self.amount,
            "balance_transaction": format!("txn_{number}"),
            "charge": self.charge,
            "created": self.created.as_second(),
            "currency": self.currency,
            "metadata": self.metadata,
            "payment_intent": self.payment,
            "reason": self.reason,
            "receipt_number": null,
            "source_transfer_reversal": null,
            "status": self.status.label(),
            "transfer_reversal": null,
        });
        if self.status == Status::Pending {
            object["pending_reason"] = "processing".into();
        }
        if let Some(reason) = &self.failure_reason {
            object["failure_reason"] = reason.as_str().into();
            object["failure_balance_transaction"] = format!("txn_failure_{number}").into();
        }
        object
    }

    /// The refund as an effect.
    pub(super) fn effect(&self) -> Effect {
        Effect {
            external_id: self.id.clone(),
            marker: self.marker().map(str::to_owned),
            operation_id: self.marker().map(|marker| without_namespace(marker).to_owned()),
            target: self.payment.clone(),
            amount: self.amount.to_string(),
            currency: self.currency.to_uppercase(),
            status: self.status,
            created_at: self.created,
        }
    }
}

/// A marker without its namespace, which is `[a-z][a-z0-9]{0,15}` before the first full stop. What doesn't begin so is
/// left whole.
pub(super) fn without_namespace(marker: &str) -> &str {
    match marker.split_once('.') {
        Some((namespace, id))
            if (1..=16).contains(&namespace.len())
                && namespace.starts_with(|first: char| first.is_ascii_lowercase())
                && namespace.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) =>
        {
            id
        }
        _ => marker,
    }
}
