//! Other people's software against the simulator: Stripe's official SDKs, pinned and put in place by `tests/interop/install`.
//!
//! What isn't installed is skipped, which is said on standard error; with `COUNTERFOIL_REQUIRE_ALL=1` it is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    env, io,
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use counterfoil::simulator::{Settings, Simulator, serve};
use tokio::{net::TcpListener, process::Command, time::timeout};
use tokio_util::sync::CancellationToken;

/// For one script; it takes two seconds.
const DEADLINE: Duration = Duration::from_secs(60);

/// The behaviours that each script goes through.
const BEHAVIOURS: usize = 8;

#[tokio::test]
async fn the_official_python_sdk_works_against_the_simulator() {
    let python = installed().join("python/bin/python");
    if runs(Command::new(&python).args(["-c", "import stripe"])).await {
        let base = simulator().await;
        pass(Command::new(&python).arg(script("stripe_sdk.py")).arg(base)).await;
    } else {
        skip("the stripe SDK for Python");
    }
}

#[tokio::test]
async fn the_official_node_sdk_works_against_the_simulator() {
    let packages = installed().join("node");
    let there = packages.join("node_modules/stripe/package.json").exists();
    if there && runs(Command::new("node").arg("--version")).await {
        let base = simulator().await;
        pass(Command::new("node").arg(script("stripe_sdk.mjs")).arg(base).arg(&packages)).await;
    } else {
        skip("the stripe SDK for Node");
    }
}

/// Where `tests/interop/install` puts things: beside the build.
fn installed() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("interop")
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("interop").join(name)
}

/// Starts a simulator that lives as long as the test's runtime.
async fn simulator() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(serve(listener, Simulator::new(Settings::default()), CancellationToken::new()));
    base
}

async fn runs(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().await.is_ok_and(|status| status.success())
}

/// Runs a script that must end well and report every behaviour.
async fn pass(command: &mut Command) {
    let ended =
        timeout(DEADLINE, command.kill_on_drop(true).output()).await.expect("it ends in time").unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    let complained = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}\n{said}\n{complained}", ended.status);
    let reported = said.lines().filter(|line| line.starts_with("ok ")).count();
    assert_eq!(reported, BEHAVIOURS, "{said}");
}

/// Says so past the test runner's capture, which shows nothing of a test that passes.
fn skip(what: &str) {
    let required = env::var("COUNTERFOIL_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{what} is missing: run tests/interop/install");
    let mut terminal = io::stderr();
    writeln!(terminal, "SKIPPED: {what} is missing: run tests/interop/install").unwrap();
}
