//! Money: never more out than came in, and every amount exact on the wire, in JSON and on the page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, REFUND, Setup, Shop, money, order, races, refund_of, until};
use serde_json::{Value, json};

races!(
    two_refunds_at_once_never_take_out_more_than_was_captured,
    unknown_money_is_spent_money,
    two_lines_of_equal_amount_are_refunded_once_each,
    two_partial_refunds_in_the_same_moment_are_both_made,
    an_order_edited_after_recording_does_not_turn_a_repeat_into_a_mismatch,
    every_currency_is_exact_on_the_wire_in_json_and_on_the_page,
    an_amount_that_is_not_whole_minor_units_is_refused_before_it_is_recorded,
    an_amount_that_the_provider_cannot_take_is_refused_before_it_is_recorded,
    a_part_of_a_line_is_refunded_by_amount_or_by_quantity,
    an_amount_above_the_line_is_refused_before_it_is_recorded,
    above_the_limit_of_an_order_a_person_approves_first,
    money_that_was_captured_less_than_is_held_blocks_new_sends,
);

/// G1: 6000 and 6000 of 10000, from two orders that share the payment.
async fn two_refunds_at_once_never_take_out_more_than_was_captured(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.payment("pi_shared", "10000", "TWD").await;
    for id in ["a", "b"] {
        let half = order("pi_shared", "10000", "TWD", &[("li_1", "6000")]);
        shop.ledger.put_order(id, &half).await.is(201);
    }
    let (one, other) = tokio::join!(shop.ledger.refund("a", "li_1"), shop.ledger.refund("b", "li_1"));
    let (done, refused) = if one.status == 409 { (other, one) } else { (one, other) };
    let done = done.is(201);
    let refused = refused.is(409);
    refused.is_problem(409, "exceeds-refundable");
    let holder = done.body["id"].as_str().unwrap();
    assert!(refused.text.contains(holder), "the refusal names who holds the money: {}", refused.text);
    // Nothing was recorded, so asking again is a first time and refused again.
    let loser = if holder == "refund-a-li_1" { "b" } else { "a" };
    shop.ledger.get(&format!("/v1/operations/refund-{loser}-li_1")).await.is(404);
    shop.ledger.refund(loser, "li_1").await.is(409);
    let out = shop.provider.effects().await;
    assert_eq!(out.len(), 1);
    assert_eq!(shop.provider.sends().await.len(), 1);
    shop.ledger.rests().await;
}

/// Rule 11.
async fn unknown_money_is_spent_money(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h")).await;
    shop.provider.payment("pi_shared", "10000", "TWD").await;
    for id in ["a", "b"] {
        let half = order("pi_shared", "10000", "TWD", &[("li_1", "6000")]);
        shop.ledger.put_order(id, &half).await.is(201);
    }
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("a", "li_1").await.is(202);
    shop.ledger.wait_for_state("refund-a-li_1", "unknown").await;
    let refused = shop.ledger.refund("b", "li_1").await.is(409);
    refused.is_problem(409, "exceeds-refundable");
    assert!(refused.text.contains("refund-a-li_1"), "{}", refused.text);
    assert_eq!(shop.provider.sends().await.len(), 1);
    shop.ledger.verifies().await;
}

/// A7: amount alone is no identity.
async fn two_lines_of_equal_amount_are_refunded_once_each(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.sells("7", "2000", "TWD", &[("act-7", "1000"), ("act-8", "1000")]).await;
    for line in ["act-7", "act-8", "act-7", "act-8"] {
        shop.ledger.refund("7", line).await;
    }
    for id in ["refund-7-act~2d7", "refund-7-act~2d8"] {
        shop.ledger.wait_for_state(id, "confirmed").await;
        assert_eq!(shop.provider.effects_of(id).await.len(), 1, "{id}");
    }
    assert_eq!(shop.provider.sends().await.len(), 2);
    shop.ledger.rests().await;
}

/// D10.
async fn two_partial_refunds_in_the_same_moment_are_both_made(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.sells("8", "30000", "TWD", &[("li_1", "7700"), ("li_2", "16600")]).await;
    let (one, other) = tokio::join!(shop.ledger.refund("8", "li_1"), shop.ledger.refund("8", "li_2"));
    let (one, other) = (one.is(201), other.is(201));
    assert_ne!(one.body["external_id"], other.body["external_id"]);
    let mut amounts: Vec<String> = Vec::new();
    for effect in shop.provider.effects().await {
        amounts.push(effect["amount"].as_str().unwrap().to_owned());
    }
    amounts.sort_unstable();
    assert_eq!(amounts, ["16600", "7700"]);
    shop.ledger.rests().await;
}

async fn an_order_edited_after_recording_does_not_turn_a_repeat_into_a_mismatch(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let first = shop.ledger.refund("1043", "li_2").await.is(201);
    let edited = order("pi_1043", "158000", "TWD", &[("li_1", "118000"), ("li_2", "40000")]);
    shop.ledger.put_order("1043", &edited).await.is(200);
    let again = shop.ledger.refund("1043", "li_2").await.is(200);
    assert_eq!(again.body["replayed"], true);
    assert_eq!(again.body["intent_hash"], first.body["intent_hash"]);
    assert_eq!(again.body["amount"]["amount"], "38000");
    // The payment can't change any more: it holds this operation's money.
    let moved = order("pi_other", "158000", "TWD", &[("li_1", "120000"), ("li_2", "38000")]);
    shop.ledger.put_order("1043", &moved).await.is(409);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// F1 F2 F3 F4 F14, and 2^53 + 1, which a float can't hold.
async fn every_currency_is_exact_on_the_wire_in_json_and_on_the_page(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let cases = [
        ("JPY", "9899", "9899 JPY"),
        ("JPY", "5800", "5800 JPY"),
        ("JPY", "500", "500 JPY"),
        ("KWD", "18600", "18.600 KWD"),
        ("KWD", "92000", "92.000 KWD"),
        ("UGX", "500000", "5000.00 UGX"),
        ("ISK", "150000", "1500.00 ISK"),
        ("HUF", "150050", "1500.50 HUF"),
        ("TWD", "38000", "380.00 TWD"),
        ("TWD", "1", "0.01 TWD"),
        ("TWD", "9007199254740993", "90071992547409.93 TWD"),
    ];
    for (number, (currency, amount, shown)) in cases.into_iter().enumerate() {
        let id = format!("c{number}");
        // More was captured than is refunded: a wrong factor wouldn't be refused by the provider.
        shop.sells(&id, "9007199254740993", currency, &[("li_1", amount)]).await;
        let done = shop.ledger.refund(&id, "li_1").await.is(201).body;
        assert_eq!(
            done["amount"],
            json!({ "amount": amount, "currency": currency, "display": shown }),
            "in JSON"
        );
        let operation = format!("refund-{id}-li_1");
        let sent = shop.provider.sends().await.pop().unwrap();
        let wire: Vec<&str> = sent.body.split('&').filter(|pair| pair.starts_with("amount=")).collect();
        assert_eq!(wire, [format!("amount={amount}")], "on the wire");
        let effect = shop.provider.effects_of(&operation).await.pop().unwrap();
        assert_eq!((&effect["amount"], &effect["currency"]), (&json!(amount), &json!(currency)));
        let page = shop.ledger.with_token(None).get(&format!("/operations/{operation}")).await.is(200).text;
        assert!(page.contains(shown), "{shown:?} isn't on the page of {operation}");
    }
    shop.ledger.rests().await;
}

/// F3 F13 J6.
async fn an_amount_that_is_not_whole_minor_units_is_refused_before_it_is_recorded(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let texts =
        ["1e3", "-500", "0", "abc", "", "5,00", "25.00", " 5", "+5", "007", "NaN", "9223372036854775808"];
    let mut amounts: Vec<Value> = texts.iter().map(|text| money(text, "TWD")).collect();
    amounts.push(json!({ "amount": 500, "currency": "TWD" }));
    amounts.push(json!({ "amount": 5e2, "currency": "TWD" }));
    amounts.push(json!("500"));
    amounts.push(json!(500));
    for amount in amounts {
        let mut request = refund_of("1043", "li_2");
        request["params"] = json!({ "amount": amount });
        shop.ledger.refund_with(&request).await.refuses("params.amount");

        let mut snapshot = order("pi_1045", "158000", "TWD", &[("li_1", "500")]);
        snapshot["line_items"][0]["amount"] = amount.clone();
        shop.ledger.put_order("1045", &snapshot).await.refuses("line_items");
    }
    shop.ledger.get(&format!("/v1/operations/{REFUND}")).await.is(404);
    shop.sent_and_done(0, 0).await;
    shop.ledger.verifies().await;
}

/// F4, and the special cases of the provider's table: no refund of this size exists there.
async fn an_amount_that_the_provider_cannot_take_is_refused_before_it_is_recorded(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    for (currency, amount) in [("KWD", "18605"), ("UGX", "500050"), ("ISK", "150050")] {
        let id = format!("odd{currency}");
        let payment = format!("pi_{id}");
        shop.provider.payment(&payment, "1000000", currency).await;
        // Either the order's line or the refund of it is refused; a refund of it never leaves.
        let pushed =
            shop.ledger.put_order(&id, &order(&payment, "1000000", currency, &[("li_1", "900000")])).await;
        pushed.is(201);
        let mut request = refund_of(&id, "li_1");
        request["params"] = json!({ "amount": money(amount, currency) });
        shop.ledger.refund_with(&request).await.refuses("params.amount");
        shop.ledger.get(&format!("/v1/operations/refund-{id}-li_1")).await.is(404);
    }
    // Another currency than the payment's.
    let mut request = refund_of("1043", "li_2");
    request["params"] = json!({ "amount": money("500", "JPY") });
    shop.ledger.refund_with(&request).await.refuses("params.amount");
    assert!(shop.provider.sends().await.is_empty());
    shop.ledger.verifies().await;
}

async fn a_part_of_a_line_is_refunded_by_amount_or_by_quantity(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.provider.payment("pi_9", "90000", "TWD").await;
    let mut snapshot = order("pi_9", "90000", "TWD", &[("li_1", "30000"), ("li_2", "60000")]);
    snapshot["line_items"][1]["quantity"] = json!(3);
    shop.ledger.put_order("9", &snapshot).await.is(201);
    let mut by_amount = refund_of("9", "li_1");
    by_amount["params"] = json!({ "amount": money("1250", "TWD") });
    let done = shop.ledger.refund_with(&by_amount).await.is(201);
    assert_eq!(done.body["amount"]["amount"], "1250");
    assert_eq!(done.body["params"], by_amount["params"]);
    let mut by_quantity = refund_of("9", "li_2");
    by_quantity["params"] = json!({ "quantity": 2 });
    let done = shop.ledger.refund_with(&by_quantity).await.is(201);
    assert_eq!(done.body["amount"]["amount"], "40000", "two of three for 60000");
    // The rest of the line is a second time: a revision, which waits for a person.
    let mut rest = refund_of("9", "li_1");
    rest["revision"] = json!(2);
    let waiting = shop.ledger.refund_with(&rest).await.is(202);
    assert_eq!(waiting.body["id"], "refund-9-li_1-r2");
    assert_eq!(waiting.body["state"], "awaiting_approval");
    assert_eq!(waiting.body["claim"], "nothing_yet");
    assert_eq!(waiting.body["amount"]["amount"], "28750");
    assert_eq!(shop.provider.sends().await.len(), 2);
    shop.ledger.rests().await;
}

async fn an_amount_above_the_line_is_refused_before_it_is_recorded(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    for params in [
        json!({ "quantity": 2 }),
        json!({ "quantity": 0 }),
        json!({ "quantity": -1 }),
        json!({ "quantity": 1.5 }),
        json!({ "quantity": 1, "amount": money("100", "TWD") }),
    ] {
        let mut request = refund_of("1043", "li_2");
        request["params"] = params;
        shop.ledger.refund_with(&request).await.refuses("params");
    }
    let mut request = refund_of("1043", "li_2");
    request["params"] = json!({ "amount": money("38001", "TWD") });
    shop.ledger.refund_with(&request).await.is_problem(409, "exceeds-refundable");
    shop.ledger.get(&format!("/v1/operations/{REFUND}")).await.is(404);
    shop.sent_and_done(0, 0).await;
}

/// `approve_above` counts all refunds of the order together, so that a large one can't be cut into small ones.
async fn above_the_limit_of_an_order_a_person_approves_first(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).with("kinds.refund.approve_above.TWD", "50000")).await;
    shop.sells("9", "90000", "TWD", &[("li_1", "30000"), ("li_2", "20000"), ("li_3", "1")]).await;
    shop.ledger.refund("9", "li_1").await.is(201);
    shop.ledger.refund("9", "li_2").await.is(201);
    let held = shop.ledger.refund("9", "li_3").await.is(202);
    assert_eq!(
        (&held.body["state"], &held.body["claim"]),
        (&json!("awaiting_approval"), &json!("nothing_yet"))
    );
    let held = shop.ledger.refund("1043", "li_1").await.is(202);
    assert_eq!(held.body["state"], "awaiting_approval");
    assert_eq!(shop.provider.sends().await.len(), 2);
    shop.ledger.rests().await;
}

async fn money_that_was_captured_less_than_is_held_blocks_new_sends(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h")).await;
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    let lowered = order("pi_1043", "30000", "TWD", &[("li_1", "120000"), ("li_2", "38000")]);
    shop.ledger.put_order("1043", &lowered).await.is(200);
    let alarms = "SELECT count(*) FROM alarms WHERE kind = 'captured_below_held'";
    assert_eq!(shop.ledger.database().await.number(alarms).await, 1);
    // Absence is proved, and the resend waits: more would go out than came in.
    let mut database = shop.ledger.database().await;
    until("absence", async || {
        shop.ledger.look_up(REFUND).await;
        let looked_up = database.facts(REFUND, "looked_up").await;
        if looked_up >= 3 { Ok(()) } else { Err(format!("{looked_up} look-ups")) }
    })
    .await;
    shop.sent_and_done(1, 0).await;
    assert_eq!(shop.ledger.operation(REFUND).await["state"], "unknown");
    let restored = order("pi_1043", "158000", "TWD", &[("li_1", "120000"), ("li_2", "38000")]);
    shop.ledger.put_order("1043", &restored).await.is(200);
    until("the resend", async || {
        shop.ledger.look_up(REFUND).await;
        let state = shop.ledger.operation(REFUND).await["state"].clone();
        if state == "confirmed" { Ok(()) } else { Err(state.to_string()) }
    })
    .await;
    shop.sent_and_done(2, 1).await;
    shop.ledger.rests().await;
}
