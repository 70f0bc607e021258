//! Lists, and the look-up modes.

use serde_json::{Value, json};

use crate::bench::{Bench, PAYMENT};

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|object| object["id"].as_str().unwrap()).collect()
}

async fn make(bench: &Bench, count: usize) -> Vec<String> {
    for number in 0..count {
        assert_eq!(bench.refund(&format!("refund-1043-{number}"), 10).await.status, 200);
    }
    let newest_first = bench.effects().await.into_iter().rev();
    newest_first.map(|effect| effect.external_id).collect()
}

#[tokio::test]
async fn a_walk_over_150_refunds_finds_each_once_newest_first() {
    let bench = Bench::start().await;
    let made = make(&bench, 150).await;
    let first = bench.get(&format!("/v1/refunds?payment_intent={PAYMENT}&limit=100")).await.body;
    assert_eq!((first["object"].as_str(), first["url"].as_str()), (Some("list"), Some("/v1/refunds")));
    assert_eq!(first["has_more"], true);
    assert_eq!(ids(&first), made[..100]);
    let path = format!("/v1/refunds?payment_intent={PAYMENT}&limit=100&starting_after={}", made[99]);
    let second = bench.get(&path).await.body;
    assert_eq!(second["has_more"], false);
    assert_eq!(ids(&second), made[100..]);
    let back = bench.get(&format!("/v1/refunds?limit=10&ending_before={}", made[50])).await.body;
    assert_eq!(ids(&back), made[40..50]);
    assert_eq!(back["has_more"], true);
}

#[tokio::test]
async fn a_page_has_ten_objects_unless_asked_otherwise_and_never_more_than_a_hundred() {
    let bench = Bench::start().await;
    make(&bench, 11).await;
    let page = bench.get("/v1/refunds").await.body;
    assert_eq!((ids(&page).len(), page["has_more"].as_bool()), (10, Some(true)));
    for limit in ["0", "101", "-1", "ten"] {
        assert_eq!(bench.get(&format!("/v1/refunds?limit={limit}")).await.status, 400, "{limit}");
    }
}

#[tokio::test]
async fn lists_are_narrowed_by_payment_charge_and_time() {
    let bench = Bench::start().await;
    bench.pay("pi_other", 1000, "TWD").await;
    let order = json!({ "payment": "pi_other", "amount": "5", "id": "re_old", "created_s_ago": 3600 });
    let old = bench.order("refunds", order).await;
    assert_eq!(old.status, 201);
    let new = bench.post("/v1/refunds", "payment_intent=pi_other&amount=5").await;
    make(&bench, 1).await;
    let created = new.body["created"].as_i64().unwrap();
    for (query, expected) in [
        ("payment_intent=pi_other".to_owned(), vec![new.id(), "re_old"]),
        ("charge=ch_other".to_owned(), vec![new.id(), "re_old"]),
        (format!("charge=ch_other&created%5Bgte%5D={created}"), vec![new.id()]),
        (format!("charge=ch_other&created[gt]={created}"), vec![]),
        (format!("charge=ch_other&created[lt]={created}"), vec!["re_old"]),
        (format!("charge=ch_other&created[lte]={created}"), vec![new.id(), "re_old"]),
    ] {
        assert_eq!(ids(&bench.get(&format!("/v1/refunds?{query}")).await.body), expected, "{query}");
    }
    let charges = bench.get("/v1/charges?payment_intent=pi_other").await.body;
    assert_eq!(ids(&charges), ["ch_other"]);
    assert_eq!(charges["data"][0]["amount_refunded"], 10);
}

#[tokio::test]
async fn an_unknown_cursor_or_filter_is_refused() {
    let bench = Bench::start().await;
    assert_eq!(bench.get("/v1/refunds?starting_after=re_nobody").await.status, 404);
    let unknown = bench.get("/v1/refunds?metadata[operation_id]=x").await;
    assert_eq!((unknown.status, unknown.code()), (400, Some("parameter_unknown")));
    assert_eq!(bench.get("/v1/refunds?starting_after=re_a&ending_before=re_b").await.status, 400);
}

#[tokio::test]
async fn a_lagging_list_leaves_out_what_is_young_while_a_read_by_number_does_not() {
    let bench = Bench::start().await;
    bench.mode(json!({ "lookup": "lagging", "lag_ms": 60_000 })).await;
    let made = bench.refund("k", 100).await;
    let path = format!("/v1/refunds?payment_intent={PAYMENT}");
    assert!(ids(&bench.get(&path).await.body).is_empty());
    assert_eq!(bench.get(&format!("/v1/refunds/{}", made.id())).await.status, 200);
    bench.advance(60).await;
    assert_eq!(ids(&bench.get(&path).await.body), [made.id()]);
}

#[tokio::test]
async fn a_capped_list_says_that_there_is_more_and_never_shows_it() {
    let bench = Bench::start().await;
    let made = make(&bench, 6).await;
    bench.mode(json!({ "lookup": "capped", "cap": 5 })).await;
    let first = bench.get("/v1/refunds?limit=3").await.body;
    assert_eq!(
        (ids(&first), first["has_more"].as_bool()),
        (made[..3].iter().map(String::as_str).collect(), Some(true))
    );
    let second = bench.get(&format!("/v1/refunds?limit=3&starting_after={}", made[2])).await.body;
    assert_eq!((ids(&second).len(), second["has_more"].as_bool()), (2, Some(true)));
    let third = bench.get(&format!("/v1/refunds?limit=3&starting_after={}", made[4])).await.body;
    assert_eq!((ids(&third).len(), third["has_more"].as_bool()), (0, Some(true)));
}

#[tokio::test]
async fn a_capped_list_that_fits_is_complete() {
    let bench = Bench::start().await;
    make(&bench, 2).await;
    bench.mode(json!({ "lookup": "capped" })).await;
    let page = bench.get("/v1/refunds").await.body;
    assert_eq!((ids(&page).len(), page["has_more"].as_bool()), (2, Some(false)));
}

#[tokio::test]
async fn a_looping_list_repeats_its_first_page() {
    let bench = Bench::start().await;
    let made = make(&bench, 4).await;
    bench.mode(json!({ "lookup": "loop" })).await;
    let first = bench.get("/v1/refunds?limit=3").await.body;
    let next = bench.get(&format!("/v1/refunds?limit=3&starting_after={}", made[2])).await.body;
    assert_eq!(first, next);
    assert_eq!(first["has_more"], true);
}

#[tokio::test]
async fn reads_are_down_or_not_there_while_writes_go_on() {
    let bench = Bench::start().await;
    for (lookup, status) in [("down", 503), ("none", 404)] {
        bench.mode(json!({ "lookup": lookup })).await;
        let made = bench.refund(lookup, 10).await;
        assert_eq!(made.status, 200);
        assert_eq!(bench.get("/v1/refunds").await.status, status);
        assert_eq!(bench.get(&format!("/v1/refunds/{}", made.id())).await.status, status);
    }
    bench.mode(json!({ "lookup": "complete" })).await;
    assert_eq!(ids(&bench.get("/v1/refunds").await.body).len(), 2);
}
