//! The daemon among many rows: one bad row, one bad account, one bad hour stop nobody else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, Proxy, REFUND, Setup, Shop, stories, until};
use serde_json::json;

stories!(
    the_daemon_rings_by_itself_and_the_desk_says_when_it_last_ran,
    a_row_that_cannot_be_read_is_set_aside_and_the_others_settle,
    an_account_that_says_401_is_paused_alarms_once_and_goes_on_later,
    thirty_lost_answers_are_all_found_and_none_is_sent_twice,
    what_was_not_sent_in_time_asks_a_person_again,
);

/// An order with `count` lines, and a refund asked for each of them.
async fn many(shop: &Shop, count: usize) -> Vec<String> {
    let lines: Vec<String> = (1..=count).map(|number| format!("li_{number}")).collect();
    let priced: Vec<(&str, &str)> = lines.iter().map(|line| (line.as_str(), "100")).collect();
    shop.sells("7", "100000", "TWD", &priced).await;
    for line in &lines {
        shop.ledger.refund_at_once("7", line).await.is(202);
    }
    lines.iter().map(|line| format!("refund-7-{line}")).collect()
}

async fn alarms(shop: &Shop, kind: &str) -> i64 {
    let open = format!("SELECT count(*) FROM alarms WHERE kind = '{kind}' AND cleared_at IS NULL");
    shop.ledger.database().await.number(&open).await
}

async fn the_daemon_rings_by_itself_and_the_desk_says_when_it_last_ran(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let mut database = shop.ledger.database().await;
    until("a run that is noted", async || {
        let page = shop.ledger.with_token(None).get("/operations").await.is(200).text;
        let ran = database
            .number("SELECT count(*) FROM runs WHERE job = 'reconcile' AND finished_at IS NOT NULL")
            .await;
        if ran == 1 && !page.contains("has not run") { Ok(()) } else { Err(format!("{ran} runs are noted")) }
    })
    .await;
}

/// H20.
async fn a_row_that_cannot_be_read_is_set_aside_and_the_others_settle(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h")).await;
    shop.provider
        .fault(&json!({ "match": { "method": "POST" }, "effect": "applied", "answer": "drop", "times": 4 }))
        .await;
    let ids = many(&shop, 4).await;
    for id in &ids {
        shop.ledger.wait_for_state(id, "unknown").await;
    }
    let mut database = shop.ledger.database().await;
    database
        .execute(&format!(
            "UPDATE operations SET facts = '{{\"state\":\"lost\"}}', due_at = 0 WHERE id = '{}'",
            ids[0]
        ))
        .await;
    for id in &ids[1..] {
        shop.ledger.look_up(id).await;
    }
    for id in &ids[1..] {
        shop.ledger.wait_for_state(id, "confirmed").await;
    }
    until("the alarm", async || {
        let open = alarms(&shop, "row_set_aside").await;
        if open == 1 { Ok(()) } else { Err(format!("{open} alarms")) }
    })
    .await;
    // The list goes on too, and says that there is such a row.
    let listed = shop.ledger.get("/v1/operations?order=7").await.is(200).text;
    for id in &ids {
        assert!(listed.contains(id.as_str()), "{id} isn't in {listed}");
    }
    let page = shop.ledger.with_token(None).get("/operations?view=all").await.is(200).text;
    for id in &ids {
        assert!(page.contains(id.as_str()), "{id} isn't on the page");
    }
    assert_eq!(shop.provider.sends().await.len(), 4);
    let verified = shop.ledger.run(&["verify"]).await;
    assert_eq!(verified.code, Some(1), "{}", verified.output());
    assert!(verified.output().contains(&ids[0]), "{}", verified.output());
}

async fn an_account_that_says_401_is_paused_alarms_once_and_goes_on_later(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).with_test_clock()).await;
    shop.provider
        .fault(&json!({ "match": { "method": "POST" }, "effect": "none", "answer": "401", "times": 1000 }))
        .await;
    let ids = many(&shop, 5).await;
    until("the alarm", async || {
        let open = alarms(&shop, "writes_unauthorized").await;
        if open == 1 { Ok(()) } else { Err(format!("{open} alarms")) }
    })
    .await;
    for id in &ids {
        let waiting = shop.ledger.wait_for_state(id, "authorized").await;
        assert_eq!((&waiting["claim"], &waiting["resend"]), (&json!("nothing_yet"), &json!("never")));
    }
    let sends = shop.provider.sends().await.len();
    assert!(sends <= 7, "a paused account is tried by one canary at a time: {sends} sends for 5 operations");
    shop.provider.clear_faults().await;
    shop.ledger.set_clock(2 * 3600);
    for id in &ids {
        shop.ledger.wait_for_state(id, "confirmed").await;
        assert_eq!(shop.provider.effects_of(id).await.len(), 1, "{id}");
    }
    assert_eq!(alarms(&shop, "writes_unauthorized").await, 0, "it clears when the account is back");
    shop.ledger.rests().await;
}

async fn thirty_lost_answers_are_all_found_and_none_is_sent_twice(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider
        .fault(&json!({ "match": { "method": "POST" }, "effect": "applied", "answer": "drop", "times": 30 }))
        .await;
    let ids = many(&shop, 30).await;
    until("all of them settled", async || {
        let confirmed = shop.ledger.operations("order=7&state=confirmed&limit=100").await.len();
        if confirmed == 30 { Ok(()) } else { Err(format!("{confirmed} are confirmed")) }
    })
    .await;
    assert_eq!(shop.provider.sends().await.len(), 30);
    for id in &ids {
        assert_eq!(shop.provider.effects_of(id).await.len(), 1, "{id}");
    }
    shop.ledger.rests().await;
}

/// `send_within`: what nobody could send for three days isn't sent out of the blue.
async fn what_was_not_sent_in_time_asks_a_person_again(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine).with_test_clock()).await;
    let proxy = Proxy::start(shop.provider.url()).await;
    shop.ledger.send_to(&proxy.url()).await;
    proxy.shut().await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    until("an attempt that wasn't sent", async || {
        let attempts = shop.ledger.attempts(REFUND).await;
        if attempts.is_empty() { Err("none".to_owned()) } else { Ok(()) }
    })
    .await;
    shop.ledger.set_clock(73 * 3600);
    let lapsed = shop.ledger.wait_for_state(REFUND, "awaiting_approval").await;
    assert_eq!(lapsed["claim"], "nothing_yet");
    proxy.open().await;
    let again = shop.ledger.refund("1043", "li_2").await.is(200);
    assert_eq!(again.body["state"], "awaiting_approval");
    shop.sent_and_done(0, 0).await;
    shop.ledger.rests().await;
}
