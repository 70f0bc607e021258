//! What the answer to a send means.

use std::time::{Duration, Instant};

use counterfoil_ledger::attempt::{Answer, AttemptEnd, Class, Why, classify};
use counterfoil_ledger::evidence::{EffectSeen, Relation, relate};
use counterfoil_ledger::intent::Intent;
use reqwest::header::RETRY_AFTER;
use sha2::{Digest, Sha256};

use super::declaration::{PARAMETER_WITHOUT_CODE, RATE_LIMITED_REASON, RULES};
use super::wire::{self, ErrorDetail};
use super::{REQUEST_ID, Stripe, request};
use crate::provider::SendReport;
use crate::provider::transport::{Answered, Exchange, NotSent};

/// The longest wait that is believed, in seconds.
const RETRY_AFTER_S_MAX: u64 = 24 * 3600;

/// Sends the stored request once.
pub(super) async fn send(
    stripe: &Stripe,
    intent: &Intent,
    client_request_id: &str,
    deadline: Instant,
) -> SendReport {
    let begun = Instant::now();
    let exchange = match request::outgoing(stripe, intent, client_request_id) {
        Some(outgoing) => stripe.transport.exchange(outgoing, deadline).await,
        None => Exchange::NotSent(NotSent::NotBuilt),
    };
    let report = report(intent, exchange, begun.elapsed());
    tracing::debug!(
        account = %intent.account,
        marker = %intent.marker,
        client_request_id,
        class = ?report.end.class,
        why = ?report.end.why,
        http_status = report.end.http_status,
        code = report.end.code,
        provider_request_id = report.end.provider_request_id,
        replayed = report.end.replayed,
        duration_ms = report.end.duration_ms,
        "A send ended."
    );
    report
}

/// From what the transport saw to what the attempt can tell.
pub(super) fn report(intent: &Intent, exchange: Exchange, duration: Duration) -> SendReport {
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let silent = |class, why| SendReport {
        end: AttemptEnd {
            class,
            why,
            duration_ms,
            http_status: None,
            code: None,
            provider_request_id: None,
            replayed: false,
            stored_failure: false,
            retry_after_s: None,
            body_digest: None,
            effect: None,
        },
        body: None,
    };
    match exchange {
        Exchange::NotSent(why) => silent(Class::NotSent, why.into()),
        Exchange::NoAnswer(why) => silent(Class::Indeterminate, why.into()),
        Exchange::Answered(answered) => {
            let end = end(intent, &answered, duration_ms);
            SendReport { end, body: Some(answered.body) }
        }
    }
}

fn end(intent: &Intent, answered: &Answered, duration_ms: u64) -> AttemptEnd {
    let error = answered.whole.then(|| wire::error(&answered.body)).flatten();
    let provider_request_id = answered.header(REQUEST_ID).map(str::to_owned);
    let (class, why, effect) = if answered.status == 200 {
        carried(intent, answered)
    } else {
        let (class, why) = class_of(answered, error.as_ref());
        (class, why, None)
    };
    // What Stripe itself answered with a 5xx it may keep and replay, whatever `Stripe-Should-Retry` says; what a proxy put in its
    // place, it can't.
    let by_stripe = error.is_some() || provider_request_id.is_some();
    AttemptEnd {
        class,
        why,
        duration_ms,
        http_status: Some(answered.status),
        code: error.map(|error| error.code.unwrap_or(error.kind)),
        provider_request_id,
        replayed: is_true(answered, "idempotent-replayed"),
        stored_failure: answered.status >= 500 && by_stripe,
        retry_after_s: answered
            .header(RETRY_AFTER.as_str())
            .and_then(|seconds| seconds.parse().ok())
            .map(|seconds: u64| seconds.min(RETRY_AFTER_S_MAX)),
        body_digest: Some(hex::encode(Sha256::digest(&answered.body))),
        effect,
    }
}

/// A 200: the effect, if it is whole, understood and ours; otherwise it proves nothing.
fn carried(intent: &Intent, answered: &Answered) -> (Class, Why, Option<EffectSeen>) {
    let Some(effect) = answered.whole.then(|| wire::refund(&answered.body)).flatten() else {
        return (Class::Indeterminate, Why::BodyNotUnderstood, None);
    };
    match relate(intent, &effect) {
        Relation::Ours => (Class::Effect, Why::Accepted, Some(effect)),
        Relation::Mismatch(_) | Relation::UnclaimedEqual | Relation::Foreign => {
            (Class::Indeterminate, Why::EffectMismatch, Some(effect))
        }
    }
}

fn class_of(answered: &Answered, error: Option<&ErrorDetail>) -> (Class, Why) {
    let mut codes = Vec::new();
    if let Some(error) = error {
        codes.extend(error.code.as_deref());
        codes.push(error.kind.as_str());
        if error.kind == "invalid_request_error" && error.code.is_none() && error.param.is_some() {
            codes.push(PARAMETER_WITHOUT_CODE);
        }
        if answered.header(RATE_LIMITED_REASON).is_some() {
            codes.push(RATE_LIMITED_REASON);
        }
    }
    classify(RULES, Answer { status: answered.status, codes: &codes, well_formed: error.is_some() })
}

fn is_true(answered: &Answered, header: &str) -> bool {
    answered.header(header).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}
