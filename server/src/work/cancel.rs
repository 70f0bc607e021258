//! "We intend to stop" (rule 14): before the mark it cancels; after it, it only stops further sends and says so.

use counterfoil_ledger::decide::{Draft, Reason};
use counterfoil_ledger::entry::{Actor, Entry};
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::state::{Event, State};

use super::restore::in_doubt;
use super::{WorkError, Works};
use crate::store::{Change, LeaseRule, Loaded, Step, Written};

const TRIES: u32 = 16;

impl Works {
    /// Cancels, as far as that can be done. `None`: there is no such operation.
    ///
    /// # Errors
    /// [`WorkError`] when it couldn't be written; then nothing changed.
    pub async fn cancel(&self, id: &OperationId, actor: Actor) -> Result<Option<Loaded>, WorkError> {
        for _ in 0..TRIES {
            let Some(loaded) = self.store.load(id).await? else { return Ok(None) };
            if loaded.operation.facts.cancel_asked {
                return Ok(Some(loaded));
            }
            let now = self.store.now().await?;
            let mut draft = Draft::of(&loaded.operation, &actor, now);
            draft.write(Entry::CancelAsked)?;
            draft.raise(Event::Cancelled)?;
            let stopped = draft.operation.facts.state == State::Cancelled;
            // After a restore it may have been sent all the same: it is looked for.
            let policy = &self.account(&loaded.operation.intent)?.policy;
            let doubt = self.store.restored_at().await?.map(|_| in_doubt(policy));
            let step = stopped.then_some(Step {
                due_at: doubt.map(|_| now),
                reason: doubt.unwrap_or(Reason::StoppedBeforeSending),
            });
            let change = Change {
                after: draft.operation.clone(),
                expected_seq: loaded.operation.facts.seq,
                head: loaded.head.clone(),
                entries: draft.entries,
                step: step.clone(),
                lease: LeaseRule::NotNeeded,
                effects: Vec::new(),
                bodies: Vec::new(),
                now,
            };
            // A sender that marked in between wins, and is told apart on the next reading.
            if let Written::Done(head) = self.store.write(change).await? {
                let step = step.unwrap_or(loaded.step.clone());
                return Ok(Some(Loaded { operation: draft.operation, head, step, ..loaded }));
            }
        }
        Ok(self.store.load(id).await?)
    }
}
