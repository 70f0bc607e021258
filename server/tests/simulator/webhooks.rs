//! Webhooks: which are sent, how they are signed, and that delivery is tried again but not for ever.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use counterfoil::simulator::signature;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::bench::{Bench, PAYMENT, until};

#[derive(Clone, Default)]
struct Receiver {
    taken: Arc<Mutex<Vec<(String, String)>>>,
    refusals: Arc<Mutex<u32>>,
}

impl Receiver {
    /// Listens, and refuses the first `refusals` deliveries.
    async fn start(bench: &Bench, refusals: u32) -> Self {
        let receiver = Self::default();
        *receiver.refusals.lock().unwrap() = refusals;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/webhooks/stripe-main", listener.local_addr().unwrap());
        let router = Router::new().route("/webhooks/stripe-main", post(take)).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let answer = bench.order("webhooks", json!({ "url": url, "secret": "whsec_bench" })).await;
        assert_eq!(answer.status, 204);
        receiver
    }

    fn events(&self) -> Vec<Value> {
        self.taken.lock().unwrap().iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect()
    }

    fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<_> =
            self.events().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
        kinds.sort();
        kinds
    }
}

async fn take(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> StatusCode {
    let mut refusals = receiver.refusals.lock().unwrap();
    if *refusals > 0 {
        *refusals -= 1;
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let signature = headers["stripe-signature"].to_str().unwrap().to_owned();
    receiver.taken.lock().unwrap().push((signature, body));
    StatusCode::OK
}

#[tokio::test]
async fn a_refund_and_its_bounce_are_told_with_a_signature() {
    let bench = Bench::start().await;
    let receiver = Receiver::start(&bench, 0).await;
    let made = bench.refund("refund-1043-li_2", 38_000).await;
    until("the refund is told", async || receiver.events().len() == 2).await;
    assert_eq!(receiver.kinds(), ["charge.refunded", "refund.created"]);
    let events = receiver.events();
    let created = events.iter().find(|event| event["type"] == "refund.created").unwrap();
    assert_eq!(created["object"], "event");
    assert_eq!(created["data"]["object"], made.body);
    assert_eq!(created["request"]["id"].as_str(), made.header("request-id"));
    assert_eq!(created["request"]["idempotency_key"], "shop.refund-1043-li_2");
    let charge = events.iter().find(|event| event["type"] == "charge.refunded").unwrap();
    assert_eq!(charge["data"]["object"]["amount_refunded"], 38_000);
    let bounce = json!({ "status": "failed", "failure_reason": "declined" });
    bench.order(&format!("refunds/{}", made.id()), bounce).await;
    until("the bounce is told", async || receiver.events().len() == 4).await;
    assert_eq!(receiver.kinds(), ["charge.refunded", "refund.created", "refund.failed", "refund.updated"]);
    for (signed, body) in receiver.taken.lock().unwrap().iter() {
        let second = signed.strip_prefix("t=").and_then(|rest| rest.split(',').next()).unwrap();
        assert_eq!(*signed, signature("whsec_bench", second.parse().unwrap(), body).unwrap());
    }
}

#[tokio::test]
async fn a_signature_is_the_hmac_of_time_and_body() {
    // Computed with: printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test
    let expected = "t=1700000000,v1=c89214b5b5da833daed6f0b8c5bb6bd58cea9022bd80ccc78230f3942d632925";
    assert_eq!(signature("whsec_test", 1_700_000_000, r#"{"id":"evt_1"}"#).unwrap(), expected);
}

#[tokio::test]
async fn a_refund_whose_answer_is_lost_is_told_all_the_same() {
    let bench = Bench::start().await;
    let receiver = Receiver::start(&bench, 0).await;
    bench.fault(json!({ "answer": "drop" })).await;
    assert!(bench.refunding("k", 10).send().await.is_err());
    until("it is told", async || receiver.events().len() == 2).await;
}

#[tokio::test]
async fn a_late_effect_is_told_when_it_happens() {
    let bench = Bench::start().await;
    let receiver = Receiver::start(&bench, 0).await;
    bench.fault(json!({ "effect": "late", "answer": "500", "after_ms": 20 })).await;
    bench.refund("k", 10).await;
    until("it is told, though nobody asks the simulator", async || receiver.events().len() == 2).await;
}

#[tokio::test]
async fn a_delivery_that_is_refused_is_tried_again_with_the_same_event() {
    let bench = Bench::start().await;
    let receiver = Receiver::start(&bench, 2).await;
    let order = json!({ "payment": PAYMENT, "amount": "500" });
    assert_eq!(bench.order("refunds", order).await.status, 201);
    until("both are told", async || receiver.events().len() == 2).await;
    assert_eq!(*receiver.refusals.lock().unwrap(), 0);
    assert_eq!(receiver.kinds(), ["charge.refunded", "refund.created"]);
}

#[tokio::test]
async fn webhooks_go_to_plain_http_only() {
    let bench = Bench::start().await;
    let answer = bench.order("webhooks", json!({ "url": "https://example.com", "secret": "s" })).await;
    assert_eq!(answer.status, 400);
}
