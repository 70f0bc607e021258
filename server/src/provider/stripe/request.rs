//! The bytes of a request to Stripe.

use counterfoil_ledger::intent::{EffectKind, Intent, ProviderRequest};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};

use super::Stripe;
use crate::provider::Terms;
use crate::provider::transport::{Outgoing, Question};

const FORM: &str = "application/x-www-form-urlencoded";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-client-request-id");
/// The longest page that Stripe gives (stripe-python _refund_list_params.py).
const PAGE_SIZE: &str = "100";

/// How Stripe calls the thing that a refund is made on.
fn target_field(target: &str) -> &'static str {
    // `py_`: a charge by another method than a card.
    if target.starts_with("ch_") || target.starts_with("py_") { "charge" } else { "payment_intent" }
}

/// The refund's request, the same bytes for the same terms (stripe-python params/_refund_create_params.py). Nothing that differs
/// from attempt to attempt stands in it, or the key would not match.
pub(super) fn prepare(terms: &Terms<'_>) -> ProviderRequest {
    let EffectKind::Refund = terms.effect;
    let fields = [
        (target_field(terms.target), terms.target),
        // Minor units, as Stripe counts them: never multiplied or divided here.
        ("amount", &terms.money.minor().to_string()),
        ("metadata[operation_id]", terms.marker.as_str()),
    ];
    // Pairs of texts always encode; were they ever not to, an empty body isn't sent.
    let body = serde_urlencoded::to_string(fields).unwrap_or_default();
    ProviderRequest {
        method: Method::POST.to_string(),
        path: "/v1/refunds".to_owned(),
        content_type: FORM.to_owned(),
        body,
    }
}

/// The stored request with what isn't stored: credentials and this attempt's own id. `None`: it can't be a request.
pub(super) fn outgoing(stripe: &Stripe, intent: &Intent, client_request_id: &str) -> Option<Outgoing> {
    let request = &intent.request;
    let headers = [
        (AUTHORIZATION, stripe.authorization.clone()),
        (CONTENT_TYPE, HeaderValue::try_from(&request.content_type).ok()?),
        (IDEMPOTENCY_KEY, HeaderValue::try_from(intent.key.as_str()).ok()?),
        (CLIENT_REQUEST_ID, HeaderValue::try_from(client_request_id).ok()?),
    ];
    Some(Outgoing {
        method: request.method.parse().ok()?,
        url: format!("{}{}", stripe.base_url, request.path).parse().ok()?,
        headers: HeaderMap::from_iter(headers),
        body: request.body.clone(),
    })
}

/// One page of the refunds on a target, newest first. `None`: the base URL is none.
pub(super) fn page(stripe: &Stripe, target: &str, after: Option<&str>) -> Option<Question> {
    let mut url = refunds(stripe)?;
    url.query_pairs_mut().append_pair(target_field(target), target).append_pair("limit", PAGE_SIZE);
    if let Some(after) = after {
        url.query_pairs_mut().append_pair("starting_after", after);
    }
    Some(question(stripe, url))
}

/// One refund by its own id.
pub(super) fn one(stripe: &Stripe, id: &str) -> Option<Question> {
    let mut url = refunds(stripe)?;
    url.path_segments_mut().ok()?.push(id);
    Some(question(stripe, url))
}

fn refunds(stripe: &Stripe) -> Option<Url> {
    format!("{}/v1/refunds", stripe.base_url).parse().ok()
}

fn question(stripe: &Stripe, url: Url) -> Question {
    Question { url, headers: HeaderMap::from_iter([(AUTHORIZATION, stripe.authorization.clone())]) }
}
