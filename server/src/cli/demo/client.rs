//! The demo as a program: it calls the ledger and the provider's controls over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::Card;
use crate::cli::Failure;

const TIMEOUT: Duration = Duration::from_secs(10);

/// The program that plays shop and model.
pub(super) struct Client {
    http: reqwest::Client,
    ledger: String,
    simulator: String,
    token: String,
}

impl Client {
    pub(super) fn new(card: &Card) -> Result<Self, Failure> {
        let http = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build().map_err(Failure::failed)?;
        Ok(Self {
            http,
            ledger: card.base_url.clone(),
            simulator: card.simulator_url.clone(),
            token: card.api_token.clone(),
        })
    }

    async fn json(request: reqwest::RequestBuilder) -> Result<(u16, Value), Failure> {
        let response = request.send().await.map_err(Failure::failed)?;
        let status = response.status().as_u16();
        let body = response.bytes().await.map_err(Failure::failed)?;
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// Asks for an operation, once.
    pub(super) async fn ask(&self, body: &Value) -> Result<(u16, Value), Failure> {
        let request =
            self.http.post(format!("{}/v1/operations", self.ledger)).bearer_auth(&self.token).json(body);
        Self::json(request).await
    }

    pub(super) async fn operation(&self, id: &str) -> Result<Value, Failure> {
        let url = format!("{}/v1/operations/{id}", self.ledger);
        Ok(Self::json(self.http.get(url).bearer_auth(&self.token)).await?.1)
    }

    pub(super) async fn attempts(&self, id: &str) -> Result<Value, Failure> {
        let url = format!("{}/v1/operations/{id}/attempts", self.ledger);
        Ok(Self::json(self.http.get(url).bearer_auth(&self.token)).await?.1)
    }

    /// `cancel` or `lookup`.
    pub(super) async fn act(&self, id: &str, act: &str) -> Result<(), Failure> {
        let url = format!("{}/v1/operations/{id}/{act}", self.ledger);
        Self::json(self.http.post(url).bearer_auth(&self.token)).await.map(|_| ())
    }

    pub(super) async fn put_order(&self, id: &str, body: &Value) -> Result<(), Failure> {
        let url = format!("{}/v1/orders/{id}", self.ledger);
        match Self::json(self.http.put(url).bearer_auth(&self.token).json(body)).await? {
            (200 | 201, _) => Ok(()),
            (status, problem) => Err(Failure::Failed(format!("order {id}: {status} {problem}"))),
        }
    }

    /// One of the simulator's controls.
    pub(super) async fn control(&self, what: &str, body: &Value) -> Result<(), Failure> {
        let url = format!("{}/simulator/{what}", self.simulator);
        match Self::json(self.http.post(url).json(body)).await? {
            (200..=299, _) => Ok(()),
            (status, problem) => Err(Failure::Failed(format!("simulator {what}: {status} {problem}"))),
        }
    }

    /// What happens to the next refund of an operation at the provider.
    pub(super) async fn fault(&self, operation: &str, effect: &str, answer: &str) -> Result<(), Failure> {
        let matching = json!({ "method": "POST", "operation_id": operation });
        self.control("faults", &json!({ "match": matching, "effect": effect, "answer": answer })).await
    }

    /// Effects at the provider for one operation.
    pub(super) async fn effects(&self, operation: &str) -> Result<usize, Failure> {
        let url = format!("{}/simulator/effects", self.simulator);
        let (_, effects) = Self::json(self.http.get(url)).await?;
        let ours = |effect: &&Value| effect.get("operation_id").and_then(Value::as_str) == Some(operation);
        Ok(effects.as_array().map_or(0, |effects| effects.iter().filter(ours).count()))
    }

    /// Refund requests that reached the provider under an operation's key.
    pub(super) async fn sends(&self, key: &str) -> Result<usize, Failure> {
        let url = format!("{}/simulator/requests", self.simulator);
        let (_, requests) = Self::json(self.http.get(url)).await?;
        let ours = |request: &&Value| {
            request.get("method").and_then(Value::as_str) == Some("POST")
                && request.get("key").and_then(Value::as_str) == Some(key)
        };
        Ok(requests.as_array().map_or(0, |requests| requests.iter().filter(ours).count()))
    }

    /// Reads an operation until it is as wanted.
    pub(super) async fn until(
        &self,
        id: &str,
        within: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<Value, Failure> {
        let reading = async {
            loop {
                let operation = self.operation(id).await?;
                if wanted(&operation) {
                    return Ok(operation);
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(within, reading)
            .await
            .map_err(|_| Failure::Failed(format!("{id} isn't settled after {} s", within.as_secs())))?
    }
}

/// A text field of an answer.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
