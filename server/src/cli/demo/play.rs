//! The play: one refund whose answer is lost, step by step, in words.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, text};
use super::scenes;
use crate::cli::serve::Server;
use crate::cli::{Failure, print};

const OPERATION: &str = "refund-1043-li_2";
const KEY: &str = "demo.refund-1043-li_2";
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

/// Plays what this ledger hasn't seen yet, and says where to look.
pub(super) async fn run(server: &Server, client: &Client, dir: &Path) -> Result<(), Failure> {
    scenes::pay(server, client).await?;
    let before = client.operation(OPERATION).await?;
    if text(&before, "state").is_empty() {
        lost_refund(client).await?;
        scenes::play(client).await?;
    } else {
        print(format_args!("this ledger has been played before: {OPERATION} is {}", text(&before, "state")));
    }
    let base = server.address;
    print("");
    print(format_args!("desk      http://{base}/operations?view=all"));
    print(format_args!("the play  http://{base}/operations/{OPERATION}"));
    print(format_args!("API       http://{base}/v1/docs"));
    print(format_args!("people, token, provider: {}", dir.join("demo.json").display()));
    print(format_args!("proof     counterfoil verify --config {}", dir.join("counterfoil.toml").display()));
    print("Ctrl-C stops.");
    Ok(())
}

async fn lost_refund(client: &Client) -> Result<(), Failure> {
    let began = Instant::now();
    let say = |line: &str| print(format_args!("{:>5.1} s  {line}", began.elapsed().as_secs_f32()));
    client.fault(OPERATION, "applied", "drop").await?;
    print("");
    say("Order 1043: earphones and their case, 1580.00 TWD paid. The customer sends the case back.");
    say("The provider will make the refund and cut the connection before it answers.");
    let ask = json!({
        "kind": "refund",
        "identity": { "order": "1043", "line_item": "li_2" },
        "requested_by": "customer service",
        "reason": "The customer sends the case back."
    });
    say("The model asks for the refund of li_2.");
    let (status, first) = client.ask(&ask).await?;
    say(&format!("It is told ({status}, {}): {}", text(&first, "state"), text(&first, "message")));
    say("The model asks again, in other words, as models do.");
    let mut again = ask;
    if let Some(object) = again.as_object_mut() {
        object.insert("reason".to_owned(), Value::from("Retry: the previous refund attempt failed."));
    }
    let (status, second) = client.ask(&again).await?;
    let sends = client.sends(KEY).await?;
    say(&format!(
        "It gets the same operation ({status}, replayed: {}). Requests that reached the provider: {sends}.",
        second.get("replayed").and_then(Value::as_bool).unwrap_or(false)
    ));
    say("The daemon looks the payment's refunds up.");
    let settled =
        client.until(OPERATION, SETTLED_WITHIN, |operation| text(operation, "state") == "confirmed").await?;
    let attempts = client.attempts(OPERATION).await?;
    let attempts = attempts.get("attempts").and_then(Value::as_array).map_or(0, Vec::len);
    say(&format!(
        "It finds {}, whose marker, amount, currency and payment are ours.",
        text(&settled, "external_id")
    ));
    say(&format!("Settled: {}", text(&settled, "message")));
    say(&format!(
        "Refunds at the provider: {}. Sends: {attempts}. What the customer may be told: {}.",
        client.effects(OPERATION).await?,
        text(&settled, "claim")
    ));
    Ok(())
}
