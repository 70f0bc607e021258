//! `kill -9` at each point of a refund. Whatever the point: at most one effect, the right end after a restart, no row that is stuck.
//!
//! No hook in the product: the test holds the database's write lock, or makes one kind of fact impossible to write, or lets the provider
//! hang, and kills the process while it stands there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use counterfoil_tests::{Api, Engine, REFUND, Setup, Shop, refund_of, stories, until};
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;

stories!(
    killed_before_the_record_commits_nothing_was_sent_and_asking_again_is_safe,
    killed_after_the_record_commits_it_is_sent_once_by_the_next_process,
    killed_after_the_mark_without_an_effect_it_is_proved_absent_and_sent_again,
    killed_after_the_provider_applied_it_is_found_and_not_sent_again,
    killed_before_the_result_commits_it_is_found_and_not_sent_again,
    killed_after_the_result_commits_nothing_moves_any_more,
    killed_again_and_again_it_still_ends_once,
    told_to_stop_it_lets_what_is_in_flight_end,
);

/// Asks in the background and forgets the answer: the process is going to die.
fn asks(api: &Api) -> JoinHandle<()> {
    let api = api.clone();
    let body = refund_of("1043", "li_2").to_string();
    tokio::spawn(async move {
        // The connection breaks with the process; that is the point.
        api.try_call(Method::POST, "/v1/operations", &[], Some(body)).await.ok();
    })
}

async fn killed_before_the_record_commits_nothing_was_sent_and_asking_again_is_safe(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    let mut database = shop.ledger.database().await;
    database.hold_write_lock().await;
    let asking = asks(&shop.ledger);
    let answered = tokio::time::timeout(Duration::from_secs(1), asking).await;
    assert!(answered.is_err(), "it can't have been recorded, so it can't have been answered");
    shop.ledger.kill_9();
    database.release().await;
    shop.ledger.serve().await;

    shop.ledger.get(&format!("/v1/operations/{REFUND}")).await.is(404);
    shop.sent_and_done(0, 0).await;
    let again = shop.ledger.refund("1043", "li_2").await.is(201);
    assert_eq!((&again.body["state"], &again.body["replayed"]), (&json!("confirmed"), &json!(false)));
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// B19: recorded and not marked is safe to send, by anybody.
async fn killed_after_the_record_commits_it_is_sent_once_by_the_next_process(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    let mut database = shop.ledger.database().await;
    database.refuse_facts("attempt_started").await;
    let asking = asks(&shop.ledger);
    until("the record", async || {
        let recorded = database.facts(REFUND, "recorded").await;
        if recorded == 1 { Ok(()) } else { Err(format!("{recorded} records")) }
    })
    .await;
    shop.ledger.kill_9();
    asking.await.unwrap();
    shop.sent_and_done(0, 0).await;
    database.accept_facts().await;
    shop.ledger.serve().await;

    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["attempts"], 1);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

async fn killed_after_the_mark_without_an_effect_it_is_proved_absent_and_sent_again(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("none", "hang").await;
    let asking = asks(&shop.ledger);
    until("the send", async || {
        let sends = shop.provider.sends().await.len();
        if sends == 1 { Ok(()) } else { Err(format!("{sends} sends")) }
    })
    .await;
    shop.ledger.kill_9();
    asking.await.unwrap();
    let mut database = shop.ledger.database().await;
    assert_eq!(database.facts(REFUND, "attempt_started").await, 1);
    assert_eq!(database.facts(REFUND, "attempt_ended").await, 0);
    shop.ledger.serve().await;

    let unknown = shop.ledger.wait_for(REFUND, "no longer submitted", |op| op["state"] != "submitted").await;
    assert_eq!(unknown["state"], "unknown", "a dead sender's row is unknown, never failed: {unknown}");
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(2, 1).await;
    let sent = shop.provider.sends().await;
    assert_eq!((&sent[0].key, &sent[0].body), (&sent[1].key, &sent[1].body));
    shop.ledger.rests().await;
}

async fn killed_after_the_provider_applied_it_is_found_and_not_sent_again(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("applied", "hang").await;
    let asking = asks(&shop.ledger);
    until("the effect", async || {
        let effects = shop.provider.effects_of(REFUND).await.len();
        if effects == 1 { Ok(()) } else { Err(format!("{effects} effects")) }
    })
    .await;
    shop.ledger.kill_9();
    asking.await.unwrap();
    shop.ledger.serve().await;

    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["external_id"], shop.provider.effects().await[0]["external_id"]);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// A8: the provider said yes, and the process died before it wrote that down.
async fn killed_before_the_result_commits_it_is_found_and_not_sent_again(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    let mut database = shop.ledger.database().await;
    database.refuse_facts("attempt_ended").await;
    let told = shop.ledger.refund("1043", "li_2").await;
    assert_eq!(told.body["claim"], "in_progress", "{}", told.text);
    shop.sent_and_done(1, 1).await;
    shop.ledger.kill_9();
    assert_eq!(database.facts(REFUND, "attempt_ended").await, 0);
    database.accept_facts().await;
    shop.ledger.serve().await;

    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["external_id"], shop.provider.effects().await[0]["external_id"]);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

async fn killed_after_the_result_commits_nothing_moves_any_more(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    let before = shop.ledger.refund("1043", "li_2").await.is(201).body;
    shop.ledger.kill_9();
    shop.ledger.serve().await;

    let after = shop.ledger.operation(REFUND).await;
    for field in ["state", "version", "external_id", "intent_hash", "attempts", "first_sent_at"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    let again = shop.ledger.refund("1043", "li_2").await.is(200);
    assert_eq!((&again.body["state"], &again.body["replayed"]), (&json!("confirmed"), &json!(true)));
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// Every process dies during its send; each leaves an attempt without an end, and the key protects them all.
async fn killed_again_and_again_it_still_ends_once(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    for (round, effect) in [(1, "none"), (2, "none"), (3, "applied")] {
        shop.provider.next_send(effect, "hang").await;
        let asking = asks(&shop.ledger);
        until("one more send", async || {
            let sends = shop.provider.sends().await.len();
            if sends == round { Ok(()) } else { Err(format!("{sends} sends")) }
        })
        .await;
        if effect == "applied" {
            until("the effect", async || {
                let effects = shop.provider.effects_of(REFUND).await.len();
                if effects == 1 { Ok(()) } else { Err(format!("{effects} effects")) }
            })
            .await;
        }
        shop.ledger.kill_9();
        asking.await.unwrap();
        shop.ledger.serve().await;
    }
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["attempts"], 3);
    shop.sent_and_done(3, 1).await;
    let sent = shop.provider.sends().await;
    assert!(sent.iter().all(|send| (&send.key, &send.body) == (&sent[0].key, &sent[0].body)), "{sent:#?}");
    shop.ledger.rests().await;
}

/// SIGTERM drains: the send in flight gets its deadline, and what is left is found by the next process.
async fn told_to_stop_it_lets_what_is_in_flight_end(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("applied", "hang").await;
    let asking = asks(&shop.ledger);
    until("the effect", async || {
        let effects = shop.provider.effects_of(REFUND).await.len();
        if effects == 1 { Ok(()) } else { Err(format!("{effects} effects")) }
    })
    .await;
    let ended = shop.ledger.terminate().await;
    assert_eq!(ended.code(), Some(0), "a drain is an orderly end");
    asking.await.unwrap();
    shop.ledger.serve().await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}
