//! The storm: many callers, servers that die, a provider and a network where everything goes wrong; then quiet; then every operation stands
//! where its effects prove, each of them done once at most.
//!
//! Bounded and seeded. What is ordered is replayed by the seed; how processes interleave isn't. By environment:
//! `COUNTERFOIL_STORM_SEED`, `COUNTERFOIL_STORM_OPERATIONS` (default 2000 per database).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the parts of a test program are modules of each other")]

mod callers;
mod proof;
mod weather;

use std::time::{Duration, Instant};

use counterfoil_tests::{Engine, Setup, Shop, stories_on};
use fastrand::Rng;

use callers::Callers;
use proof::Proof;

stories_on!(sqlite Sqlite (everything_goes_wrong_and_every_refund_happens_once_at_most));
stories_on!(two_servers TwoServers (everything_goes_wrong_and_every_refund_happens_once_at_most));

/// How long the weather is bad.
const STORM: Duration = Duration::from_secs(40);
/// How long it may take from the last fault until everything rests.
const SETTLES_WITHIN: Duration = Duration::from_secs(120);
pub const MAX_RESENDS: u64 = 5;
pub const ESCALATE_AFTER_S: u64 = 25;

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Times a test can wait for. The provider's list lags by less than `absence_lag`, and a late effect comes before it is over.
fn setup(engine: Engine) -> Setup {
    Setup::new(engine)
        .account("connect_timeout", "500ms")
        .account("send_timeout", "1s")
        .account("absence_lag", "2s")
        .account("absence_gap", "500ms")
        .account("max_resends", i64::try_from(MAX_RESENDS).unwrap())
        .account("rate_limit_per_s", 1000)
        .look_up_after("1s")
        .daemon("lease", "3s")
        .daemon("escalate_after", format!("{ESCALATE_AFTER_S}s"))
}

#[allow(clippy::print_stderr, reason = "a storm says how it can be made again")]
async fn everything_goes_wrong_and_every_refund_happens_once_at_most(engine: Engine) {
    let seed = from_environment("COUNTERFOIL_STORM_SEED").unwrap_or_else(|| Rng::new().u64(..));
    let count = usize::try_from(from_environment("COUNTERFOIL_STORM_OPERATIONS").unwrap_or(2000)).unwrap();
    eprintln!("storm on {engine:?}: COUNTERFOIL_STORM_SEED={seed} COUNTERFOIL_STORM_OPERATIONS={count}");
    let mut rng = Rng::with_seed(seed);
    let mut shop = Shop::open(&setup(engine)).await;

    let begun = Instant::now();
    let callers = Callers::start(&shop, count, &mut rng).await;
    let weather = weather::storm(shop.provider.clone(), rng.fork());
    let mut deaths = 0;
    while begun.elapsed() < STORM && !callers.are_done() {
        tokio::time::sleep(Duration::from_millis(rng.u64(1500..4000))).await;
        let number = rng.usize(0..engine.servers());
        if rng.u8(0..4) == 0 {
            let ended = shop.ledger.terminate_one(number).await;
            assert!(ended.success(), "a server that is told to stop ends in order: {ended}");
        } else {
            shop.ledger.kill_one(number);
        }
        deaths += 1;
        shop.ledger.serve_one(number).await;
        callers.are_told_of(&shop.ledger);
    }
    weather.abort();
    shop.provider.clear_faults().await;
    shop.provider.look_up_mode("complete").await;
    let asked = callers.finish().await;
    let quiet = Instant::now();
    eprintln!("quiet after {:?}: {deaths} deaths, {}", begun.elapsed(), asked.summary());

    asked.ask_what_is_open_again(&shop).await;
    let proof = Proof::settle(&shop, quiet + SETTLES_WITHIN).await;
    eprintln!("settled after {:?}: {}", quiet.elapsed(), proof.summary());
    asked.none_is_lost(&proof);
    proof.no_effect_is_doubled_and_every_state_is_true();
    proof.no_payment_gives_more_than_it_took(&shop).await;
    proof.no_row_is_stuck(&shop).await;
    shop.ledger.rests().await;
    assert!(shop.ledger.terminate().await.success(), "SIGTERM is an orderly end");
    shop.ledger.verifies().await;
}
