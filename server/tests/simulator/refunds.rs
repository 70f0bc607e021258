//! Refunds, charges and payment intents on the wire.

use counterfoil::simulator::Settings;
use serde_json::json;

use crate::bench::{Bench, PAYMENT};

#[tokio::test]
async fn a_refund_comes_back_as_stripe_writes_it() {
    let bench = Bench::start().await;
    let form = format!(
        "payment_intent={PAYMENT}&amount=38000&reason=requested_by_customer&metadata%5Boperation_id%5D=shop.refund-1043-li_2&metadata[order]=1043"
    );
    let made = bench.post("/v1/refunds", &form).await;
    assert_eq!(made.status, 200);
    assert!(made.id().starts_with("re_"));
    assert_eq!(made.body["object"], "refund");
    assert_eq!(made.body["amount"], 38_000);
    assert_eq!(made.body["currency"], "twd");
    assert_eq!(made.body["payment_intent"], PAYMENT);
    assert_eq!(made.body["charge"], "ch_earphones");
    assert_eq!(made.body["status"], "succeeded");
    assert_eq!(made.body["reason"], "requested_by_customer");
    assert_eq!(made.body["metadata"], json!({ "operation_id": "shop.refund-1043-li_2", "order": "1043" }));
    assert!(made.body["created"].as_i64().is_some_and(|second| second > 1_700_000_000));
    assert!(made.header("request-id").is_some_and(|id| id.starts_with("req_")));
    let again = bench.get(&format!("/v1/refunds/{}", made.id())).await;
    assert_eq!(again.body, made.body);
}

#[tokio::test]
async fn a_refund_without_amount_takes_what_remains() {
    let bench = Bench::start().await;
    bench.post("/v1/refunds", "charge=ch_earphones&amount=38000").await;
    assert_eq!(bench.post("/v1/refunds", "charge=ch_earphones").await.body["amount"], 120_000);
    let charge = bench.get("/v1/charges/ch_earphones").await;
    assert_eq!(charge.body["amount_refunded"], 158_000);
    assert_eq!(charge.body["refunded"], true);
}

#[tokio::test]
async fn more_than_remains_is_refused_and_names_the_amount() {
    let bench = Bench::start().await;
    bench.post("/v1/refunds", &format!("payment_intent={PAYMENT}&amount=100000")).await;
    let refused = bench.post("/v1/refunds", &format!("payment_intent={PAYMENT}&amount=58001")).await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.kind(), Some("invalid_request_error"));
    assert_eq!(refused.code(), Some("amount_too_large"));
    assert_eq!(refused.body["error"]["param"], "amount");
    let exact = bench.post("/v1/refunds", &format!("payment_intent={PAYMENT}&amount=58000")).await;
    assert_eq!(exact.status, 200);
}

#[tokio::test]
async fn a_payment_refunded_in_full_says_so() {
    let bench = Bench::start().await;
    bench.post("/v1/refunds", &format!("payment_intent={PAYMENT}")).await;
    let refused = bench.post("/v1/refunds", &format!("payment_intent={PAYMENT}&amount=1")).await;
    assert_eq!((refused.status, refused.code()), (400, Some("charge_already_refunded")));
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn money_that_bounced_can_go_back_again() {
    let bench = Bench::start().await;
    let first = bench.post("/v1/refunds", &format!("payment_intent={PAYMENT}")).await;
    bench.order(&format!("refunds/{}", first.id()), json!({ "status": "failed" })).await;
    assert_eq!(bench.post("/v1/refunds", &format!("payment_intent={PAYMENT}")).await.status, 200);
}

#[tokio::test]
async fn what_does_not_exist_is_resource_missing() {
    let bench = Bench::start().await;
    for answer in [
        bench.post("/v1/refunds", "payment_intent=pi_nobody&amount=1").await,
        bench.post("/v1/refunds", "charge=ch_nobody&amount=1").await,
        bench.get("/v1/refunds/re_nobody").await,
        bench.get("/v1/charges/ch_nobody").await,
        bench.get("/v1/payment_intents/pi_nobody").await,
        bench.get("/v1/refunds?payment_intent=pi_nobody").await,
    ] {
        assert_eq!((answer.status, answer.code()), (404, Some("resource_missing")));
        assert_eq!(answer.kind(), Some("invalid_request_error"));
        assert!(answer.header("request-id").is_some());
    }
}

#[tokio::test]
async fn parameters_that_do_not_pass_are_refused_by_name() {
    let bench = Bench::start().await;
    for (form, param) in [
        ("amount=1", "payment_intent"),
        ("payment_intent=pi_earphones&amount=1e3", "amount"),
        ("payment_intent=pi_earphones&amount=-500", "amount"),
        ("payment_intent=pi_earphones&amount=0", "amount"),
        ("payment_intent=pi_earphones&amount=10.5", "amount"),
        ("payment_intent=pi_earphones&amount=", "amount"),
        ("payment_intent=pi_earphones&amount=99999999999999999999", "amount"),
        ("payment_intent=pi_earphones&charge=ch_earphones", "charge"),
        ("payment_intent=pi_earphones&reason=mood", "reason"),
        ("payment_intent=pi_earphones&colour=red", "colour"),
    ] {
        let refused = bench.post("/v1/refunds", form).await;
        assert_eq!((refused.status, refused.kind()), (400, Some("invalid_request_error")), "{form}");
        assert_eq!(refused.body["error"]["param"], param, "{form}");
    }
    assert!(bench.effects().await.is_empty());
}

#[tokio::test]
async fn an_amount_beyond_two_to_the_53_stays_exact() {
    let bench = Bench::start().await;
    bench.pay("pi_large", 9_007_199_254_740_993, "KWD").await;
    let made = bench.post("/v1/refunds", "payment_intent=pi_large&amount=9007199254740993").await;
    assert_eq!(made.body["amount"].as_i64(), Some(9_007_199_254_740_993));
    assert_eq!(bench.effects().await[0].amount, "9007199254740993");
}

#[tokio::test]
async fn a_body_that_is_not_a_form_is_refused() {
    let bench = Bench::start().await;
    let request = bench.posting("/v1/refunds", "").header("content-type", "application/json");
    let request = request.body(r#"{"payment_intent":"pi_earphones"}"#);
    assert_eq!(crate::bench::read(request.send().await.unwrap()).await.status, 400);
}

#[tokio::test]
async fn a_payment_intent_is_created_confirmed_and_refunded() {
    let bench = Bench::start().await;
    let intent = bench.post("/v1/payment_intents", "amount=5000&currency=eur").await;
    assert_eq!(intent.body["status"], "requires_payment_method");
    assert_eq!(bench.post("/v1/refunds", &format!("payment_intent={}", intent.id())).await.status, 400);
    let path = format!("/v1/payment_intents/{}", intent.id());
    let confirmed = bench.post(&format!("{path}/confirm"), "payment_method=pm_card_visa").await;
    assert_eq!(confirmed.body["status"], "succeeded");
    assert_eq!(confirmed.body["amount_received"], 5000);
    assert_eq!(bench.get(&path).await.body, confirmed.body);
    let charge = confirmed.body["latest_charge"].as_str().unwrap().to_owned();
    let refund = bench.post("/v1/refunds", &format!("charge={charge}&amount=2000")).await;
    assert_eq!(refund.body["payment_intent"], intent.id());
    assert_eq!(bench.get(&format!("/v1/charges/{charge}")).await.body["amount_refunded"], 2000);
    assert_eq!(bench.post(&format!("{path}/confirm"), "").await.status, 400);
}

#[tokio::test]
async fn a_secret_key_is_asked_for() {
    let bench = Bench::with(Settings { secret_key: Some("sk_test_only".into()), webhook: None }).await;
    let url = format!("{}/v1/refunds", bench.base);
    for (request, status) in [
        (bench.client.get(&url), 401),
        (bench.client.get(&url).bearer_auth("sk_test_other"), 401),
        (bench.client.get(&url).bearer_auth("sk_test_only"), 200),
        (bench.client.get(&url).basic_auth("sk_test_only", None::<&str>), 200),
    ] {
        let answer = crate::bench::read(request.send().await.unwrap()).await;
        assert_eq!(answer.status, status);
        if status == 401 {
            assert_eq!(answer.kind(), Some("invalid_request_error"));
            assert!(answer.header("request-id").is_some());
        }
    }
}

#[tokio::test]
async fn a_key_that_is_not_secret_is_refused_by_default() {
    let bench = Bench::start().await;
    let request = bench.client.get(format!("{}/v1/refunds", bench.base)).bearer_auth("pk_test_1");
    assert_eq!(request.send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn what_is_not_served_is_a_404_in_stripes_shape() {
    let bench = Bench::start().await;
    for answer in [bench.get("/v1/customers").await, bench.post("/v1/refunds/re_1/cancel", "").await] {
        assert_eq!((answer.status, answer.kind()), (404, Some("invalid_request_error")));
    }
}
