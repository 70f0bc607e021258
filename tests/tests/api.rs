//! The machine interface: what the calls do, what the answers hold.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use counterfoil_tests::{Engine, Proxy, REFUND, Setup, Shop, order, refund_of, stories, until};
use reqwest::Method;
use serde_json::{Value, json};

stories!(
    a_caller_decides_how_long_it_waits_for_a_new_operation,
    operations_are_read_page_by_page_and_found_by_what_they_are,
    an_operation_tells_its_whole_history,
    an_order_tells_its_totals_and_the_worst_case,
    an_order_is_new_then_replaced,
    before_the_mark_a_cancel_cancels,
    after_the_mark_a_cancel_only_stops_further_sends,
    a_revision_needs_the_one_before_and_a_person,
    a_ledger_that_cannot_write_says_not_recorded_and_sends_nothing,
);

/// `Prefer: wait`: 3 s unless asked otherwise, at most 5.
async fn a_caller_decides_how_long_it_waits_for_a_new_operation(engine: Engine) {
    let setup = Setup::new(engine).account("send_timeout", "20s").look_up_after("20s").daemon("lease", "30s");
    let shop = Shop::open(&setup).await;
    shop.provider
        .fault(&json!({ "match": { "method": "POST" }, "effect": "none", "answer": "hang", "times": 9 }))
        .await;
    let lines = [("li_1", "1000"), ("li_2", "1000"), ("li_3", "1000")];
    shop.sells("1", "10000", "TWD", &lines).await;
    for (line, prefer, at_least, less_than) in
        [("li_1", "wait=0", 0, 3), ("li_2", "wait=60", 4, 8), ("li_3", "", 2, 5)]
    {
        let headers = [("prefer", prefer)];
        let headers = if prefer.is_empty() { &headers[..0] } else { &headers[..] };
        let started = Instant::now();
        let body = refund_of("1", line).to_string();
        let reply = shop.ledger.call(Method::POST, "/v1/operations", headers, Some(body)).await.is(202);
        let took = started.elapsed();
        assert!(
            (Duration::from_secs(at_least)..Duration::from_secs(less_than)).contains(&took),
            "{prefer:?} took {took:?}"
        );
        let state = reply.body["state"].as_str().unwrap();
        if prefer == "wait=0" {
            assert!(["authorized", "submitted"].contains(&state), "{state}");
        } else {
            // The send has been on its way for seconds: what the caller is told is as of now.
            assert_eq!((state, &reply.body["claim"]), ("submitted", &json!("in_progress")), "{}", reply.text);
            let message = reply.body["message"].as_str().unwrap();
            assert!(message.contains("It may already have happened. Do not send it again."), "{message}");
        }
        assert!(reply.header("location").ends_with(&format!("refund-1-{line}")), "{:?}", reply.headers);
        assert!(!reply.header("retry-after").is_empty());
    }
}

async fn operations_are_read_page_by_page_and_found_by_what_they_are(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let lines: Vec<String> = (1..=7).map(|number| format!("li_{number}")).collect();
    let priced: Vec<(&str, &str)> = lines.iter().map(|line| (line.as_str(), "100")).collect();
    shop.sells("7", "70000", "TWD", &priced).await;
    for line in &lines {
        shop.ledger.refund("7", line).await.is(201);
    }
    let last = shop.ledger.refund("1043", "li_2").await.is(201);
    let mut seen: Vec<String> = Vec::new();
    let mut pages = 0;
    let mut query = "order=7&limit=3".to_owned();
    loop {
        let (items, next) = shop.ledger.page(&query).await;
        assert!(items.len() <= 3);
        pages += 1;
        seen.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        let Some(cursor) = next else { break };
        assert!(pages < 9, "the cursor doesn't end");
        query = format!("order=7&limit=3&cursor={cursor}");
    }
    seen.sort_unstable();
    let wanted: Vec<String> = lines.iter().map(|line| format!("refund-7-{line}")).collect();
    assert_eq!(seen, wanted, "each once");
    assert_eq!(pages, 3);
    assert_eq!(shop.ledger.operations("state=confirmed&limit=100").await.len(), 8);
    assert!(shop.ledger.operations("state=failed").await.is_empty());
    let external = last.body["external_id"].as_str().unwrap();
    let found = shop.ledger.operations(&format!("external_id={external}")).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["id"], REFUND);
    shop.ledger.rests().await;
}

async fn an_operation_tells_its_whole_history(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("applied", "drop").await;
    let mut request = refund_of("1043", "li_2");
    request["reason"] = json!("the case was broken");
    shop.ledger.refund_with(&request).await;
    let operation = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    for field in [
        "id",
        "kind",
        "identity",
        "revision",
        "state",
        "message",
        "claim",
        "resend",
        "params",
        "intent_hash",
        "external_id",
        "attempts",
        "first_sent_at",
        "key_expires_at",
        "next_check_at",
        "version",
        "created_at",
        "updated_at",
        "links",
    ] {
        assert!(operation.get(field).is_some(), "no `{field}` in {operation}");
    }
    assert_eq!((&operation["kind"], &operation["revision"]), (&json!("refund"), &json!(1)));
    assert_eq!(operation["intent_hash"].as_str().unwrap().len(), 64);
    let sent: jiff::Timestamp = operation["first_sent_at"].as_str().unwrap().parse().unwrap();
    let expires: jiff::Timestamp = operation["key_expires_at"].as_str().unwrap().parse().unwrap();
    assert_eq!(expires.duration_since(sent).as_hours(), 24);
    let attempts = shop.ledger.attempts(REFUND).await;
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0]["end"]["class"], "indeterminate");
    let timeline = json!(shop.ledger.timeline(REFUND).await).to_string();
    for said in ["unknown", "confirmed", "the case was broken", "agent"] {
        assert!(timeline.contains(said), "{said:?} isn't in {timeline}");
    }
    let evidence = json!(shop.ledger.evidence(REFUND).await).to_string();
    assert!(evidence.contains(operation["external_id"].as_str().unwrap()), "{evidence}");
    shop.ledger.rests().await;
}

async fn an_order_tells_its_totals_and_the_worst_case(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h")).await;
    shop.ledger.refund("1043", "li_2").await.is(201);
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_1").await.is(202);
    shop.ledger.wait_for_state("refund-1043-li_1", "unknown").await;
    let order = shop.ledger.get("/v1/orders/1043").await.is(200).body;
    let minor = |field: &str| -> Value { order["totals"][field]["amount"].clone() };
    assert_eq!(minor("paid"), "158000", "{order}");
    assert_eq!(minor("refunded"), "38000", "{order}");
    assert_eq!(minor("unknown"), "120000", "{order}");
    assert_eq!(minor("worst_case"), "158000", "{order}");
    assert_eq!(minor("left"), "0", "{order}");
    assert_eq!(order["operations"].as_array().unwrap().len(), 2);
    shop.ledger.verifies().await;
}

async fn an_order_is_new_then_replaced(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let snapshot = order("pi_77", "5000", "TWD", &[("li_1", "5000")]);
    shop.ledger.put_order("77", &snapshot).await.is(201);
    shop.ledger.put_order("77", &snapshot).await.is(200);
    let mut smaller = snapshot.clone();
    smaller["captured"]["amount"] = json!("4000");
    shop.ledger.put_order("77", &smaller).await.is(200);
    for (field, bad) in [
        ("currency", json!("XYZ")),
        ("payment", json!("")),
        ("account", json!("nobody")),
        ("captured", json!({ "amount": "5000", "currency": "JPY" })),
        ("colour", json!("red")),
    ] {
        let mut broken = snapshot.clone();
        broken[field] = bad;
        let refused = shop.ledger.put_order("78", &broken).await;
        refused.refuses(field);
    }
    shop.ledger.get("/v1/orders/78").await.is(404);
}

/// Rule 14.
async fn before_the_mark_a_cancel_cancels(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    let proxy = Proxy::start(shop.provider.url()).await;
    shop.ledger.send_to(&proxy.url()).await;
    proxy.shut().await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    // Between two attempts that provably didn't leave, it is ready to send.
    until("cancelled", async || {
        let reply = shop.ledger.cancel(REFUND).await;
        if reply.body["state"] == "cancelled" { Ok(()) } else { Err(reply.text) }
    })
    .await;
    proxy.open().await;
    let again = shop.ledger.refund("1043", "li_2").await.is(200);
    assert_eq!((&again.body["state"], &again.body["claim"]), (&json!("cancelled"), &json!("not_done")));
    shop.sent_and_done(0, 0).await;
    // Its money is free again.
    shop.ledger.refund("1043", "li_1").await.is(201);
    shop.ledger.rests().await;
}

/// Rule 14.
async fn after_the_mark_a_cancel_only_stops_further_sends(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    let told = shop.ledger.cancel(REFUND).await;
    assert!([200, 202].contains(&told.status), "{}", told.text);
    assert_eq!((&told.body["state"], &told.body["claim"]), (&json!("unknown"), &json!("in_progress")));
    let escalated = shop.ledger.wait_for_state(REFUND, "escalated").await;
    assert_eq!(escalated["attempts"], 1);
    shop.sent_and_done(1, 0).await;
    shop.ledger.rests().await;
}

async fn a_revision_needs_the_one_before_and_a_person(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h")).await;
    let revision = |number: u32| {
        let mut request = refund_of("1043", "li_2");
        request["revision"] = json!(number);
        request["params"] = json!({ "amount": { "amount": "1000", "currency": "TWD" } });
        request
    };
    shop.ledger.refund_with(&revision(2)).await.is_problem(422, "");
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund_with(&revision(1)).await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    shop.ledger.refund_with(&revision(2)).await.is_problem(409, "revision-not-open");
    shop.ledger.look_up(REFUND).await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    let waiting = shop.ledger.refund_with(&revision(2)).await.is(202);
    assert_eq!(waiting.body["id"], format!("{REFUND}-r2"));
    assert_eq!(waiting.body["state"], "awaiting_approval");
    assert_eq!((&waiting.body["revision"], &waiting.body["claim"]), (&json!(2), &json!("nothing_yet")));
    shop.ledger.refund_with(&revision(3)).await.is_problem(409, "revision-not-open");
    for number in [0, 100] {
        shop.ledger.refund_with(&revision(number)).await.is_problem(422, "");
    }
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

async fn a_ledger_that_cannot_write_says_not_recorded_and_sends_nothing(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let mut database = shop.ledger.database().await;
    database.refuse_facts("recorded").await;
    shop.ledger.refund("1043", "li_2").await.is_problem(503, "not-recorded");
    shop.ledger.get(&format!("/v1/operations/{REFUND}")).await.is(404);
    shop.sent_and_done(0, 0).await;
    database.accept_facts().await;
    let again = shop.ledger.refund("1043", "li_2").await.is(201);
    assert_eq!(again.body["replayed"], false);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}
