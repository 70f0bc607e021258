//! The machine interface as a caller sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::{Reply, refund_of, until};

/// A caller with a token, or without one. Where several servers share a ledger, each request goes to the next of them.
#[derive(Clone)]
pub struct Api {
    client: Client,
    bases: Arc<Vec<String>>,
    turn: Arc<AtomicUsize>,
    token: Option<String>,
}

/// A client for tests: bounded in time, and follows nothing by itself.
pub(crate) fn client() -> Client {
    // Fails when another test of this process came first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(60))
        .build()
        .unwrap()
}

impl Api {
    pub fn new(base: impl Into<String>, token: Option<&str>) -> Self {
        Self::of_all(vec![base.into()], token)
    }

    /// A caller of several servers in turn.
    pub fn of_all(bases: Vec<String>, token: Option<&str>) -> Self {
        let (bases, turn) = (Arc::new(bases), Arc::default());
        Self { client: client(), bases, turn, token: token.map(str::to_owned) }
    }

    /// A caller of one of the servers only, counted from 0.
    pub fn of_server(&self, number: usize) -> Self {
        Self::new(self.bases[number].clone(), self.token.as_deref())
    }

    /// The same ledger, asked with another token or none.
    pub fn with_token(&self, token: Option<&str>) -> Self {
        Self { token: token.map(str::to_owned), ..self.clone() }
    }

    /// Where the ledger, or the first of its servers, listens: `http://127.0.0.1:PORT`.
    pub fn base(&self) -> &str {
        &self.bases[0]
    }

    /// One request. An error of the transport is a failed test.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Reply {
        self.try_call(method, path, headers, body).await.unwrap()
    }

    /// One request that may meet a dying ledger.
    pub async fn try_call(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Result<Reply, reqwest::Error> {
        let base = &self.bases[self.turn.fetch_add(1, Ordering::Relaxed) % self.bases.len()];
        let mut request = self.client.request(method, format!("{base}{path}"));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                request = request.header("content-type", "application/json");
            }
            request = request.body(body);
        }
        let answer = request.send().await?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let bytes = answer.bytes().await?;
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Reply { status, headers, body, text, size: bytes.len() })
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::POST, path, &[], Some(body.to_string())).await
    }

    /// Pushes an order's snapshot.
    pub async fn put_order(&self, order: &str, snapshot: &Value) -> Reply {
        self.call(Method::PUT, &format!("/v1/orders/{order}"), &[], Some(snapshot.to_string())).await
    }

    /// Asks for the refund of what is left of one line.
    pub async fn refund(&self, order: &str, line: &str) -> Reply {
        self.refund_with(&refund_of(order, line)).await
    }

    /// Asks for an operation in the caller's own words.
    pub async fn refund_with(&self, request: &Value) -> Reply {
        self.post("/v1/operations", request).await
    }

    /// Asks with `Prefer: wait=0`: the answer comes when the operation is recorded.
    pub async fn refund_at_once(&self, order: &str, line: &str) -> Reply {
        let body = refund_of(order, line).to_string();
        self.call(Method::POST, "/v1/operations", &[("prefer", "wait=0")], Some(body)).await
    }

    /// One operation as it is now.
    pub async fn operation(&self, id: &str) -> Value {
        self.get(&format!("/v1/operations/{id}")).await.is(200).body
    }

    /// Waits until the operation is as `when` says.
    pub async fn wait_for(&self, id: &str, what: &str, when: impl Fn(&Value) -> bool) -> Value {
        until(&format!("{id}: {what}"), async || {
            let operation = self.operation(id).await;
            if when(&operation) { Ok(operation) } else { Err(operation.to_string()) }
        })
        .await
    }

    /// Waits until the operation is in `state`.
    pub async fn wait_for_state(&self, id: &str, state: &str) -> Value {
        self.wait_for(id, state, |operation| operation["state"] == state).await
    }

    /// Every entry of an operation, in order.
    pub async fn timeline(&self, id: &str) -> Vec<Value> {
        self.list(&format!("/v1/operations/{id}/timeline"), "entries").await
    }

    /// The class of each attempt that has ended, in order.
    pub async fn classes(&self, id: &str) -> Vec<String> {
        let attempts = self.attempts(id).await;
        attempts.iter().filter_map(|attempt| attempt["end"]["class"].as_str().map(str::to_owned)).collect()
    }

    /// Every send.
    pub async fn attempts(&self, id: &str) -> Vec<Value> {
        self.list(&format!("/v1/operations/{id}/attempts"), "attempts").await
    }

    /// What came from outside.
    pub async fn evidence(&self, id: &str) -> Vec<Value> {
        self.list(&format!("/v1/operations/{id}/evidence"), "evidence").await
    }

    /// Every operation that the filter finds, from its first page (`limit` up to the caller).
    pub async fn operations(&self, query: &str) -> Vec<Value> {
        self.list(&format!("/v1/operations?{query}"), "operations").await
    }

    /// One page of operations, and the cursor of the next.
    pub async fn page(&self, query: &str) -> (Vec<Value>, Option<String>) {
        let body = self.get(&format!("/v1/operations?{query}")).await.is(200).body;
        let items = body["operations"].as_array().unwrap_or_else(|| panic!("no operations: {body}"));
        let next = match &body["next"] {
            Value::Null => None,
            Value::String(cursor) => Some(cursor.clone()),
            cursor => Some(cursor.to_string()),
        };
        (items.clone(), next)
    }

    async fn list(&self, path: &str, field: &str) -> Vec<Value> {
        let body = self.get(path).await.is(200).body;
        body[field].as_array().unwrap_or_else(|| panic!("{path} has no `{field}`: {body}")).clone()
    }

    /// Makes the row due now.
    pub async fn look_up(&self, id: &str) -> Reply {
        self.post(&format!("/v1/operations/{id}/lookup"), &json!({})).await
    }

    pub async fn cancel(&self, id: &str) -> Reply {
        self.post(&format!("/v1/operations/{id}/cancel"), &json!({})).await
    }
}
