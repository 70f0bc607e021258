//! A backup that was taken before sends that happened is put back: every effect is found, none is made again (rule 17).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, REFUND, Setup, Shop, races, until};
use serde_json::{Value, json};

races!(
    every_effect_that_the_backup_does_not_know_is_found_and_none_is_made_again,
    what_never_happened_waits_for_proof_and_is_then_sent_once,
    an_operation_unknown_in_the_backup_is_not_sent_again,
    what_cannot_be_looked_up_waits_and_sends_nothing,
    only_a_person_who_may_act_ends_it_and_that_stands_in_the_chain,
    a_new_operation_claims_an_effect_that_was_seen_before_it_was_recorded,
);

/// Absence is proved from a minute after the restore on: nobody waits for that by chance.
fn slow(engine: Engine) -> Setup {
    Setup::new(engine).account("absence_lag", "1m")
}

/// The ledger-wide chain's acts of one type, oldest first.
async fn acts(shop: &Shop, kind: &str) -> Vec<Value> {
    let mut database = shop.ledger.database().await;
    let bodies = database.texts(&format!("SELECT body FROM chain WHERE type = '{kind}' ORDER BY seq")).await;
    bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
}

/// Whether the desk's band says it.
async fn band_says_restored(shop: &Shop) -> bool {
    shop.ledger.get("/operations").await.is(200).text.contains("Restored from a backup")
}

async fn looked_up(shop: &Shop, id: &str, count: i64) {
    let mut database = shop.ledger.database().await;
    until(&format!("{count} look-ups of {id}"), async || {
        let looked_up = database.facts(id, "looked_up").await;
        if looked_up >= count { Ok(()) } else { Err(format!("{looked_up}")) }
    })
    .await;
}

/// One row each that the backup has as authorized, and not at all; both were sent after it was taken.
async fn every_effect_that_the_backup_does_not_know_is_found_and_none_is_made_again(engine: Engine) {
    let mut shop = Shop::open(&slow(engine)).await;
    shop.sells("2000", "50000", "TWD", &[("li_1", "50000")]).await;
    shop.sells("3000", "70000", "TWD", &[("li_1", "70000")]).await;
    // Turned away with 401, it stays in the outbox, and so stands in the backup as never sent.
    shop.provider.next_send("none", "401").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "authorized").await;
    shop.ledger.terminate().await;
    let backup = shop.ledger.copied_database().await;

    // After the backup: a changed secret lets it out, and another one is asked for and sent.
    std::fs::write(shop.ledger.path("stripe.key"), "sk_test_another\n").unwrap();
    shop.ledger.serve().await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.ledger.refund("2000", "li_1").await.is(201);
    shop.ledger.terminate().await;
    let sent = shop.provider.sends().await.len();

    shop.ledger.restored_from(&backup).await;
    assert!(band_says_restored(&shop).await);
    let found = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(found["incidents"][0]["kind"], "effect_against_state", "{found}");
    // Asked again for what the backup never heard of: the first answer may know nothing, and says so.
    let told = shop.ledger.refund_at_once("2000", "li_1").await.is(202);
    assert_eq!(told.body["replayed"], false);
    if told.body["state"] == "authorized" {
        assert_eq!(told.body["claim"], "in_progress", "{}", told.text);
        assert!(
            told.body["message"].as_str().unwrap().contains("It may already have happened."),
            "{}",
            told.text
        );
    }
    let found = shop.ledger.wait_for_state("refund-2000-li_1", "confirmed").await;
    assert_eq!(found["external_id"], shop.provider.effects_of("refund-2000-li_1").await[0]["external_id"]);
    assert_eq!(shop.provider.sends().await.len(), sent, "nothing was sent after the restore");
    assert_eq!(shop.provider.effects().await.len(), 2);
    shop.ledger.rests().await;
}

async fn what_never_happened_waits_for_proof_and_is_then_sent_once(engine: Engine) {
    // Restore + send time-out (2 s) + lag (3 s), then a second look-up a second later.
    let mut shop = Shop::open(&Setup::new(engine).account("absence_lag", "3s")).await;
    shop.ledger.terminate().await;
    let backup = shop.ledger.copied_database().await;
    shop.ledger.restored_from(&backup).await;
    let told = shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    assert_eq!((&told.body["state"], &told.body["claim"]), (&json!("authorized"), &json!("in_progress")));
    assert!(told.body["next_check_at"].is_string(), "{}", told.text);
    // A server that is started again without the flag keeps it in force.
    shop.ledger.restart().await;
    looked_up(&shop, REFUND, 1).await;
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["attempts"], 1);
    shop.sent_and_done(1, 1).await;
    let mut database = shop.ledger.database().await;
    let restored_at: jiff::Timestamp =
        acts(&shop, "restore_began").await[0]["restored_at"].as_str().unwrap().parse().unwrap();
    let counted: Vec<jiff::Timestamp> = shop
        .ledger
        .timeline(REFUND)
        .await
        .iter()
        .filter(|entry| entry["type"] == "looked_up" && entry["body"]["counted"] == true)
        .map(|entry| entry["body"]["look_up"]["started_at"].as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(counted.len(), 2, "two complete walks that count");
    for at in &counted {
        assert!(*at >= restored_at + jiff::SignedDuration::from_secs(5), "{at} {restored_at}");
    }
    assert_eq!(database.moves(REFUND).await, ["submitted", "confirmed"]);
    shop.ledger.rests().await;
}

async fn an_operation_unknown_in_the_backup_is_not_sent_again(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine).account("absence_lag", "1s")).await;
    // Nobody can look, so it stays unknown until the backup is taken.
    shop.provider.look_ups_get("500").await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    shop.ledger.terminate().await;
    let backup = shop.ledger.copied_database().await;
    shop.ledger.restored_from(&backup).await;
    shop.provider.clear_faults().await;
    shop.ledger.wait_for_state(REFUND, "escalated").await;
    shop.sent_and_done(1, 0).await;
    let page = shop.ledger.get(&format!("/operations/{REFUND}")).await.is(200).text;
    assert!(page.contains("restored from a backup, which may not know every send"), "{page}");
    shop.ledger.rests().await;
}

async fn what_cannot_be_looked_up_waits_and_sends_nothing(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    shop.ledger.terminate().await;
    let backup = shop.ledger.copied_database().await;
    shop.ledger.restored_from(&backup).await;
    shop.provider.look_ups_get("500").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    looked_up(&shop, REFUND, 2).await;
    assert_eq!(shop.ledger.operation(REFUND).await["state"], "authorized");
    shop.provider.clear_faults().await;
    shop.provider.look_up_mode("capped").await;
    let held = shop.ledger.wait_for_state(REFUND, "awaiting_approval").await;
    assert_eq!(held["claim"], "in_progress", "{held}");
    assert!(held["message"].as_str().unwrap().contains("A person must look first."), "{held}");
    shop.sent_and_done(0, 0).await;
    shop.ledger.verifies().await;
}

async fn only_a_person_who_may_act_ends_it_and_that_stands_in_the_chain(engine: Engine) {
    let mut shop = Shop::open(&slow(engine)).await;
    std::fs::write(shop.ledger.path("vic.password"), "a long enough pass phrase\n").unwrap();
    let password = shop.ledger.path("vic.password").display().to_string();
    let vic = ["user", "add", "--name", "Vic", "--role", "viewer", "--password-file", &password];
    shop.ledger.succeeds(&vic).await;
    let end = |by, note| ["restore", "end", "--by", by, "--note", note];
    let none = shop.ledger.run(&end("Ann", "there is none")).await;
    assert_eq!(none.code, Some(1), "{}", none.output());

    shop.ledger.terminate().await;
    let backup = shop.ledger.copied_database().await;
    shop.ledger.restored_from(&backup).await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    looked_up(&shop, REFUND, 1).await;
    for (by, note) in [("Nobody", "all seen"), ("agent", "all seen"), ("Vic", "all seen"), ("Ann", " ")] {
        let refused = shop.ledger.run(&end(by, note)).await;
        assert_eq!(refused.code, Some(1), "{by} {note:?}: {}", refused.output());
    }
    assert_eq!(acts(&shop, "restore_ended").await, [] as [Value; 0]);
    assert!(band_says_restored(&shop).await);
    shop.sent_and_done(0, 0).await;

    shop.ledger.succeeds(&end("Ann", "compared with the provider's export of today")).await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    let began = acts(&shop, "restore_began").await;
    let ended = acts(&shop, "restore_ended").await;
    assert_eq!((began.len(), ended.len()), (1, 1));
    assert_eq!(ended[0]["restored_at"], began[0]["restored_at"]);
    assert_eq!(ended[0]["note"], "compared with the provider's export of today");
    let mut database = shop.ledger.database().await;
    assert_eq!(
        database.texts("SELECT id FROM people WHERE name = 'Ann'").await,
        [ended[0]["person"].as_str().unwrap()]
    );
    assert!(!band_says_restored(&shop).await);
    assert_eq!(shop.ledger.run(&end("Ann", "twice")).await.code, Some(1));
    shop.ledger.rests().await;
}

/// Always, restored or not: what stands on the payment with its marker is known before it is sent.
async fn a_new_operation_claims_an_effect_that_was_seen_before_it_was_recorded(engine: Engine) {
    let mut shop = Shop::open(&slow(engine)).await;
    shop.ledger.terminate().await;
    let backup = shop.ledger.copied_database().await;
    shop.ledger.serve().await;
    shop.ledger.refund("1043", "li_2").await.is(201);
    shop.ledger.terminate().await;
    shop.ledger.restored_from(&backup).await;
    // The look-up for another line of the same order sees it; then a person ends the doubt.
    shop.ledger.refund_at_once("1043", "li_1").await.is(202);
    looked_up(&shop, "refund-1043-li_1", 1).await;
    shop.ledger.succeeds(&["restore", "end", "--by", "Ann", "--note", "all seen"]).await;
    let known = shop.ledger.refund("1043", "li_2").await.is(201);
    assert_eq!((&known.body["state"], &known.body["attempts"]), (&json!("confirmed"), &json!(0)));
    assert_eq!(shop.provider.effects_of(REFUND).await.len(), 1);
    shop.ledger.wait_for_state("refund-1043-li_1", "confirmed").await;
    assert_eq!(shop.provider.effects().await.len(), 2);
    shop.ledger.rests().await;
}
