#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod fake;
mod looking_up;
mod sending;
mod simulated;

use counterfoil_ledger::identity::{Key, Marker};
use counterfoil_ledger::intent::{EffectKind, Intent};
use counterfoil_ledger::money::Money;

use super::*;

const MARKER: &str = "shop.refund-1043-li_2";
const SECRET: &str = "sk_test_SECRETKEY";

/// The account at this address, with reads that hardly rest between tries.
fn stripe(base_url: &str) -> Stripe {
    rustls::crypto::ring::default_provider().install_default().ok();
    let text = format!(
        "namespace = \"shop\"\n[accounts.stripe-main]\nprovider = \"stripe\"\nbase_url = \"{base_url}\"\n\
         secret_key = \"{SECRET}\"\nkey_window = \"24h\"\nrate_limit_per_s = 10000\n"
    );
    let config = crate::config::parse("test", &text, &|_| None).unwrap();
    let account = &config.accounts[&"stripe-main".parse().unwrap()];
    let budget = ReadBudget { first_wait: Duration::from_millis(1), ..ReadBudget::default() };
    Stripe::reached(account, Duration::from_secs(20), budget).unwrap()
}

fn prepared(target: &str, minor: i64, currency: &str) -> ProviderRequest {
    let (marker, key) = (Marker::stored(MARKER), Key::stored(MARKER));
    let money = Money::new(minor, currency.parse().unwrap()).unwrap();
    request::prepare(&Terms { effect: EffectKind::Refund, target, money, marker: &marker, key: &key })
}

/// The refund of line `li_2` of order 1043: 380.00 TWD on `pi_1043`.
fn intent() -> Intent {
    Intent {
        account: "stripe-main".parse().unwrap(),
        effect: EffectKind::Refund,
        target: "pi_1043".to_owned(),
        money: Money::new(38_000, "TWD".parse().unwrap()).unwrap(),
        marker: Marker::stored(MARKER),
        key: Key::stored(MARKER),
        request: prepared("pi_1043", 38_000, "TWD"),
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}
