//! The main job: an answer is lost, the caller asks again, and the refund happens once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use counterfoil_tests::{Engine, REFUND, Reply, Setup, Shop, races, refund_of, stories_on, until};
use reqwest::Method;
use serde_json::json;

races!(
    a_lost_answer_on_a_partial_refund_is_settled_by_a_look_up_and_sent_once,
    two_first_requests_at_once_make_one_operation_and_one_send,
    an_answer_that_comes_too_late_is_unknown_and_then_found,
    a_result_that_cannot_be_written_down_is_told_as_recorded_and_adopted_later,
    a_callers_own_key_or_volatile_data_makes_no_second_refund,
    work_goes_on_when_the_caller_hangs_up,
    a_refund_that_is_answered_at_once_is_confirmed_at_once,
);

// H12 H14: nothing may depend on the session, which a pooler in transaction mode changes under every transaction.
stories_on!(pooled Pooled (
    a_lost_answer_on_a_partial_refund_is_settled_by_a_look_up_and_sent_once
    two_first_requests_at_once_make_one_operation_and_one_send
));

/// What every answer for a lost answer must say, and must never say.
#[track_caller]
fn tells_the_truth_about_a_lost_answer(reply: &Reply) {
    let operation = &reply.body;
    assert_eq!(operation["id"], REFUND);
    assert_eq!(operation["state"], "unknown");
    assert_eq!(operation["claim"], "in_progress");
    assert_eq!(operation["resend"], "never");
    let message = operation["message"].as_str().unwrap();
    for said in ["380.00 TWD", "It may already have happened.", "Do not send it again."] {
        assert!(message.contains(said), "{said:?} is missing in {message:?}");
    }
    for unsaid in ["failed", "try again", "retry"] {
        assert!(!message.to_lowercase().contains(unsaid), "{unsaid:?} stands in {message:?}");
    }
}

/// A1 A2: the refund is partial, so the provider's own over-refund check can't hide a second one.
async fn a_lost_answer_on_a_partial_refund_is_settled_by_a_look_up_and_sent_once(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).account("absence_lag", "1h")).await;
    // The provider's list lags, so that the outcome stays unknown while the caller asks again.
    shop.provider.mode(&json!({ "keys": "all", "lookup": "lagging", "lag_ms": 3_600_000 })).await;
    shop.provider.next_send("applied", "drop").await;

    let first = shop.ledger.refund("1043", "li_2").await.is(202);
    tells_the_truth_about_a_lost_answer(&first);
    assert_eq!(first.body["replayed"], false);
    assert_eq!(first.body["attempts"], 1);
    assert_eq!(first.header("location"), format!("/v1/operations/{REFUND}"));
    assert!(first.header("retry-after").parse::<u64>().is_ok(), "{:?}", first.headers);

    let mut again = Vec::new();
    for _ in 0..3 {
        again.push(shop.ledger.refund_at_once("1043", "li_2").await);
    }
    let at_once =
        tokio::join!(shop.ledger.refund_at_once("1043", "li_2"), shop.ledger.refund_at_once("1043", "li_2"));
    again.extend([at_once.0, at_once.1]);
    for reply in again {
        let reply = reply.is(200);
        tells_the_truth_about_a_lost_answer(&reply);
        assert_eq!(reply.body["replayed"], true);
        assert_eq!(reply.body["intent_hash"], first.body["intent_hash"]);
    }
    shop.sent_and_done(1, 1).await;

    shop.provider.look_up_mode("complete").await;
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    let effects = shop.provider.effects().await;
    assert_eq!(effects.len(), 1);
    assert_eq!(effects[0]["amount"], "38000");
    assert_eq!(settled["external_id"], effects[0]["external_id"]);
    assert_eq!((&settled["claim"], &settled["resend"]), (&json!("done"), &json!("never")));

    let last = shop.ledger.refund("1043", "li_2").await.is(200);
    assert_eq!((&last.body["state"], &last.body["replayed"]), (&json!("confirmed"), &json!(true)));
    assert_eq!(last.body["external_id"], effects[0]["external_id"]);
    shop.sent_and_done(1, 1).await;
    let rows = shop.ledger.operations("order=1043").await;
    assert_eq!(rows.len(), 1, "one row: {rows:?}");
    // The history shows which states it went through, and only look-ups after the one send.
    let mut database = shop.ledger.database().await;
    assert_eq!(database.facts(REFUND, "attempt_started").await, 1);
    assert_eq!(database.facts(REFUND, "asked").await, 7);
    let moves = database.moves(REFUND).await;
    assert_eq!(moves, ["submitted", "unknown", "confirmed"]);
    shop.ledger.rests().await;
}

/// G6: whoever comes second meets the row of the first.
async fn two_first_requests_at_once_make_one_operation_and_one_send(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let (one, other) = tokio::join!(shop.ledger.refund("1043", "li_2"), shop.ledger.refund("1043", "li_2"));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses[0], 200, "one of them is a repeat: {} {}", one.text, other.text);
    assert!([201, 202].contains(&statuses[1]), "one of them is new: {} {}", one.text, other.text);
    assert_ne!(one.body["replayed"], other.body["replayed"]);
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// A3: the money moved, and the answer came after our time-out.
async fn an_answer_that_comes_too_late_is_unknown_and_then_found(engine: Engine) {
    let setup = Setup::new(engine).account("send_timeout", "1s").account("absence_lag", "1m");
    let shop = Shop::open(&setup).await;
    shop.provider
        .fault(&json!({ "match": { "method": "POST" }, "effect": "late", "answer": "hang", "after_ms": 3000, "times": 1 }))
        .await;
    let first = shop.ledger.refund("1043", "li_2").await.is(202);
    tells_the_truth_about_a_lost_answer(&first);
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["external_id"], shop.provider.effects().await[0]["external_id"]);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// A9: the provider did it, and our own disk refused the result.
async fn a_result_that_cannot_be_written_down_is_told_as_recorded_and_adopted_later(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let mut database = shop.ledger.database().await;
    database.refuse_facts("attempt_ended").await;
    let first = shop.ledger.refund("1043", "li_2").await.is(202);
    assert_eq!(first.body["id"], REFUND);
    assert_eq!(first.body["claim"], "in_progress");
    assert!(first.body["message"].as_str().unwrap().contains("Do not send it again."), "{}", first.text);
    shop.sent_and_done(1, 1).await;
    database.accept_facts().await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// B1 B2: what a caller adds to a repeat is no identity.
async fn a_callers_own_key_or_volatile_data_makes_no_second_refund(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let plain = refund_of("1043", "li_2");
    for key in ["8f0c0a52-1ab1-4b9e-9a5a-1d7c6d6a0001", "8f0c0a52-1ab1-4b9e-9a5a-1d7c6d6a0002"] {
        let headers = [("idempotency-key", key), ("x-request-id", key)];
        let reply = shop.ledger.call(Method::POST, "/v1/operations", &headers, Some(plain.to_string())).await;
        assert_eq!(reply.body["id"], REFUND, "{}", reply.text);
    }
    shop.ledger.wait_for_state(REFUND, "confirmed").await;

    // A key that the caller made up has no meaning, wherever it stands.
    let mut random_key = plain.clone();
    random_key["idempotency_key"] = json!("8f0c0a52-1ab1-4b9e-9a5a-1d7c6d6a0003");
    let same = shop.ledger.refund_with(&random_key).await.is(200);
    assert_eq!((&same.body["id"], &same.body["replayed"]), (&json!(REFUND), &json!(true)));
    let mut volatile = plain.clone();
    volatile["params"] = json!({ "sentAt": "2026-11-30T10:00:00Z", "traceId": "a91f" });
    shop.ledger.refund_with(&volatile).await.refuses("params.");
    // A reason is not part of the intent: the same operation answers, in other words too.
    let mut reworded = plain;
    reworded["reason"] = json!("the case was broken, says the customer");
    let same = shop.ledger.refund_with(&reworded).await.is(200);
    assert_eq!(same.body["replayed"], true);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

async fn work_goes_on_when_the_caller_hangs_up(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider
        .fault(&json!({ "match": { "method": "POST" }, "effect": "none", "answer": "hang", "times": 1 }))
        .await;
    let asking = shop.ledger.refund("1043", "li_2");
    let impatient = tokio::time::timeout(Duration::from_millis(500), asking);
    assert!(impatient.await.is_err(), "the send hangs, so the answer can't have come");
    // Nothing was applied; the look-ups prove it and the daemon sends again under the same key.
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["attempts"], 2);
    shop.sent_and_done(2, 1).await;
    shop.ledger.rests().await;
}

async fn a_refund_that_is_answered_at_once_is_confirmed_at_once(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let done = shop.ledger.refund("1043", "li_2").await.is(201);
    assert_eq!(done.body["state"], "confirmed");
    assert_eq!(done.body["claim"], "done");
    assert_eq!(done.body["replayed"], false);
    let sent = shop.provider.sends().await;
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].path, "/v1/refunds");
    assert_eq!(sent[0].key.as_deref(), Some("shop.refund-1043-li_2"));
    let attempts = shop.ledger.attempts(REFUND).await;
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0]["client_request_id"].as_str(), sent[0].request_id.as_deref());
    assert_eq!(attempts[0]["end"]["class"], "effect");
    let effect = until("the effect", async || {
        shop.provider.effects_of(REFUND).await.pop().ok_or_else(|| "none".to_owned())
    })
    .await;
    assert_eq!(effect["marker"], "shop.refund-1043-li_2");
    shop.ledger.rests().await;
}
