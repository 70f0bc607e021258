//! From a request to a recorded operation: identity, amount, reservation, one transaction. Then the first send.
//!
//! Everything is judged on what the store read under the payment's lock, so that of two requests at once the second sees the
//! first. Asking again never sends: it makes the row due for a look-up.

mod judge;

use std::sync::Arc;
use std::time::Duration;

use counterfoil_ledger::decide::{Action, Draft, Seen, decide};
use counterfoil_ledger::entry::{Actor, Asked, Entry};
use counterfoil_ledger::identity::{IdentityValue, OperationId, Revision};
use counterfoil_ledger::kind::{Kind, ORDER};
use counterfoil_ledger::money::Money;
use tokio::task::JoinHandle;

use super::send::Sent;
use super::{WorkError, Works};
use crate::store::{Change, LeaseRule, Loaded, Place, Recorded, Refusal, StoreError, Written};
use judge::field;

/// One look-up per this long, however many ask.
pub const LOOK_UP_GAP: Duration = Duration::from_secs(5);
/// Tries to write a repeat's words down against others who write.
const TRIES: u32 = 8;

/// What is asked for, its form already checked.
#[derive(Debug, Clone)]
pub struct Ask {
    pub kind: Kind,
    pub identity: Vec<(String, IdentityValue)>,
    pub revision: Revision,
    /// As given; `None` only when there were none.
    pub params: Option<serde_json::Value>,
    pub wanted: Wanted,
    pub customer: Option<String>,
    pub asked: Asked,
}

/// The amount that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The rest of the line.
    Rest,
    /// So many pieces of the line.
    Quantity(u32),
    /// This much.
    Amount(Money),
}

/// What became of a request.
#[derive(Debug)]
pub enum Answer {
    /// It was recorded by this request; the handle ends when its first send has, if there is one.
    New(Box<Loaded>, Option<JoinHandle<()>>),
    /// It was there.
    Repeat(Box<Loaded>),
    /// It was there with other parameters.
    Mismatch {
        stored: Box<Loaded>,
        fields: Vec<String>,
    },
    Refused(Refusal),
    /// Nothing was recorded, so nothing was sent.
    NotRecorded,
    /// It may be recorded and may be sent.
    RecordingUnknown,
}

impl Works {
    /// Records an operation, or finds the one that is there. A new one that may be sent is on its way when this returns.
    ///
    /// # Errors
    /// [`WorkError`] for faults inside; a store that couldn't record is an answer, not an error.
    pub async fn authorize(self: &Arc<Self>, ask: Ask) -> Result<Answer, WorkError> {
        let values: Vec<IdentityValue> = ask.identity.iter().map(|(_, value)| value.clone()).collect();
        let id = match OperationId::compute(&ask.kind.name, &values, ask.revision) {
            Ok(id) => id,
            Err(error) => return Ok(refused("identity", error.to_string())),
        };
        let base_id = match OperationId::compute(&ask.kind.name, &values, Revision::FIRST) {
            Ok(id) => id,
            Err(error) => return Ok(refused("identity", error.to_string())),
        };
        let Some(order) =
            ask.identity.iter().find(|(field, _)| field == ORDER).map(|(_, value)| value.to_string())
        else {
            return Ok(refused("identity.order", "is missing".to_owned()));
        };
        // The common repeat needs no lock.
        match self.store.load(&id).await {
            Ok(Some(stored)) => return self.repeat(stored, &ask).await,
            Ok(None) => {}
            Err(error) => return unread(&id, error),
        }
        let now = match self.store.now().await {
            Ok(now) => now,
            Err(error) => return self.after_failed_record(&id, &ask, &error).await,
        };
        let lease = self.new_lease();
        let place = Place { id: id.clone(), base_id, order, now };
        let judge = self.judge(ask.clone(), place.clone(), lease.clone())?;
        match self.store.record(place, judge).await {
            Ok(Recorded::New(new)) => {
                let sending = new.lease.is_some().then(|| self.send_first(new.as_ref().clone(), lease));
                self.due.notify_one();
                Ok(Answer::New(new, sending))
            }
            Ok(Recorded::Existing(stored)) => self.repeat(*stored, &ask).await,
            Ok(Recorded::Refused(refusal)) => Ok(Answer::Refused(refusal)),
            Err(StoreError::CommitUnknown { .. }) => self.after_lost_commit(&id, lease).await,
            Err(error @ (StoreError::Failed { .. } | StoreError::Closing)) => {
                self.after_failed_record(&id, &ask, &error).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// This request recorded nothing. Whether another one did meanwhile is read, or it isn't said that nothing was sent.
    async fn after_failed_record(
        self: &Arc<Self>,
        id: &OperationId,
        ask: &Ask,
        error: &StoreError,
    ) -> Result<Answer, WorkError> {
        tracing::error!(operation = %id, error = %error, "an operation couldn't be recorded; nothing was sent for this request");
        match self.store.load(id).await {
            Ok(Some(stored)) => self.repeat(stored, ask).await,
            Ok(None) => Ok(Answer::NotRecorded),
            Err(error) => unread(id, error),
        }
    }

    /// The answer to COMMIT was lost: only what can be read back is said.
    async fn after_lost_commit(
        self: &Arc<Self>,
        id: &OperationId,
        lease: String,
    ) -> Result<Answer, WorkError> {
        match self.store.load(id).await {
            Ok(Some(read)) if read.lease.as_ref().is_some_and(|(token, _)| *token == lease) => {
                let sending = self.send_first(read.clone(), lease);
                Ok(Answer::New(Box::new(read), Some(sending)))
            }
            Ok(Some(read)) => Ok(Answer::Repeat(Box::new(read))),
            // It isn't there now. Whether the lost commit may still land, nobody can say.
            Ok(None) | Err(_) => Ok(Answer::RecordingUnknown),
        }
    }

    /// The first send goes on even when the caller hangs up.
    fn send_first(self: &Arc<Self>, new: Loaded, lease: String) -> JoinHandle<()> {
        let works = Arc::clone(self);
        self.tasks.spawn(async move {
            let id = new.operation.id.clone();
            if let Err(error) = works.send_new(new, &lease).await {
                tracing::error!(operation = %id, error = %error, "the first send wasn't finished; the daemon goes on with the row");
            }
            works.due.notify_one();
        })
    }

    async fn send_new(&self, mut new: Loaded, lease: &str) -> Result<(), WorkError> {
        let id = new.operation.id.clone();
        let mut tries = 0;
        let step = loop {
            let intent = &new.operation.intent;
            let circumstances = self.circumstances(intent, new.operation.facts.state).await?;
            let policy = &self.account(intent)?.policy;
            let decision = decide(&new.operation, Seen::Timer, &self.sender(), policy, &circumstances)?;
            let step = super::step_of(&decision, circumstances.now);
            if decision.action != Action::Send {
                break step;
            }
            match self.send(new, decision, lease, Vec::new()).await? {
                Sent::Ended(_) => return Ok(()),
                Sent::NotNow => break step,
                // Somebody asked again in between, or stopped it.
                Sent::Overtaken => {
                    tries += 1;
                    match self.store.load(&id).await? {
                        Some(fresh) if tries < TRIES => new = fresh,
                        _ => break step,
                    }
                }
            }
        };
        Ok(self.store.reschedule(&id, lease, &step).await?)
    }

    /// Asked again: compared, written down, made due. Never sent.
    async fn repeat(&self, mut stored: Loaded, ask: &Ask) -> Result<Answer, WorkError> {
        let fields = differences(&stored, ask);
        if !fields.is_empty() {
            return Ok(Answer::Mismatch { stored: Box::new(stored), fields });
        }
        for _ in 0..TRIES {
            let now = self.store.now().await?;
            let mut draft = Draft::of(&stored.operation, &Actor::Token(ask.asked.token.clone()), now);
            draft.write(Entry::Asked(ask.asked.clone()))?;
            let change = Change {
                after: draft.operation.clone(),
                expected_seq: stored.operation.facts.seq,
                head: stored.head.clone(),
                entries: draft.entries,
                step: None,
                lease: LeaseRule::NotNeeded,
                effects: Vec::new(),
                bodies: Vec::new(),
                now,
            };
            match self.store.write(change).await {
                Ok(Written::Done(head)) => {
                    stored.operation = draft.operation;
                    stored.head = head;
                    break;
                }
                Ok(Written::Conflict) => {
                    stored = self.store.load(&stored.operation.id).await?.unwrap_or(stored);
                }
                // What is known is still the right answer when the words can't be kept.
                Err(error) => {
                    tracing::warn!(operation = %stored.operation.id, error = %error, "a repeated request's words weren't kept");
                    break;
                }
            }
        }
        if !stored.operation.facts.state.is_final() {
            let now = self.store.now().await?;
            if self.store.ask_look_up(&stored.operation.id, now, LOOK_UP_GAP).await.unwrap_or(false) {
                stored.step.due_at = Some(now);
                self.due.notify_one();
            }
        }
        Ok(Answer::Repeat(Box::new(stored)))
    }
}

/// The database doesn't answer. An earlier request may have recorded and sent it, so nothing better can be said.
fn unread(id: &OperationId, error: StoreError) -> Result<Answer, WorkError> {
    match error {
        StoreError::Failed { .. } | StoreError::Closing => {
            tracing::error!(operation = %id, error = %error, "whether an operation is recorded couldn't be read");
            Ok(Answer::RecordingUnknown)
        }
        error => Err(error.into()),
    }
}

fn refused(name: &str, detail: String) -> Answer {
    Answer::Refused(field(name, detail))
}

/// The names of what differs from the stored operation. What the order says isn't compared again.
fn differences(stored: &Loaded, ask: &Ask) -> Vec<String> {
    let subject = &stored.operation.facts.subject;
    let mut fields = Vec::new();
    if subject.params != ask.params {
        let keys = |params: &Option<serde_json::Value>| -> Vec<String> {
            let object = params.as_ref().and_then(serde_json::Value::as_object);
            object.map(|object| object.keys().cloned().collect()).unwrap_or_default()
        };
        let get =
            |params: &Option<serde_json::Value>, key: &str| params.as_ref().and_then(|p| p.get(key)).cloned();
        let mut names = keys(&subject.params);
        names.extend(keys(&ask.params));
        names.sort();
        names.dedup();
        names.retain(|key| get(&subject.params, key) != get(&ask.params, key));
        if names.is_empty() {
            fields.push("params".to_owned());
        }
        fields.extend(names.into_iter().map(|name| format!("params.{name}")));
    }
    if ask.customer.is_some() && ask.customer != subject.customer {
        fields.push("customer".to_owned());
    }
    fields
}
