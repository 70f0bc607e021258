//! Who may call, and what a caller who did it wrongly is told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, REFUND, Setup, Shop, order, refund_of, stories};
use reqwest::Method;
use serde_json::json;

stories!(
    a_token_may_do_what_its_scopes_say_and_nothing_else,
    a_tokens_secret_is_not_in_the_database,
    a_problem_is_told_as_problem_details,
    a_body_that_is_too_large_is_refused,
    the_interface_describes_itself,
    health_is_told_without_a_token,
);

async fn a_token_may_do_what_its_scopes_say_and_nothing_else(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let snapshot = order("pi_1043", "158000", "TWD", &[("li_1", "120000"), ("li_2", "38000")]);
    let request = refund_of("1043", "li_2");
    let path = format!("/v1/operations/{REFUND}");
    shop.ledger.refund("1043", "li_2").await.is(201);
    let forged = format!("{}x", shop.ledger.secret());
    for nobody in [None, Some("nonsense"), Some(forged.as_str())] {
        let api = shop.ledger.with_token(nobody);
        for reply in [
            api.refund_with(&request).await,
            api.get(&path).await,
            api.get("/v1/operations").await,
            api.get("/v1/orders/1043").await,
            api.put_order("1043", &snapshot).await,
            api.cancel(REFUND).await,
            api.look_up(REFUND).await,
        ] {
            reply.is_problem(401, "");
            assert!(!reply.text.contains("380.00"), "{}", reply.text);
        }
    }
    let reader = shop.ledger.token("reader", &["operations:read"]).await;
    let reader = shop.ledger.with_token(Some(&reader));
    reader.get(&path).await.is(200);
    reader.refund_with(&request).await.is_problem(403, "");
    reader.put_order("1043", &snapshot).await.is_problem(403, "");
    reader.cancel(REFUND).await.is_problem(403, "");
    let other = shop.ledger.token("helpdesk", &["operations:write:ticket"]).await;
    shop.ledger.with_token(Some(&other)).refund_with(&request).await.is_problem(403, "");
    let pusher = shop.ledger.token("pusher", &["orders:write"]).await;
    let pusher = shop.ledger.with_token(Some(&pusher));
    pusher.put_order("1043", &snapshot).await.is(200);
    pusher.refund_with(&request).await.is_problem(403, "");
    pusher.get(&path).await.is_problem(403, "");
    shop.ledger.get("/v1/operations/refund-1043-li_9").await.is_problem(404, "");
    shop.ledger.get("/v1/nothing").await.is_problem(404, "");
    shop.sent_and_done(1, 1).await;
}

async fn a_tokens_secret_is_not_in_the_database(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    shop.ledger.refund("1043", "li_2").await.is(201);
    shop.ledger.terminate().await;
    let secret = shop.ledger.secret();
    assert!(secret.len() >= 32, "too short to be a secret: {} characters", secret.len());
    let random = secret.rsplit('_').next().unwrap();
    let log = std::fs::read(shop.ledger.path("serve.log")).unwrap();
    for (place, bytes) in [("the database", shop.ledger.stored_bytes().await), ("the log", log)] {
        assert!(!bytes.is_empty(), "{place} is empty");
        for hidden in [random, "a long enough pass phrase", "sk_test_counterfoil", "whsec_counterfoil"] {
            let found = bytes.windows(hidden.len()).any(|window| window == hidden.as_bytes());
            assert!(!found, "a secret stands in {place}");
        }
    }
}

async fn a_problem_is_told_as_problem_details(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let refused = shop.ledger.refund("1043", "li_9").await;
    refused.refuses("identity.line_item");
    for (method, path) in [(Method::DELETE, "/v1/operations"), (Method::PATCH, "/v1/orders/1043")] {
        let reply = shop.ledger.call(method, path, &[], None).await;
        assert_eq!(reply.status, 405);
    }
    for query in ["state=lost", "limit=0", "limit=abc", "cursor=nonsense", "colour=red"] {
        shop.ledger.get(&format!("/v1/operations?{query}")).await.is_problem(422, "");
    }
    // Never a stack, a path of our sources or SQL.
    for text in [&refused.text, &shop.ledger.get("/v1/operations?cursor=%00").await.text] {
        for inside in ["panicked", ".rs", "SELECT", "sqlx"] {
            assert!(!text.contains(inside), "{text}");
        }
    }
}

async fn a_body_that_is_too_large_is_refused(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let mut request = refund_of("1043", "li_2");
    request["reason"] = json!("x".repeat(4 << 20));
    shop.ledger.refund_with(&request).await.is(413);
    shop.sent_and_done(0, 0).await;
}

async fn the_interface_describes_itself(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let described = shop.ledger.get("/v1/openapi.json").await.is(200).body;
    assert!(described["openapi"].as_str().unwrap().starts_with("3."));
    for path in [
        "/v1/operations",
        "/v1/operations/{id}",
        "/v1/operations/{id}/timeline",
        "/v1/operations/{id}/attempts",
        "/v1/operations/{id}/evidence",
        "/v1/operations/{id}/cancel",
        "/v1/operations/{id}/lookup",
        "/v1/orders/{order}",
    ] {
        assert!(described["paths"].get(path).is_some(), "{path} isn't described");
    }
    let docs = shop.ledger.get("/v1/docs/").await.is(200).text;
    for outside in ["src=\"http", "href=\"http", "src=\"//", "cdn."] {
        assert!(!docs.contains(outside), "{outside:?} in the documentation's page");
    }
}

async fn health_is_told_without_a_token(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    for path in ["/healthz", "/readyz"] {
        shop.ledger.with_token(None).get(path).await.is(200);
    }
}
