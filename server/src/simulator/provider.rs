//! The provider when nothing goes wrong: who may ask, what is read, what is executed and kept under which key.
//!
//! A write has two steps, because a late effect lies between them: [`Provider::begin`] up to the moment the endpoint begins to
//! execute, [`Provider::finish`] from there.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    account::{Account, Limit},
    command::Command,
    keys::{self, Keys},
    mode::{KeyMode, LookupMode, Mode},
    page,
    parameters::Parameters,
    wire::{Refusal, Reply},
};

/// One request, taken apart but not yet judged.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    pub(super) query: Result<Parameters, Refusal>,
    pub(super) form: Result<Parameters, Refusal>,
    /// `Idempotency-Key`
    pub(super) key: Option<String>,
    /// The account's secret key, from `Authorization`.
    pub(super) secret: Option<String>,
    /// The number that the answer will carry.
    pub(super) request_id: String,
}

/// A write whose execution has begun.
#[derive(Debug)]
pub(super) struct Begun {
    command: Command,
    key: Option<String>,
}

/// What is kept under the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// The result, as far as the mode keeps it.
    Result,
    /// Nothing: the key is free again.
    Nothing,
    /// A 500 in place of the result, as far as the mode keeps it.
    Broken,
}

/// Books, keys and mode. A clone is a copy to try things on.
#[derive(Clone, Default)]
pub(super) struct Provider {
    pub(super) account: Account,
    pub(super) keys: Keys,
    pub(super) mode: Mode,
    /// The only key that is accepted; without it any that starts with `sk_`.
    pub(super) secret_key: Option<String>,
}

impl Provider {
    /// A whole exchange.
    pub(super) fn execute(&mut self, call: &Call, keep: Keep, now: Timestamp) -> Reply {
        match self.begin(call, now) {
            Ok(begun) => self.finish(begun, keep, now),
            Err(reply) => reply,
        }
    }

    /// As far as the start of execution.
    ///
    /// # Errors
    /// The answer, if it doesn't come to that: a read, a replay, a refusal that isn't stored.
    pub(super) fn begin(&mut self, call: &Call, now: Timestamp) -> Result<Begun, Reply> {
        self.authorize(call)?;
        match call.method.as_str() {
            "GET" => Err(self.read(call, now).map_or_else(Reply::from, Reply::ok)),
            "POST" => {
                let form = call.form.clone()?;
                let command = Command::read(&call.path, &form, now)?;
                let key = call.key.clone();
                key.as_deref().map_or(Ok(()), keys::check_length)?;
                let key = key.filter(|_| self.mode.keys != KeyMode::None);
                if let Some(key) = &key {
                    if let Some(reply) = self.keys.answer(key, &call.path, &form, now) {
                        return Err(reply);
                    }
                    self.keys.begin(key, &call.path, &form, &call.request_id, now);
                }
                Ok(Begun { command, key })
            }
            method => Err(Refusal::no_such_url(method, &call.path).into()),
        }
    }

    /// Executes and keeps the result.
    pub(super) fn finish(&mut self, begun: Begun, keep: Keep, now: Timestamp) -> Reply {
        let reply =
            begun.command.run(&mut self.account, Limit::Remaining, now).map_or_else(Reply::from, Reply::ok);
        self.keep(begun.key.as_deref(), keep, &reply);
        reply
    }

    /// Executes, and makes the same effect a second time.
    pub(super) fn finish_twice(&mut self, begun: Begun, keep: Keep, now: Timestamp) -> Reply {
        let again = begun.command.clone();
        let reply = self.finish(begun, keep, now);
        if reply.is_success() && matches!(again, Command::MakeRefund(_)) {
            // The first one succeeded, so nothing but the amount could be in the way, and that isn't held against it.
            let _made = again.run(&mut self.account, Limit::None, now);
        }
        reply
    }

    /// Stores a 500 under the key of a request that isn't executed, if execution would have begun.
    pub(super) fn break_unexecuted(&mut self, call: &Call, now: Timestamp) {
        if let Ok(begun) = self.begin(call, now) {
            self.keep(begun.key.as_deref(), Keep::Broken, &Reply::broken_for_good());
        }
    }

    fn keep(&mut self, key: Option<&str>, keep: Keep, result: &Reply) {
        let Some(key) = key else { return };
        let kept = match keep {
            Keep::Result => Some(result.clone()),
            Keep::Broken => Some(Reply::broken_for_good()),
            Keep::Nothing => None,
        };
        let successes_only = self.mode.keys == KeyMode::Success;
        self.keys.finish(key, kept.filter(|kept| kept.is_success() || !successes_only));
    }

    fn authorize(&self, call: &Call) -> Result<(), Refusal> {
        let valid = match (&call.secret, &self.secret_key) {
            (None, _) => false,
            (Some(given), Some(accepted)) => given == accepted,
            (Some(given), None) => given.starts_with("sk_"),
        };
        if valid { Ok(()) } else { Err(Refusal::unauthorized(call.secret.is_some())) }
    }

    fn read(&self, call: &Call, now: Timestamp) -> Result<Value, Refusal> {
        match self.mode.lookup {
            LookupMode::Down => return Err(Refusal::down()),
            LookupMode::None => return Err(Refusal::no_such_url("GET", &call.path)),
            LookupMode::Complete | LookupMode::Lagging | LookupMode::Capped | LookupMode::Loop => {}
        }
        let query = call.query.clone()?;
        let account = &self.account;
        let segments: Vec<&str> = call.path.trim_start_matches('/').split('/').collect();
        match segments.as_slice() {
            ["v1", "refunds"] => page::refunds(account, &query, self.mode, now),
            ["v1", "charges"] => page::charges(account, &query, self.mode),
            ["v1", "refunds", id] => {
                query.only(&[])?;
                let refund = account.refund(id).ok_or_else(|| Refusal::missing("refund", id, "refund"))?;
                Ok(refund.object())
            }
            ["v1", "charges", id] => {
                query.only(&[])?;
                let payment = account.payment(id).filter(|payment| payment.charge.as_deref() == Some(id));
                let payment = payment.ok_or_else(|| Refusal::missing("charge", id, "id"))?;
                Ok(payment.charge(account.refunded(payment)))
            }
            ["v1", "payment_intents", id] => {
                query.only(&["client_secret"])?;
                let payment = account.payment(id).filter(|payment| payment.id == *id);
                Ok(payment.ok_or_else(|| Refusal::missing("payment intent", id, "intent"))?.intent())
            }
            _ => Err(Refusal::no_such_url("GET", &call.path)),
        }
    }
}
