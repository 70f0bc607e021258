//! What goes wrong at the provider and on the way: everything that a key and a look-up protect from, and nothing that they don't (a provider
//! that acts twice, or forgets its keys, is told as an incident elsewhere).

use std::time::Duration;

use counterfoil_tests::Simulator;
use fastrand::Rng;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// What a send meets: effect and answer.
const SENDS: [(&str, &str); 18] = [
    ("applied", "drop"),
    ("none", "drop"),
    ("applied", "hang"),
    ("none", "hang"),
    ("late", "hang"),
    ("late", "drop"),
    ("none", "reset_before"),
    ("applied", "500"),
    ("none", "500"),
    ("applied", "500_stored"),
    ("none", "500_stored"),
    ("none", "429"),
    ("none", "429_named"),
    ("none", "409"),
    ("applied", "truncated"),
    ("applied", "html"),
    ("none", "html"),
    ("applied", "wrong_body"),
];
/// What a look-up meets.
const READS: [&str; 7] = ["drop", "hang", "500", "429", "truncated", "html", "wrong_body"];

/// Bad weather until it is aborted.
pub fn storm(provider: Simulator, mut rng: Rng) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            provider.fault(&fault(&mut rng)).await;
            if rng.u8(0..4) == 0 {
                provider.mode(&mode(&mut rng)).await;
            }
            tokio::time::sleep(Duration::from_millis(rng.u64(50..400))).await;
        }
    })
}

fn fault(rng: &mut Rng) -> Value {
    let times = rng.u32(1..8);
    if rng.u8(0..4) == 0 {
        let answer = READS[rng.usize(0..READS.len())];
        return json!({ "match": { "method": "GET" }, "effect": "none", "answer": answer, "times": times });
    }
    let (effect, answer) = SENDS[rng.usize(0..SENDS.len())];
    let mut fault =
        json!({ "match": { "method": "POST" }, "effect": effect, "answer": answer, "times": times });
    if effect == "late" {
        // Within send_timeout + absence_lag of the mark.
        fault["after_ms"] = json!(rng.u32(200..1500));
    }
    fault
}

fn mode(rng: &mut Rng) -> Value {
    match rng.u8(0..8) {
        0 => json!({ "lookup": "down" }),
        1 => json!({ "lookup": "loop" }),
        2 | 3 => json!({ "lookup": "lagging", "lag_ms": rng.u32(100..1500) }),
        _ => json!({ "lookup": "complete" }),
    }
}
