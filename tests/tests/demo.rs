//! `counterfoil demo` on an empty directory: the first thing that anybody sees.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use counterfoil_tests::{Api, Program, REFUND, binary, until};
use serde_json::Value;

const STATES: [&str; 9] = [
    "awaiting_approval",
    "authorized",
    "submitted",
    "unknown",
    "pending",
    "confirmed",
    "failed",
    "escalated",
    "cancelled",
];

/// A running demo and what its `demo.json` says.
struct Demo {
    program: Program,
    started: Instant,
    told: Value,
    api: Api,
}

impl Demo {
    async fn start(dir: &Path) -> Self {
        let log = dir.with_extension("log");
        let mut command = Command::new(binary());
        command.args(["demo", "--port", "0", "--data"]).arg(dir);
        let started = Instant::now();
        let mut program = Program::spawn(command, &log);
        let base = program.line_after("counterfoil listening on ").await;
        let told = until("demo.json", async || {
            let text = std::fs::read_to_string(dir.join("demo.json")).map_err(|error| error.to_string())?;
            let told: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            // The file of an earlier start names another port.
            if told["base_url"].as_str().unwrap().trim_end_matches('/') == base.trim_end_matches('/') {
                Ok(told)
            } else {
                Err(text)
            }
        })
        .await;
        let api = Api::new(base.trim_end_matches('/'), told["api_token"].as_str());
        Self { program, started, told, api }
    }

    /// Order 1043's refund, once it is confirmed.
    async fn settled(&self) -> Value {
        until("the refund of order 1043", async || {
            let found = self.api.get(&format!("/v1/operations/{REFUND}")).await;
            if found.body["state"] == "confirmed" { Ok(found.body) } else { Err(found.text) }
        })
        .await
    }

    async fn effects(&self) -> Vec<Value> {
        let simulator = Api::new(self.told["simulator_url"].as_str().unwrap(), None);
        simulator.get("/simulator/effects").await.is(200).body.as_array().unwrap().clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(
    clippy::print_stdout,
    reason = "how fast it listens is a claim to be read, not a bound for a busy machine"
)]
async fn order_1043_is_settled_within_30_seconds_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let demo = Demo::start(&data).await;
    println!("listening after {:?}", demo.started.elapsed());
    let settled = demo.settled().await;
    until("the demo says that it is settled", async || {
        let printed = demo.program.printed();
        let said = printed.iter().any(|line| line.contains("confirmed"));
        if said { Ok(()) } else { Err(printed.join("\n")) }
    })
    .await;
    assert!(demo.started.elapsed() < Duration::from_secs(30), "settled after {:?}", demo.started.elapsed());
    let printed = demo.program.printed().join("\n");
    for said in ["1043", "380.00 TWD", "It may already have happened.", "Do not send it again."] {
        assert!(printed.contains(said), "{said:?} isn't among the printed steps:\n{printed}");
    }
    let mut effects = demo.effects().await;
    effects.retain(|effect| effect["operation_id"] == REFUND);
    assert_eq!(effects.len(), 1, "{effects:?}");
    assert_eq!(effects[0]["amount"], "38000");
    assert_eq!(effects[0]["external_id"], settled["external_id"]);
    assert_eq!(settled["attempts"], 1, "nothing was sent twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_state_has_an_operation_and_every_operation_has_one_effect_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let demo = Demo::start(&data).await;
    demo.settled().await;
    until("an operation in every state", async || {
        let mut missing = Vec::new();
        for state in STATES {
            if demo.api.operations(&format!("state={state}")).await.is_empty() {
                missing.push(state);
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(format!("none is {missing:?}")) }
    })
    .await;
    // More than one effect is only ever the provider's doing: from one send, and told as an incident.
    let all = until("every double effect is told", async || {
        let all = demo.api.operations("limit=100").await;
        let effects = demo.effects().await;
        for operation in &all {
            let count = effects.iter().filter(|effect| effect["operation_id"] == operation["id"]).count();
            assert!(count <= 1 || operation["attempts"] == 1, "{count} effects of {operation}");
            if count > 1 && !operation["incidents"].to_string().contains("two_effects") {
                return Err(operation.to_string());
            }
        }
        Ok(all)
    })
    .await;
    assert!(all.len() > 20, "{} operations", all.len());
    for operation in &all {
        let id = operation["id"].as_str().unwrap();
        demo.api.with_token(None).get(&format!("/operations/{id}")).await.is(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_people_are_real_and_named_in_demo_json() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let demo = Demo::start(&data).await;
    let people = demo.told["people"].as_array().unwrap();
    let mut roles: Vec<&str> = people.iter().map(|person| person["role"].as_str().unwrap()).collect();
    roles.sort_unstable();
    assert_eq!(roles, ["administrator", "auditor", "operator", "reviewer", "reviewer", "reviewer", "viewer"]);
    let passwords: Vec<&str> = people.iter().map(|person| person["password"].as_str().unwrap()).collect();
    for person in people {
        assert!(!person["name"].as_str().unwrap().is_empty());
    }
    let stored: Vec<u8> = std::fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext.to_string_lossy().starts_with("db")))
        .flat_map(|path| std::fs::read(path).unwrap())
        .collect();
    assert!(!stored.is_empty(), "the demo keeps its database in the directory");
    for password in passwords {
        assert!(password.len() >= 8, "{password:?}");
        let plain = stored.windows(password.len()).any(|window| window == password.as_bytes());
        assert!(!plain, "a password stands in the database");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_start_on_the_same_directory_goes_on_with_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut first = Demo::start(&data).await;
    let before = first.settled().await;
    let ended = first.program.terminate().await;
    assert_eq!(ended.code(), Some(0));
    let second = Demo::start(&data).await;
    let after = second.api.operation(REFUND).await;
    for field in ["state", "external_id", "intent_hash", "attempts", "created_at"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    let again = second.api.refund("1043", "li_2").await.is(200);
    assert_eq!(again.body["state"], "confirmed");
}
