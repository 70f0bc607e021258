//! The tester's side.

use counterfoil::simulator::{
    MinorUnits, NewPayment, NewRefund, RefundChange, Status,
    fault::{Answer, Fault},
    mode::{LookupMode, ModeChange},
};
use serde_json::json;

use crate::bench::{Bench, PAYMENT, read};

#[tokio::test]
async fn a_payment_is_entered_once_and_changes_are_refused() {
    let bench = Bench::start().await;
    let payment = json!({ "id": "pi_1", "amount": "158000", "currency": "TWD" });
    let first = bench.order("payments", payment.clone()).await;
    assert_eq!(first.status, 201);
    assert_eq!(first.body["charge"], "ch_1");
    assert_eq!(first.body["amount"], "158000");
    assert_eq!(first.body["currency"], "TWD");
    assert_eq!(bench.order("payments", payment).await.status, 200);
    let other = json!({ "id": "pi_1", "amount": "158001", "currency": "TWD" });
    assert_eq!(bench.order("payments", other).await.status, 409);
    let anonymous = bench.order("payments", json!({ "amount": "1", "currency": "JPY" })).await;
    assert!(anonymous.id().starts_with("pi_"));
}

#[tokio::test]
async fn an_order_that_says_nothing_is_refused() {
    let bench = Bench::start().await;
    for payment in [
        json!({ "amount": 158_000, "currency": "TWD" }),
        json!({ "amount": "0", "currency": "TWD" }),
        json!({ "amount": "1.5", "currency": "TWD" }),
        json!({ "amount": "1", "currency": "dollars" }),
        json!({ "amount": "1", "currency": "TWD", "id": "order 1" }),
        json!({ "amount": "1" }),
    ] {
        assert_eq!(bench.order("payments", payment.clone()).await.status, 400, "{payment}");
    }
    assert_eq!(bench.order("refunds/re_nobody", json!({ "status": "failed" })).await.status, 404);
    assert_eq!(bench.order("refunds", json!({ "payment": "pi_nobody", "amount": "1" })).await.status, 404);
    assert_eq!(bench.order("mode", json!({ "lookup": "lagging" })).await.status, 400);
    assert_eq!(bench.order("clock", json!({ "advance_s": -1 })).await.status, 400);
}

#[tokio::test]
async fn effects_are_told_in_order_with_marker_and_operation() {
    let bench = Bench::start().await;
    let ours = bench.refund("refund-1043-li_2", 38_000).await;
    let foreign =
        bench.order("refunds", json!({ "payment": PAYMENT, "amount": "500", "id": "re_foreign" })).await;
    assert_eq!(foreign.status, 201);
    let effects = bench.effects().await;
    assert_eq!(effects.len(), 2);
    assert_eq!(effects[0].external_id, ours.id());
    assert_eq!(effects[0].marker.as_deref(), Some("shop.refund-1043-li_2"));
    assert_eq!(effects[0].operation_id.as_deref(), Some("refund-1043-li_2"));
    assert_eq!(effects[0].target, PAYMENT);
    assert_eq!((effects[0].amount.as_str(), effects[0].currency.as_str()), ("38000", "TWD"));
    assert_eq!(effects[0].status, Status::Succeeded);
    assert_eq!((effects[1].external_id.as_str(), &effects[1].marker), ("re_foreign", &None));
}

#[tokio::test]
async fn a_marker_without_namespace_is_the_operation_itself() {
    let bench = Bench::start().await;
    for (marker, operation) in
        [("shop.refund-a.b-c", "refund-a.b-c"), ("refund-1.5-x", "refund-1.5-x"), ("plain", "plain")]
    {
        bench
            .post("/v1/refunds", &format!("charge=ch_earphones&amount=1&metadata[operation_id]={marker}"))
            .await;
        assert_eq!(bench.effects().await.last().unwrap().operation_id.as_deref(), Some(operation));
    }
}

#[tokio::test]
async fn requests_are_told_as_they_were_seen() {
    let bench = Bench::start().await;
    let request = bench.refunding("k", 10).header("x-client-request-id", "attempt-1");
    read(request.send().await.unwrap()).await;
    bench.get("/v1/refunds?limit=5").await;
    let seen = bench.requests().await;
    assert_eq!(seen.len(), 2);
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("POST", "/v1/refunds"));
    assert_eq!(seen[0].key.as_deref(), Some("shop.k"));
    assert_eq!(seen[0].request_id.as_deref(), Some("attempt-1"));
    assert_eq!(seen[0].body, format!("payment_intent={PAYMENT}&amount=10&metadata[operation_id]=shop.k"));
    assert_eq!((seen[1].path.as_str(), &seen[1].key), ("/v1/refunds?limit=5", &None));
    assert!(seen[0].at <= seen[1].at);
}

#[tokio::test]
async fn refunds_of_a_payment_can_start_pending_and_move_on() {
    let bench = Bench::start().await;
    let payment = json!({ "id": "pi_slow", "amount": "100", "currency": "EUR", "refund_status": "pending" });
    bench.order("payments", payment).await;
    let made = bench.post("/v1/refunds", "payment_intent=pi_slow").await;
    assert_eq!(
        (made.body["status"].as_str(), made.body["pending_reason"].as_str()),
        (Some("pending"), Some("processing"))
    );
    let path = format!("refunds/{}", made.id());
    for status in ["requires_action", "succeeded"] {
        assert_eq!(bench.order(&path, json!({ "status": status })).await.body["status"], status);
    }
    let refused = bench.order(&path, json!({ "status": "succeeded", "failure_reason": "declined" })).await;
    assert_eq!(refused.status, 400);
    bench.order(&path, json!({ "status": "failed", "failure_reason": "expired_or_canceled_card" })).await;
    let bounced = bench.get(&format!("/v1/{path}")).await.body;
    assert_eq!(
        (bounced["status"].as_str(), bounced["failure_reason"].as_str()),
        (Some("failed"), Some("expired_or_canceled_card"))
    );
    assert!(bounced["failure_balance_transaction"].as_str().is_some());
    assert_eq!(bench.effects().await[0].status, Status::Failed);
}

#[tokio::test]
async fn what_is_ordered_in_process_is_seen_over_http() {
    let bench = Bench::start().await;
    let simulator = &bench.simulator;
    let payment = NewPayment {
        id: Some("pi_inside".to_owned()),
        amount: MinorUnits(900),
        currency: "EUR".to_owned(),
        refund_status: Status::Succeeded,
    };
    assert_eq!(simulator.add_payment(payment).unwrap().charge, "ch_inside");
    let refund = NewRefund {
        payment: "ch_inside".to_owned(),
        amount: MinorUnits(400),
        metadata: [("operation_id".to_owned(), "shop.refund-1".to_owned())].into(),
        id: None,
        created_s_ago: 60,
    };
    let effect = simulator.add_refund(refund).unwrap();
    let change = RefundChange { status: Status::Canceled, failure_reason: None };
    simulator.move_refund(&effect.external_id, change).unwrap();
    let read = bench.get(&format!("/v1/refunds/{}", effect.external_id)).await.body;
    assert_eq!((read["status"].as_str(), read["amount"].as_i64()), (Some("canceled"), Some(400)));
    simulator.add_fault(Fault { answer: Answer::TooMany, ..Fault::default() }).unwrap();
    assert_eq!(bench.get("/v1/refunds").await.status, 429);
    simulator.clear_faults();
    simulator.set_mode(ModeChange { lookup: Some(LookupMode::Down), ..ModeChange::default() }).unwrap();
    assert_eq!(bench.get("/v1/refunds").await.status, 503);
    assert_eq!(simulator.effects(), bench.effects().await);
    assert_eq!(simulator.requests(), bench.requests().await);
}
