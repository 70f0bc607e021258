//! From a request to a recorded operation: identity, amount, reservation, one transaction. Then the first send.
//!
//! Everything is judged on what the store read under the payment's lock, so that of two requests at once the second sees the
//! first. Asking again never sends: it makes the row due for a look-up.

use std::sync::Arc;
use std::time::Duration;

use counterfoil_ledger::balance::{Holder, reserve};
use counterfoil_ledger::decide::{Action, Draft, Reason, Seen, decide};
use counterfoil_ledger::entry::{Actor, Asked, Entered, Entry, Hold, Subject};
use counterfoil_ledger::identity::{IdentityValue, Key, Marker, OperationId, Revision, look_alike};
use counterfoil_ledger::intent::Intent;
use counterfoil_ledger::kind::{AmountFrom, Kind, LINE_ITEM, ORDER};
use counterfoil_ledger::money::{Money, Use};
use counterfoil_ledger::state::State;
use counterfoil_ledger::window::{earlier, later};
use jiff::Timestamp;
use tokio::task::JoinHandle;

use super::send::Sent;
use super::{WorkError, Works};
use crate::provider::Terms;
use crate::store::{
    Change, Judge, LeaseRule, Loaded, NewOperation, OrderSnapshot, Place, Recorded, Refusal, Step,
    StoreError, Surroundings, Written,
};

/// One look-up per this long, however many ask.
pub const LOOK_UP_GAP: Duration = Duration::from_secs(5);
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
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
                let sending = (new.operation.facts.state == State::Authorized)
                    .then(|| self.send_first(new.as_ref().clone(), lease));
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

    /// The judgement over a new operation: pure, and called with the payment locked.
    fn judge(&self, ask: Ask, place: Place, lease: String) -> Result<Judge, WorkError> {
        let account = self
            .accounts
            .get(&ask.kind.account)
            .ok_or_else(|| WorkError::NoAccount(ask.kind.account.clone()))?;
        let provider = Arc::clone(&account.provider);
        let namespace = self.namespace.clone();
        let lease_until = later(place.now, self.lease);
        Ok(Arc::new(move |around: &Surroundings| {
            let order = payable_order(&ask, around)?;
            check_revision(&ask, &place, around)?;
            let money = amount(&ask, &place, order, around)?;
            let declaration = provider.declaration();
            declaration
                .exponents
                .check(money, Use::Refund)
                .map_err(|error| field("params.amount", error.to_string()))?;
            let holders: Vec<Holder> =
                on_payment(around, order).map(crate::store::Neighbour::holder).collect();
            reserve(around.captured_minor, around.foreign_minor, holders, money.minor()).map_err(
                |exceeds| Refusal::Exceeds {
                    of: "payment",
                    exceeds: Box::new(exceeds),
                    currency: money.currency(),
                },
            )?;
            let holds = holds(&ask, &place, money, order, around);
            let marker = Marker::compute(&namespace, &place.id);
            let key = Key::compute(declaration.key_rule, &namespace, &place.id);
            let terms =
                Terms { effect: ask.kind.effect, target: &order.payment, money, marker: &marker, key: &key };
            let request = provider.prepare(&terms);
            let intent = Intent {
                account: ask.kind.account.clone(),
                effect: ask.kind.effect,
                target: order.payment.clone(),
                money,
                marker,
                key,
                request,
            };
            let (intent_text, intent_hash) =
                intent.seal().map_err(|error| Refusal::Fault(error.to_string()))?;
            let state = if holds.is_empty() { State::Authorized } else { State::AwaitingApproval };
            let authorized = state == State::Authorized;
            Ok(NewOperation {
                intent,
                intent_text,
                intent_hash,
                entries: first_entries(&ask, order, state, holds, place.now),
                step: Step {
                    due_at: authorized.then_some(place.now),
                    reason: if authorized { Reason::ReadyToSend } else { Reason::WaitsForApproval },
                },
                lease: authorized.then(|| (lease.clone(), lease_until)),
            })
        }))
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

fn field(name: &str, detail: impl Into<String>) -> Refusal {
    Refusal::Field { field: name.to_owned(), detail: detail.into() }
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

fn payable_order<'a>(ask: &Ask, around: &'a Surroundings) -> Result<&'a OrderSnapshot, Refusal> {
    let order = around.order.as_ref().ok_or_else(|| {
        field("identity.order", "is not an order that the ledger knows; PUT /v1/orders/{order} first")
    })?;
    if order.account != ask.kind.account {
        let detail = format!(
            "was paid through account {}, and {} operations go through {}",
            order.account, ask.kind.name, ask.kind.account
        );
        return Err(field("identity.order", detail));
    }
    if let Some(customer) = &ask.customer
        && order.customer.as_ref() != Some(customer)
    {
        return Err(field("customer", "is not the customer of this order"));
    }
    Ok(order)
}

fn check_revision(ask: &Ask, place: &Place, around: &Surroundings) -> Result<(), Refusal> {
    let Some(previous) = ask.revision.previous() else { return Ok(()) };
    let before = around
        .neighbours
        .iter()
        .find(|neighbour| neighbour.base_id == place.base_id && neighbour.revision == previous)
        .ok_or_else(|| {
            field("revision", format!("needs revision {}, which doesn't exist", previous.number()))
        })?;
    if before.state.is_final() {
        Ok(())
    } else {
        Err(Refusal::RevisionNotOpen { previous: before.id.clone(), state: before.state })
    }
}

fn on_payment<'a>(
    around: &'a Surroundings,
    order: &'a OrderSnapshot,
) -> impl Iterator<Item = &'a crate::store::Neighbour> {
    around
        .neighbours
        .iter()
        .filter(|neighbour| neighbour.account == order.account.as_str() && neighbour.target == order.payment)
}

/// How much: from the order's line, or from the caller within what was captured. Never from a model's head.
fn amount(ask: &Ask, place: &Place, order: &OrderSnapshot, around: &Surroundings) -> Result<Money, Refusal> {
    let in_currency = |money: Money| {
        if money.currency() == order.currency {
            Ok(money)
        } else {
            Err(field("params.amount.currency", format!("must be the order's currency, {}", order.currency)))
        }
    };
    if ask.kind.amount_from == AmountFrom::Caller {
        return match ask.wanted {
            Wanted::Amount(money) => in_currency(money),
            Wanted::Rest | Wanted::Quantity(_) => Err(field("params.amount", "is missing")),
        };
    }
    let line_id = ask.identity.iter().find(|(name, _)| name == LINE_ITEM).map(|(_, value)| value.as_str());
    let line = order
        .lines
        .iter()
        .find(|line| Some(line.id.as_str()) == line_id)
        .ok_or_else(|| field("identity.line_item", "is not a line of this order"))?;
    let siblings: Vec<Holder> = around
        .neighbours
        .iter()
        .filter(|neighbour| neighbour.base_id == place.base_id)
        .map(crate::store::Neighbour::holder)
        .collect();
    let rest = line.amount_minor.saturating_sub(counterfoil_ledger::balance::held_minor(&siblings));
    let minor = match ask.wanted {
        Wanted::Rest if rest > 0 => rest,
        Wanted::Rest => line.amount_minor,
        Wanted::Quantity(pieces) => pieces_of(line, pieces)?,
        Wanted::Amount(money) => in_currency(money)?.minor(),
    };
    reserve(line.amount_minor, 0, siblings, minor).map_err(|exceeds| Refusal::Exceeds {
        of: "line_item",
        exceeds: Box::new(exceeds),
        currency: order.currency,
    })?;
    Money::new(minor, order.currency).map_err(|error| field("identity.line_item", error.to_string()))
}

fn pieces_of(line: &crate::store::OrderLine, pieces: u32) -> Result<i64, Refusal> {
    let wrong = |detail: String| field("params.quantity", detail);
    let of = line
        .quantity
        .ok_or_else(|| wrong("can't be used: the order gives no quantity for this line".to_owned()))?;
    if pieces == 0 || pieces > of {
        return Err(wrong(format!("must be from 1 to {of}")));
    }
    let parts = i128::from(line.amount_minor) * i128::from(pieces);
    if parts % i128::from(of) != 0 {
        return Err(wrong("doesn't divide the line's amount evenly; say the amount instead".to_owned()));
    }
    i64::try_from(parts / i128::from(of)).map_err(|_| wrong("is too large".to_owned()))
}

/// Why a person must approve before the first send.
fn holds(ask: &Ask, place: &Place, money: Money, order: &OrderSnapshot, around: &Surroundings) -> Vec<Hold> {
    let mut holds = Vec::new();
    if ask.revision > Revision::FIRST {
        holds.push(Hold::Revision);
    }
    let month_ago = earlier(place.now, MONTH);
    let same_currency = |neighbour: &&crate::store::Neighbour| neighbour.currency == money.currency();
    let earlier_minor = around
        .neighbours
        .iter()
        .filter(same_currency)
        .filter(|neighbour| neighbour.order == order.id && neighbour.created_at >= month_ago)
        .fold(0_i64, |sum, neighbour| sum.saturating_add(neighbour.holds_minor));
    if ask.kind.needs_approval(money, earlier_minor) {
        holds.push(Hold::AboveLimit {
            limit_minor: ask.kind.approve_above.get(&money.currency()).copied().unwrap_or(0),
            together_minor: earlier_minor.saturating_add(money.minor()),
        });
    }
    let values: Vec<IdentityValue> = ask.identity.iter().map(|(_, value)| value.clone()).collect();
    let day_ago = earlier(place.now, DAY);
    let twin = on_payment(around, order).filter(same_currency).find(|neighbour| {
        neighbour.kind == ask.kind.name
            && neighbour.amount_minor == money.minor()
            && (!neighbour.state.is_final() || neighbour.created_at >= day_ago)
            && look_alike(&values, &neighbour.identity)
    });
    if let Some(twin) = twin {
        holds.push(Hold::Twin { operation: twin.id.clone() });
    }
    holds
}

fn first_entries(
    ask: &Ask,
    order: &OrderSnapshot,
    state: State,
    holds: Vec<Hold>,
    now: Timestamp,
) -> Vec<Entered> {
    let actor = Actor::Token(ask.asked.token.clone());
    let order_value = ask.identity.iter().find(|(name, _)| name == ORDER).map(|(_, value)| value.clone());
    let Some(order_value) = order_value else { return Vec::new() };
    let subject = Subject {
        kind: ask.kind.name.clone(),
        identity: ask.identity.clone(),
        revision: ask.revision,
        order: order_value,
        customer: order.customer.clone(),
        params: ask.params.clone(),
        send_within_s: ask.kind.send_within.as_secs(),
    };
    let entries =
        [Entry::Recorded { subject: Box::new(subject), state, holds }, Entry::Asked(ask.asked.clone())];
    (1..).zip(entries).map(|(seq, entry)| Entered { seq, at: now, actor: actor.clone(), entry }).collect()
}
