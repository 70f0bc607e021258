//! Faults: which request meets which, what happens, and what is answered.

use serde_json::json;

use crate::bench::{Bench, PAYMENT, read, until};

#[tokio::test]
async fn the_first_fault_that_matches_wins_and_is_spent() {
    let bench = Bench::start().await;
    bench.fault(json!({ "match": { "method": "POST", "path": "/v1/refunds" }, "answer": "429" })).await;
    bench.fault(json!({ "answer": "401", "times": 2 })).await;
    assert_eq!(bench.get("/v1/refunds").await.status, 401);
    assert_eq!(bench.refund("k", 100).await.status, 429);
    assert_eq!(bench.refund("k", 100).await.status, 401);
    assert_eq!(bench.refund("k", 100).await.status, 200);
}

#[tokio::test]
async fn a_fault_finds_its_request_by_path_target_operation_and_number() {
    let bench = Bench::start().await;
    bench.pay("pi_other", 1000, "TWD").await;
    bench.fault(json!({ "match": { "path": "/v1/charges/*" }, "answer": "429" })).await;
    bench.fault(json!({ "match": { "target": "pi_other" }, "answer": "401" })).await;
    bench.fault(json!({ "match": { "operation_id": "refund-1043-li_2" }, "answer": "409" })).await;
    bench.fault(json!({ "match": { "operation_id": "shop.refund-1043-li_3" }, "answer": "500" })).await;
    bench
        .fault(json!({ "match": { "method": "get", "path": "/v1/refunds", "nth": 2 }, "answer": "html" }))
        .await;
    assert_eq!(bench.get("/v1/refunds").await.status, 200);
    assert_eq!(bench.refund("refund-1043-li_2-r2", 10).await.status, 200);
    assert_eq!(bench.refund("refund-1043-li_2", 10).await.status, 409);
    assert_eq!(bench.refund("refund-1043-li_3", 10).await.status, 500);
    assert_eq!(bench.post("/v1/refunds", "charge=ch_other&amount=1").await.status, 401);
    assert_eq!(bench.get("/v1/charges/ch_earphones").await.status, 429);
    assert_eq!(bench.get("/v1/refunds").await.status, 502);
    assert_eq!(bench.get("/v1/refunds").await.status, 200);
}

#[tokio::test]
async fn a_number_counts_what_another_fault_answered_too() {
    let bench = Bench::start().await;
    bench.fault(json!({ "match": { "method": "GET" }, "answer": "401" })).await;
    bench.fault(json!({ "match": { "method": "GET", "nth": 2 }, "answer": "429" })).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(bench.get("/v1/refunds").await.status);
    }
    assert_eq!(seen, [401, 429, 200]);
}

#[tokio::test]
async fn a_read_by_number_belongs_to_the_payment_and_operation_of_its_refund() {
    let bench = Bench::start().await;
    let made = bench.refund("refund-1043-li_2", 10).await;
    let path = format!("/v1/refunds/{}", made.id());
    bench.fault(json!({ "match": { "method": "GET", "target": "ch_earphones" }, "answer": "429" })).await;
    bench
        .fault(json!({ "match": { "method": "GET", "operation_id": "refund-1043-li_2" }, "answer": "401" }))
        .await;
    assert_eq!(bench.get(&path).await.status, 429);
    assert_eq!(bench.get(&path).await.status, 401);
    assert_eq!(bench.get(&path).await.status, 200);
}

#[tokio::test]
async fn faults_can_be_forgotten() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "429", "times": 9 })).await;
    assert_eq!(bench.get("/v1/refunds").await.status, 429);
    let url = format!("{}/simulator/faults", bench.base);
    assert_eq!(bench.client.delete(url).send().await.unwrap().status(), 204);
    assert_eq!(bench.get("/v1/refunds").await.status, 200);
}

#[tokio::test]
async fn a_fault_that_contradicts_itself_is_refused() {
    let bench = Bench::start().await;
    for fault in [
        json!({ "effect": "late", "answer": "ok" }),
        json!({ "effect": "applied", "answer": "reset_before" }),
        json!({ "answer": "500", "after_ms": 5 }),
        json!({ "answer": "ok", "times": 0 }),
        json!({ "match": { "nth": 0 }, "answer": "ok" }),
        json!({ "answer": "418" }),
        json!({ "answer": "ok", "colour": "red" }),
    ] {
        assert_eq!(bench.order("faults", fault.clone()).await.status, 400, "{fault}");
    }
}

#[tokio::test]
async fn the_answers_that_come_instead_of_the_endpoint_have_no_effect() {
    let bench = Bench::start().await;
    for (answer, status) in
        [("500", 500), ("500_stored", 500), ("429", 429), ("429_named", 429), ("401", 401), ("409", 409)]
    {
        bench.fault(json!({ "answer": answer })).await;
        assert_eq!(bench.refund(answer, 10).await.status, status, "{answer}");
    }
    assert!(bench.effects().await.is_empty());
}

#[tokio::test]
async fn only_a_named_429_names_the_rate_limit() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "429_named" })).await;
    bench.fault(json!({ "answer": "429" })).await;
    let named = bench.refund("k", 10).await;
    assert_eq!(named.code(), Some("rate_limit"));
    assert_eq!(named.header("stripe-rate-limited-reason"), Some("endpoint-rate"));
    let unnamed = bench.refund("k", 10).await;
    assert_eq!((unnamed.code(), unnamed.header("stripe-rate-limited-reason")), (None, None));
    assert!(unnamed.header("request-id").is_some());
}

#[tokio::test]
async fn a_proxys_page_hides_an_applied_effect_and_carries_no_request_id() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "html" })).await;
    let answer = bench.refund("k", 10).await;
    assert_eq!((answer.status, answer.header("request-id")), (502, None));
    assert_eq!(answer.header("content-type"), Some("text/html"));
    assert!(answer.body.as_str().is_some_and(|page| page.contains("502 Bad Gateway")));
    assert_eq!(bench.refund("k", 10).await.header("idempotent-replayed"), Some("true"));
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn a_wrong_body_is_a_200_that_is_no_refund() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "wrong_body" })).await;
    let answer = bench.refund("k", 10).await;
    assert_eq!((answer.status, answer.body["object"].as_str()), (200, Some("balance")));
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn twice_makes_a_duplicate_even_beyond_what_remains() {
    let bench = Bench::start().await;
    bench.fault(json!({ "effect": "twice", "answer": "ok" })).await;
    let made = bench.refund("refund-1043-all", 158_000).await;
    let effects = bench.effects().await;
    assert_eq!(effects.len(), 2);
    assert_eq!(effects[0].external_id, made.id());
    assert_eq!(effects[0].marker, effects[1].marker);
    assert_eq!(effects[1].amount, "158000");
    assert_eq!(bench.refund("refund-1043-all", 158_000).await.id(), made.id());
}

#[tokio::test]
async fn a_late_effect_happens_in_real_time_too() {
    let bench = Bench::start().await;
    bench.fault(json!({ "effect": "late", "answer": "500", "after_ms": 30 })).await;
    assert_eq!(bench.refund("k", 10).await.status, 500);
    until("the effect is there", async || bench.effects().await.len() == 1).await;
}

#[tokio::test]
async fn a_late_effect_with_a_lost_answer_shows_up_later() {
    let bench = Bench::start().await;
    bench.fault(json!({ "effect": "late", "answer": "drop", "after_ms": 90_000 })).await;
    assert!(bench.refunding("k", 10).send().await.is_err());
    let path = format!("/v1/refunds?payment_intent={PAYMENT}");
    assert_eq!(bench.get(&path).await.body["data"], json!([]));
    assert_eq!(bench.refund("k", 10).await.status, 409);
    bench.advance(90).await;
    assert_eq!(bench.get(&path).await.body["data"][0]["amount"], 10);
    assert_eq!(bench.refund("k", 10).await.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn an_ok_without_effect_describes_a_refund_that_does_not_exist() {
    let bench = Bench::start().await;
    bench.fault(json!({ "effect": "none", "answer": "ok" })).await;
    let answer = bench.refund("k", 10).await;
    assert_eq!((answer.status, answer.body["object"].as_str()), (200, Some("refund")));
    assert_eq!(bench.get(&format!("/v1/refunds/{}", answer.id())).await.status, 404);
    assert!(bench.effects().await.is_empty());
}

#[tokio::test]
async fn what_never_began_leaves_nothing_under_its_key() {
    let bench = Bench::start().await;
    bench.fault(json!({ "effect": "none", "answer": "drop" })).await;
    assert!(bench.refunding("k", 10).send().await.is_err());
    let other = bench.refund("k", 20).await;
    assert_eq!((other.status, other.header("idempotent-replayed")), (200, None));
}

#[tokio::test]
async fn a_request_that_the_endpoint_refuses_stays_without_effect_under_a_fault() {
    let bench = Bench::start().await;
    bench.fault(json!({ "effect": "applied", "answer": "drop" })).await;
    assert!(bench.refunding("k", 999_999).send().await.is_err());
    assert!(bench.effects().await.is_empty());
    let again = bench.refund("k", 999_999).await;
    assert_eq!((again.code(), again.header("idempotent-replayed")), (Some("amount_too_large"), Some("true")));
}

#[tokio::test]
async fn a_hanging_request_is_answered_after_its_time() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "hang", "after_ms": 600_000 })).await;
    let hanging = tokio::spawn(bench.refunding("k", 10).send());
    until("it is applied", async || bench.effects().await.len() == 1).await;
    assert!(!hanging.is_finished());
    bench.advance(600).await;
    assert_eq!(read(hanging.await.unwrap().unwrap()).await.status, 200);
}
