//! What a look-up may conclude, and everything that it may not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Instant;

use counterfoil_tests::{Engine, Proxy, REFUND, Scripted, Setup, Shop, stories, until};
use serde_json::{Value, json};

stories!(
    a_refund_at_place_120_of_150_is_found_on_the_second_page,
    a_page_cap_is_no_absence_and_goes_to_a_person,
    a_cursor_that_loops_is_no_absence_and_goes_to_a_person,
    a_look_up_that_times_out_says_nothing,
    a_look_up_that_is_unauthorized_says_nothing_and_alarms_once,
    a_look_up_that_is_forbidden_says_nothing_and_alarms_once,
    a_payment_that_is_not_found_says_nothing,
    a_server_error_that_says_not_found_says_nothing,
    a_proxys_page_says_nothing,
    a_cut_answer_says_nothing,
    a_rate_limited_look_up_says_nothing,
    an_empty_list_that_comes_too_early_says_nothing,
    a_lagging_list_never_makes_a_second_refund,
    an_outage_escalates_nobody_and_the_row_settles_when_it_is_over,
    a_pending_refund_is_watched_until_it_fails,
    asking_again_and_again_looks_up_once_in_five_seconds,
);

/// I1: newest first, 119 refunds by others came after ours and 30 before; a page holds 100.
async fn a_refund_at_place_120_of_150_is_found_on_the_second_page(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h")).await;
    for _ in 0..30 {
        shop.provider.foreign_refund("pi_1043", "100").await;
    }
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    for _ in 0..119 {
        shop.provider.foreign_refund("pi_1043", "100").await;
    }
    shop.ledger.look_up(REFUND).await;
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    let ours = shop.provider.effects_of(REFUND).await;
    assert_eq!(settled["external_id"], ours[0]["external_id"]);
    assert_eq!(shop.provider.effects().await.len(), 150);
    shop.sent_and_done(1, 1).await;
    let pages = shop.provider.look_ups().await;
    assert!(pages.iter().any(|page| page.path.contains("starting_after")), "no second page: {pages:#?}");
    shop.ledger.rests().await;
}

/// I3, with nothing applied: the most tempting case, because a walk that stops early sees nothing of ours.
async fn a_page_cap_is_no_absence_and_goes_to_a_person(engine: Engine) {
    inconclusive(engine, "capped").await;
}

async fn a_cursor_that_loops_is_no_absence_and_goes_to_a_person(engine: Engine) {
    inconclusive(engine, "loop").await;
}

async fn inconclusive(engine: Engine, lookup: &str) {
    let shop = Shop::open(&Setup::new(engine)).await;
    for _ in 0..120 {
        shop.provider.foreign_refund("pi_1043", "100").await;
    }
    shop.provider.look_up_mode(lookup).await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    let escalated = shop.ledger.wait_for_state(REFUND, "escalated").await;
    assert_eq!(escalated["claim"], "in_progress");
    assert_eq!(escalated["resend"], "never");
    let moves = shop.ledger.database().await.moves(REFUND).await;
    assert_eq!(moves, ["submitted", "unknown", "escalated"]);
    let evidence = json!(shop.ledger.evidence(REFUND).await).to_string();
    assert!(evidence.contains("inconclusive"), "{evidence}");
    assert!(!evidence.contains("\"complete\""), "{evidence}");
    // A person will decide; the machine doesn't send, however often it is asked.
    let again = shop.ledger.refund_at_once("1043", "li_2").await.is(200);
    assert_eq!(again.body["state"], "escalated");
    assert!(again.body["message"].as_str().unwrap().contains("Do not send it again."), "{}", again.text);
    shop.sent_and_done(1, 0).await;
    shop.ledger.rests().await;
}

/// I15: the answer to every look-up, given by the simulator.
async fn says_nothing(engine: Engine, answer: &str) -> Shop {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.look_ups_get(answer).await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    stays_unknown(&shop, answer).await;
    shop.sent_and_done(1, 0).await;
    shop
}

/// I15: the answer to every look-up, given by something in between.
async fn says_nothing_scripted(engine: Engine, status: u16, kind: &'static str, body: &'static str) -> Shop {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    let proxy = Proxy::start(shop.provider.url()).await;
    shop.ledger.send_to(&proxy.url()).await;
    proxy.script("GET", Scripted::Answer(status, kind, body));
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    stays_unknown(&shop, body).await;
    shop.sent_and_done(1, 0).await;
    shop
}

/// After two look-ups the row is unknown as before, nothing was concluded, and a next look-up is promised.
async fn stays_unknown(shop: &Shop, answer: &str) {
    let mut database = shop.ledger.database().await;
    until(&format!("two look-ups that got {answer:?}"), async || {
        let looked_up = database.facts(REFUND, "looked_up").await;
        if looked_up >= 2 { Ok(()) } else { Err(format!("{looked_up} look-ups")) }
    })
    .await;
    let operation = shop.ledger.operation(REFUND).await;
    assert_eq!(operation["state"], "unknown", "{operation}");
    assert!(operation["next_check_at"].is_string(), "{operation}");
    assert!(operation["message"].as_str().unwrap().contains("It may already have happened."), "{operation}");
    let evidence = shop.ledger.evidence(REFUND).await;
    assert!(!json!(evidence).to_string().contains("\"complete\""), "{evidence:#?}");
    shop.ledger.verifies().await;
}

/// One alarm for the account, however many rows and look-ups met the same answer.
async fn one_alarm(shop: &Shop) {
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_1").await.is(202);
    let mut database = shop.ledger.database().await;
    // Of whichever row: after some failures only a probe goes.
    until("three more look-ups", async || {
        let looked_up = database.number("SELECT count(*) FROM entries WHERE type = 'looked_up'").await;
        if looked_up >= 5 { Ok(()) } else { Err(format!("{looked_up} look-ups")) }
    })
    .await;
    let alarms = database
        .number("SELECT count(*) FROM alarms WHERE account = 'stripe-main' AND kind = 'reads_unauthorized'")
        .await;
    assert_eq!(alarms, 1);
}

async fn a_look_up_that_times_out_says_nothing(engine: Engine) {
    says_nothing(engine, "hang").await;
}

async fn a_look_up_that_is_unauthorized_says_nothing_and_alarms_once(engine: Engine) {
    let shop = says_nothing(engine, "401").await;
    one_alarm(&shop).await;
}

async fn a_look_up_that_is_forbidden_says_nothing_and_alarms_once(engine: Engine) {
    let body = r#"{"error":{"type":"invalid_request_error","message":"This key may not read refunds"}}"#;
    let shop = says_nothing_scripted(engine, 403, "application/json", body).await;
    one_alarm(&shop).await;
}

async fn a_payment_that_is_not_found_says_nothing(engine: Engine) {
    let body = r#"{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such payment_intent"}}"#;
    says_nothing_scripted(engine, 404, "application/json", body).await;
}

async fn a_server_error_that_says_not_found_says_nothing(engine: Engine) {
    let body = r#"{"error":{"type":"api_error","code":"not_found","message":"not_found"}}"#;
    says_nothing_scripted(engine, 500, "application/json", body).await;
}

async fn a_proxys_page_says_nothing(engine: Engine) {
    // With 200, as captive portals do: only a well-formed list is a list.
    says_nothing_scripted(engine, 200, "text/html", "<html><body>Please sign in</body></html>").await;
}

async fn a_cut_answer_says_nothing(engine: Engine) {
    says_nothing(engine, "truncated").await;
}

/// D13.
async fn a_rate_limited_look_up_says_nothing(engine: Engine) {
    says_nothing(engine, "429").await;
}

/// I7 I8: complete and empty, and too early to count; it stays so until the provider can't be working on it any more.
async fn an_empty_list_that_comes_too_early_says_nothing(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("2s").account("absence_lag", "1h")).await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    let mut database = shop.ledger.database().await;
    until("three empty look-ups", async || {
        let looked_up = database.facts(REFUND, "looked_up").await;
        if looked_up >= 3 { Ok(()) } else { Err(format!("{looked_up} look-ups")) }
    })
    .await;
    assert_eq!(shop.ledger.operation(REFUND).await["state"], "unknown");
    shop.sent_and_done(1, 0).await;
    shop.ledger.verifies().await;
}

/// I7: the refund exists and the list doesn't show it yet. Within the account's lag nothing is sent, and then it is found.
async fn a_lagging_list_never_makes_a_second_refund(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).account("absence_lag", "15s")).await;
    shop.provider.mode(&json!({ "keys": "all", "lookup": "lagging", "lag_ms": 6000 })).await;
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    let looked_up = shop.ledger.database().await.facts(REFUND, "looked_up").await;
    assert!(looked_up >= 2, "the first look-ups were empty: {looked_up}");
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// Rule 9.
async fn an_outage_escalates_nobody_and_the_row_settles_when_it_is_over(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.look_up_mode("down").await;
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    stays_unknown(&shop, "down").await;
    let attempts_of_reading: Vec<Value> = shop.ledger.evidence(REFUND).await;
    assert!(json!(attempts_of_reading).to_string().contains("unavailable"), "{attempts_of_reading:#?}");
    shop.provider.look_up_mode("complete").await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// D6 D1: pending isn't done, a failed read isn't a failed refund, and a bounce after success isn't hidden.
async fn a_pending_refund_is_watched_until_it_fails(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).with_test_clock()).await;
    shop.ledger.refund("1043", "li_2").await.is(201);
    let effect = shop.provider.effects().await[0]["external_id"].as_str().unwrap().to_owned();
    shop.provider.bounce(&effect).await;
    shop.provider.look_up_mode("down").await;
    // The watch on confirmed refunds comes after a day, and reads nothing.
    shop.ledger.set_clock(25 * 3600);
    let mut database = shop.ledger.database().await;
    until("a look-up that failed", async || {
        let looked_up = database.facts(REFUND, "looked_up").await;
        if looked_up >= 1 { Ok(()) } else { Err("none yet".to_owned()) }
    })
    .await;
    assert_eq!(shop.ledger.operation(REFUND).await["state"], "confirmed");
    shop.provider.look_up_mode("complete").await;
    shop.ledger.set_clock(8 * 24 * 3600);
    let bounced = shop.ledger.wait_for_state(REFUND, "failed").await;
    assert_eq!(bounced["claim"], "not_done");
    assert!(json!(bounced).to_string().contains("bounced"), "the reason is told: {bounced}");
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// Rule 5: one look-up per 5 s however many ask.
async fn asking_again_and_again_looks_up_once_in_five_seconds(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h").account("absence_lag", "1h")).await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    let mut database = shop.ledger.database().await;
    let started = Instant::now();
    for _ in 0..2 {
        for _ in 0..20 {
            shop.ledger.look_up(REFUND).await;
            shop.ledger.refund_at_once("1043", "li_2").await.is(200);
        }
        // The second round asks when the look-up that the first one brought is over.
        until("the look-up", async || {
            let looked_up = database.facts(REFUND, "looked_up").await;
            if looked_up >= 1 { Ok(()) } else { Err("none yet".to_owned()) }
        })
        .await;
    }
    let looked_up = database.facts(REFUND, "looked_up").await;
    let allowed = 1 + i64::try_from(started.elapsed().as_secs() / 5).unwrap();
    assert!(looked_up <= allowed, "{looked_up} look-ups in {:?}", started.elapsed());
    shop.sent_and_done(1, 0).await;
    shop.ledger.verifies().await;
}
