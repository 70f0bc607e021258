//! The command line: what a wrong configuration is told, and the same facts in a terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Engine, Ledger, REFUND, Setup, Shop, stories};
use serde_json::Value;

stories!(
    a_good_configuration_passes,
    a_wrong_configuration_is_refused_and_says_where,
    a_namespace_or_an_identity_other_than_the_stored_one_is_refused,
    an_operation_is_shown_in_a_terminal_too,
    verify_of_nothing_and_of_a_missing_file_say_which,
);

async fn a_good_configuration_passes(engine: Engine) {
    let ledger = Ledger::prepare(&Setup::new(engine), "http://127.0.0.1:9").await;
    let run = ledger.run(&["config", "check"]).await;
    assert_eq!(run.code, Some(0), "{}", run.output());
    // A provider without keys needs no window: nothing is ever sent twice there.
    let keyless = Setup::new(engine).account("key_protects", "none");
    let keyless =
        keyless.without("accounts.stripe-main.key_window").without("accounts.stripe-main.window_margin");
    let ledger = Ledger::prepare(&keyless, "http://127.0.0.1:9").await;
    let run = ledger.run(&["config", "check"]).await;
    assert_eq!(run.code, Some(0), "{}", run.output());
}

/// A15 B24: whatever would let the ledger lie or send outside its window is found before it starts.
async fn a_wrong_configuration_is_refused_and_says_where(engine: Engine) {
    let setup = || Setup::new(engine);
    let mut ledger = Ledger::prepare(&setup(), "http://127.0.0.1:9").await;
    let cases = [
        (setup().account("colour", "red"), "colour"),
        (setup().with("colour", "red"), "colour"),
        (setup().without("namespace"), "namespace"),
        (setup().with("namespace", "Shop"), "namespace"),
        (setup().with("namespace", "shop-staging"), "namespace"),
        (setup().without("accounts.stripe-main.key_window"), "key_window"),
        (setup().account("window_margin", "25h"), "window_margin"),
        (setup().account("key_protects", "sometimes"), "key_protects"),
        (setup().account("send_timeout", "5s").look_up_after("10s"), "send_timeout"),
        (setup().account("send_timeout", "3s").look_up_after("2s"), "send_timeout"),
        (setup().account("send_timeout", "two seconds"), "send_timeout"),
        (setup().account("absence_count", 0), "absence_count"),
        (setup().daemon("reconcile", "0 0 0 30 2 *"), "reconcile"),
        (setup().daemon("reconcile", "every minute"), "reconcile"),
        (setup().daemon("look_up_after", Vec::<String>::new()), "look_up_after"),
        (setup().with("kinds.refund.account", "stripe-other"), "account"),
        (setup().with("kinds.refund.effect", "payout"), "effect"),
        (setup().with("kinds.refund.identity", Vec::<String>::new()), "identity"),
        (setup().with("server.time_zone", "Asia/Atlantis"), "time_zone"),
        (setup().account("secret_key_file", "/nonexistent/stripe.key"), "secret_key_file"),
    ];
    for (wrong, key) in cases {
        ledger.reconfigure(|_| wrong.clone());
        let run = ledger.run(&["config", "check"]).await;
        assert!(matches!(run.code, Some(1 | 2)), "{key}: exit {:?}: {}", run.code, run.output());
        assert!(run.output().contains(key), "{key:?} isn't named: {}", run.output());
        assert!(!run.output().contains("panicked"), "{}", run.output());
        let line = run.output().to_lowercase();
        assert!(line.contains("line") || line.contains(".toml:"), "no line for {key:?}: {line}");
        // `serve` says the same and doesn't start.
        let serve = ledger.run(&["serve"]).await;
        assert!(matches!(serve.code, Some(1 | 2)), "{key}: serve: exit {:?}", serve.code);
        assert!(serve.output().contains(key), "{key:?}: serve says {}", serve.output());
    }
}

async fn a_namespace_or_an_identity_other_than_the_stored_one_is_refused(engine: Engine) {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    shop.ledger.refund("1043", "li_2").await.is(201);
    shop.ledger.terminate().await;
    for (key, value, named) in [
        ("namespace", toml::Value::from("other"), "namespace"),
        ("kinds.refund.identity", vec!["line_item", "order"].into(), "identity"),
        ("kinds.refund.identity", vec!["order"].into(), "identity"),
    ] {
        let setup = Setup::new(engine).with(key, value);
        shop.ledger.reconfigure(|_| setup.clone());
        let serve = shop.ledger.run(&["serve"]).await;
        assert!(matches!(serve.code, Some(1 | 2)), "{key}: exit {:?}: {}", serve.code, serve.output());
        assert!(serve.output().contains(named), "{key}: {}", serve.output());
    }
    shop.ledger.reconfigure(|_| Setup::new(engine));
    shop.ledger.serve().await;
    shop.ledger.refund("1043", "li_2").await.is(200);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

async fn an_operation_is_shown_in_a_terminal_too(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).look_up_after("1h")).await;
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund("1043", "li_2").await.is(202);
    let shown = shop.ledger.run(&["operation", "show", REFUND]).await;
    assert_eq!(shown.code, Some(0), "{}", shown.output());
    for said in [REFUND, "unknown", "380.00 TWD"] {
        assert!(shown.stdout.contains(said), "{said:?} isn't in {}", shown.stdout);
    }
    let json = shop.ledger.run(&["operation", "show", REFUND, "--json"]).await;
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["id"], &json["state"]), (&REFUND.into(), &"unknown".into()));
    let list = shop.ledger.run(&["operations", "--state", "unknown"]).await;
    assert!(list.stdout.contains(REFUND), "{}", list.output());
    let none = shop.ledger.run(&["operations", "--state", "failed"]).await;
    assert!(none.code == Some(0) && !none.stdout.contains(REFUND), "{}", none.output());
    let missing = shop.ledger.run(&["operation", "show", "refund-1043-li_9"]).await;
    assert_eq!(missing.code, Some(1), "{}", missing.output());
    let wrong = shop.ledger.run(&["operations", "--state", "lost"]).await;
    assert_eq!(wrong.code, Some(2), "{}", wrong.output());
    let wrong = shop.ledger.run(&["nonsense"]).await;
    assert_eq!(wrong.code, Some(2), "{}", wrong.output());
}

async fn verify_of_nothing_and_of_a_missing_file_say_which(engine: Engine) {
    let ledger = Ledger::prepare(&Setup::new(engine), "http://127.0.0.1:9").await;
    ledger.verifies().await;
    let missing = ledger.run(&["verify", "nothing.jsonl"]).await;
    assert!(matches!(missing.code, Some(1 | 2)), "{}", missing.output());
    assert!(missing.output().contains("nothing.jsonl"), "{}", missing.output());
}
