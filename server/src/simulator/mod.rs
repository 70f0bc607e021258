//! A provider to test against: Stripe's API v1, as far as refunds need it, with faults on demand.
//!
//! It stands alone. Nothing of the ledger or of the rest of the server is known here, nothing but the demo and tests knows
//! this module, and `serve` never mounts it. All state is in memory.
//!
//! # What is served
//!
//! Payment intents (create, confirm, retrieve; captured at once), charges (retrieve, list), refunds (create, retrieve, list).
//! Keys, errors, paging and signatures follow Stripe's documentation. Object expansion isn't served: `expand` is refused like
//! every parameter that isn't known.
//!
//! # Choices where the documentation is silent
//!
//! - Validation of parameters, authentication and conflicts over a key come before the endpoint, and nothing of theirs is stored. An
//!   unknown payment and every rule of money are the endpoint's: those refusals are results, stored and replayed.
//! - More than what remains: 400 `amount_too_large` with `param` `amount`. Nothing remains: 400 `charge_already_refunded`.
//! - The key is known from its first request for 24 h, not from its result. One account, so one space of keys whatever the secret.
//! - A fault comes before authentication: it is the network's or the provider's front door.
//! - `capped` lists reach `cap` objects (default 100); behind them come empty pages that still say `has_more`.
//!
//! The other choices stand with what they are about: [`fault::Happens`], [`fault::Answer`], [`mode::LookupMode`].

mod account;
mod answer;
mod clock;
mod command;
mod connection;
mod control;
mod exchange;
pub mod fault;
mod keys;
mod late;
pub mod mode;
mod orders;
mod page;
mod parameters;
mod payment;
mod provider;
mod refund;
mod state;
mod webhook;
mod wire;

use std::{
    io::{self, Write},
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::Router;
use jiff::Timestamp;
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;

use self::state::State;

pub use self::{
    connection::serve,
    orders::{MinorUnits, NewPayment, NewRefund, Paid, RefundChange, Rejected},
    refund::{Effect, Status},
    state::Seen,
    webhook::{Webhook, signature},
};

/// The version of the API that is spoken, as `Stripe-Version` and in events.
const API_VERSION: &str = "2026-10-28.endive";

/// How a simulator starts.
#[derive(Clone, Default)]
pub struct Settings {
    /// Who is told by webhook; can be set later.
    pub webhook: Option<Webhook>,
    /// The only secret key that is accepted; without it any that starts with `sk_`.
    pub secret_key: Option<String>,
}

/// A provider in memory. Clones share it.
#[derive(Clone)]
pub struct Simulator {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    /// Moves when the clock was advanced or a late effect has joined.
    stirred: watch::Sender<u64>,
}

impl Simulator {
    /// An empty account.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let mut state = State::default();
        state.provider.secret_key = settings.secret_key;
        state.outbox.receiver = settings.webhook;
        Self { inner: Arc::new(Inner { state: Mutex::new(state), stirred: watch::Sender::new(0) }) }
    }

    /// What the simulator's clock shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.state().clock.now()
    }

    /// The state, in which everything that is due has happened.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.clock.now();
        state.apply_due(now);
        state
    }
}

/// Serves a new simulator on 127.0.0.1 until `shutdown`, and says on standard output where; port 0 takes any.
///
/// # Errors
/// If the port can't be had.
pub async fn run(port: u16, settings: Settings, shutdown: CancellationToken) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    writeln!(io::stdout(), "simulator listening on http://{address}")?;
    io::stdout().flush()?;
    serve(listener, Simulator::new(settings), shutdown).await
}

fn router(simulator: Simulator) -> Router {
    control::routes().fallback(answer::answer).with_state(simulator)
}
