//! Everything that the simulator remembers, behind one lock.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{clock::Clock, fault::Faults, late::Late, provider::Provider, webhook::Outbox};

/// One request as it was seen, whatever became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// `GET`, `POST`…
    pub method: String,
    /// With the query.
    pub path: String,
    /// `Idempotency-Key`
    pub key: Option<String>,
    /// `X-Client-Request-Id`
    pub request_id: Option<String>,
    /// As it came; bytes that aren't UTF-8 are replaced.
    pub body: String,
    /// On the simulator's clock.
    pub at: Timestamp,
}

/// Everything that the simulator remembers.
#[derive(Default)]
pub(super) struct State {
    pub(super) clock: Clock,
    pub(super) provider: Provider,
    pub(super) faults: Faults,
    pub(super) late: Vec<Late>,
    pub(super) requests: Vec<Seen>,
    pub(super) outbox: Outbox,
}

impl State {
    /// Hands what has happened to the webhooks; with the request that caused it, if it was one.
    pub(super) fn collect_events(&mut self, request_id: &str, key: Option<&str>) {
        for event in std::mem::take(&mut self.provider.account.events) {
            self.outbox.push(event, request_id, key);
        }
    }
}
