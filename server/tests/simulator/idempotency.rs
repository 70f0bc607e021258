//! What a key protects, and for how long.

use serde_json::json;

use crate::bench::{Bench, PAYMENT, read};

const DAY_S: u32 = 24 * 60 * 60;

#[tokio::test]
async fn the_same_key_replays_the_result_and_says_so() {
    let bench = Bench::start().await;
    let first = bench.refund("refund-1043-li_2", 38_000).await;
    let again = bench.refund("refund-1043-li_2", 38_000).await;
    assert_eq!(first.header("idempotent-replayed"), None);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("original-request"), first.header("request-id"));
    assert_ne!(again.header("request-id"), first.header("request-id"));
    assert_eq!(again.body, first.body);
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn requests_without_key_are_all_new() {
    let bench = Bench::start().await;
    for _ in 0..2 {
        bench.post("/v1/refunds", &format!("payment_intent={PAYMENT}&amount=100")).await;
    }
    assert_eq!(bench.effects().await.len(), 2);
}

#[tokio::test]
async fn the_order_of_parameters_does_not_matter() {
    let bench = Bench::start().await;
    let mut ids = Vec::new();
    for form in ["payment_intent=pi_earphones&amount=5", "amount=5&payment_intent=pi_earphones"] {
        let request = bench.posting("/v1/refunds", form).header("idempotency-key", "k");
        ids.push(read(request.send().await.unwrap()).await.id().to_owned());
    }
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test]
async fn other_parameters_or_another_endpoint_under_the_same_key_are_an_idempotency_error() {
    let bench = Bench::start().await;
    bench.refund("k", 100).await;
    let other = bench.refund("k", 200).await;
    assert_eq!((other.status, other.kind()), (400, Some("idempotency_error")));
    let elsewhere = bench
        .posting("/v1/payment_intents", "amount=100&currency=twd")
        .header("idempotency-key", "shop.k")
        .send()
        .await
        .unwrap();
    let elsewhere = read(elsewhere).await;
    assert_eq!((elsewhere.status, elsewhere.kind()), (400, Some("idempotency_error")));
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn a_failed_validation_is_not_stored() {
    let bench = Bench::start().await;
    assert_eq!(bench.refund("k", -1).await.status, 400);
    let corrected = bench.refund("k", 100).await;
    assert_eq!(corrected.status, 200);
    assert_eq!(corrected.header("idempotent-replayed"), None);
}

#[tokio::test]
async fn a_refusal_by_the_endpoint_is_stored_and_replayed() {
    let bench = Bench::start().await;
    let blocker = bench.refund("blocker", 158_000).await;
    let refused = bench.refund("k", 100).await;
    assert_eq!((refused.status, refused.code()), (400, Some("charge_already_refunded")));
    bench.order(&format!("refunds/{}", blocker.id()), json!({ "status": "failed" })).await;
    let again = bench.refund("k", 100).await;
    assert_eq!((again.status, again.code()), (400, Some("charge_already_refunded")));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn a_key_in_flight_is_a_conflict_that_is_not_stored() {
    let bench = Bench::start().await;
    bench
        .fault(
            json!({ "match": { "method": "POST" }, "effect": "late", "answer": "ok", "after_ms": 3_600_000 }),
        )
        .await;
    let first = tokio::spawn(bench.refunding("k", 100).send());
    crate::bench::until("the first request is there", async || !bench.requests().await.is_empty()).await;
    let second = bench.refund("k", 100).await;
    assert_eq!((second.status, second.code()), (409, Some("idempotency_key_in_use")));
    assert!(bench.effects().await.is_empty());
    bench.advance(3600).await;
    let first = read(first.await.unwrap().unwrap()).await;
    assert_eq!(first.status, 200);
    let third = bench.refund("k", 100).await;
    assert_eq!((third.id(), third.header("idempotent-replayed")), (first.id(), Some("true")));
}

#[tokio::test]
async fn a_stored_500_is_replayed() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "500_stored" })).await;
    let first = bench.refund("k", 100).await;
    assert_eq!((first.status, first.kind()), (500, Some("api_error")));
    assert_eq!(first.header("stripe-should-retry"), Some("false"));
    let again = bench.refund("k", 100).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (500, Some("true")));
    assert!(bench.effects().await.is_empty());
}

#[tokio::test]
async fn a_stored_500_may_hide_an_effect() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "500_stored", "effect": "applied" })).await;
    assert_eq!(bench.refund("k", 100).await.status, 500);
    assert_eq!(bench.refund("k", 100).await.status, 500);
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn a_500_that_is_not_stored_leaves_the_key_free() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "500" })).await;
    assert_eq!(bench.refund("k", 100).await.status, 500);
    let again = bench.refund("k", 100).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (200, None));
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn a_key_is_forgotten_at_24_hours_and_not_before() {
    let bench = Bench::start().await;
    bench.refund("k", 100).await;
    bench.advance(DAY_S - 60).await;
    assert_eq!(bench.refund("k", 100).await.header("idempotent-replayed"), Some("true"));
    bench.advance(60).await;
    let later = bench.refund("k", 200).await;
    assert_eq!((later.status, later.header("idempotent-replayed")), (200, None));
    assert_eq!(bench.effects().await.len(), 2);
}

#[tokio::test]
async fn a_key_has_at_most_255_characters() {
    let bench = Bench::start().await;
    for (length, status) in [(255, 200), (256, 400)] {
        let request = bench.posting("/v1/refunds", "charge=ch_earphones&amount=1");
        let answer = request.header("idempotency-key", "k".repeat(length)).send().await.unwrap();
        assert_eq!(answer.status(), status);
    }
}

#[tokio::test]
async fn a_provider_that_keeps_successes_only_executes_anew_after_an_error() {
    let bench = Bench::start().await;
    bench.mode(json!({ "keys": "success" })).await;
    bench.fault(json!({ "answer": "500_stored", "effect": "applied" })).await;
    assert_eq!(bench.refund("k", 100).await.status, 500);
    assert_eq!(bench.refund("k", 100).await.status, 200);
    assert_eq!(bench.refund("k", 100).await.header("idempotent-replayed"), Some("true"));
    assert_eq!(bench.effects().await.len(), 2);
}

#[tokio::test]
async fn a_provider_that_ignores_keys_makes_every_refund() {
    let bench = Bench::start().await;
    bench.mode(json!({ "keys": "none" })).await;
    bench.refund("k", 100).await;
    assert_eq!(bench.refund("k", 200).await.header("idempotent-replayed"), None);
    assert_eq!(bench.effects().await.len(), 2);
}
