//! Signed webhooks: what is told, how it is signed, and a delivery that gives up after a few tries.
//!
//! Deliveries run side by side, so they may overtake each other, as Stripe's do. What happens while no receiver is set is
//! told to nobody, then or later.

use std::{collections::VecDeque, fmt::Display, io, sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::Sha256;
use tokio::sync::Notify;

use super::{
    Simulator,
    account::{Event, new_number},
};

/// Tries per event.
const TRIES: u32 = 5;
/// Pause before the second try; doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// Deliveries under way at once.
const CONCURRENCY: usize = 4;

/// Who is told.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// An `http://` address; the simulator speaks no TLS.
    pub url: String,
    /// What the signatures are made with.
    pub secret: String,
}

/// What is still to be told.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) receiver: Option<Webhook>,
    waiting: VecDeque<Letter>,
    filled: Arc<Notify>,
}

/// One event on its way.
struct Letter {
    receiver: Webhook,
    body: String,
}

impl Outbox {
    pub(super) fn push(&mut self, event: Event, request_id: &str, key: Option<&str>) {
        let Some(receiver) = self.receiver.clone() else { return };
        let request_id = Some(request_id).filter(|id| !id.is_empty());
        let body = json!({
            "id": new_number("evt_"),
            "object": "event",
            "api_version": super::API_VERSION,
            "created": event.at.as_second(),
            "data": { "object": event.object },
            "livemode": false,
            "pending_webhooks": 1,
            "request": { "id": request_id, "idempotency_key": key },
            "type": event.kind,
        });
        self.waiting.push_back(Letter { receiver, body: body.to_string() });
        self.filled.notify_one();
    }
}

/// The value of `Stripe-Signature` for `body`, sent at `second`.
///
/// # Errors
/// Never in practice: HMAC takes a secret of any length.
pub fn signature(secret: &str, second: i64, body: &str) -> io::Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(io::Error::other)?;
    mac.update(format!("{second}.{body}").as_bytes());
    Ok(format!("t={second},v1={}", hex::encode(mac.finalize().into_bytes())))
}

/// Delivers what comes into the outbox, for ever.
pub(super) async fn deliver(simulator: Simulator, client: reqwest::Client) {
    let filled = Arc::clone(&simulator.state().outbox.filled);
    let letters = stream::unfold(filled, |filled| async {
        loop {
            let next = simulator.state().outbox.waiting.pop_front();
            if let Some(letter) = next {
                return Some((letter, filled));
            }
            filled.notified().await;
        }
    });
    letters.for_each_concurrent(CONCURRENCY, |letter| carry(&simulator, &client, letter)).await;
}

async fn carry(simulator: &Simulator, client: &reqwest::Client, letter: Letter) {
    let mut pause = FIRST_PAUSE;
    for attempt in 1..=TRIES {
        match post(simulator, client, &letter).await {
            Ok(()) => return,
            Err(problem) => tracing::debug!(attempt, problem, "a webhook of the simulator was not taken"),
        }
        if attempt < TRIES {
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }
    tracing::warn!(url = letter.receiver.url, tries = TRIES, "the simulator gives up on a webhook");
}

async fn post(simulator: &Simulator, client: &reqwest::Client, letter: &Letter) -> Result<(), String> {
    let second = simulator.now().as_second();
    let signature = signature(&letter.receiver.secret, second, &letter.body).map_err(text)?;
    let answer = client
        .post(&letter.receiver.url)
        .header("content-type", "application/json; charset=utf-8")
        .header("stripe-signature", signature)
        .body(letter.body.clone())
        .send()
        .await
        .map_err(text)?;
    if answer.status().is_success() { Ok(()) } else { Err(answer.status().to_string()) }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// A client for `http://` only: its TLS trusts nobody.
///
/// # Errors
/// If it can't be built.
pub(super) fn client() -> io::Result<reqwest::Client> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(DELIVERY_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .map_err(io::Error::other)
}
