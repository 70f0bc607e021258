//! The form of Stripe's objects, as far as it is read.

use std::collections::BTreeMap;

use counterfoil_ledger::evidence::{EffectSeen, EffectStatus};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// The metadata field that holds the marker.
const MARKER: &str = "operation_id";

/// A refund (stripe-python _refund.py).
#[derive(Debug, Deserialize)]
pub(super) struct Refund {
    id: String,
    object: String,
    amount: i64,
    currency: String,
    status: Option<String>,
    payment_intent: Option<Reference>,
    charge: Option<Reference>,
    metadata: Option<BTreeMap<String, Value>>,
    failure_reason: Option<String>,
    created: Option<i64>,
}

/// Another object by its id, or the object itself where it was expanded.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Reference {
    Id(String),
    Expanded { id: String },
}

/// One page of a list.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    object: String,
    data: Vec<Refund>,
    has_more: bool,
}

/// One page as understood.
#[derive(Debug)]
pub(super) struct Refunds {
    pub(super) rows: Vec<EffectSeen>,
    pub(super) has_more: bool,
}

/// An error's body.
#[derive(Debug, Deserialize)]
pub(super) struct ErrorBody {
    pub(super) error: ErrorDetail,
}

/// What it says. Its message is for people and isn't read.
#[derive(Debug, Deserialize)]
pub(super) struct ErrorDetail {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) code: Option<String>,
    pub(super) param: Option<String>,
}

/// Stripe's words for a refund's status. One that isn't here says nothing.
fn status(word: &str) -> Option<EffectStatus> {
    match word {
        "succeeded" => Some(EffectStatus::Live),
        "pending" | "requires_action" => Some(EffectStatus::Pending),
        "failed" | "canceled" => Some(EffectStatus::Failed),
        _ => None,
    }
}

impl Refund {
    /// The refund as an effect, with `status` for its status.
    fn seen(self, status: EffectStatus) -> EffectSeen {
        let marker =
            self.metadata.and_then(|mut metadata| metadata.remove(MARKER)).map(|value| match value {
                Value::String(text) => text,
                other => other.to_string(),
            });
        EffectSeen {
            external_id: self.id,
            marker: marker.filter(|marker| !marker.is_empty()),
            targets: [self.payment_intent, self.charge]
                .into_iter()
                .flatten()
                .map(|reference| match reference {
                    Reference::Id(id) | Reference::Expanded { id } => id,
                })
                .collect(),
            amount_minor: self.amount,
            currency: self.currency.to_ascii_uppercase(),
            status,
            provider_status: self.status.unwrap_or_default(),
            failure_reason: self.failure_reason,
            created_at: self.created.and_then(|second| Timestamp::from_second(second).ok()),
        }
    }

    fn status(&self) -> Option<EffectStatus> {
        status(self.status.as_deref()?)
    }

    fn is_refund(&self) -> bool {
        self.object == "refund" && !self.id.is_empty()
    }
}

/// A refund that stands alone, whose every word is understood.
pub(super) fn refund(body: &[u8]) -> Option<EffectSeen> {
    let refund: Refund = serde_json::from_slice(body).ok().filter(Refund::is_refund)?;
    let status = refund.status()?;
    Some(refund.seen(status))
}

/// A page of refunds. A row whose status isn't understood counts as standing until it is read by its own id: somebody else's new
/// word must not hide the rest of the page.
pub(super) fn page(body: &[u8]) -> Option<Refunds> {
    let page: Page = serde_json::from_slice(body).ok()?;
    if page.object != "list" || !page.data.iter().all(Refund::is_refund) {
        return None;
    }
    let rows = page.data.into_iter().map(|refund| {
        let status = refund.status().unwrap_or(EffectStatus::Pending);
        refund.seen(status)
    });
    Some(Refunds { rows: rows.collect(), has_more: page.has_more })
}

/// What an error says; `None`: it isn't one of Stripe's.
pub(super) fn error(body: &[u8]) -> Option<ErrorDetail> {
    serde_json::from_slice::<ErrorBody>(body).ok().map(|body| body.error)
}
