//! What the tests put into a store, made by the ledger's own rules.

use std::sync::Arc;
use std::time::Duration;

use counterfoil::store::*;
use counterfoil_ledger::balance::reserve;
use counterfoil_ledger::decide::{Draft, Reason};
use counterfoil_ledger::entry::{Actor, Entered, Entry, Subject};
use counterfoil_ledger::evidence::{EffectSeen, EffectStatus};
use counterfoil_ledger::identity::{AccountName, IdentityValue, Key, Marker, OperationId, Revision};
use counterfoil_ledger::intent::{EffectKind, Intent, ProviderRequest};
use counterfoil_ledger::money::{Currency, Money};
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::later;
use jiff::Timestamp;

pub const ORDER: &str = "1043";
pub const PAYMENT: &str = "pi_1043";

pub fn account() -> AccountName {
    "stripe-main".parse().unwrap()
}

pub fn twd() -> Currency {
    "TWD".parse().unwrap()
}

/// So many seconds into the story, to the microsecond.
pub fn at(second: u64) -> Timestamp {
    later("2026-11-30T10:00:00.123456Z".parse().unwrap(), Duration::from_secs(second))
}

pub fn order(id: &str, payment: &str, captured_minor: i64) -> OrderSnapshot {
    OrderSnapshot {
        id: id.to_owned(),
        account: account(),
        payment: payment.to_owned(),
        currency: twd(),
        captured_minor,
        customer: Some("王小明".to_owned()),
        lines: vec![OrderLine {
            id: "li_1".to_owned(),
            title: None,
            quantity: Some(2),
            amount_minor: captured_minor,
        }],
        updated_at: at(0),
    }
}

/// A refund that is asked for.
#[derive(Clone)]
pub struct Refund {
    pub order: String,
    pub line: String,
    pub revision: u8,
    pub minor: i64,
    pub state: State,
    pub due_at: Option<Timestamp>,
    pub lease: Option<(String, Timestamp)>,
    pub now: Timestamp,
}

pub fn refund(line: &str, minor: i64) -> Refund {
    Refund {
        order: ORDER.to_owned(),
        line: line.to_owned(),
        revision: 1,
        minor,
        state: State::Authorized,
        due_at: Some(at(0)),
        lease: None,
        now: at(0),
    }
}

impl Refund {
    fn identity(&self) -> Vec<(String, IdentityValue)> {
        let value = |text: &str| IdentityValue::try_from(text.to_owned()).unwrap();
        vec![("order".to_owned(), value(&self.order)), ("line_item".to_owned(), value(&self.line))]
    }

    pub fn id(&self) -> OperationId {
        let values: Vec<_> = self.identity().into_iter().map(|(_, value)| value).collect();
        OperationId::compute(&"refund".parse().unwrap(), &values, Revision::try_from(self.revision).unwrap())
            .unwrap()
    }

    pub fn place(&self) -> Place {
        let first = Self { revision: 1, ..self.clone() };
        Place { id: self.id(), base_id: first.id(), order: self.order.clone(), now: self.now }
    }

    pub fn marker(&self) -> String {
        Marker::compute(&"shop".parse().unwrap(), &self.id()).as_str().to_owned()
    }

    /// Judges as the server does: what is left of the payment.
    pub fn judge(&self) -> Judge {
        let refund = self.clone();
        Arc::new(move |around: &Surroundings| refund.judged(around))
    }

    fn judged(&self, around: &Surroundings) -> Result<NewOperation, Refusal> {
        let Some(order) = &around.order else {
            return Err(Refusal::Field {
                field: "identity.order".to_owned(),
                detail: "is unknown".to_owned(),
            });
        };
        let holders = around
            .neighbours
            .iter()
            .filter(|near| near.target == order.payment)
            .map(Neighbour::holder)
            .collect();
        let marker = Marker::stored(self.marker());
        let foreign_minor = around.foreign_minor(&marker);
        reserve(around.captured_minor, foreign_minor, holders, self.minor).map_err(|exceeds| {
            Refusal::Exceeds { of: "payment", exceeds: Box::new(exceeds), currency: order.currency }
        })?;
        let intent = Intent {
            account: order.account.clone(),
            effect: EffectKind::Refund,
            target: order.payment.clone(),
            money: Money::new(self.minor, order.currency).unwrap(),
            key: Key::stored(marker.as_str()),
            marker,
            request: ProviderRequest {
                method: "POST".to_owned(),
                path: "/v1/refunds".to_owned(),
                content_type: "application/x-www-form-urlencoded".to_owned(),
                body: format!("amount={}", self.minor),
            },
        };
        let (intent_text, intent_hash) = intent.seal().unwrap();
        let subject = Subject {
            kind: "refund".parse().unwrap(),
            identity: self.identity(),
            revision: Revision::try_from(self.revision).unwrap(),
            order: IdentityValue::try_from(self.order.clone()).unwrap(),
            customer: None,
            params: None,
            send_within_s: 259_200,
        };
        Ok(NewOperation {
            intent,
            intent_text,
            intent_hash,
            entries: vec![Entered {
                seq: 1,
                at: self.now,
                actor: Actor::Token("agent".to_owned()),
                entry: Entry::Recorded { subject: Box::new(subject), state: self.state, holds: Vec::new() },
            }],
            step: Step { due_at: self.due_at, reason: Reason::ReadyToSend },
            lease: self.lease.clone(),
        })
    }

    /// Records it; it must be new.
    pub async fn record(&self, store: &Arc<dyn Store>) -> Loaded {
        match store.record(self.place(), self.judge()).await.unwrap() {
            Recorded::New(loaded) => *loaded,
            other => panic!("not new: {other:?}"),
        }
    }

    /// Records it with an order of its own size, unless there is one.
    pub async fn with_order(&self, store: &Arc<dyn Store>) -> Loaded {
        if store.order(&self.order).await.unwrap().is_none() {
            store
                .put_order(order(&self.order, &format!("pi_{}", self.order), 1_000_000), at(0))
                .await
                .unwrap();
        }
        self.record(store).await
    }
}

/// A change to an operation, written by the ledger.
pub fn change(before: &Loaded, lease: LeaseRule, now: Timestamp, write: impl FnOnce(&mut Draft)) -> Change {
    let mut draft = Draft::of(&before.operation, &Actor::Sender("w-1".to_owned()), now);
    write(&mut draft);
    Change {
        after: draft.operation,
        expected_seq: before.operation.facts.seq,
        head: before.head.clone(),
        entries: draft.entries,
        step: None,
        lease,
        effects: Vec::new(),
        bodies: Vec::new(),
        now,
    }
}

/// The mark of the first attempt.
pub fn marked(before: &Loaded, lease: LeaseRule, now: Timestamp) -> Change {
    change(before, lease, now, |draft| {
        draft
            .write(Entry::AttemptStarted {
                number: 1,
                client_request_id: "req-1".to_owned(),
                send_timeout_ms: 10_000,
                key_window_s: 86_400,
            })
            .unwrap();
        draft.raise(Event::Marked).unwrap();
    })
}

/// An operation that was sent and whose answer is lost.
pub async fn unknown(store: &Arc<dyn Store>, refund: &Refund) -> Loaded {
    let loaded = refund.with_order(store).await;
    store.write(marked(&loaded, LeaseRule::NotNeeded, at(1))).await.unwrap();
    let loaded = loaded_again(store, &loaded).await;
    let lost = change(&loaded, LeaseRule::NotNeeded, at(12), |draft| draft.raise(Event::AnswerLost).unwrap());
    store.write(lost).await.unwrap();
    loaded_again(store, &loaded).await
}

pub async fn loaded_again(store: &Arc<dyn Store>, loaded: &Loaded) -> Loaded {
    store.load(&loaded.operation.id).await.unwrap().unwrap()
}

pub fn effect(external_id: &str, marker: Option<&str>, minor: i64, status: EffectStatus) -> EffectSeen {
    EffectSeen {
        external_id: external_id.to_owned(),
        marker: marker.map(str::to_owned),
        targets: vec![PAYMENT.to_owned()],
        amount_minor: minor,
        currency: "TWD".to_owned(),
        status,
        provider_status: "x".to_owned(),
        failure_reason: None,
        created_at: Some(at(2)),
    }
}

pub fn claim(token: &str, now: Timestamp) -> Claim {
    Claim { token: token.to_owned(), now, until: later(now, Duration::from_secs(60)) }
}
