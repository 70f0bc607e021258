//! The judgement over a new operation: what it may pay, whether it fits, who must approve it, what exactly will be sent. Pure, and
//! called with the payment locked.

use std::sync::Arc;
use std::time::Duration;

use counterfoil_ledger::balance::{Holder, held_minor, reserve};
use counterfoil_ledger::decide::{Circumstances, Policy, Reason, Seen, decide};
use counterfoil_ledger::entry::{Actor, Entered, Entry, Hold, Subject};
use counterfoil_ledger::evidence::EffectSeen;
use counterfoil_ledger::identity::{IdentityValue, Key, Marker, Revision, look_alike};
use counterfoil_ledger::intent::{Intent, IntentHash};
use counterfoil_ledger::kind::{AmountFrom, LINE_ITEM, ORDER};
use counterfoil_ledger::money::{Money, Use};
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::State;
use counterfoil_ledger::window::{earlier, later};
use jiff::Timestamp;

use super::{Ask, Wanted};
use crate::provider::Terms;
use crate::store::{
    Judge, KnownEffect, Neighbour, NewOperation, OrderLine, OrderSnapshot, Place, Refusal, Step, Surroundings,
};
use crate::work::restore::in_doubt;
use crate::work::{WorkError, Works, step_of};

const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

impl Works {
    /// The judgement over a new operation: pure, and called with the payment locked.
    pub(super) fn judge(&self, ask: Ask, place: Place, lease: String) -> Result<Judge, WorkError> {
        let account = self
            .accounts
            .get(&ask.kind.account)
            .ok_or_else(|| WorkError::NoAccount(ask.kind.account.clone()))?;
        let provider = Arc::clone(&account.provider);
        let policy = account.policy.clone();
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
            let marker = Marker::compute(&namespace, &place.id);
            let holders: Vec<Holder> = on_payment(around, order).map(Neighbour::holder).collect();
            reserve(around.captured_minor, around.foreign_minor(&marker), holders, money.minor()).map_err(
                |exceeds| Refusal::Exceeds {
                    of: "payment",
                    exceeds: Box::new(exceeds),
                    currency: money.currency(),
                },
            )?;
            let holds = holds(&ask, &place, money, order, around);
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
            let mut entries = first_entries(&ask, order, state, holds, place.now);
            let known = known_before(&intent, around);
            let (state, mut step) = if known.is_empty() {
                (state, first_step(state, place.now))
            } else {
                take_in(&place, &intent, &intent_hash, known, &policy, &mut entries)?
            };
            // A restored ledger may have sent it before: then the daemon looks first.
            let doubt = around.restored_at.is_some() && state.is_before_the_mark();
            if doubt {
                step = Step { due_at: Some(place.now), reason: in_doubt(&policy) };
            }
            let sends = state == State::Authorized && !doubt;
            Ok(NewOperation {
                intent,
                intent_text,
                intent_hash,
                entries,
                step,
                lease: sends.then(|| (lease.clone(), lease_until)),
            })
        }))
    }
}

fn first_step(state: State, now: Timestamp) -> Step {
    if state == State::Authorized {
        Step { due_at: Some(now), reason: Reason::ReadyToSend }
    } else {
        Step { due_at: None, reason: Reason::WaitsForApproval }
    }
}

/// Effects with this operation's marker that were seen on the payment while nobody claimed them (rule 17, always).
fn known_before(intent: &Intent, around: &Surroundings) -> Vec<EffectSeen> {
    let ours = |effect: &&KnownEffect| effect.marker.as_deref() == Some(intent.marker.as_str());
    let seen = |effect: &KnownEffect| EffectSeen {
        external_id: effect.external_id.clone(),
        marker: effect.marker.clone(),
        targets: vec![intent.target.clone()],
        amount_minor: effect.amount_minor,
        currency: effect.currency.clone(),
        status: effect.status,
        provider_status: effect.provider_status.clone(),
        failure_reason: None,
        created_at: effect.created_at,
    };
    around.unclaimed.iter().filter(ours).map(seen).collect()
}

/// What is known already is evidence before anything is sent.
fn take_in(
    place: &Place,
    intent: &Intent,
    intent_hash: &IntentHash,
    known: Vec<EffectSeen>,
    policy: &Policy,
    entries: &mut Vec<Entered>,
) -> Result<(State, Step), Refusal> {
    let fault = |error: String| Refusal::Fault(error);
    let mut operation = Operation::replay(place.id.clone(), intent.clone(), intent_hash.clone(), entries)
        .map_err(|error| fault(error.to_string()))?;
    let mut step = first_step(operation.facts.state, place.now);
    let now = place.now;
    let circumstances = Circumstances {
        now,
        newest_in_ledger: now,
        account_paused: false,
        payment_blocked: false,
        restored_at: None,
    };
    let provider = Actor::Provider(intent.account.to_string());
    for effect in known {
        let decision = decide(&operation, Seen::Told(effect), &provider, policy, &circumstances)
            .map_err(|error| fault(error.to_string()))?;
        step = step_of(&decision, now);
        operation = decision.after;
        entries.extend(decision.findings);
    }
    Ok((operation.facts.state, step))
}

pub(super) fn field(name: &str, detail: impl Into<String>) -> Refusal {
    Refusal::Field { field: name.to_owned(), detail: detail.into() }
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

fn on_payment<'a>(around: &'a Surroundings, order: &'a OrderSnapshot) -> impl Iterator<Item = &'a Neighbour> {
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
        .map(Neighbour::holder)
        .collect();
    let rest = line.amount_minor.saturating_sub(held_minor(&siblings));
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

fn pieces_of(line: &OrderLine, pieces: u32) -> Result<i64, Refusal> {
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
    let same_currency = |neighbour: &&Neighbour| neighbour.currency == money.currency();
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
