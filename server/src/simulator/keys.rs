//! Idempotency keys, as Stripe's API v1 treats them.
//!
//! A key is known from the moment the endpoint begins to execute; its result is what the mode says. It is forgotten once it
//! is 24 h old on the simulator's clock, and then the same key is a new request.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{
    clock::later,
    parameters::Parameters,
    wire::{Refusal, Reply},
};

/// How long a key is known (docs.stripe.com/api/idempotent_requests: pruned once at least 24 h old).
const KNOWN_FOR: SignedDuration = SignedDuration::from_hours(24);

/// The longest key that is accepted (same page).
const KEY_LENGTH_MAX: usize = 255;

/// What is known by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys(BTreeMap<String, Entry>);

#[derive(Clone, Debug)]
struct Entry {
    path: String,
    parameters: Parameters,
    since: Timestamp,
    request_id: String,
    /// None while the request is being executed.
    result: Option<Reply>,
}

/// Refuses a key that is empty or too long.
///
/// # Errors
/// 400 `invalid_request_error`.
pub(super) fn check_length(key: &str) -> Result<(), Refusal> {
    if (1..=KEY_LENGTH_MAX).contains(&key.len()) {
        return Ok(());
    }
    Err(Refusal::invalid(format!("An idempotency key has 1 to {KEY_LENGTH_MAX} characters")))
}

impl Keys {
    /// Whether `key` is known at `now`; forgets it if it is too old.
    pub(super) fn knows(&mut self, key: &str, now: Timestamp) -> bool {
        let old = |entry: &Entry| entry.result.is_some() && later(entry.since, KNOWN_FOR) <= now;
        if self.0.get(key).is_some_and(old) {
            self.0.remove(key);
        }
        self.0.contains_key(key)
    }

    /// The answer to a request whose key is known: the stored result, or the conflict; none if the key is new.
    pub(super) fn answer(
        &mut self,
        key: &str,
        path: &str,
        parameters: &Parameters,
        now: Timestamp,
    ) -> Option<Reply> {
        if !self.knows(key, now) {
            return None;
        }
        let entry = self.0.get(key)?;
        if entry.path != path {
            let text = format!("This key was first used at {}, not at {path}", entry.path);
            return Some(Refusal::key_reused(text).into());
        }
        if entry.parameters != *parameters {
            return Some(Refusal::key_reused("This key was first used with other parameters").into());
        }
        let Some(result) = &entry.result else { return Some(Refusal::in_flight().into()) };
        Some(
            result
                .clone()
                .with("original-request", entry.request_id.as_str())
                .with("idempotent-replayed", "true"),
        )
    }

    /// Marks `key` as in flight: its request begins to execute.
    pub(super) fn begin(
        &mut self,
        key: &str,
        path: &str,
        parameters: &Parameters,
        request_id: &str,
        now: Timestamp,
    ) {
        let entry = Entry {
            path: path.to_owned(),
            parameters: parameters.clone(),
            since: now,
            request_id: request_id.to_owned(),
            result: None,
        };
        self.0.insert(key.to_owned(), entry);
    }

    /// Stores the result, or forgets the key if there is none to store.
    pub(super) fn finish(&mut self, key: &str, result: Option<Reply>) {
        match (self.0.get_mut(key), result) {
            (Some(entry), Some(result)) => entry.result = Some(result),
            (Some(_), None) => {
                self.0.remove(key);
            }
            (None, _) => {}
        }
    }
}
