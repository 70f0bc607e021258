use axum::http::StatusCode;
use axum::response::IntoResponse;
use counterfoil_ledger::attempt::{AttemptEnd, Class, Why};
use counterfoil_ledger::evidence::EffectStatus;
use reqwest::header::HeaderMap;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::fake::{Fake, ok, refund};
use super::*;
use crate::provider::transport::{Answered, Exchange};

fn answered(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> AttemptEnd {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, HeaderValue::from_static(value));
    }
    let answered = Answered { status, headers: map, body: body.as_bytes().to_vec(), whole: true };
    answer::report(&intent(), Exchange::Answered(answered), Duration::from_millis(7)).end
}

fn class(status: u16, body: &str) -> (Class, Why) {
    let end = answered(status, &[], body);
    (end.class, end.why)
}

fn error(kind: &str, code: Option<&str>, param: Option<&str>) -> String {
    json!({"error": {"type": kind, "code": code, "param": param, "message": "for people"}}).to_string()
}

/// Golden bytes: they are hashed, stored and resent, so they never change. The key isn't in them, nor anything of an attempt.
#[test]
fn the_request_of_a_refund_keeps_its_bytes() {
    let request = prepared("pi_1043", 38_000, "TWD");
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/refunds"));
    assert_eq!(request.content_type, "application/x-www-form-urlencoded");
    assert_eq!(
        request.body,
        "payment_intent=pi_1043&amount=38000&metadata%5Boperation_id%5D=shop.refund-1043-li_2"
    );
    assert_eq!(prepared("pi_1043", 38_000, "TWD"), request);
    assert_eq!(
        prepared("ch_1043", 1, "EUR").body,
        "charge=ch_1043&amount=1&metadata%5Boperation_id%5D=shop.refund-1043-li_2"
    );
    assert!(
        prepared("pi_a&amount=1", 5, "EUR").body.starts_with("payment_intent=pi_a%26amount%3D1&amount=5&")
    );
}

/// F1 F2 F3 F4: minor units go out as they are, in every kind of currency.
#[tokio::test]
async fn amounts_stand_on_the_wire_in_minor_units() {
    let fake = Fake::answering(|_| ok(&refund("re_1", None, 1, "succeeded"))).await;
    let rows = [
        (9899, "JPY"),
        (5800, "JPY"),
        (500, "JPY"),
        (18_600, "KWD"),
        (150_000, "UGX"),
        (500, "ISK"),
        (9_007_199_254_740_993, "TWD"),
    ];
    for (minor, currency) in rows {
        let mut intent = intent();
        intent.money = Money::new(minor, currency.parse().unwrap()).unwrap();
        intent.request = prepared("pi_1043", minor, currency);
        stripe(&fake.base_url).send(&intent, "attempt-1", soon()).await;
        let body = fake.seen().last().unwrap().body.clone();
        let fields: Vec<(String, String)> = serde_urlencoded::from_str(&body).unwrap();
        assert_eq!(fields[1], ("amount".to_owned(), minor.to_string()));
    }
}

#[tokio::test]
async fn a_send_carries_the_stored_bytes_and_key_and_its_own_request_id() {
    let fake = Fake::answering(|_| ok(&refund("re_1", Some(MARKER), 38_000, "succeeded"))).await;
    let report = stripe(&fake.base_url).send(&intent(), "attempt-7", soon()).await;
    let [request] = fake.seen().try_into().unwrap();
    assert_eq!(
        (request.method.as_str(), request.path.as_str(), request.query.as_str()),
        ("POST", "/v1/refunds", "")
    );
    assert_eq!(request.body, intent().request.body);
    for (name, value) in [
        ("authorization", "Bearer sk_test_SECRETKEY"),
        ("idempotency-key", MARKER),
        ("x-client-request-id", "attempt-7"),
        ("content-type", "application/x-www-form-urlencoded"),
    ] {
        assert_eq!(request.headers[name], value, "{name}");
    }
    assert!(!request.headers.contains_key("stripe-version"));
    assert_eq!((report.end.class, report.end.why), (Class::Effect, Why::Accepted));
    assert_eq!(report.end.provider_request_id.as_deref(), Some("req_42"));
    assert_eq!(report.end.effect.unwrap().external_id, "re_1");
    let body = report.body.unwrap();
    assert_eq!(report.end.body_digest, Some(hex::encode(Sha256::digest(body))));
}

#[tokio::test]
async fn a_refused_connection_and_a_passed_deadline_are_not_sent() {
    let nobody = stripe("http://127.0.0.1:9");
    let end = nobody.send(&intent(), "a", soon()).await.end;
    assert_eq!((end.class, end.why), (Class::NotSent, Why::ConnectFailed));
    let end = nobody.send(&intent(), "a", Instant::now()).await.end;
    assert_eq!((end.class, end.why), (Class::NotSent, Why::DeadlinePassed));
    let end = nobody.send(&intent(), "not\na header", soon()).await.end;
    assert_eq!((end.class, end.why), (Class::NotSent, Why::NotBuilt));
}

#[test]
fn answers_that_prove_no_execution_are_deferred_or_refused() {
    use Class::{Deferred, Refused};
    let invalid = "invalid_request_error";
    let rows = [
        (401, error(invalid, None, None), Deferred, Why::Unauthorized),
        (429, error(invalid, Some("rate_limit"), None), Deferred, Why::RateLimitNamed),
        (400, error(invalid, Some("amount_too_large"), Some("amount")), Refused, Why::DefiniteRefusal),
        // More than is left: no code.
        (400, error(invalid, None, Some("amount")), Refused, Why::DefiniteRefusal),
        (
            400,
            error(invalid, Some("resource_missing"), Some("payment_intent")),
            Refused,
            Why::DefiniteRefusal,
        ),
        (
            404,
            error(invalid, Some("resource_missing"), Some("payment_intent")),
            Refused,
            Why::DefiniteRefusal,
        ),
        (400, error(invalid, Some("charge_disputed"), None), Refused, Why::DefiniteRefusal),
        (400, error(invalid, Some("refund_disputed_payment"), None), Refused, Why::DefiniteRefusal),
        (400, error(invalid, Some("balance_insufficient"), None), Refused, Why::DefiniteRefusal),
        (
            400,
            error(invalid, Some("parameter_invalid_integer"), Some("amount")),
            Refused,
            Why::DefiniteRefusal,
        ),
        (400, error(invalid, Some("parameter_unknown"), Some("x")), Refused, Why::DefiniteRefusal),
    ];
    for (status, body, expected, why) in rows {
        assert_eq!(class(status, &body), (expected, why), "{status} {body}");
    }
    let named = [("stripe-rate-limited-reason", "endpoint-rate"), ("retry-after", "3")];
    let end = answered(429, &named, &error("invalid_request_error", None, None));
    assert_eq!((end.class, end.why, end.retry_after_s), (Deferred, Why::RateLimitNamed, Some(3)));
}

/// D13 A16 A17 B7 G6: what may be our own effect, or a proxy's word, proves nothing.
#[test]
fn everything_else_is_indeterminate_and_says_why() {
    let invalid = "invalid_request_error";
    let html = "<html>rate_limit amount_too_large</html>".to_owned();
    let rows = [
        (400, error(invalid, Some("charge_already_refunded"), Some("charge")), Why::AlreadyDone),
        (400, error("idempotency_error", None, None), Why::KeyReusedOtherParameters),
        (404, error("idempotency_error", None, None), Why::KeyReusedOtherParameters),
        (409, error(invalid, Some("idempotency_key_in_use"), None), Why::InFlight),
        (409, error(invalid, Some("something_else"), None), Why::UnlistedAnswer),
        (429, error(invalid, Some("lock_timeout"), None), Why::LockTimeout),
        (429, error(invalid, None, None), Why::RateLimitUnnamed),
        (429, html.clone(), Why::RateLimitUnnamed),
        (403, error(invalid, None, None), Why::Forbidden),
        (403, html.clone(), Why::Forbidden),
        (401, html.clone(), Why::BodyNotUnderstood),
        (400, html.clone(), Why::BodyNotUnderstood),
        (400, error(invalid, None, None), Why::UnlistedAnswer),
        (400, error(invalid, Some("brand_new"), Some("amount")), Why::UnlistedAnswer),
        (402, error("card_error", Some("card_declined"), None), Why::UnlistedAnswer),
        (302, String::new(), Why::Redirected),
        (500, error("api_error", None, None), Why::ServerError),
        (500, error(invalid, Some("resource_missing"), None), Why::ServerError),
        (503, html, Why::ServerError),
        (200, "{}".to_owned(), Why::BodyNotUnderstood),
        (204, String::new(), Why::BodyNotUnderstood),
    ];
    for (status, body, why) in rows {
        assert_eq!(class(status, &body), (Class::Indeterminate, why), "{status} {body}");
    }
    // A lock time-out stays one, whatever else the headers name.
    let end =
        answered(429, &[("stripe-rate-limited-reason", "x")], &error(invalid, Some("lock_timeout"), None));
    assert_eq!((end.class, end.why), (Class::Indeterminate, Why::LockTimeout));
}

#[test]
fn a_refusal_whose_body_was_cut_is_no_refusal() {
    let body = error("invalid_request_error", Some("amount_too_large"), None).into_bytes();
    let cut = Answered { status: 400, headers: HeaderMap::new(), body, whole: false };
    let end = answer::report(&intent(), Exchange::Answered(cut), Duration::ZERO).end;
    assert_eq!((end.class, end.why), (Class::Indeterminate, Why::BodyNotUnderstood));
}

/// Rule 8: only what Stripe itself answered is kept under the key.
#[test]
fn a_5xx_of_stripe_is_kept_and_a_proxys_is_not() {
    let stored = |status, headers: &[_], body: &str| answered(status, headers, body).stored_failure;
    assert!(stored(500, &[], &error("api_error", None, None)));
    assert!(stored(500, &[("request-id", "req_1")], "<html>"));
    assert!(stored(500, &[("request-id", "req_1"), ("stripe-should-retry", "true")], ""));
    assert!(!stored(502, &[], "<html>Bad gateway</html>"));
    assert!(!stored(400, &[("request-id", "req_1")], &error("invalid_request_error", None, None)));
}

#[test]
fn the_marks_of_an_answer_are_kept() {
    let body = error("invalid_request_error", Some("amount_too_large"), None);
    let end = answered(400, &[("idempotent-replayed", "true"), ("request-id", "req_7")], &body);
    assert!(end.replayed);
    assert_eq!(
        (end.http_status, end.code.as_deref(), end.duration_ms),
        (Some(400), Some("amount_too_large"), 7)
    );
    assert_eq!(end.provider_request_id.as_deref(), Some("req_7"));
    assert!(!answered(400, &[("idempotent-replayed", "false")], &body).replayed);
    assert!(!answered(400, &[], &body).replayed);
    assert_eq!(answered(429, &[("retry-after", "99999999999")], "").retry_after_s, Some(24 * 3600));
    assert_eq!(answered(429, &[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")], "").retry_after_s, None);
    assert_eq!(answered(500, &[], &error("api_error", None, None)).code.as_deref(), Some("api_error"));
}

#[test]
fn each_status_word_has_its_meaning_and_a_new_one_proves_nothing() {
    let rows = [
        ("succeeded", EffectStatus::Live),
        ("pending", EffectStatus::Pending),
        ("requires_action", EffectStatus::Pending),
        ("failed", EffectStatus::Failed),
        ("canceled", EffectStatus::Failed),
    ];
    for (word, status) in rows {
        let end = answered(200, &[], &refund("re_1", Some(MARKER), 38_000, word).to_string());
        let effect = end.effect.unwrap();
        assert_eq!(
            (end.class, effect.status, effect.provider_status.as_str()),
            (Class::Effect, status, word)
        );
    }
    let new = refund("re_1", Some(MARKER), 38_000, "reversing").to_string();
    assert_eq!(class(200, &new), (Class::Indeterminate, Why::BodyNotUnderstood));
    let mut none = refund("re_1", Some(MARKER), 38_000, "succeeded");
    none["status"] = json!(null);
    assert_eq!(class(200, &none.to_string()), (Class::Indeterminate, Why::BodyNotUnderstood));
}

/// Rule 10, D10: a 200 is our effect only if marker, amount, currency and target are right, and it has a number of its own.
#[test]
fn a_200_that_is_not_our_effect_proves_nothing_and_is_kept() {
    let ours = refund("re_1", Some(MARKER), 38_000, "succeeded");
    let with = |field: &str, value: serde_json::Value| {
        let mut other = ours.clone();
        other[field] = value;
        answered(200, &[], &other.to_string())
    };
    let mismatches = [
        with("amount", json!(37_999)),
        with("currency", json!("usd")),
        with("payment_intent", json!("pi_1044")),
        with("metadata", json!({"operation_id": "shop.refund-1043-LI_2"})),
        with("metadata", json!({"operation_id": "shop.refund-1043-li_2 "})),
        with("metadata", json!({})),
    ];
    for end in mismatches {
        assert_eq!((end.class, end.why), (Class::Indeterminate, Why::EffectMismatch));
        assert_eq!(end.effect.unwrap().external_id, "re_1");
    }
    for end in [
        with("id", json!("")),
        with("id", json!(null)),
        with("object", json!("charge")),
        with("amount", json!("38000")),
    ] {
        assert_eq!((end.class, end.why, end.effect), (Class::Indeterminate, Why::BodyNotUnderstood, None));
    }
    let expanded = with("payment_intent", json!({"id": "pi_1043", "object": "payment_intent"}));
    assert_eq!(expanded.class, Class::Effect);
}

#[tokio::test]
async fn a_redirect_of_a_write_is_not_followed() {
    let fake = Fake::answering(|_| {
        (StatusCode::TEMPORARY_REDIRECT, [("location", "/v1/elsewhere")]).into_response()
    })
    .await;
    let end = stripe(&fake.base_url).send(&intent(), "a", soon()).await.end;
    assert_eq!((end.class, end.why), (Class::Indeterminate, Why::Redirected));
    assert_eq!(fake.seen().len(), 1);
}

#[test]
fn the_secret_key_shows_in_no_debug_form() {
    assert!(!format!("{:?}", stripe("http://127.0.0.1:9")).contains("SECRET"));
}
