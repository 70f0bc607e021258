//! The Stripe adapter against servers that others wrote: npm `stripe-stateful-mock` (charges; keys are kept and replayed) and PyPI
//! `localstripe` (payment intents; keys are ignored, and the account says so). Pinned, put in place by `tests/interop/install`; what
//! isn't installed is skipped, which is said, or fails with `COUNTERFOIL_REQUIRE_ALL=1`.
//!
//! Their dialects, where they aren't Stripe's: the mock keeps 400s that come from validation, so a definite refusal is replayed for
//! a key that Stripe would not have kept, and its refunds are `succeeded` at once. localstripe refunds more than was captured, and its
//! errors have a type but no code: none of them is on the adapter's list of definite refusals, so each of them is unknown.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use counterfoil_tests::{
    Api, Engine, Ledger, Program, Proxy, REFUND, Scripted, Setup, line, money, skipped, stories, until,
};
use serde_json::{Value, json};
use tempfile::TempDir;

stories!(
    the_mock_a_lost_answer_is_found_and_there_is_one_refund,
    the_mock_a_lost_request_is_sent_again_once_under_the_same_key_after_proved_absence,
    the_mock_a_definite_refusal_is_failed_at_once,
    the_mock_a_charge_that_was_refunded_by_others_is_no_failure,
    localstripe_a_lost_answer_is_found_and_there_is_one_refund,
    localstripe_a_lost_request_goes_to_a_person_and_nothing_is_sent_twice,
    localstripe_an_error_without_a_code_proves_nothing,
);

/// What both accept as a test key.
const SECRET: &str = "sk_test_counterfoil";
/// Where `tests/interop/install` puts things: beside the build.
fn installed(path: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("interop").join(path)
}

/// Somebody else's server, a proxy before it, and a ledger that sends through the proxy.
struct Scene {
    ledger: Ledger,
    proxy: Proxy,
    /// The server itself, past the proxy.
    api: Api,
    /// What was paid there: 1,580.00 TWD.
    payment: String,
    _program: Program,
    _dir: TempDir,
}

impl Scene {
    /// On `stripe-stateful-mock`, which knows charges.
    async fn on_the_mock(engine: Engine) -> Option<Self> {
        let packages = installed("node");
        if !packages.join("node_modules/stripe-stateful-mock/package.json").exists() {
            return skipped("stripe-stateful-mock is missing: run tests/interop/install");
        }
        let mut command = Command::new("node");
        command.arg(script("stateful_mock.cjs")).arg(packages);
        let charge = "amount=158000&currency=twd&source=tok_visa";
        Some(Self::open(Setup::new(engine), command, "/v1/charges", charge).await)
    }

    /// On `localstripe`, which knows payment intents and no keys.
    async fn on_localstripe(engine: Engine) -> Option<Self> {
        let python = installed("python/bin/python");
        let there = Command::new(&python).args(["-c", "import localstripe"]).status();
        if !there.is_ok_and(|status| status.success()) {
            return skipped("localstripe is missing: run tests/interop/install");
        }
        let mut command = Command::new(python);
        command.arg(script("localstripe_server.py"));
        let intent = "amount=158000&currency=twd&payment_method=pm_card_visa&confirm=true";
        let setup =
            Setup::new(engine).account("key_protects", "none").without("accounts.stripe-main.key_window");
        Some(Self::open(setup, command, "/v1/payment_intents", intent).await)
    }

    async fn open(setup: Setup, mut command: Command, path: &str, payment: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // localstripe keeps a copy of everything in the directory for temporary files.
        command.current_dir(dir.path()).env("TMPDIR", dir.path());
        let mut program = Program::spawn(command, &dir.path().join("server.log"));
        let url = program.line_after("listening on ").await;
        let api = Api::new(&url, Some(SECRET));
        let paid = form(&api, path, payment).await;
        let payment = paid["id"].as_str().unwrap_or_else(|| panic!("nothing was paid: {paid}")).to_owned();
        let proxy = Proxy::start(&url).await;
        let ledger = Ledger::start(&setup, &proxy.url()).await;
        let scene = Self { ledger, proxy, api, payment, _program: program, _dir: dir };
        scene.sells("1043", "158000", &[("li_1", "120000"), ("li_2", "38000")]).await;
        scene
    }

    /// The shop's word on an order that was paid with the one payment.
    async fn sells(&self, id: &str, captured: &str, lines: &[(&str, &str)]) {
        let lines: Vec<Value> = lines.iter().map(|(id, amount)| line(id, amount, "TWD")).collect();
        let order = json!({
            "payment": self.payment,
            "currency": "TWD",
            "captured": money(captured, "TWD"),
            "line_items": lines,
        });
        self.ledger.put_order(id, &order).await.is(201);
    }

    /// Every refund that exists there.
    async fn refunds(&self) -> Vec<Value> {
        self.api.get("/v1/refunds?limit=100").await.is(200).body["data"].as_array().unwrap().clone()
    }

    /// One refund there, which is the ledger's, and so many sends, all alike.
    async fn one_refund_of(&self, sends: usize) {
        let refunds = self.refunds().await;
        assert_eq!(refunds.len(), 1, "{refunds:?}");
        assert_eq!(refunds[0]["amount"], 38_000);
        assert_eq!(refunds[0]["metadata"]["operation_id"], "shop.refund-1043-li_2");
        let settled = self.ledger.operation(REFUND).await;
        assert_eq!(settled["external_id"], refunds[0]["id"]);
        let sent = self.proxy.sends();
        assert_eq!(sent.len(), sends, "{sent:#?}");
        for send in &sent {
            assert_eq!(send.key.as_deref(), Some("shop.refund-1043-li_2"));
            assert_eq!(send.body, sent[0].body);
        }
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("interop").join(name)
}

/// What a shop would send past the ledger.
async fn form(api: &Api, path: &str, body: &str) -> Value {
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    api.call(reqwest::Method::POST, path, &headers, Some(body.to_owned())).await.is(200).body
}

async fn the_mock_a_lost_answer_is_found_and_there_is_one_refund(engine: Engine) {
    let Some(scene) = Scene::on_the_mock(engine).await else { return };
    lost_answer(scene).await;
}

async fn localstripe_a_lost_answer_is_found_and_there_is_one_refund(engine: Engine) {
    let Some(scene) = Scene::on_localstripe(engine).await else { return };
    lost_answer(scene).await;
}

async fn lost_answer(scene: Scene) {
    scene.proxy.script("POST", Scripted::LoseTheAnswer);
    let told = scene.ledger.refund("1043", "li_2").await.is(202);
    assert_eq!((&told.body["state"], &told.body["claim"]), (&json!("unknown"), &json!("in_progress")));
    assert_eq!(scene.refunds().await.len(), 1, "the effect is there, and nobody knows");
    scene.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(scene.ledger.classes(REFUND).await, ["indeterminate"]);
    scene.one_refund_of(1).await;
    // The other line of the same payment is another refund, answered at once.
    scene.ledger.refund("1043", "li_1").await.is(201);
    assert_eq!(scene.refunds().await.len(), 2);
    scene.ledger.rests().await;
}

async fn the_mock_a_lost_request_is_sent_again_once_under_the_same_key_after_proved_absence(engine: Engine) {
    let Some(scene) = Scene::on_the_mock(engine).await else { return };
    scene.proxy.script("POST", Scripted::LoseTheRequest);
    scene.ledger.refund_at_once("1043", "li_2").await.is(202);
    scene.ledger.wait_for_state(REFUND, "confirmed").await;
    let counted = scene.ledger.timeline(REFUND).await;
    let counted = counted.iter().filter(|entry| entry["body"]["counted"] == true).count();
    assert_eq!(counted, 2, "absence took two complete walks");
    assert_eq!(scene.ledger.classes(REFUND).await, ["indeterminate", "effect"]);
    scene.one_refund_of(2).await;
    scene.ledger.rests().await;
}

async fn localstripe_a_lost_request_goes_to_a_person_and_nothing_is_sent_twice(engine: Engine) {
    let Some(scene) = Scene::on_localstripe(engine).await else { return };
    scene.proxy.script("POST", Scripted::LoseTheRequest);
    scene.ledger.refund_at_once("1043", "li_2").await.is(202);
    let escalated = scene.ledger.wait_for_state(REFUND, "escalated").await;
    assert_eq!((&escalated["claim"], &escalated["attempts"]), (&json!("in_progress"), &json!(1)));
    assert_eq!(scene.refunds().await, [] as [Value; 0]);
    assert_eq!(scene.proxy.sends().len(), 1);
    scene.ledger.rests().await;
}

/// The shop believes in more than was captured: over-amount comes as 400 with `param` and no code.
async fn the_mock_a_definite_refusal_is_failed_at_once(engine: Engine) {
    let Some(scene) = Scene::on_the_mock(engine).await else { return };
    scene.sells("2000", "999000", &[("li_9", "500000")]).await;
    let refused = scene.ledger.refund("2000", "li_9").await.is(200);
    assert_eq!((&refused.body["state"], &refused.body["claim"]), (&json!("failed"), &json!("not_done")));
    assert_eq!(scene.ledger.classes("refund-2000-li_9").await, ["refused"]);
    assert_eq!(scene.refunds().await, [] as [Value; 0]);
    scene.ledger.rests().await;
}

/// A16: `charge_already_refunded` may be our own refund, so it is looked up and never called a failure.
async fn the_mock_a_charge_that_was_refunded_by_others_is_no_failure(engine: Engine) {
    let Some(scene) = Scene::on_the_mock(engine).await else { return };
    form(&scene.api, "/v1/refunds", &format!("charge={}&amount=100000", scene.payment)).await;
    form(&scene.api, "/v1/refunds", &format!("charge={}", scene.payment)).await;
    scene.ledger.refund_at_once("1043", "li_2").await.is(202);
    let mut database = scene.ledger.database().await;
    until("two look-ups", async || {
        let looked_up = database.facts(REFUND, "looked_up").await;
        if looked_up >= 2 { Ok(()) } else { Err(format!("{looked_up}")) }
    })
    .await;
    assert_eq!(scene.ledger.classes(REFUND).await[0], "indeterminate");
    let moves = database.moves(REFUND).await;
    assert!(!moves.contains(&"failed".to_owned()), "{moves:?}");
    assert_eq!(scene.refunds().await.len(), 2, "the others' two");
}

/// localstripe refunds whatever it is asked for, and knows no payment by another name: 404 without a code.
async fn localstripe_an_error_without_a_code_proves_nothing(engine: Engine) {
    let Some(mut scene) = Scene::on_localstripe(engine).await else { return };
    scene.payment = "pi_nobody".to_owned();
    scene.sells("2000", "50000", &[("li_1", "50000")]).await;
    let told = scene.ledger.refund("2000", "li_1").await.is(202);
    assert_eq!((&told.body["state"], &told.body["claim"]), (&json!("unknown"), &json!("in_progress")));
    let mut database = scene.ledger.database().await;
    until("a look-up that couldn't be read", async || {
        let looked_up = database.facts("refund-2000-li_1", "looked_up").await;
        if looked_up >= 1 { Ok(()) } else { Err(format!("{looked_up}")) }
    })
    .await;
    assert_eq!(scene.ledger.operation("refund-2000-li_1").await["state"], "unknown");
    assert_eq!(scene.proxy.sends().len(), 1);
    scene.ledger.verifies().await;
}
