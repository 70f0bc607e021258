//! When the machine may send again: absence is proved and the same key protects. What an attempt says then, and what it doesn't.
//! How long the key protects is in `window.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, Proxy, REFUND, Scripted, Setup, Shop, order, stories, until};
use serde_json::{Value, json};

stories!(
    absence_is_proved_before_one_resend_with_the_same_key_and_the_same_bytes,
    a_resend_that_is_refused_at_connect_leaves_it_unknown,
    a_first_send_that_is_refused_at_connect_goes_again,
    a_named_rate_limit_on_the_first_send_goes_back_to_the_outbox,
    a_named_rate_limit_on_a_resend_says_nothing,
    an_unnamed_rate_limit_is_unknown,
    a_replayed_refusal_proves_failure,
    a_refusal_on_the_first_send_is_failed_at_once_and_frees_the_money,
    a_conflict_is_looked_up_and_never_sent_under_another_key,
    a_stored_server_error_is_never_sent_again,
    an_error_that_was_applied_is_found,
    a_reset_connection_is_looked_up_before_anything_is_sent_again,
    a_key_that_protects_success_only_is_never_used_again_after_an_error,
    resends_are_counted_and_then_a_person_decides,
    a_foreign_refund_of_equal_amount_stops_the_resend,
    already_refunded_is_no_failure_and_makes_no_loop,
);

async fn moves(shop: &Shop) -> Vec<String> {
    shop.ledger.database().await.moves(REFUND).await
}

/// Waits until a look-up has been written down `count` times.
async fn looked_up(shop: &Shop, count: i64) {
    let mut database = shop.ledger.database().await;
    until(&format!("{count} look-ups"), async || {
        let looked_up = database.facts(REFUND, "looked_up").await;
        if looked_up >= count { Ok(()) } else { Err(format!("{looked_up}")) }
    })
    .await;
}

/// B7 B12: nothing of the attempt enters what the provider compares.
async fn absence_is_proved_before_one_resend_with_the_same_key_and_the_same_bytes(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["attempts"], 2);
    shop.sent_and_done(2, 1).await;
    let sent = shop.provider.sends().await;
    assert_eq!(sent[0].key, sent[1].key);
    assert_eq!(sent[0].body, sent[1].body);
    assert!(sent[0].request_id.is_some() && sent[0].request_id != sent[1].request_id, "{sent:#?}");
    let between = shop.provider.requests().await;
    let looks = between.iter().skip_while(|request| request.method != "POST").skip(1);
    let looks = looks.take_while(|request| request.method == "GET").count();
    assert!(looks >= 2, "absence takes two complete walks: {between:#?}");
    assert_eq!(shop.ledger.classes(REFUND).await, ["indeterminate", "effect"]);
    assert_eq!(moves(&shop).await, ["submitted", "unknown", "confirmed"]);
    shop.ledger.rests().await;
}

/// The first attempt may have arrived; a later one that provably didn't leave says nothing about it.
async fn a_resend_that_is_refused_at_connect_leaves_it_unknown(engine: Engine) {
    // One walk proves absence, so the resend follows the first look-up, whose answer shuts the door.
    let setup = Setup::new(engine).account("absence_count", 1).account("absence_lag", "0s");
    let mut shop = Shop::open(&setup.account("send_timeout", "1s")).await;
    let proxy = Proxy::start(shop.provider.url()).await;
    shop.ledger.send_to(&proxy.url()).await;
    proxy.script("GET", Scripted::ShutTheDoor);
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    until("a resend that wasn't sent", async || {
        let classes = shop.ledger.classes(REFUND).await;
        if classes.iter().any(|class| class == "not_sent") { Ok(()) } else { Err(format!("{classes:?}")) }
    })
    .await;
    assert_eq!(shop.ledger.operation(REFUND).await["state"], "unknown");
    assert_eq!(moves(&shop).await, ["submitted", "unknown"]);
    shop.sent_and_done(1, 0).await;
    proxy.relay_all();
    proxy.open().await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(2, 1).await;
    shop.ledger.rests().await;
}

async fn a_first_send_that_is_refused_at_connect_goes_again(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    let proxy = Proxy::start(shop.provider.url()).await;
    shop.ledger.send_to(&proxy.url()).await;
    proxy.shut().await;
    let told = shop.ledger.refund("1043", "li_2").await.is(202);
    assert_eq!((&told.body["state"], &told.body["claim"]), (&json!("authorized"), &json!("nothing_yet")));
    assert_eq!(told.body["first_sent_at"], Value::Null, "nothing was sent");
    proxy.open().await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// D13.
async fn a_named_rate_limit_on_the_first_send_goes_back_to_the_outbox(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("none", "429_named").await;
    shop.ledger.refund_at_once("1043", "li_2").await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(moves(&shop).await, ["submitted", "authorized", "submitted", "confirmed"]);
    assert_eq!(shop.ledger.classes(REFUND).await, ["deferred", "effect"]);
    shop.sent_and_done(2, 1).await;
    let sent = shop.provider.sends().await;
    assert_eq!((&sent[0].key, &sent[0].body), (&sent[1].key, &sent[1].body));
    shop.ledger.rests().await;
}

/// D13: turned away means that this attempt did nothing; the first one may have.
async fn a_named_rate_limit_on_a_resend_says_nothing(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("none", "drop").await;
    shop.provider.next_send("none", "429_named").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(moves(&shop).await, ["submitted", "unknown", "confirmed"]);
    assert_eq!(shop.ledger.classes(REFUND).await, ["indeterminate", "deferred", "effect"]);
    shop.sent_and_done(3, 1).await;
    shop.ledger.rests().await;
}

/// D13: a 429 that doesn't say what was limited may be a lock time-out, in the middle of the work.
async fn an_unnamed_rate_limit_is_unknown(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("applied", "429").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(moves(&shop).await, ["submitted", "unknown", "confirmed"]);
    assert_eq!(shop.ledger.classes(REFUND).await, ["indeterminate"]);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// An order that believes in more money than the provider captured: `pi_small` holds 10000, the refund is 38000.
async fn overdrawn(shop: &Shop) -> String {
    shop.provider.payment("pi_small", "10000", "TWD").await;
    let believed = order("pi_small", "158000", "TWD", &[("li_1", "38000")]);
    shop.ledger.put_order("2000", &believed).await.is(201);
    "refund-2000-li_1".to_owned()
}

/// The refusal was stored under the key and its answer lost; the resend brings it back, and it speaks for the first execution.
async fn a_replayed_refusal_proves_failure(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let id = overdrawn(&shop).await;
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund_at_once("2000", "li_1").await.is(202);
    let failed = shop.ledger.wait_for_state(&id, "failed").await;
    assert_eq!(failed["claim"], "not_done");
    assert_eq!(shop.ledger.classes(&id).await, ["indeterminate", "refused"]);
    shop.sent_and_done(2, 0).await;
    shop.ledger.rests().await;
}

async fn a_refusal_on_the_first_send_is_failed_at_once_and_frees_the_money(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let id = overdrawn(&shop).await;
    let failed = shop.ledger.refund("2000", "li_1").await.is(200);
    assert_eq!((&failed.body["state"], &failed.body["claim"]), (&json!("failed"), &json!("not_done")));
    assert_eq!(failed.body["replayed"], false);
    assert_eq!(shop.ledger.classes(&id).await, ["refused"]);
    // Asking again doesn't send again: the next one is a new revision, with its own authorisation.
    let again = shop.ledger.refund("2000", "li_1").await.is(200);
    assert_eq!((&again.body["state"], &again.body["replayed"]), (&json!("failed"), &json!(true)));
    shop.sent_and_done(1, 0).await;
    shop.ledger.rests().await;
}

/// A17.
async fn a_conflict_is_looked_up_and_never_sent_under_another_key(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("applied", "409").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.provider.next_send("none", "409").await;
    shop.ledger.refund_at_once("1043", "li_1").await.is(202);
    shop.ledger.wait_for_state("refund-1043-li_1", "confirmed").await;
    let sent = shop.provider.sends().await;
    assert_eq!(sent.len(), 3);
    assert_eq!((&sent[1].key, &sent[1].body), (&sent[2].key, &sent[2].body));
    shop.ledger.rests().await;
}

/// Rule 8: the same key only returns it again, another key may refund twice.
async fn a_stored_server_error_is_never_sent_again(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).with_test_clock()).await;
    shop.provider.next_send("none", "500_stored").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    looked_up(&shop, 4).await;
    let waiting = shop.ledger.operation(REFUND).await;
    assert_eq!(waiting["state"], "unknown", "it waits for `escalate_after`: {waiting}");
    shop.sent_and_done(1, 0).await;
    shop.ledger.set_clock(20 * 3600 + 60);
    shop.ledger.wait_for_state(REFUND, "escalated").await;
    shop.sent_and_done(1, 0).await;
    shop.ledger.rests().await;
}

/// B23, the lucky half: an error, a gateway's page or half an answer over a refund that was made.
async fn an_error_that_was_applied_is_found(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let answers = ["500_stored", "500", "html", "wrong_body", "truncated"];
    for (number, answer) in answers.into_iter().enumerate() {
        let id = format!("e{number}");
        shop.sells(&id, "10000", "TWD", &[("li_1", "1000")]).await;
        shop.provider.next_send("applied", answer).await;
        let told = shop.ledger.refund_at_once(&id, "li_1").await.is(202);
        assert_ne!(told.body["claim"], "not_done", "{answer}: {}", told.text);
    }
    for (number, answer) in answers.into_iter().enumerate() {
        let id = format!("refund-e{number}-li_1");
        let settled = shop.ledger.wait_for_state(&id, "confirmed").await;
        assert_eq!(settled["attempts"], 1, "{answer}");
        assert_eq!(shop.ledger.classes(&id).await, ["indeterminate"], "{answer}");
        assert_eq!(shop.provider.effects_of(&id).await.len(), 1, "{answer}");
    }
    assert_eq!(shop.provider.sends().await.len(), answers.len());
    shop.ledger.rests().await;
}

/// The connection broke before the provider did anything; nobody can know that but by looking.
async fn a_reset_connection_is_looked_up_before_anything_is_sent_again(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("none", "reset_before").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(moves(&shop).await, ["submitted", "unknown", "confirmed"]);
    assert!(shop.provider.look_ups().await.len() >= 2, "absence takes two complete walks");
    shop.sent_and_done(2, 1).await;
    shop.ledger.rests().await;
}

/// B23: the provider keeps a key for a 2xx only, so after anything else the same key would act again. With an error in hand the row
/// waits for its time; with none there is nothing to wait for. Either way a person decides, and nothing is sent.
async fn a_key_that_protects_success_only_is_never_used_again_after_an_error(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).with_test_clock().account("key_protects", "success")).await;
    shop.provider.mode(&json!({ "keys": "success", "lookup": "complete" })).await;
    let answers = ["500", "html", "drop"];
    let mut database = shop.ledger.database().await;
    for (number, answer) in answers.into_iter().enumerate() {
        let id = format!("k{number}");
        shop.sells(&id, "10000", "TWD", &[("li_1", "1000")]).await;
        shop.provider.next_send("none", answer).await;
        shop.ledger.refund(&id, "li_1").await.is(202);
        let id = format!("refund-{id}-li_1");
        until(&format!("look-ups after {answer}"), async || {
            let looked_up = database.facts(&id, "looked_up").await;
            let state = shop.ledger.operation(&id).await["state"].clone();
            if looked_up >= 4 || state == "escalated" { Ok(()) } else { Err(format!("{looked_up}, {state}")) }
        })
        .await;
        assert_eq!(shop.provider.sends().await.len(), number + 1, "{answer}");
    }
    shop.ledger.set_clock(20 * 3600 + 60);
    for number in 0..answers.len() {
        shop.ledger.wait_for_state(&format!("refund-k{number}-li_1"), "escalated").await;
    }
    assert_eq!(shop.provider.sends().await.len(), answers.len());
    assert!(shop.provider.effects().await.is_empty());
    shop.ledger.rests().await;
}

async fn resends_are_counted_and_then_a_person_decides(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).account("max_resends", 2)).await;
    shop.provider
        .fault(&json!({ "match": { "method": "POST" }, "effect": "none", "answer": "drop", "times": 20 }))
        .await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    let escalated = shop.ledger.wait_for_state(REFUND, "escalated").await;
    assert_eq!(escalated["attempts"], 3);
    shop.sent_and_done(3, 0).await;
    shop.ledger.rests().await;
}

/// E14: somebody helped by hand. It might be this refund; the machine neither adopts it nor sends over it.
async fn a_foreign_refund_of_equal_amount_stops_the_resend(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    let foreign = shop.provider.foreign_refund("pi_1043", "38000").await;
    let escalated = shop.ledger.wait_for_state(REFUND, "escalated").await;
    assert_eq!(escalated["external_id"], Value::Null, "it isn't adopted: {escalated}");
    let evidence = json!(shop.ledger.evidence(REFUND).await).to_string();
    assert!(evidence.contains(&foreign), "the candidate is shown: {evidence}");
    shop.sent_and_done(1, 0).await;
    shop.ledger.rests().await;
}

/// A16: the whole payment went back by other hands before our first send, which then meets "already refunded".
async fn already_refunded_is_no_failure_and_makes_no_loop(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).with_test_clock()).await;
    shop.sells("3000", "38000", "TWD", &[("li_1", "38000")]).await;
    shop.provider.foreign_refund("pi_3000", "20000").await;
    shop.provider.foreign_refund("pi_3000", "18000").await;
    shop.ledger.refund_at_once("3000", "li_1").await;
    let id = "refund-3000-li_1";
    let mut database = shop.ledger.database().await;
    until("four look-ups", async || {
        let looked_up = database.facts(id, "looked_up").await;
        if looked_up >= 4 { Ok(()) } else { Err(format!("{looked_up}")) }
    })
    .await;
    assert_eq!(shop.ledger.classes(id).await[0], "indeterminate");
    shop.ledger.set_clock(20 * 3600 + 60);
    shop.ledger.wait_for_state(id, "escalated").await;
    let moves = database.moves(id).await;
    assert!(!moves.contains(&"failed".to_owned()), "{moves:?}");
    assert!(shop.provider.sends().await.len() <= 4, "the first send and at most three resends");
    shop.ledger.rests().await;
}
