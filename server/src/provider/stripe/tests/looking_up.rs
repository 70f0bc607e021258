use counterfoil_ledger::evidence::{Doubt, EffectStatus, Unavailable, Walk};
use serde_json::{Value, json};

use super::fake::{Fake, ok, page, refund, serving, status};
use super::look_up::{PAGES_MAX, READ_AGAIN_MAX};
use super::*;

async fn look_up(fake: &Fake, known: &[&str]) -> LookUpReport {
    let known: Vec<String> = known.iter().map(|id| (*id).to_owned()).collect();
    stripe(&fake.base_url).look_up(&intent(), &known, Timestamp::UNIX_EPOCH).await
}

fn ids(report: &LookUpReport) -> Vec<&str> {
    report.look_up.effects.iter().map(|effect| effect.external_id.as_str()).collect()
}

/// So many refunds of other operations.
fn others(count: usize) -> Vec<Value> {
    let marker = |n| format!("shop.refund-1043-li_other{n}");
    (0..count).map(|n| refund(&format!("re_other{n}"), Some(&marker(n)), 100, "succeeded")).collect()
}

#[tokio::test]
async fn an_empty_list_is_a_complete_walk_without_effects() {
    let fake = serving(vec![]).await;
    let report = look_up(&fake, &[]).await;
    assert_eq!(report.look_up.walk, Walk::Complete);
    assert_eq!((report.look_up.pages, report.look_up.retries, report.look_up.others), (1, 0, 0));
    assert_eq!(report.look_up.http_status, Some(200));
    assert_eq!(report.look_up.provider_request_id.as_deref(), Some("req_42"));
    assert!(report.look_up.effects.is_empty() && report.all.is_empty());
    let [request] = fake.seen().try_into().unwrap();
    assert_eq!(request.query, "payment_intent=pi_1043&limit=100");
    assert_eq!(request.headers["authorization"], "Bearer sk_test_SECRETKEY");
    assert!(!request.headers.contains_key("idempotency-key"));
}

/// I1 I2: ours is on the second page, and is read by its own id.
#[tokio::test]
async fn a_refund_on_the_second_page_is_found() {
    let mut refunds = others(150);
    refunds[119] = refund("re_ours", Some(MARKER), 38_000, "succeeded");
    let fake = serving(refunds).await;
    let report = look_up(&fake, &[]).await;
    assert_eq!((report.look_up.walk, report.look_up.pages), (Walk::Complete, 2));
    assert_eq!(ids(&report), ["re_ours"]);
    assert_eq!((report.look_up.others, report.all.len()), (149, 150));
    let asked: Vec<String> =
        fake.seen().iter().map(|request| format!("{}?{}", request.path, request.query)).collect();
    assert_eq!(asked[1], "/v1/refunds?payment_intent=pi_1043&limit=100&starting_after=re_other99");
    assert_eq!(asked[2], "/v1/refunds/re_ours?");
}

/// I9: the list says pending, the refund itself says failed.
#[tokio::test]
async fn a_status_counts_only_as_read_by_id() {
    let listed = refund("re_ours", Some(MARKER), 38_000, "pending");
    let mut direct = refund("re_ours", Some(MARKER), 38_000, "failed");
    direct["failure_reason"] = json!("declined");
    let fake = Fake::answering(move |request| match request.id() {
        Some(_) => ok(&direct),
        None => ok(&page(std::slice::from_ref(&listed), request)),
    })
    .await;
    let report = look_up(&fake, &[]).await;
    let [effect] = report.look_up.effects.try_into().unwrap();
    assert_eq!((effect.status, effect.failure_reason.as_deref()), (EffectStatus::Failed, Some("declined")));
    assert_eq!(report.all, [effect]);
}

/// I9, rules 6 and 9: found in the list and not read by its id, it settles nothing, and the walk is no proof of absence either.
#[tokio::test]
async fn a_hit_that_cannot_be_read_by_id_makes_the_look_up_unavailable() {
    for (code, body, why) in [
        (500, "not_found", Unavailable::ServerError),
        (404, "", Unavailable::NotFound),
        (200, "{}", Unavailable::NotWellFormed),
        (
            200,
            r#"{"id":"re_ours","object":"refund","amount":38000,"currency":"twd","status":"new_word"}"#,
            Unavailable::NotWellFormed,
        ),
    ] {
        let listed = refund("re_ours", Some(MARKER), 38_000, "succeeded");
        let fake = Fake::answering(move |request| match request.id() {
            Some(_) => status(code, body),
            None => ok(&page(std::slice::from_ref(&listed), request)),
        })
        .await;
        let report = look_up(&fake, &[]).await;
        assert_eq!(report.look_up.walk, Walk::Unavailable(why));
        assert!(report.look_up.effects.is_empty());
    }
}

/// C13: the marker is compared byte for byte.
#[tokio::test]
async fn a_marker_that_only_looks_like_ours_is_somebody_elses() {
    let fake = serving(vec![
        refund("re_1", Some("shop.refund-1043-LI_2"), 38_000, "succeeded"),
        refund("re_2", Some("shop.refund-1043-li_2-r2"), 38_000, "succeeded"),
        refund("re_3", Some("shop2.refund-1043-li_2"), 38_000, "succeeded"),
    ])
    .await;
    let report = look_up(&fake, &[]).await;
    assert_eq!((report.look_up.walk, report.look_up.others), (Walk::Complete, 3));
    assert!(report.look_up.effects.is_empty());
}

/// E14: nobody's refund of our amount is read and reported; nobody's of another amount is only counted.
#[tokio::test]
async fn an_unclaimed_refund_of_equal_amount_is_reported() {
    let fake = serving(vec![
        refund("re_equal", None, 38_000, "succeeded"),
        refund("re_less", None, 500, "succeeded"),
    ])
    .await;
    let report = look_up(&fake, &[]).await;
    assert_eq!((ids(&report), report.look_up.others), (vec!["re_equal"], 1));
    assert_eq!(report.look_up.effects[0].marker, None);
}

/// Rule 10: a mismatch is reported with what it is, and a second effect with the first.
#[tokio::test]
async fn every_refund_with_our_marker_is_reported() {
    let mut elsewhere = refund("re_elsewhere", Some(MARKER), 38_000, "succeeded");
    elsewhere["payment_intent"] = json!("pi_other");
    let fake = serving(vec![
        refund("re_1", Some(MARKER), 38_000, "succeeded"),
        refund("re_2", Some(MARKER), 99, "succeeded"),
        elsewhere,
    ])
    .await;
    assert_eq!(ids(&look_up(&fake, &[]).await), ["re_1", "re_2", "re_elsewhere"]);
}

/// A provider that ignores the filter: what is on other payments is no business of this operation.
#[tokio::test]
async fn refunds_of_other_payments_are_not_counted() {
    let mut foreign = refund("re_1", None, 38_000, "succeeded");
    foreign["payment_intent"] = json!("pi_other");
    let report = look_up(&serving(vec![foreign]).await, &[]).await;
    assert_eq!((report.look_up.walk, report.look_up.others, report.all.len()), (Walk::Complete, 0, 0));
}

#[tokio::test]
async fn what_was_known_is_read_again_even_if_the_list_lacks_it() {
    let known = refund("re_known", Some(MARKER), 38_000, "failed");
    let fake = Fake::answering(move |request| match request.id() {
        Some(_) => ok(&known),
        None => ok(&page(&[], request)),
    })
    .await;
    let report = look_up(&fake, &["re_known"]).await;
    assert_eq!((ids(&report), report.look_up.walk), (vec!["re_known"], Walk::Complete));
    assert_eq!(report.look_up.effects[0].status, EffectStatus::Failed);
}

/// I3: a cap that was reached without a hit is a doubt, never absence.
#[tokio::test]
async fn a_page_cap_is_inconclusive() {
    let count = usize::try_from(PAGES_MAX).unwrap() * 100;
    let fake = serving(others(count + 1)).await;
    let report = look_up(&fake, &[]).await;
    assert_eq!(report.look_up.walk, Walk::Inconclusive(Doubt::PageCap));
    assert_eq!((report.look_up.pages, fake.seen().len()), (100, 100));
    let report = look_up(&serving(others(count)).await, &[]).await;
    assert_eq!((report.look_up.walk, report.look_up.pages), (Walk::Complete, 100));
}

#[tokio::test]
async fn a_cursor_that_leads_back_is_inconclusive() {
    let same = json!({"object": "list", "data": others(2), "has_more": true});
    let report = look_up(&Fake::answering(move |_| ok(&same)).await, &[]).await;
    assert_eq!((report.look_up.walk, report.look_up.pages), (Walk::Inconclusive(Doubt::CursorLoop), 2));
}

/// The provider's own cap: it says that there is more, and doesn't show it.
#[tokio::test]
async fn an_empty_page_that_promises_more_is_inconclusive() {
    let empty = json!({"object": "list", "data": [], "has_more": true});
    let report = look_up(&Fake::answering(move |_| ok(&empty)).await, &[]).await;
    assert_eq!((report.look_up.walk, report.look_up.pages), (Walk::Inconclusive(Doubt::PageCap), 1));
}

/// A hit stands, however far the walk came.
#[tokio::test]
async fn a_hit_on_a_walk_that_broke_off_is_still_read_and_reported() {
    let first = json!({"object": "list", "data": [refund("re_ours", Some(MARKER), 38_000, "succeeded")], "has_more": true});
    let fake = Fake::answering(move |request| match (request.id(), request.parameter("starting_after")) {
        (Some(_), _) => ok(&refund("re_ours", Some(MARKER), 38_000, "succeeded")),
        (None, None) => ok(&first),
        (None, Some(_)) => status(503, ""),
    })
    .await;
    let report = look_up(&fake, &[]).await;
    assert_eq!(report.look_up.walk, Walk::Unavailable(Unavailable::ServerError));
    assert_eq!((ids(&report), report.look_up.pages), (vec!["re_ours"], 1));
}

/// I15: of all answers only the well-formed 200 can mean absent.
#[tokio::test]
async fn a_list_that_cannot_be_read_says_how_and_proves_nothing() {
    use Unavailable as U;
    let cut = r#"{"object":"list","data":[],"has_mo"#;
    let rows = [
        (401, "{}", U::Unauthorized, 1),
        (403, "{}", U::Forbidden, 1),
        (404, r#"{"error":{"type":"invalid_request_error","code":"resource_missing"}}"#, U::NotFound, 1),
        (410, "", U::UnexpectedStatus, 1),
        (429, "", U::RateLimited, 3),
        (500, "not_found", U::ServerError, 3),
        (200, "<html>log in</html>", U::NotWellFormed, 3),
        (200, cut, U::NotWellFormed, 3),
        (200, r#"{"object":"list","data":[]}"#, U::NotWellFormed, 3),
        (200, r#"{"data":[],"has_more":false}"#, U::NotWellFormed, 3),
        (200, r#"{"object":"list","data":[{"id":"re_1"}],"has_more":false}"#, U::NotWellFormed, 3),
    ];
    for (code, body, why, asked) in rows {
        let fake = Fake::answering(move |_| status(code, body)).await;
        let report = look_up(&fake, &["re_known"]).await;
        assert_eq!(report.look_up.walk, Walk::Unavailable(why), "{code} {body}");
        assert_eq!(
            (fake.seen().len(), report.look_up.pages),
            (asked, 0),
            "{code} {body}: nothing else is asked"
        );
        assert_eq!(report.look_up.http_status, Some(code));
        assert_eq!(usize::try_from(report.look_up.retries).unwrap(), asked - 1);
    }
    let report = stripe("http://127.0.0.1:9").look_up(&intent(), &[], Timestamp::UNIX_EPOCH).await;
    assert_eq!(report.look_up.walk, Walk::Unavailable(U::NotConnected));
}

/// H20: somebody else's new word doesn't hide ours.
#[tokio::test]
async fn a_row_with_a_new_status_does_not_stop_the_walk() {
    let fake = serving(vec![
        refund("re_new", Some("shop.refund-1-1"), 1, "brand_new"),
        refund("re_ours", Some(MARKER), 38_000, "succeeded"),
    ])
    .await;
    let report = look_up(&fake, &[]).await;
    assert_eq!((ids(&report), report.look_up.walk), (vec!["re_ours"], Walk::Complete));
    assert_eq!(report.all[0].status, EffectStatus::Pending, "it counts as standing");
}

#[tokio::test]
async fn more_hits_than_can_be_read_again_are_inconclusive() {
    let many = (0..=READ_AGAIN_MAX).map(|n| refund(&format!("re_{n}"), None, 38_000, "succeeded")).collect();
    let report = look_up(&serving(many).await, &[]).await;
    assert_eq!(report.look_up.walk, Walk::Inconclusive(Doubt::PageCap));
    assert_eq!(report.look_up.effects.len(), READ_AGAIN_MAX);
}

#[tokio::test]
async fn a_payment_that_is_a_charge_is_listed_by_charge() {
    let fake = serving(vec![]).await;
    let mut intent = intent();
    intent.target = "ch_1043".to_owned();
    stripe(&fake.base_url).look_up(&intent, &[], Timestamp::UNIX_EPOCH).await;
    assert_eq!(fake.seen()[0].query, "charge=ch_1043&limit=100");
}

#[tokio::test]
async fn a_look_up_ends_within_its_time() {
    let slow = Fake::answering(|_| ok(&json!({}))).await;
    let mut stripe = stripe(&slow.base_url);
    stripe.look_up_timeout = Duration::ZERO;
    let report = stripe.look_up(&intent(), &[], Timestamp::UNIX_EPOCH).await;
    assert_eq!(report.look_up.walk, Walk::Unavailable(Unavailable::NoAnswer));
    assert_eq!(report.look_up.retries, 0);
}
