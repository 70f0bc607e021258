//! Effects that come late, and waiting on the simulator's clock.
//!
//! Whoever looks at the state sees everything that is due; the loop here is for the webhooks and for callers who wait.

use std::{future, time::Duration};

use jiff::Timestamp;
use tokio::sync::{oneshot, watch};

use super::{
    Simulator,
    provider::{Begun, Keep},
    state::State,
    wire::Reply,
};

/// A write that has begun and will be executed.
pub(super) struct Late {
    pub(super) due: Timestamp,
    pub(super) begun: Begun,
    pub(super) keep: Keep,
    /// Who may still be waiting for the answer.
    pub(super) caller: oneshot::Sender<Reply>,
}

impl State {
    /// Executes what is due.
    pub(super) fn apply_due(&mut self, now: Timestamp) {
        while let Some(place) = self.next_late().filter(|place| self.late[*place].due <= now) {
            let Late { due, begun, keep, caller } = self.late.remove(place);
            let reply = self.provider.finish(begun, keep, due);
            self.collect_events("", None);
            // A caller that has gone can't be told.
            let _gone = caller.send(reply);
        }
    }

    /// When the next late effect is due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.next_late().map(|place| self.late[place].due)
    }

    fn next_late(&self) -> Option<usize> {
        (0..self.late.len()).min_by_key(|place| self.late[*place].due)
    }
}

impl Simulator {
    /// Wakes those who wait for the clock.
    pub(super) fn stir(&self) {
        self.inner.stirred.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Carries out late effects as they fall due, for ever.
    pub(super) async fn run_late(&self) {
        let mut stirred = self.inner.stirred.subscribe();
        loop {
            stirred.mark_unchanged();
            let due = self.state().next_due();
            self.wait(due, &mut stirred).await;
        }
    }

    /// Waits until the simulator's clock shows `due`.
    pub(super) async fn reach(&self, due: Timestamp) {
        let mut stirred = self.inner.stirred.subscribe();
        while self.now() < due {
            self.wait(Some(due), &mut stirred).await;
        }
    }

    /// Waits for `due` or for a move of the clock, whichever is first.
    async fn wait(&self, due: Option<Timestamp>, stirred: &mut watch::Receiver<u64>) {
        let left = due.map(|due| {
            let left = due.duration_since(self.now());
            Duration::try_from(left).unwrap_or_default().saturating_add(Duration::from_millis(1))
        });
        let pause = async {
            match left {
                Some(left) => tokio::time::sleep(left).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            () = pause => {}
            // The sender lives as long as `self`.
            _changed = stirred.changed() => {}
        }
    }
}
