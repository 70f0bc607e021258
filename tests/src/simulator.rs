//! The provider simulator as a process, and its control calls.

use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Api, Program, binary};

/// A request as the provider saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// `Idempotency-Key`.
    pub key: Option<String>,
    /// The caller's own id of the request, `X-Client-Request-Id`.
    pub request_id: Option<String>,
    pub body: String,
}

/// `counterfoil simulate` on a port of its own; ends with its last handle.
#[derive(Clone)]
pub struct Simulator {
    api: Api,
    _running: Arc<(Program, TempDir)>,
}

impl Simulator {
    pub async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new(binary());
        command.args(["simulate", "--port", "0"]).current_dir(dir.path());
        let mut program = Program::spawn(command, &dir.path().join("simulate.log"));
        let url = program.line_after("simulator listening on ").await;
        Self { api: Api::new(url, None), _running: Arc::new((program, dir)) }
    }

    /// Where it listens, the account's `base_url`.
    pub fn url(&self) -> &str {
        self.api.base()
    }

    async fn control(&self, path: &str, body: &Value) -> Value {
        let reply = self.api.post(&format!("/simulator/{path}"), body).await;
        assert!((200..300).contains(&reply.status), "{path} {body}: {}", reply.text);
        reply.body
    }

    /// A captured payment.
    pub async fn payment(&self, id: &str, amount: &str, currency: &str) {
        self.control("payments", &json!({ "id": id, "amount": amount, "currency": currency })).await;
    }

    /// A fault as `api.md` writes it.
    pub async fn fault(&self, fault: &Value) {
        self.control("faults", fault).await;
    }

    /// The next send meets this effect and this answer.
    pub async fn next_send(&self, effect: &str, answer: &str) {
        self.fault(&json!({ "match": { "method": "POST" }, "effect": effect, "answer": answer, "times": 1 }))
            .await;
    }

    /// Every look-up from now on gets this answer.
    pub async fn look_ups_get(&self, answer: &str) {
        self.fault(
            &json!({ "match": { "method": "GET" }, "effect": "none", "answer": answer, "times": 100_000 }),
        )
        .await;
    }

    pub async fn clear_faults(&self) {
        let reply = self.api.call(reqwest::Method::DELETE, "/simulator/faults", &[], None).await;
        assert!((200..300).contains(&reply.status), "{}", reply.text);
    }

    pub async fn mode(&self, mode: &Value) {
        self.control("mode", mode).await;
    }

    /// How the list of refunds behaves: `complete`, `lagging`, `capped`, `loop`, `down`.
    pub async fn look_up_mode(&self, lookup: &str) {
        self.mode(&json!({ "keys": "all", "lookup": lookup })).await;
    }

    pub async fn advance(&self, seconds: i64) {
        self.control("clock", &json!({ "advance_s": seconds })).await;
    }

    /// A refund that somebody made on the provider's own site, without our marker. Returns its number.
    pub async fn foreign_refund(&self, payment: &str, amount: &str) -> String {
        let made = self.control("refunds", &json!({ "payment": payment, "amount": amount })).await;
        made["external_id"].as_str().unwrap_or_else(|| panic!("no number in {made}")).to_owned()
    }

    /// The bank returns a refund's money.
    pub async fn bounce(&self, refund: &str) {
        let failed = json!({ "status": "failed", "failure_reason": "expired_or_canceled_card" });
        self.control(&format!("refunds/{refund}"), &failed).await;
    }

    /// Every effect ever applied, duplicates too.
    pub async fn effects(&self) -> Vec<Value> {
        self.api.get("/simulator/effects").await.is(200).body.as_array().unwrap().clone()
    }

    /// The effects that carry one operation's marker.
    pub async fn effects_of(&self, operation: &str) -> Vec<Value> {
        let mut effects = self.effects().await;
        effects.retain(|effect| effect["operation_id"] == operation);
        effects
    }

    /// What the provider saw, oldest first.
    pub async fn requests(&self) -> Vec<Request> {
        let seen = self.api.get("/simulator/requests").await.is(200).body;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        seen.as_array()
            .unwrap()
            .iter()
            .map(|request| Request {
                method: text(&request["method"]).unwrap(),
                path: text(&request["path"]).unwrap(),
                key: text(&request["key"]),
                request_id: text(&request["request_id"]),
                body: text(&request["body"]).unwrap_or_default(),
            })
            .collect()
    }

    /// The sends: every request that could have refunded something.
    pub async fn sends(&self) -> Vec<Request> {
        let mut requests = self.requests().await;
        requests.retain(|request| request.method == "POST" && request.path.starts_with("/v1/"));
        requests
    }

    /// The pages of refunds that were read.
    pub async fn look_ups(&self) -> Vec<Request> {
        let mut requests = self.requests().await;
        requests.retain(|request| request.method == "GET" && request.path.starts_with("/v1/refunds"));
        requests
    }
}
