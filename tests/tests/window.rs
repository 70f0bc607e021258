//! How long a key protects, on a clock that the tests move.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, Proxy, REFUND, Setup, Shop, stories, until};

stories!(
    one_minute_before_the_windows_end_less_its_margin_a_resend_goes,
    one_minute_after_the_windows_end_less_its_margin_no_resend_goes,
    when_the_provider_may_have_forgotten_the_key_nothing_is_sent,
    a_resend_does_not_move_the_window,
    the_window_starts_at_the_first_attempt_that_may_have_arrived,
    a_daemon_that_was_down_over_a_short_window_does_not_send_its_backlog,
    a_clock_set_back_holds_resends_and_raises_an_alarm,
);

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

/// A ledger whose own look-ups are an hour away: the test's clock brings them.
fn setup(engine: Engine) -> Setup {
    Setup::new(engine).with_test_clock().look_up_after("1h").daemon("escalate_after", "48h")
}

/// One send that did nothing, and whose answer is lost.
async fn lost(shop: &Shop) {
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
}

/// Moves the ledger's clock and the provider's.
async fn later(shop: &Shop, from: i64, to: i64) {
    shop.provider.advance(to - from).await;
    shop.ledger.set_clock(to);
}

/// B11.
async fn one_minute_before_the_windows_end_less_its_margin_a_resend_goes(engine: Engine) {
    let shop = Shop::open(&setup(engine)).await;
    lost(&shop).await;
    later(&shop, 0, 23 * HOUR + 44 * MINUTE).await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(2, 1).await;
    shop.ledger.rests().await;
}

/// B11.
async fn one_minute_after_the_windows_end_less_its_margin_no_resend_goes(engine: Engine) {
    let shop = Shop::open(&setup(engine)).await;
    lost(&shop).await;
    later(&shop, 0, 23 * HOUR + 46 * MINUTE).await;
    shop.ledger.wait_for_state(REFUND, "escalated").await;
    shop.sent_and_done(1, 0).await;
    shop.ledger.rests().await;
}

/// B11: a minute after the provider may prune, and it has.
async fn when_the_provider_may_have_forgotten_the_key_nothing_is_sent(engine: Engine) {
    let shop = Shop::open(&setup(engine)).await;
    lost(&shop).await;
    later(&shop, 0, 24 * HOUR + MINUTE).await;
    shop.ledger.wait_for_state(REFUND, "escalated").await;
    shop.sent_and_done(1, 0).await;
    shop.ledger.rests().await;
}

/// B11: measured from the first send, whatever was sent since.
async fn a_resend_does_not_move_the_window(engine: Engine) {
    let shop = Shop::open(&setup(engine)).await;
    lost(&shop).await;
    shop.provider.next_send("none", "drop").await;
    later(&shop, 0, 12 * HOUR).await;
    // Its end, not only its arrival: look-ups are counted from there, and the clock moves next.
    until("the resend's end", async || {
        let ends = shop.ledger.classes(REFUND).await.len();
        if ends == 2 { Ok(()) } else { Err(format!("{ends} ends")) }
    })
    .await;
    later(&shop, 12 * HOUR, 23 * HOUR + 46 * MINUTE).await;
    shop.ledger.wait_for_state(REFUND, "escalated").await;
    shop.sent_and_done(2, 0).await;
    shop.ledger.rests().await;
}

/// An attempt that provably didn't leave opens no window: two hours of refused connections cost nothing.
async fn the_window_starts_at_the_first_attempt_that_may_have_arrived(engine: Engine) {
    let mut shop = Shop::open(&setup(engine)).await;
    let proxy = Proxy::start(shop.provider.url()).await;
    shop.ledger.send_to(&proxy.url()).await;
    proxy.shut().await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    until("an attempt that wasn't sent", async || {
        let classes = shop.ledger.classes(REFUND).await;
        if classes.contains(&"not_sent".to_owned()) { Ok(()) } else { Err(format!("{classes:?}")) }
    })
    .await;
    shop.provider.next_send("none", "drop").await;
    later(&shop, 0, 2 * HOUR).await;
    proxy.open().await;
    let unknown = shop.ledger.wait_for_state(REFUND, "unknown").await;
    let attempts = shop.ledger.attempts(REFUND).await;
    let arrived = attempts.iter().find(|attempt| attempt["end"]["class"] == "indeterminate").unwrap();
    assert_eq!(unknown["first_sent_at"], arrived["marked_at"], "{attempts:#?}");
    // 23 h 44 min after it: more than 25 h after the first attempt.
    later(&shop, 2 * HOUR, 25 * HOUR + 44 * MINUTE).await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(2, 1).await;
    shop.ledger.rests().await;
}

/// A15: 15 minutes of window, 20 minutes of darkness.
async fn a_daemon_that_was_down_over_a_short_window_does_not_send_its_backlog(engine: Engine) {
    let setup = Setup::new(engine).with_test_clock().look_up_after("1m");
    let setup = setup.account("key_window", "15m").account("window_margin", "1m");
    let mut shop = Shop::open(&setup).await;
    lost(&shop).await;
    shop.ledger.kill_9();
    later(&shop, 0, 20 * MINUTE).await;
    shop.ledger.serve().await;
    shop.ledger.wait_for_state(REFUND, "escalated").await;
    shop.sent_and_done(1, 0).await;
    shop.ledger.rests().await;
}

/// A clock that stands an hour behind the ledger's newest entry would hold a closed window open.
async fn a_clock_set_back_holds_resends_and_raises_an_alarm(engine: Engine) {
    let shop = Shop::open(&setup(engine)).await;
    lost(&shop).await;
    shop.ledger.set_clock(-HOUR);
    let mut database = shop.ledger.database().await;
    until("two look-ups", async || {
        shop.ledger.look_up(REFUND).await;
        let looked_up = database.facts(REFUND, "looked_up").await;
        if looked_up >= 2 { Ok(()) } else { Err(format!("{looked_up} look-ups")) }
    })
    .await;
    assert_eq!(shop.ledger.operation(REFUND).await["state"], "unknown", "it escalates nobody");
    until("the alarm", async || {
        let alarms = database.number("SELECT count(*) FROM alarms WHERE kind = 'clock_behind'").await;
        if alarms == 1 { Ok(()) } else { Err(format!("{alarms} alarms")) }
    })
    .await;
    shop.sent_and_done(1, 0).await;
    shop.ledger.set_clock(2 * MINUTE);
    until("the resend", async || {
        shop.ledger.look_up(REFUND).await;
        let state = shop.ledger.operation(REFUND).await["state"].clone();
        if state == "confirmed" { Ok(()) } else { Err(state.to_string()) }
    })
    .await;
    shop.sent_and_done(2, 1).await;
    shop.ledger.rests().await;
}
