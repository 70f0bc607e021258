//! The gate before the first byte of a write.
//!
//! HTTP/1.1 puts a request's head into a buffer, then asks the body for its first bytes, and only then writes: as long as the body
//! hasn't been asked, nothing has left. (hyper 1: `proto/h1/dispatch.rs`, `poll_write` before `poll_flush`.) So the body is where
//! the deadline is checked, after name, TCP and TLS, in the last moment there is: a process that slept in between sends nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use futures::stream;
use reqwest::Body;

const WAITING: u8 = 0;
const OPENED: u8 = 1;
const SHUT: u8 = 2;

/// Opens at most once, before its deadline, unless it was shut first.
#[derive(Debug)]
pub(super) struct Gate {
    state: AtomicU8,
    deadline: Instant,
}

/// The gate was shut, or its time is over.
#[derive(Debug, thiserror::Error)]
#[error("the deadline passed before the first byte")]
struct TooLate;

impl Gate {
    pub(super) fn until(deadline: Instant) -> Self {
        Self { state: AtomicU8::new(WAITING), deadline }
    }

    /// The body that passes when the gate opens.
    pub(super) fn hold(self: &Arc<Self>, body: String) -> Body {
        let gate = Arc::clone(self);
        Body::wrap_stream(stream::once(async move { gate.open().map(|()| body) }))
    }

    fn open(&self) -> Result<(), TooLate> {
        let in_time = Instant::now() < self.deadline;
        if in_time && self.turn(OPENED) { Ok(()) } else { Err(TooLate) }
    }

    /// Shuts it for good; `false` if it was opened already, and bytes may have left.
    pub(super) fn shut(&self) -> bool {
        self.turn(SHUT)
    }

    /// Whether it stands at `to` now. The first who turns it decides.
    fn turn(&self, to: u8) -> bool {
        match self.state.compare_exchange(WAITING, to, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            // Shutting twice is shutting; passing twice is not.
            Err(stands_at) => stands_at == to && to == SHUT,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use super::*;

    #[test]
    fn a_gate_opens_once_and_then_says_so() {
        let gate = Gate::until(Instant::now() + Duration::from_secs(60));
        gate.open().unwrap();
        gate.open().unwrap_err();
        assert!(!gate.shut());
    }

    #[test]
    fn a_gate_that_was_shut_never_opens() {
        let gate = Gate::until(Instant::now() + Duration::from_secs(60));
        assert!(gate.shut() && gate.shut());
        gate.open().unwrap_err();
        assert!(gate.shut());
    }

    #[test]
    fn a_gate_past_its_deadline_never_opens() {
        let gate = Gate::until(Instant::now());
        gate.open().unwrap_err();
        assert!(gate.shut());
    }
}
