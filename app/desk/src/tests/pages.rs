//! Whole pages: what stands on them, that nothing hostile acts on them, and what they weigh.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::Write;

use counterfoil_ledger::evidence::{EffectSeen, EffectStatus, Walk};
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::totals::sum_minor;

use super::fixture::*;
use crate::pages::totals_of;
use crate::*;

const HOSTILE: &str = "<svg/onload=alert(1)>\"'><script>alert(2)</script>\u{202E}\u{200B}";

fn shelf() -> Shelf {
    Shelf::of(&stories())
}

async fn list(lang: Lang, shelf: &Shelf, pairs: &[(&str, &str)]) -> String {
    let query = OperationsQuery::from_pairs(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    operations(shelf, &viewer(lang, "/operations"), &query).await.unwrap().html
}

async fn sheet(lang: Lang, shelf: &Shelf, id: &str) -> String {
    let id = OperationId::stored(id);
    operation(shelf, &viewer(lang, &format!("/operations/{id}")), &id).await.unwrap().html
}

/// Every page of the fixture in one language.
async fn every_page(lang: Lang) -> Vec<(String, String)> {
    let shelf = shelf();
    let mut pages = vec![
        ("list".to_owned(), list(lang, &shelf, &[("view", "all")]).await),
        ("unusable".to_owned(), list(lang, &shelf, &[("state", "?"), ("view", "?"), ("to", "?")]).await),
        ("empty".to_owned(), list(lang, &Shelf::of(&[]), &[]).await),
        ("help".to_owned(), help_states(&viewer(lang, "/help/states")).html),
    ];
    for story in stories() {
        let id = story.operation.id.as_str();
        pages.push((id.to_owned(), sheet(lang, &shelf, id).await));
    }
    for number in shelf.orders.keys() {
        let page = order(&shelf, &viewer(lang, "/orders/x"), number).await.unwrap();
        pages.push((format!("order {number}"), page.html));
    }
    let set_aside = DeskError::SetAside { id: OperationId::stored("refund-1-a"), why: String::new() };
    for error in [PageError::NotFound, PageError::NotAllowed, PageError::BadAddress, set_aside.into()] {
        let page = problem(&error, &viewer(lang, "/x"));
        assert_eq!(page.status, error.status());
        pages.push((format!("problem {}", page.status), page.html));
    }
    pages
}

/// The text of a page without what is foreign or code: tags, `<bdi>`, `<pre>`, `<code>` and what says not to translate it.
fn own_text(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let (tag, after) = after.split_once('>').unwrap();
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        rest = match name.as_str() {
            "bdi" | "pre" => after.split_once(&format!("</{name}>")).unwrap().1,
            _ if tag.contains("translate=\"no\"") && name != "input" => {
                after.split_once(&format!("</{name}>")).unwrap().1
            }
            _ => after,
        };
    }
    text.push_str(rest);
    text
}

/// Names, protocols and currencies, which are the same in every language.
const ALLOWED: [&str; 11] =
    ["Counterfoil", "Stripe", "TWD", "English", "HTTP", "API", "SHA", "JSON", "UTC", "webhook", "xx"];

#[tokio::test]
async fn there_is_no_english_on_a_chinese_page() {
    for (name, html) in every_page(Lang::ZhHant).await {
        assert!(html.contains("<html lang=\"zh-Hant-TW\">"), "{name}");
        let text = own_text(&html);
        for word in text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1) {
            // A title names what the page is about, and a title can't hold markup.
            let in_title = html.split_once("</title>").unwrap().0.contains(word);
            assert!(ALLOWED.contains(&word) || in_title, "{name}: {word:?}");
        }
        for attribute in html.split("aria-label=\"").skip(1).chain(html.split("data-label=\"").skip(1)) {
            let value = attribute.split_once('"').unwrap().0.replace("Asia/Taipei, UTC+8", "");
            let foreign = value.contains("pi_") || value.contains("ID");
            assert!(foreign || !value.chars().any(|c| c.is_ascii_lowercase()), "{name}: {value}");
        }
    }
}

#[tokio::test]
async fn every_page_has_one_heading_landmarks_a_skip_link_and_its_band() {
    for lang in Lang::ALL {
        for (name, html) in every_page(lang).await {
            assert!(html.starts_with("<!DOCTYPE html><html lang="), "{name}");
            for (part, times) in [("<h1", 1), ("<main id=\"main\"", 1), ("<header", 1), ("<footer", 1)] {
                assert_eq!(html.matches(part).count(), times, "{name}: {part}");
            }
            assert!(html.contains("class=\"skip\"") && html.contains("href=\"#main\""), "{name}");
            assert!(html.contains("class=\"band demo\""), "{name}");
            for (index, id) in html.match_indices(" id=\"").map(|(at, _)| &html[at + 5..]).enumerate() {
                let id = id.split_once('"').unwrap().0;
                assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{name}: {index} {id}");
            }
        }
    }
}

/// The content security policy allows neither, and nothing is left for a hydration that never comes.
#[tokio::test]
async fn no_page_holds_script_style_or_marks_of_hydration() {
    for (name, html) in every_page(Lang::En).await {
        for forbidden in [
            "<script",
            " style=",
            "<style",
            " onclick",
            "javascript:",
            "<!--",
            "<!>",
            "<button type=\"button\"",
        ] {
            assert!(!html.contains(forbidden), "{name}: {forbidden}");
        }
        // Styles and icon: with the page itself three requests, of the four that the budget allows.
        assert_eq!(html.matches("/assets/").count(), 2, "{name}");
    }
}

/// M6, C24: whatever comes from outside is text.
#[tokio::test]
async fn everything_hostile_is_inert() {
    let wanted = Wanted { customer: Some(HOSTILE), reason: Some(HOSTILE), ..wanted("9", "<i>\"&'", 500) };
    let lost = Story::recorded("01:00:00", wanted).marked("01:00:01").ended("01:00:11", lost());
    let effect = EffectSeen {
        external_id: format!("re{HOSTILE}"),
        provider_status: HOSTILE.to_owned(),
        currency: HOSTILE.to_owned(),
        marker: None,
        ..lost.effect("", EffectStatus::Live)
    };
    let ours = EffectSeen { external_id: HOSTILE.to_owned(), ..lost.effect("", EffectStatus::Live) };
    let story = lost
        .asked("01:00:12", HOSTILE)
        .see("01:00:26", look_up(at("01:00:26"), Walk::Complete, vec![effect, ours]));
    let mut shelf = Shelf::of(std::slice::from_ref(&story));
    let id = story.operation.id.as_str().to_owned();
    shelf.rows[0].set_aside = Some(HOSTILE.to_owned());
    shelf.next = Some(HOSTILE.to_owned());
    shelf.sheets.get_mut(&id).unwrap().set_aside = Some(HOSTILE.to_owned());
    shelf.sheets.get_mut(&id).unwrap().provider.console_effect = Some("javascript:alert({id})".to_owned());
    let of_order = shelf.orders.get_mut("9").unwrap();
    of_order.lines[0].title = Some(HOSTILE.to_owned());
    of_order.customer = Some(HOSTILE.to_owned());
    let everything: Vec<(&str, &str)> =
        ["view", "state", "kind", "account", "from", "to", "external_id", "lang"]
            .map(|key| (key, HOSTILE))
            .to_vec();
    let hostile_path =
        Viewer { path_and_query: format!("/operations?lang={HOSTILE}&a=b"), ..viewer(Lang::En, "/") };
    let query =
        OperationsQuery::from_pairs(everything.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    let set_aside = DeskError::SetAside { id: OperationId::stored(HOSTILE), why: HOSTILE.to_owned() };
    let pages = [
        operations(&shelf, &hostile_path, &query).await.unwrap(),
        operation(&shelf, &hostile_path, &story.operation.id).await.unwrap(),
        order(&shelf, &hostile_path, "9").await.unwrap(),
        problem(&set_aside.into(), &hostile_path),
    ];
    for Page { html, title, .. } in pages {
        // A field of the form gives back exactly what was typed; what stands in a field stays in it.
        let mut shown = String::new();
        for part in html.split(" value=\"") {
            shown.push_str(if shown.is_empty() { part } else { part.split_once('"').unwrap().1 });
        }
        for forbidden in ["\u{202E}", "\u{200B}"] {
            assert!(!shown.contains(forbidden), "{title}: {forbidden:?} in {shown}");
        }
        for forbidden in ["<svg/", "<script", "<i>", "javascript:"] {
            assert!(!html.contains(forbidden), "{title}: {forbidden:?} in {html}");
        }
        // An attribute is never left: outside of tags no quote opens one, and inside quotes are escaped.
        assert!(!html.contains("\"'>"), "{title}");
        assert!(html.contains("&lt;svg/onload=alert(1)&gt;"), "{title}");
    }
}

#[tokio::test]
async fn a_list_row_says_state_reason_amount_and_links_to_its_pages() {
    let html = list(Lang::En, &shelf(), &[("view", "all")]).await;
    let row = html.split("<tr role=\"row\">").find(|row| row.contains("refund-1043-li_2")).unwrap();
    assert!(row.contains("href=\"#g-unknown\"") && row.contains("</svg>unknown</span>"), "{row}");
    assert!(row.contains("<th scope=\"row\" role=\"rowheader\" data-label=\"Operation\">"), "{row}");
    assert!(row.contains("<a href=\"/operations/refund-1043-li_2\">"), "{row}");
    assert!(row.contains("<a href=\"/orders/1043\">"), "{row}");
    assert!(row.contains("<span class=\"money\">380.00 TWD</span>"), "{row}");
    assert!(row.contains("not found; too early to count"), "{row}");
    assert!(
        row.contains("<time datetime=\"2026-11-30T02:03:36Z\">10:03:36</time><small>3 min ago</small>"),
        "{row}"
    );
    assert!(
        html.contains("<caption>") && html.contains("<th scope=\"col\" role=\"columnheader\">State</th>")
    );
}

#[tokio::test]
async fn views_and_filters_live_in_the_url_and_the_next_page_keeps_them() {
    let html = list(Lang::En, &shelf(), &[("view", "all"), ("state", "unknown"), ("order", "1043")]).await;
    assert!(html.contains("href=\"/operations?view=escalated&amp;state=unknown&amp;order=1043\""));
    assert!(html.contains("<option value=\"unknown\" selected>"), "the choice is kept");
    assert!(html.contains("name=\"order\" value=\"1043\""));
    assert!(html.contains(
        "rel=\"next\" href=\"/operations?view=all&amp;state=unknown&amp;order=1043&amp;cursor=b2ZmLTUw\""
    ));
    assert!(html.contains("aria-current=\"page\""));
    let chinese =
        Viewer { path_and_query: "/operations?lang=zh-Hant".to_owned(), ..viewer(Lang::ZhHant, "/") };
    let html = operations(&shelf(), &chinese, &OperationsQuery::default()).await.unwrap().html;
    assert!(html.contains("<a href=\"/operations/refund-1043-li_2?lang=zh-Hant\">"));
    assert!(html.contains("<input type=\"hidden\" name=\"lang\" value=\"zh-Hant\">"));
}

#[tokio::test]
async fn an_empty_list_says_which_empty_it_is() {
    let none = Shelf::of(&[]);
    assert!(list(Lang::En, &none, &[]).await.contains("Nothing yet."));
    let mut some = shelf();
    some.next = Some("c".to_owned());
    let nowhere = ("order", "nowhere");
    assert!(list(Lang::En, &some, &[nowhere]).await.contains("Nothing matches these filters."));
    let searched = list(Lang::En, &some, &[nowhere, ("from", "2026-11-01"), ("to", "2026-11-30")]).await;
    assert!(searched.contains("Only what was recorded from <bdi translate=\"no\">2026-11-01</bdi> to"));
    assert!(list(Lang::En, &some, &[nowhere, ("cursor", "c")]).await.contains("There are no more rows here"));
}

#[tokio::test]
async fn what_could_not_be_loaded_says_so_and_shows_nothing_of_the_store() {
    let mut broken = shelf();
    broken.broken = true;
    let error = operations(&broken, &viewer(Lang::En, "/"), &OperationsQuery::default()).await.unwrap_err();
    let page = problem(&error, &viewer(Lang::En, "/"));
    assert_eq!(page.status, 500);
    assert!(page.html.contains("no outcome follows from this page") && !page.html.contains("secret"));
    let bad = OperationsQuery { cursor: Some("forged".to_owned()), ..OperationsQuery::default() };
    let error = operations(&shelf(), &viewer(Lang::En, "/"), &bad).await.unwrap_err();
    assert_eq!(error.status(), 400);
    let missing = OperationId::stored("refund-0-x");
    let error = operation(&shelf(), &viewer(Lang::En, "/"), &missing).await.unwrap_err();
    assert_eq!(error.status(), 404);
    assert_eq!(order(&shelf(), &viewer(Lang::En, "/"), "01043").await.unwrap_err().status(), 404);
}

#[tokio::test]
async fn an_operations_page_shows_everything_in_the_order_of_the_design() {
    let html = sheet(Lang::En, &shelf(), "refund-1043-li_2").await;
    let mut last = 0;
    for part in [
        "<h1>",
        "Refund of <span class=\"money\">380.00 TWD</span> for order",
        "<dt>Known</dt>",
        "<dt>Not known</dt>",
        "<dt>Next, by itself</dt>",
        "<dt>You</dt>",
        "<dt>Not allowed</dt>",
        "<h2>Facts</h2>",
        "<h2>Identifiers</h2>",
        "<h2>Timeline</h2>",
        "<h2>Sends</h2>",
        "<h2>Evidence</h2>",
        "<h2>Refunds on this payment</h2>",
        "<h2>Proof</h2>",
        "counterfoil verify --order 1043",
    ] {
        let found = html.find(part).unwrap_or_else(|| panic!("{part} is missing"));
        assert!(found > last, "{part} stands too early");
        last = found;
    }
    assert!(html.contains("https://dashboard.stripe.com/payments/pi_1043"));
    assert!(html.contains("rel=\"noopener noreferrer\""));
    assert!(html.contains("demo.refund-1043-li_2"), "the marker");
    assert!(html.contains("the tool call failed, trying once more"));
    assert!(!html.contains("<form"), "it is read-only");
}

#[tokio::test]
async fn an_orders_sums_are_those_of_its_operations_and_open_to_them() {
    let shelf = shelf();
    let sheet = &shelf.orders["4410"];
    let totals = totals_of(sheet, sheet.currency);
    // 980.00 sent and lost, and 980.00 that somebody refunded by hand.
    assert_eq!(sum_minor(&totals.unknown), 98_000);
    assert_eq!(sum_minor(&totals.refunded), 98_000);
    assert_eq!(totals.worst_case_minor(), 196_000);
    assert_eq!(totals.left_minor(sheet.captured_minor), 0);
    let html = order(&shelf, &viewer(Lang::En, "/"), "4410").await.unwrap().html;
    assert!(html.contains("more than was paid, by <span class=\"money\">380.00 TWD</span>"));
    assert!(html.contains("class=\"sum worst over\""));
    assert!(html.contains("re_hand"));
    let html = order(&shelf, &viewer(Lang::En, "/"), "1043").await.unwrap().html;
    assert!(!html.contains("more than was paid"));
    assert!(html.contains("<span class=\"money\">1200.00 TWD</span>"), "left: 1,580.00 less 380.00");
}

fn gzipped(text: &str) -> usize {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap().len()
}

/// `desk.md`, Budget.
#[tokio::test]
#[allow(clippy::print_stdout, reason = "the measure is what one wants to read")]
async fn fifty_rows_and_the_styles_stay_within_their_budget() {
    const LIMIT_BYTES: usize = 12_000;
    let mut shelf = shelf();
    let pool = shelf.rows.clone();
    // No two rows alike: ids, orders, amounts and times all differ, as they do in life.
    shelf.rows = (0..50_u32)
        .map(|n| {
            let mut row = pool[usize::try_from(n).unwrap() % pool.len()].clone();
            let seed = n.wrapping_mul(2_654_435_761);
            row.order = format!("{}", 10_000 + seed % 89_999);
            row.id = OperationId::stored(format!("refund-{}-li_{}", row.order, seed % 7));
            row.external_id = row.external_id.map(|_| format!("re_3P{seed:08x}{:08x}", seed.rotate_left(13)));
            row.updated_at -= jiff::SignedDuration::from_secs((seed % 80_000).into());
            row
        })
        .collect();
    for lang in Lang::ALL {
        let html = list(lang, &shelf, &[("view", "all")]).await;
        assert_eq!(html.matches("rowheader").count(), 50);
        let bytes = gzipped(&html);
        println!("50 rows in {}: {} bytes, {bytes} gzipped", lang.tag(), html.len());
        assert!(bytes <= LIMIT_BYTES, "{bytes}");
    }
    let css = gzipped(CSS);
    println!("desk.css: {} bytes, {css} gzipped", CSS.len());
    assert!(css <= LIMIT_BYTES, "{css}");
}

const CSS: &str = include_str!("../../../../style/desk.css");

/// Relative luminance of `#rrggbb`, as WCAG 2.2 defines it.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[test]
fn words_reach_a_contrast_of_seven_to_one_in_light_and_dark() {
    let (light, dark) = CSS.split_once("@media (prefers-color-scheme: dark)").unwrap();
    for (scheme, rules) in [("light", light), ("dark", dark)] {
        let colour = |name: &str| {
            let (_, after) = rules.split_once(&format!("--{name}: ")).unwrap_or_else(|| panic!("{name}"));
            after.split_once(';').unwrap().0
        };
        let states = counterfoil_ledger::state::State::ALL.map(counterfoil_ledger::state::State::label);
        for word in states.into_iter().chain(["ink", "muted", "link", "alarm"]) {
            for ground in ["paper", "surface", "sunken", "alarm-paper", "you-paper"] {
                let (a, b) = (luminance(colour(word)), luminance(colour(ground)));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 7.0, "{scheme}: {word} on {ground}: {contrast:.2}");
            }
        }
    }
}
