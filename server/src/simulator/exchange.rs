//! One exchange: what the provider would do, bent by the fault that the request meets, and what is to happen on the wire.

use jiff::Timestamp;
use serde_json::json;
use tokio::sync::oneshot;

use super::{
    clock::{later, milliseconds},
    fault::{Answer, Fault, Happens, Traits},
    late::Late,
    provider::{Call, Keep, Provider},
    state::State,
    wire::{Refusal, Reply},
};

/// What is to happen on the wire.
pub(super) enum Delivery {
    Answer(Reply),
    /// Once the simulator's clock has come so far.
    AnswerAt(Timestamp, Reply),
    /// Once the late effect has happened.
    AnswerWhenDone(oneshot::Receiver<Reply>),
    Truncate(Reply),
    Hang,
    Close,
    Reset,
}

impl State {
    /// Takes a request and says what is to happen.
    pub(super) fn exchange(&mut self, call: &Call, now: Timestamp) -> Delivery {
        let traits = self.traits(call);
        let delivery = match self.faults.meet(&traits) {
            None => Delivery::Answer(self.provider.execute(call, Keep::Result, now)),
            Some(fault) => self.suffer(&fault, call, now),
        };
        self.collect_events(&call.request_id, call.key.as_deref());
        delivery
    }

    fn suffer(&mut self, fault: &Fault, call: &Call, now: Timestamp) -> Delivery {
        let keep = match fault.answer {
            Answer::Broken => Keep::Nothing,
            Answer::BrokenStored => Keep::Broken,
            _ => Keep::Result,
        };
        let after = milliseconds(fault.after_ms.unwrap_or(0));
        let instead = instead(fault.answer);
        // What would be answered if nothing were wrong, tried on a copy, because nothing is to happen now.
        let would_be = |provider: &Provider| provider.clone().execute(call, Keep::Result, now);
        let truth = match fault.happens() {
            Happens::Applied => Some(Delivery::Answer(self.provider.execute(call, keep, now))),
            Happens::Twice => Some(Delivery::Answer(match self.provider.begin(call, now) {
                Ok(begun) => self.provider.finish_twice(begun, keep, now),
                Err(reply) => reply,
            })),
            Happens::None => {
                if fault.answer == Answer::BrokenStored {
                    self.provider.break_unexecuted(call, now);
                }
                instead.is_none().then(|| Delivery::Answer(would_be(&self.provider)))
            }
            Happens::Late => {
                let whole = (fault.answer == Answer::Truncated).then(|| would_be(&self.provider));
                Some(match self.provider.begin(call, now) {
                    Ok(begun) => {
                        let (caller, done) = oneshot::channel();
                        self.late.push(Late { due: later(now, after), begun, keep, caller });
                        whole.map_or(Delivery::AnswerWhenDone(done), Delivery::Answer)
                    }
                    Err(reply) => Delivery::Answer(reply),
                })
            }
        };
        let timed = fault.after_ms.is_some() && fault.happens() != Happens::Late;
        match (instead.or(truth), fault.answer) {
            (Some(Delivery::Answer(reply)), Answer::Truncated) => Delivery::Truncate(reply),
            (Some(Delivery::Answer(reply)), Answer::Hang) if timed => {
                Delivery::AnswerAt(later(now, after), reply)
            }
            (_, Answer::Hang) | (None, _) => Delivery::Hang,
            (Some(delivery), _) => delivery,
        }
    }

    /// What the faults may look at.
    fn traits(&self, call: &Call) -> Traits {
        let account = &self.provider.account;
        let parameters = if call.method == "GET" { &call.query } else { &call.form };
        let mut named = Vec::new();
        let mut marker = None;
        if let Ok(parameters) = parameters {
            named.extend(["payment_intent", "charge"].iter().filter_map(|name| parameters.peek(name)));
            marker = parameters.peek("metadata[operation_id]").map(str::to_owned);
        }
        let segments: Vec<&str> = call.path.trim_start_matches('/').split('/').collect();
        match segments.as_slice() {
            ["v1", "payment_intents" | "charges", id, ..] => named.push(id),
            ["v1", "refunds", id] => {
                if let Some(refund) = account.refund(id) {
                    named.push(&refund.payment);
                    marker = refund.marker().map(str::to_owned);
                }
            }
            _ => {}
        }
        let mut targets: Vec<String> = named.iter().map(|id| (*id).to_owned()).collect();
        for payment in named.iter().filter_map(|id| account.payment(id)) {
            targets.push(payment.id.clone());
            targets.extend(payment.charge.clone());
        }
        Traits { method: call.method.clone(), path: call.path.clone(), targets, marker }
    }
}

/// What comes in place of the truth, for the answers that have nothing to do with it.
fn instead(answer: Answer) -> Option<Delivery> {
    let reply = match answer {
        Answer::Ok | Answer::Hang | Answer::Truncated => return None,
        Answer::Drop => return Some(Delivery::Close),
        Answer::ResetBefore => return Some(Delivery::Reset),
        Answer::Broken => Refusal::broken().into(),
        Answer::BrokenStored => Reply::broken_for_good(),
        Answer::TooMany => Refusal::too_many().into(),
        Answer::TooManyNamed => Reply::from(Refusal::too_many().code("rate_limit"))
            .with("stripe-rate-limited-reason", "endpoint-rate"),
        Answer::Unauthorized => Refusal::unauthorized(true).into(),
        Answer::InFlight => Refusal::in_flight().into(),
        Answer::Html => Reply::proxy_page(),
        Answer::WrongBody => Reply::ok(json!({ "object": "balance", "available": [], "livemode": false })),
    };
    Some(Delivery::Answer(reply))
}
