//! Who an operation is: computed from what is to be done, compared byte for byte, and refused where a person couldn't tell.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, REFUND, Setup, Shop, line, money, order, refund_of, stories};
use reqwest::Method;
use serde_json::{Value, json};

stories!(
    values_that_hold_the_separator_never_collide,
    a_number_is_no_identifier,
    names_of_fields_are_fixed,
    missing_empty_and_dash_are_three_things,
    a_leading_zero_and_a_capital_make_another_operation,
    a_look_alike_on_the_same_payment_and_amount_waits_for_a_person,
    white_space_length_and_dots_are_refused_and_never_trimmed,
    text_that_only_looks_the_same_is_refused,
    control_zero_width_and_bidirectional_characters_are_refused,
    a_nul_anywhere_is_refused_and_named,
    other_parameters_under_the_same_identity_are_a_mismatch_that_names_them,
    an_unknown_order_line_or_kind_is_refused_before_it_is_recorded,
    another_customer_than_the_orders_is_refused,
);

/// An order whose id needs escaping in a URL.
async fn sells(shop: &Shop, id: &str, payment: &str, lines: &[&str]) {
    shop.provider.payment(payment, "100000", "TWD").await;
    let lines: Vec<Value> = lines.iter().map(|id| line(id, "1000", "TWD")).collect();
    let mut snapshot = order(payment, "100000", "TWD", &[]);
    snapshot["line_items"] = json!(lines);
    let reply = shop.ledger.put_order(&escaped(id), &snapshot).await;
    assert_eq!(reply.status, 201, "{id:?}: {}", reply.text);
}

/// Every byte but letters and digits as `%XX`.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        if byte.is_ascii_alphanumeric() {
            all.push(byte.into());
        } else {
            all.push_str(&format!("%{byte:02X}"));
        }
        all
    })
}

/// C1 C3, with the IDs as `api.md` writes them.
async fn values_that_hold_the_separator_never_collide(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let cases = [
        ("1-2", "3", "refund-1~2d2-3"),
        ("1", "2-3", "refund-1-2~2d3"),
        ("foo", "bar_baz", "refund-foo-bar_baz"),
        ("foo_bar", "baz", "refund-foo_bar-baz"),
        ("a:", "b", "refund-a~3a-b"),
        ("a", ":b", "refund-a-~3ab"),
        ("a~3a", "b", "refund-a~7e3a-b"),
        ("1", "2-r2", "refund-1-2~2dr2"),
        ("訂單", "x y", "refund-~e8~a8~82~e5~96~ae-x~20y"),
    ];
    let mut pushed: Vec<&str> = Vec::new();
    for (number, (order, _, _)) in cases.iter().enumerate() {
        if !pushed.contains(order) {
            let lines: Vec<&str> = cases.iter().filter(|case| case.0 == *order).map(|case| case.1).collect();
            sells(&shop, order, &format!("pi_case_{number}"), &lines).await;
            pushed.push(order);
        }
    }
    for (order, line, id) in cases {
        let reply = shop.ledger.refund(order, line).await.is(201);
        assert_eq!(reply.body["id"], id, "{order:?} {line:?}");
        assert_eq!(reply.body["identity"], json!({ "order": order, "line_item": line }));
        let effect = shop.provider.effects_of(id).await;
        assert_eq!(effect.len(), 1, "{id}");
        assert_eq!(effect[0]["marker"], format!("shop.{id}"));
    }
    assert_eq!(shop.provider.sends().await.len(), cases.len());
    shop.ledger.rests().await;
}

/// C2: 1043 and "1043" are never silently equal.
async fn a_number_is_no_identifier(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    for value in
        [json!(1043), json!(1043.0), json!(true), json!(["1043"]), json!({ "id": "1043" }), Value::Null]
    {
        let mut request = refund_of("1043", "li_2");
        request["identity"]["order"] = value;
        shop.ledger.refund_with(&request).await.refuses("identity");
    }
    shop.sent_and_done(0, 0).await;
}

async fn names_of_fields_are_fixed(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    for identity in [
        json!({ "order": "1043", "line_item": "li_2", "attempt": "2" }),
        json!({ "order": "1043", "line": "li_2" }),
        json!({ "orderline_item": "1043li_2" }),
        json!([["order", "1043"], ["line_item", "li_2"]]),
    ] {
        let request = json!({ "kind": "refund", "identity": identity });
        shop.ledger.refund_with(&request).await.refuses("identity");
    }
    // The same name twice: which one would count?
    let twice = r#"{"kind":"refund","identity":{"order":"1043","order":"1044","line_item":"li_2"}}"#;
    let reply = shop.ledger.call(Method::POST, "/v1/operations", &[], Some(twice.to_owned())).await;
    reply.refuses("identity");
    shop.sent_and_done(0, 0).await;
}

/// C5.
async fn missing_empty_and_dash_are_three_things(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    sells(&shop, "5", "pi_5", &["-"]).await;
    shop.ledger
        .refund_with(&json!({ "kind": "refund", "identity": { "order": "5" } }))
        .await
        .refuses("identity.line_item");
    shop.ledger.refund("5", "").await.refuses("identity.line_item");
    let dash = shop.ledger.refund("5", "-").await.is(201);
    assert_eq!(dash.body["id"], "refund-5-~2d");
    shop.ledger.rests().await;
}

/// C7 C9, on payments of their own: on one payment they would be twins.
async fn a_leading_zero_and_a_capital_make_another_operation(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    sells(&shop, "01043", "pi_01043", &["li_2"]).await;
    sells(&shop, "lower", "pi_lower", &["li_2"]).await;
    sells(&shop, "upper", "pi_upper", &["LI_2"]).await;
    for (order, line, id) in [
        ("1043", "li_2", REFUND),
        ("01043", "li_2", "refund-01043-li_2"),
        ("lower", "li_2", "refund-lower-li_2"),
        ("upper", "LI_2", "refund-upper-LI_2"),
    ] {
        let reply = shop.ledger.refund(order, line).await.is(201);
        assert_eq!((&reply.body["id"], &reply.body["replayed"]), (&json!(id), &json!(false)));
    }
    // The order `upper` has no line `li_2`: a capital is another name.
    shop.ledger.refund("upper", "li_2").await.refuses("identity.line_item");
    assert_eq!(shop.provider.effects().await.len(), 4);
    shop.ledger.rests().await;
}

/// C7 C9 J6: never merged, and not sent before a person has said that it is meant.
async fn a_look_alike_on_the_same_payment_and_amount_waits_for_a_person(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    sells(&shop, "twin", "pi_twin", &["li_2", "LI_2", "li_3"]).await;
    shop.ledger.refund("twin", "li_2").await.is(201);
    let held = shop.ledger.refund("twin", "LI_2").await.is(202);
    assert_eq!(held.body["state"], "awaiting_approval");
    assert_eq!(held.body["claim"], "nothing_yet");
    assert!(held.body["message"].as_str().unwrap().contains("refund-twin-li_2"), "{}", held.text);
    // A7: another line of equal amount is no twin.
    shop.ledger.refund("twin", "li_3").await.is(201);
    assert_eq!(shop.provider.sends().await.len(), 2);
    shop.ledger.rests().await;
}

/// C9.
async fn white_space_length_and_dots_are_refused_and_never_trimmed(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let long = "x".repeat(65);
    let very_long = "x".repeat(3000);
    for value in ["1043 ", " 1043", "1043\t", "\u{3000}1043", "1043\n", ".", "..", "", &long, &very_long] {
        shop.ledger.refund(value, "li_2").await.refuses("identity.order");
        shop.ledger.refund("1043", value).await.refuses("identity.line_item");
    }
    let longest = "x".repeat(64);
    sells(&shop, &longest, "pi_longest", &[&longest]).await;
    let fits = shop.ledger.refund(&longest, &longest).await.is(201);
    assert_eq!(fits.body["id"], format!("refund-{longest}-{longest}"));
    // 64 bytes that all need three in the ID: longer than an ID may be.
    let wide = "-".repeat(64);
    shop.ledger.refund(&wide, &wide).await.refuses("identity");
    shop.ledger.rests().await;
}

/// C14.
async fn text_that_only_looks_the_same_is_refused(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    sells(&shop, "bôh", "pi_boh", &["li_1"]).await;
    let composed = shop.ledger.refund("bôh", "li_1").await.is(201);
    assert_eq!(composed.body["id"], "refund-b~c3~b4h-li_1");
    let decomposed = shop.ledger.refund("bo\u{302}h", "li_1").await;
    decomposed.refuses("identity.order");
    let pushed = shop
        .ledger
        .put_order(&escaped("bo\u{302}h"), &order("pi_boh", "100000", "TWD", &[("li_1", "1000")]))
        .await;
    assert_eq!(pushed.status, 422, "{}", pushed.text);
    assert_eq!(shop.provider.sends().await.len(), 1);
    shop.ledger.rests().await;
}

/// C24.
async fn control_zero_width_and_bidirectional_characters_are_refused(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    for hidden in [
        "\u{202E}", "\u{200B}", "\u{200D}", "\u{FEFF}", "\u{2066}", "\u{7}", "\u{85}", "\u{2028}", "\u{FE0F}",
    ] {
        shop.ledger.refund(&format!("10{hidden}43"), "li_2").await.refuses("identity.order");
        let pushed = shop
            .ledger
            .put_order(&escaped(&format!("10{hidden}43")), &order("pi_x", "1000", "TWD", &[("li_1", "1000")]))
            .await;
        assert_eq!(pushed.status, 422, "{hidden:?}: {}", pushed.text);
    }
    shop.sent_and_done(0, 0).await;
}

/// C23.
async fn a_nul_anywhere_is_refused_and_named(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    for (field, nul) in [("reason", "abc\u{0}def"), ("requested_by", "a\u{0}"), ("customer", "cus\u{0}_7")] {
        let mut request = refund_of("1043", "li_2");
        request[field] = json!(nul);
        shop.ledger.refund_with(&request).await.refuses(field);
    }
    shop.ledger.refund("10\u{0}43", "li_2").await.refuses("identity.order");
    let mut snapshot = order("pi_nul", "1000", "TWD", &[("li_1", "1000")]);
    snapshot["line_items"][0]["title"] = json!("ear\u{0}phones");
    shop.ledger.put_order("nul", &snapshot).await.refuses("line_items");
    shop.sent_and_done(0, 0).await;
}

/// C19 J6: whatever would be sent differently is named, and nothing is sent.
async fn other_parameters_under_the_same_identity_are_a_mismatch_that_names_them(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let mut first = refund_of("1043", "li_2");
    first["params"] = json!({ "amount": money("1000", "TWD") });
    let stored = shop.ledger.refund_with(&first).await.is(201);
    for (params, field) in [
        (json!({ "amount": money("2000", "TWD") }), "params.amount"),
        (json!({ "quantity": 1 }), "params"),
        (Value::Null, "params"),
    ] {
        let mut other = refund_of("1043", "li_2");
        if params != Value::Null {
            other["params"] = params;
        }
        let refused = shop.ledger.refund_with(&other).await.is(409);
        refused.is_problem(409, "intent-mismatch");
        assert!(refused.names(field), "{field} isn't named in {}", refused.text);
        // What the caller needs to tell the truth: the stored operation as it is.
        for said in [REFUND, "confirmed", "10.00 TWD", "\"done\""] {
            assert!(refused.text.contains(said), "{said:?} isn't in {}", refused.text);
        }
    }
    let again = shop.ledger.refund_with(&first).await.is(200);
    assert_eq!(again.body["intent_hash"], stored.body["intent_hash"]);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

async fn an_unknown_order_line_or_kind_is_refused_before_it_is_recorded(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    shop.ledger.refund("9999", "li_2").await.refuses("identity.order");
    shop.ledger.refund("1043", "li_9").await.refuses("identity.line_item");
    let mut payout = refund_of("1043", "li_2");
    payout["kind"] = json!("payout");
    let refused = shop.ledger.refund_with(&payout).await;
    assert!([403, 422].contains(&refused.status), "a kind that isn't configured: {}", refused.text);
    for broken in ["", "[]", "{", "null", "\"refund\"", r#"{"kind":"refund"}"#] {
        let reply = shop.ledger.call(Method::POST, "/v1/operations", &[], Some(broken.to_owned())).await;
        assert!([400, 422].contains(&reply.status), "{broken:?}: {} {}", reply.status, reply.text);
        assert!(reply.header("content-type").starts_with("application/problem+json"), "{broken:?}");
    }
    assert!(shop.ledger.operations("order=1043").await.is_empty());
    shop.sent_and_done(0, 0).await;
}

async fn another_customer_than_the_orders_is_refused(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let mut request = refund_of("1043", "li_2");
    request["customer"] = json!("cus_8");
    shop.ledger.refund_with(&request).await.refuses("customer");
    request["customer"] = json!("cus_7");
    shop.ledger.refund_with(&request).await.is(201);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}
