//! Connections that are cut: what arrives, byte for byte.

use std::{io::ErrorKind, time::Duration};

use counterfoil::simulator::{Settings, Simulator, run, serve};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, until};

#[tokio::test]
async fn a_dropped_answer_is_applied_and_sends_no_byte() {
    let bench = Bench::start().await;
    bench.fault(json!({ "match": { "method": "POST" }, "effect": "applied", "answer": "drop" })).await;
    let (bytes, ended) = bench.refund_bare("refund-1043-li_2", 38_000).await;
    assert!(bytes.is_empty());
    assert!(ended.is_ok(), "closed in order");
    let effects = bench.effects().await;
    assert_eq!(effects.len(), 1);
    assert_eq!(effects[0].operation_id.as_deref(), Some("refund-1043-li_2"));
    let replayed = bench.refund("refund-1043-li_2", 38_000).await;
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn a_reset_comes_before_any_effect() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "reset_before" })).await;
    let (bytes, ended) = bench.refund_bare("k", 10).await;
    assert!(bytes.is_empty());
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(bench.effects().await.is_empty());
    assert_eq!(bench.requests().await.len(), 1);
}

#[tokio::test]
async fn a_truncated_answer_announces_more_than_it_sends() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "truncated" })).await;
    let (bytes, _) = bench.refund_bare("k", 10).await;
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"));
    let head = head.to_lowercase();
    let announced = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    assert_eq!(body.len(), announced.parse::<usize>().unwrap() / 2);
    assert!(body.starts_with('{'));
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn a_read_can_be_cut_too() {
    let bench = Bench::start().await;
    for answer in ["drop", "reset_before", "truncated"] {
        bench.fault(json!({ "match": { "method": "GET" }, "answer": answer })).await;
        let request = bench.request(reqwest::Method::GET, "/v1/refunds");
        let read = async { request.send().await?.bytes().await };
        assert!(read.await.is_err(), "{answer}");
    }
    assert_eq!(bench.get("/v1/refunds").await.status, 200);
}

#[tokio::test]
async fn a_hanging_request_is_applied_and_never_answered() {
    let bench = Bench::start().await;
    bench.fault(json!({ "answer": "hang" })).await;
    let request = bench.refunding("k", 10).timeout(Duration::from_millis(300));
    assert!(request.send().await.unwrap_err().is_timeout());
    assert_eq!(bench.effects().await.len(), 1);
}

#[tokio::test]
async fn one_cut_connection_leaves_the_others_alone() {
    let bench = Bench::start().await;
    bench.fault(json!({ "match": { "operation_id": "slow" }, "answer": "hang", "after_ms": 60_000 })).await;
    bench.fault(json!({ "match": { "operation_id": "cut" }, "answer": "drop" })).await;
    let slow = tokio::spawn(bench.refunding("slow", 10).send());
    until("the slow one is there", async || bench.effects().await.len() == 1).await;
    assert!(bench.refunding("cut", 10).send().await.is_err());
    bench.advance(60).await;
    assert_eq!(slow.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn a_simulator_that_is_served_again_remembers() {
    let simulator = Simulator::new(Settings::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let served = tokio::spawn(serve(listener, simulator.clone(), stop.clone()));
    let payment = json!({ "id": "pi_1", "amount": "100", "currency": "TWD" });
    let client = crate::bench::client();
    let url = format!("http://{address}/simulator/payments");
    assert_eq!(client.post(&url).json(&payment).send().await.unwrap().status(), 201);
    stop.cancel();
    served.await.unwrap().unwrap();
    assert!(client.post(&url).json(&payment).send().await.unwrap_err().is_connect());
    let listener = TcpListener::bind(address).await.unwrap();
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    tokio::spawn(serve(listener, simulator, stop));
    assert_eq!(client.post(&url).json(&payment).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_taken_port_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = run(port, Settings::default(), CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
}
