//! HTTP to one provider account: what left, what came back, and nothing about what it means.
//!
//! Two clients. The *writer* opens a connection for each send and closes it: an idle one may have been closed by the other side,
//! and then nobody could say whether the request arrived. It speaks HTTP/1.1, where one connection carries one exchange. The
//! *reader* keeps connections. Neither follows redirects, takes a proxy from the environment (a proxy answers in the provider's
//! name, and `not_sent` would no longer be provable), or sends anything twice by itself: reqwest's retries are `never()`, and
//! hyper's `retry_canceled_requests`, which reqwest doesn't expose, acts on reused connections only, of which the writer has none;
//! a body behind the gate can't be repeated in any case.

mod gate;
mod read;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use counterfoil_ledger::attempt::Why;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use reqwest::{Client, ClientBuilder, Method, Response, Url};
use tokio::time::timeout_at;

use gate::Gate;
pub use read::{Question, ReadBudget, ReadOutcome};

/// The most bytes that are read of an answer to a send.
const WRITE_ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// The most bytes that are read of an answer to a read: a page of a hundred objects with all the metadata that they may have.
const READ_ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How an account is reached.
#[derive(Debug, Clone)]
pub struct Reach {
    /// Name, TCP and TLS together.
    pub connect_timeout: Duration,
    /// One try of a read.
    pub read_timeout: Duration,
    pub read_budget: ReadBudget,
    /// Requests per second, reads and writes together; at least 1.
    pub rate_limit_per_s: u32,
    /// The header in which the provider names its request.
    pub request_id_header: &'static str,
}

/// Why no transport can be had.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    #[error("no TLS provider is installed in this process")]
    NoTlsProvider,
    #[error("the account's secret can't stand in a header")]
    Credentials,
    #[error("the HTTP client can't be built: {0}")]
    Client(#[from] reqwest::Error),
}

/// The way to one account.
#[derive(Debug)]
pub struct Transport {
    writer: Client,
    reader: Client,
    limiter: DefaultDirectRateLimiter,
    reach: Reach,
}

/// A request that changes something.
#[derive(Debug, Clone)]
pub struct Outgoing {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    /// Never empty: the gate stands before its first byte.
    pub body: String,
}

/// What became of a request.
#[derive(Debug, Clone)]
pub enum Exchange {
    /// Provably not one byte of the request left.
    NotSent(NotSent),
    /// It may have arrived; no status came back.
    NoAnswer(NoAnswer),
    /// A status came back.
    Answered(Answered),
}

/// Why nothing left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// It isn't a request: a header that can't be one, an empty body.
    NotBuilt,
    /// The name wasn't found, the connection was refused or took too long, TLS failed.
    ConnectFailed,
    /// The deadline passed before the first byte.
    DeadlinePassed,
}

/// Why no status came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    TimedOut,
    ConnectionLost,
}

impl From<NotSent> for Why {
    fn from(why: NotSent) -> Self {
        match why {
            NotSent::NotBuilt => Self::NotBuilt,
            NotSent::ConnectFailed => Self::ConnectFailed,
            NotSent::DeadlinePassed => Self::DeadlinePassed,
        }
    }
}

impl From<NoAnswer> for Why {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::TimedOut => Self::TimedOut,
            NoAnswer::ConnectionLost => Self::ConnectionLost,
        }
    }
}

/// An answer, as far as it was read.
#[derive(Debug, Clone)]
pub struct Answered {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// The body was read to its end, and wasn't too long.
    pub whole: bool,
}

impl Answered {
    /// A header's text; one that isn't ASCII reads as absent.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl Transport {
    /// Builds both clients. The process must have installed a TLS provider.
    ///
    /// # Errors
    /// [`TransportError`]; certificates of the system that can't be read among them.
    pub fn new(reach: Reach) -> Result<Self, TransportError> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            return Err(TransportError::NoTlsProvider);
        }
        let rate = NonZeroU32::new(reach.rate_limit_per_s).unwrap_or(NonZeroU32::MIN);
        Ok(Self {
            writer: client(&reach).pool_max_idle_per_host(0).http1_only().build()?,
            reader: client(&reach).build()?,
            limiter: RateLimiter::direct(Quota::per_second(rate)),
            reach,
        })
    }

    /// Waits for the account's turn. A read does so by itself; whoever sends does so before the mark, because the deadline runs
    /// from there.
    pub async fn pace(&self) {
        self.limiter.until_ready().await;
    }

    /// Sends a request once. Nothing of it leaves after `deadline`, and the exchange is over by then.
    ///
    /// Whether something left is not read from an error's kind: the body stands behind a gate that opens just before the first
    /// byte, once, and only before the deadline. An exchange that ends with the gate unopened shuts it, and nothing left.
    pub async fn exchange(&self, request: Outgoing, deadline: Instant) -> Exchange {
        if request.body.is_empty() {
            return Exchange::NotSent(NotSent::NotBuilt);
        }
        if Instant::now() >= deadline {
            return Exchange::NotSent(NotSent::DeadlinePassed);
        }
        let gate = Arc::new(Gate::until(deadline));
        let answer = timeout_at(deadline.into(), self.write(request, &gate)).await;
        let error = match answer {
            Ok(Ok(response)) => {
                return Exchange::Answered(answered(response, deadline, WRITE_ANSWER_BYTES_MAX).await);
            }
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        };
        let text = error.as_ref().map_or_else(|| "deadline".to_owned(), chain);
        tracing::debug!(error = text, left = !gate.shut(), "A send ended without an answer.");
        match (gate.shut(), error) {
            (true, Some(error)) if error.is_builder() => Exchange::NotSent(NotSent::NotBuilt),
            (true, _) if Instant::now() >= deadline => Exchange::NotSent(NotSent::DeadlinePassed),
            (true, _) => Exchange::NotSent(NotSent::ConnectFailed),
            (false, None) => Exchange::NoAnswer(NoAnswer::TimedOut),
            (false, Some(_)) => Exchange::NoAnswer(NoAnswer::ConnectionLost),
        }
    }

    async fn write(&self, request: Outgoing, gate: &Arc<Gate>) -> Result<Response, reqwest::Error> {
        let length = HeaderValue::from(request.body.len());
        self.writer
            .request(request.method, request.url)
            .headers(request.headers)
            // The length of a body behind a gate isn't seen by the client.
            .header(CONTENT_LENGTH, length)
            .body(gate.hold(request.body))
            .send()
            .await
    }
}

fn client(reach: &Reach) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("counterfoil/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(reach.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
}

/// Reads an answer's body, at most `bytes_max` of it and not past the deadline.
async fn answered(mut response: Response, deadline: Instant, bytes_max: usize) -> Answered {
    let status = response.status().as_u16();
    let headers = std::mem::take(response.headers_mut());
    let mut body = Vec::new();
    let whole = loop {
        match timeout_at(deadline.into(), response.chunk()).await {
            Ok(Ok(Some(chunk))) if body.len() + chunk.len() <= bytes_max => body.extend_from_slice(&chunk),
            Ok(Ok(None)) => break true,
            Ok(Ok(Some(_)) | Err(_)) | Err(_) => break false,
        }
    };
    Answered { status, headers, body, whole }
}

/// An error with its causes, which reqwest leaves out of its own text.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
