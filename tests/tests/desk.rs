//! The desk as a browser would get it: no script is run here, and none is needed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, REFUND, Reply, Setup, Shop, order, refund_of, stories};
use reqwest::Method;
use serde_json::json;

stories!(
    an_operations_page_says_what_is_known_and_what_is_not_in_both_languages,
    hostile_text_is_inert_on_every_page,
    every_page_forbids_inline_script_and_loads_nothing_from_elsewhere,
    reading_a_page_changes_nothing,
    operations_are_filtered_by_the_url,
    an_empty_list_says_which_empty_it_is,
    an_orders_page_adds_up_what_may_have_left,
    every_state_is_explained,
    fifty_rows_fit_the_budget,
);

const PAGES: [&str; 4] = ["/operations", "/operations/refund-1043-li_2", "/orders/1043", "/help/states"];

/// A shop whose refund's answer is lost and stays so.
async fn lost(engine: Engine) -> Shop {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h")).await;
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    shop
}

async fn page(shop: &Shop, path: &str) -> Reply {
    let reply = shop.ledger.with_token(None).get(path).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    assert!(reply.header("content-type").starts_with("text/html"), "{path}: {:?}", reply.headers);
    reply
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    let folded = text.to_lowercase();
    for word in words {
        assert!(folded.contains(&word.to_lowercase()), "{word:?} isn't on the page:\n{text}");
    }
}

async fn an_operations_page_says_what_is_known_and_what_is_not_in_both_languages(engine: Engine) {
    let shop = lost(engine).await;
    let path = format!("/operations/{REFUND}");
    let english = page(&shop, &path).await.text;
    assert!(english.contains("<html lang=\"en"), "{english}");
    says(
        &english,
        &[REFUND, "380.00 TWD", "1043", "unknown", "Known", "Not known", "Next", "You", "Not allowed"],
    );
    says(&english, &["sent, no answer", "shop.refund-1043-li_2"]);
    let operation = shop.ledger.operation(REFUND).await;
    says(&english, &[operation["intent_hash"].as_str().unwrap()]);
    let chinese = page(&shop, &format!("{path}?lang=zh-Hant-TW")).await.text;
    assert!(chinese.contains("<html lang=\"zh-Hant-TW\""), "{chinese}");
    says(
        &chinese,
        &["結果未知", "已知事實", "尚未查明", "系統接下來會做", "你需要做的", "目前不可執行", "380.00 TWD"],
    );
    let headers = [("accept-language", "zh-TW,zh;q=0.9,en;q=0.5")];
    let preferred = shop.ledger.with_token(None).call(Method::GET, &path, &headers, None).await.text;
    assert!(preferred.contains("<html lang=\"zh-Hant-TW\""), "{preferred}");
    for other in ["/operations", "/orders/1043", "/help/states"] {
        let text = page(&shop, &format!("{other}?lang=zh-Hant-TW")).await.text;
        says(&text, &["結果未知"]);
    }
}

/// M6.
async fn hostile_text_is_inert_on_every_page(engine: Engine) {
    const HOSTILE: &str = "<svg/onload=alert(1)>";
    let shop = lost(engine).await;
    let mut snapshot = order("pi_1043", "158000", "TWD", &[("li_1", "120000"), ("li_2", "38000")]);
    snapshot["line_items"][1]["title"] = json!(HOSTILE);
    shop.ledger.put_order("1043", &snapshot).await.is(200);
    let mut request = refund_of("1043", "li_1");
    for field in ["reason", "requested_by"] {
        request[field] = json!(HOSTILE);
    }
    shop.ledger.refund_with(&request).await.is(201);
    let id = "refund-1043-li_1";
    for path in [format!("/operations/{id}"), "/operations".to_owned(), "/orders/1043".to_owned()] {
        for lang in ["en", "zh-Hant-TW"] {
            let text = page(&shop, &format!("{path}?lang={lang}")).await.text;
            assert!(!text.contains("<svg/onload"), "{path} carries it alive");
        }
    }
    let shown = page(&shop, &format!("/operations/{id}")).await.text;
    assert!(shown.contains("&lt;svg/onload=alert(1)&gt;"), "the reason is shown, inert:\n{shown}");
    // In the URL too: a filter is text that comes back on the page.
    for query in [
        "order=%3Csvg/onload=alert(1)%3E",
        "external_id=%22%3E%3Csvg/onload=alert(1)%3E",
        "lang=%3Csvg/onload=alert(1)%3E",
    ] {
        let reply = shop.ledger.with_token(None).get(&format!("/operations?{query}")).await;
        assert!(!reply.text.contains("<svg/onload"), "{query}: {}", reply.text);
        assert!(reply.status < 500, "{query}: {}", reply.status);
    }
    let missing = shop.ledger.with_token(None).get("/operations/%3Csvg%2Fonload=alert(1)%3E").await;
    assert_eq!(missing.status, 404);
    assert!(!missing.text.contains("<svg/onload"), "{}", missing.text);
}

async fn every_page_forbids_inline_script_and_loads_nothing_from_elsewhere(engine: Engine) {
    let shop = lost(engine).await;
    for path in PAGES {
        let reply = page(&shop, path).await;
        let policy = reply.header("content-security-policy").to_owned();
        assert!(policy.contains("default-src 'none'") || policy.contains("default-src 'self'"), "{policy}");
        for needed in ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
            assert!(policy.contains(needed), "{path}: {needed} isn't in {policy}");
        }
        assert!(!policy.contains("unsafe-"), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        let text = &reply.text;
        for script in text.split("<script").skip(1) {
            let tag = script.split('>').next().unwrap();
            assert!(tag.contains("src=\"/") || tag.contains("nonce="), "{path}: <script{tag}>");
        }
        for handler in [" onclick=", " onload=", " onerror=", "javascript:"] {
            assert!(!text.contains(handler), "{path}: {handler}");
        }
        for outside in ["src=\"http", "src=\"//", "url(http", "@import"] {
            assert!(!text.contains(outside), "{path}: {outside}");
        }
        let mut loaded = 0;
        for link in text.split("<link").skip(1) {
            let href = link.split("href=\"").nth(1).unwrap().split('"').next().unwrap();
            assert!(href.starts_with('/') && !href.starts_with("//"), "{path}: {href}");
            let asset = shop.ledger.with_token(None).get(href).await;
            assert_eq!(asset.status, 200, "{path}: {href}");
            loaded += 1;
        }
        assert!(loaded >= 1, "{path} has a stylesheet");
    }
}

async fn reading_a_page_changes_nothing(engine: Engine) {
    let shop = lost(engine).await;
    let mut database = shop.ledger.database().await;
    let tables = database.tables().await;
    let mut before = Vec::new();
    for table in &tables {
        before.push(database.number(&format!("SELECT count(*) FROM \"{table}\"")).await);
    }
    let version = shop.ledger.operation(REFUND).await;
    for path in PAGES {
        for _ in 0..2 {
            page(&shop, path).await;
        }
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            let reply = shop.ledger.with_token(None).call(method.clone(), path, &[], None).await;
            assert!([403, 404, 405].contains(&reply.status), "{method} {path}: {}", reply.status);
        }
    }
    for (table, count) in tables.iter().zip(before) {
        let after = database.number(&format!("SELECT count(*) FROM \"{table}\"")).await;
        assert_eq!(after, count, "rows of {table}");
    }
    assert_eq!(shop.ledger.operation(REFUND).await, version);
    shop.sent_and_done(1, 1).await;
}

async fn operations_are_filtered_by_the_url(engine: Engine) {
    let shop = lost(engine).await;
    shop.ledger.refund("1043", "li_1").await.is(201);
    shop.sells("7", "1000", "TWD", &[("li_1", "1000")]).await;
    shop.ledger.refund("7", "li_1").await.is(201);
    for (query, shown) in [
        ("state=unknown", vec![REFUND]),
        ("state=confirmed", vec!["refund-1043-li_1", "refund-7-li_1"]),
        ("order=7", vec!["refund-7-li_1"]),
        ("order=1043&state=confirmed", vec!["refund-1043-li_1"]),
    ] {
        let text = page(&shop, &format!("/operations?view=all&{query}")).await.text;
        for id in [REFUND, "refund-1043-li_1", "refund-7-li_1"] {
            let linked =
                text.contains(&format!("/operations/{id}\"")) || text.contains(&format!("/operations/{id}?"));
            assert_eq!(linked, shown.contains(&id), "{query}: {id}\n{text}");
        }
    }
}

async fn an_empty_list_says_which_empty_it_is(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let nothing = page(&shop, "/operations").await.text;
    says(&nothing, &["nothing yet"]);
    says(&page(&shop, "/operations?lang=zh-Hant-TW").await.text, &["尚無資料"]);
    shop.ledger.refund("1043", "li_2").await.is(201);
    says(&page(&shop, "/operations?view=all&state=failed").await.text, &["nothing matches"]);
    says(&page(&shop, "/operations?view=all&state=failed&lang=zh-Hant-TW").await.text, &["沒有符合的資料"]);
}

async fn an_orders_page_adds_up_what_may_have_left(engine: Engine) {
    let shop = lost(engine).await;
    shop.ledger.refund("1043", "li_1").await.is(201);
    let text = page(&shop, "/orders/1043").await.text;
    says(&text, &["1580.00 TWD", "1200.00 TWD", "380.00 TWD", "worst case", REFUND, "refund-1043-li_1"]);
    says(&page(&shop, "/orders/1043?lang=zh-Hant-TW").await.text, &["最多可能已退出", "尚可退"]);
    let missing = shop.ledger.with_token(None).get("/orders/9999").await;
    assert_eq!(missing.status, 404);
    assert!(missing.header("content-type").starts_with("text/html"));
}

async fn every_state_is_explained(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let english = page(&shop, "/help/states").await.text;
    says(
        &english,
        &[
            "awaiting approval",
            "ready to send",
            "sending",
            "unknown",
            "at provider",
            "confirmed",
            "failed",
            "to decide",
            "cancelled, never sent",
        ],
    );
    let chinese = page(&shop, "/help/states?lang=zh-Hant-TW").await.text;
    let words = [
        "待核准",
        "待送出",
        "送出中",
        "結果未知",
        "服務商處理中",
        "已查證成立",
        "確定未成立",
        "待人工判定",
        "已撤銷",
    ];
    says(&chinese, &words);
}

/// The budget of the desk: 12 kB of HTML for 50 rows, 12 kB of style, 6 kB of script, compressed.
#[allow(clippy::print_stdout, reason = "the numbers are there to be read")]
async fn fifty_rows_fit_the_budget(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine)).await;
    let lines: Vec<String> = (1..=50).map(|number| format!("li_{number}")).collect();
    let priced: Vec<(&str, &str)> = lines.iter().map(|line| (line.as_str(), "100")).collect();
    shop.sells("50", "100000", "TWD", &priced).await;
    for line in &lines {
        shop.ledger.refund("50", line).await.is(201);
    }
    let compressed = async |path: &str| {
        let headers = [("accept-encoding", "gzip")];
        let reply = shop.ledger.with_token(None).call(Method::GET, path, &headers, None).await.is(200);
        assert_eq!(reply.header("content-encoding"), "gzip", "{path}");
        reply.size
    };
    let list = page(&shop, "/operations?view=all&state=confirmed").await.text;
    let rows = lines.iter().filter(|line| list.contains(&format!("refund-50-{line}\""))).count();
    assert_eq!(rows, 50, "all on one page");
    let html = compressed("/operations?view=all&state=confirmed").await;
    println!("50 rows: {html} bytes of HTML, gzip");
    assert!(html <= 12_000, "{html} bytes");
    for (attribute, limit) in [("href=\"", 12_000), ("src=\"", 6_000)] {
        for part in list.split(attribute).skip(1) {
            let path = part.split('"').next().unwrap();
            if path.contains(".css") || path.contains(".js") {
                let size = compressed(path).await;
                println!("{path}: {size} bytes, gzip");
                assert!(size <= limit, "{path}: {size} bytes");
            }
        }
    }
}
