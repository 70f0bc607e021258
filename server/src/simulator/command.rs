//! The writes that the provider offers: read from a request, then carried out on the account.
//!
//! Reading refuses what Stripe's parameter validation refuses, before any key counts. Carrying out is the endpoint's
//! execution: its refusals (unknown payment, too much) are results and stored as such.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    account::{Account, Limit, RefundOrder, charge_number, new_number},
    parameters::{Parameters, missing},
    payment::Payment,
    refund::Status,
    wire::Refusal,
};

const REFUND_PARAMETERS: &[&str] = &["payment_intent", "charge", "amount", "metadata", "reason"];
const REFUND_REASONS: &[&str] = &["duplicate", "fraudulent", "requested_by_customer"];
const INTENT_PARAMETERS: &[&str] = &[
    "amount",
    "automatic_payment_methods",
    "confirm",
    "currency",
    "description",
    "metadata",
    "payment_method",
    "payment_method_types",
    "return_url",
];
const CONFIRM_PARAMETERS: &[&str] = &["payment_method", "return_url"];

/// One write.
#[derive(Clone, Debug)]
pub(super) enum Command {
    MakeRefund(RefundOrder),
    CreatePayment(Box<Payment>),
    ConfirmPayment { id: String, method: Option<String> },
}

impl Command {
    /// Reads a write from a POST to `path`.
    ///
    /// # Errors
    /// 404 for a path that isn't served, 400 for parameters that don't pass.
    pub(super) fn read(path: &str, form: &Parameters, now: Timestamp) -> Result<Self, Refusal> {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match segments.as_slice() {
            ["v1", "refunds"] => refund_order(form).map(Self::MakeRefund),
            ["v1", "payment_intents"] => {
                payment(form, now).map(|payment| Self::CreatePayment(Box::new(payment)))
            }
            ["v1", "payment_intents", id, "confirm"] => {
                form.only(CONFIRM_PARAMETERS)?;
                let method = form.text("payment_method")?.map(str::to_owned);
                Ok(Self::ConfirmPayment { id: (*id).to_owned(), method })
            }
            _ => Err(Refusal::no_such_url("POST", path)),
        }
    }

    /// Carries it out.
    ///
    /// # Errors
    /// What the account refuses.
    pub(super) fn run(self, account: &mut Account, limit: Limit, now: Timestamp) -> Result<Value, Refusal> {
        match self {
            Self::MakeRefund(order) => account.make_refund(order, limit, now),
            Self::CreatePayment(payment) => {
                let intent = payment.intent();
                account.enter(*payment);
                Ok(intent)
            }
            Self::ConfirmPayment { id, method } => account.confirm(&id, method),
        }
    }
}

fn refund_order(form: &Parameters) -> Result<RefundOrder, Refusal> {
    form.only(REFUND_PARAMETERS)?;
    let (on, named_by) = match (form.text("payment_intent")?, form.text("charge")?) {
        (Some(id), None) => (id.to_owned(), "payment_intent"),
        (None, Some(id)) => (id.to_owned(), "charge"),
        (Some(_), Some(_)) => {
            return Err(Refusal::invalid("Name either the payment intent or the charge").param("charge"));
        }
        (None, None) => return Err(missing("payment_intent")),
    };
    let reason = form.text("reason")?;
    if reason.is_some_and(|reason| !REFUND_REASONS.contains(&reason)) {
        return Err(Refusal::invalid("'reason' is none of the reasons that exist").param("reason"));
    }
    Ok(RefundOrder {
        on,
        named_by,
        amount: form.positive("amount")?,
        reason: reason.map(str::to_owned),
        metadata: form.metadata()?,
        id: None,
    })
}

fn payment(form: &Parameters, now: Timestamp) -> Result<Payment, Refusal> {
    form.only(INTENT_PARAMETERS)?;
    let amount = form.positive("amount")?.ok_or_else(|| missing("amount"))?;
    let currency = form.text("currency")?.ok_or_else(|| missing("currency"))?.to_lowercase();
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(Refusal::invalid("'currency' isn't a currency").param("currency"));
    }
    let method = form.text("payment_method")?.map(str::to_owned);
    let confirm = match form.text("confirm")? {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Refusal::invalid("'confirm' is true or false").param("confirm")),
    };
    if confirm && method.is_none() {
        return Err(missing("payment_method"));
    }
    let id = new_number("pi_");
    Ok(Payment {
        charge: confirm.then(|| charge_number(&id)),
        id,
        amount,
        currency,
        created: now,
        method,
        description: form.text("description")?.map(str::to_owned),
        metadata: form.metadata()?,
        refunds_start: Status::Succeeded,
        refunds: Vec::new(),
    })
}
