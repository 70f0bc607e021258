//! One provider account at run time: its adapter, its policy, and whether it answers at all.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use counterfoil_ledger::decide::Policy;
use counterfoil_ledger::words::Speaker;
use tokio::sync::Semaphore;

use crate::provider::Provider;

/// Look-ups and sends of the daemon at once, per account.
const AT_ONCE: usize = 8;
/// Look-ups in a row that must fail before the account counts as down.
const FAILURES_TO_OPEN: u32 = 5;
const FIRST_PROBE: Duration = Duration::from_secs(2);
const LONGEST_PROBE: Duration = Duration::from_secs(60);

/// One account.
pub struct Account {
    pub provider: Arc<dyn Provider>,
    pub policy: Policy,
    /// SHA-256 of the secret: a changed secret ends a pause.
    pub secret_digest: String,
    pub(super) slots: Arc<Semaphore>,
    breaker: Mutex<Breaker>,
}

/// Reads that failed in a row open the breaker; one probe at a time may close it. Writes have their own brake (the pause).
#[derive(Debug, Default)]
struct Breaker {
    failures: u32,
    /// When the next probe may go, and how long the one after that would wait.
    open: Option<(Instant, Duration)>,
}

/// What a result of a look-up did to the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turned {
    Down,
    Up,
    Nothing,
}

impl Account {
    /// Puts an account together.
    pub fn new(provider: Arc<dyn Provider>, policy: Policy, secret_digest: String) -> Self {
        Self {
            provider,
            policy,
            secret_digest,
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            breaker: Mutex::default(),
        }
    }

    /// How the provider is called and counts.
    pub fn speaker(&self) -> Speaker<'_> {
        let declaration = self.provider.declaration();
        Speaker { provider: declaration.name, exponents: declaration.exponents }
    }

    /// How long until a look-up may be tried; `None`: now. While the account is down only the probe goes.
    pub fn look_up_in(&self) -> Option<Duration> {
        let mut breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, gap) = breaker.open?;
        let now = Instant::now();
        if at > now {
            return Some(at - now);
        }
        // This caller is the probe; the others wait for what it finds.
        breaker.open = Some((now + gap, (2 * gap).min(LONGEST_PROBE)));
        None
    }

    /// Takes in whether a look-up could be read.
    pub fn looked_up(&self, read: bool) -> Turned {
        let mut breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        if read {
            let was_down = breaker.open.is_some();
            *breaker = Breaker::default();
            return if was_down { Turned::Up } else { Turned::Nothing };
        }
        breaker.failures = breaker.failures.saturating_add(1);
        if breaker.open.is_none() && breaker.failures >= FAILURES_TO_OPEN {
            breaker.open = Some((Instant::now() + FIRST_PROBE, 2 * FIRST_PROBE));
            return Turned::Down;
        }
        Turned::Nothing
    }
}
