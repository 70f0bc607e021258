//! Stripe, API v1: refunds, made and looked up.
//!
//! What Stripe promises and how its answers are classed stands in `declaration`, the bytes of a request in `request`, the form of
//! its objects in `wire`, what an answer to a send means in `answer`, and how refunds are found again in `look_up`.
//!
//! No `Stripe-Version` is sent: the account's own counts. Only fields are read that every version has, and whatever can't be read
//! settles nothing.

mod answer;
mod declaration;
mod look_up;
mod request;
mod wire;

use std::time::{Duration, Instant};

use async_trait::async_trait;
use counterfoil_ledger::intent::{Intent, ProviderRequest};
use jiff::Timestamp;
use reqwest::header::HeaderValue;
use secrecy::ExposeSecret;

use super::transport::{Reach, ReadBudget, Transport, TransportError};
use super::{Declaration, LookUpReport, Provider, SendReport, Terms};
use crate::config::Account;

/// The header in which Stripe names a request.
const REQUEST_ID: &str = "request-id";

/// One account at Stripe, or at whatever speaks as Stripe does.
#[derive(Debug)]
pub struct Stripe {
    transport: Transport,
    base_url: String,
    /// Marked sensitive: it shows in no debug form.
    authorization: HeaderValue,
    look_up_timeout: Duration,
}

impl Stripe {
    /// The account as configured. A look-up that isn't through after `look_up_timeout` stops and says so; it should end well
    /// within the lease of the row that it is for.
    ///
    /// # Errors
    /// [`TransportError`] when no client can be built for it.
    pub fn new(account: &Account, look_up_timeout: Duration) -> Result<Self, TransportError> {
        Self::reached(account, look_up_timeout, ReadBudget::default())
    }

    fn reached(
        account: &Account,
        look_up_timeout: Duration,
        read_budget: ReadBudget,
    ) -> Result<Self, TransportError> {
        let bearer = format!("Bearer {}", account.secret_key.expose_secret());
        let mut authorization = HeaderValue::try_from(bearer).map_err(|_| TransportError::Credentials)?;
        authorization.set_sensitive(true);
        let transport = Transport::new(Reach {
            connect_timeout: account.connect_timeout,
            read_timeout: account.policy.send_timeout,
            read_budget,
            rate_limit_per_s: account.rate_limit_per_s,
            request_id_header: REQUEST_ID,
        })?;
        Ok(Self { transport, base_url: account.base_url.clone(), authorization, look_up_timeout })
    }
}

#[async_trait]
impl Provider for Stripe {
    fn declaration(&self) -> &Declaration {
        &declaration::STRIPE
    }

    fn prepare(&self, terms: &Terms<'_>) -> ProviderRequest {
        request::prepare(terms)
    }

    async fn pace(&self) {
        self.transport.pace().await;
    }

    async fn send(&self, intent: &Intent, client_request_id: &str, deadline: Instant) -> SendReport {
        answer::send(self, intent, client_request_id, deadline).await
    }

    async fn look_up(&self, intent: &Intent, known: &[String], started_at: Timestamp) -> LookUpReport {
        look_up::look_up(self, intent, known, started_at).await
    }
}

#[cfg(test)]
mod tests;
