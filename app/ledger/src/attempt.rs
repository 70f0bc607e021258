//! One send: what it may have done, and the class that its end gets from a list of known answers.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::evidence::EffectSeen;

/// What an attempt can tell. Whatever isn't on an allow-list is indeterminate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Provably nothing left.
    NotSent,
    /// Provably turned away before execution.
    Deferred,
    /// Provably will not be executed.
    Refused,
    /// The answer carries the effect, and the effect check passed.
    Effect,
    /// Everything else.
    Indeterminate,
}

/// Why an attempt got its class. Each has its words in every language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    ConnectFailed,
    DeadlinePassed,
    NotBuilt,
    TimedOut,
    ConnectionLost,
    Unauthorized,
    RateLimitNamed,
    RateLimitUnnamed,
    DefiniteRefusal,
    Accepted,
    AlreadyDone,
    KeyReusedOtherParameters,
    InFlight,
    LockTimeout,
    ServerError,
    Redirected,
    Forbidden,
    BodyNotUnderstood,
    EffectMismatch,
    UnlistedAnswer,
}

/// One line of an adapter's list: which answer gets which class, and where that is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerRule {
    pub status: u16,
    /// The provider's error code or type; `None`: any.
    pub code: Option<&'static str>,
    pub class: Class,
    pub why: Why,
    /// Where the provider says so.
    pub source: &'static str,
}

/// An answer as an adapter read it.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub status: u16,
    /// Codes and types that the body names, most telling first.
    pub codes: &'a [&'a str],
    /// The body was whole and of the form that the provider documents.
    pub well_formed: bool,
}

/// Looks an answer without an effect up in an adapter's list, first match wins. An answer that isn't there is indeterminate.
pub fn classify(rules: &[AnswerRule], answer: Answer<'_>) -> (Class, Why) {
    if answer.well_formed
        && let Some(rule) = rules.iter().find(|rule| {
            rule.status == answer.status && rule.code.is_none_or(|code| answer.codes.contains(&code))
        })
    {
        return (rule.class, rule.why);
    }
    let why = match answer.status {
        300..=399 => Why::Redirected,
        403 => Why::Forbidden,
        429 => Why::RateLimitUnnamed,
        500..=599 => Why::ServerError,
        _ if !answer.well_formed => Why::BodyNotUnderstood,
        _ => Why::UnlistedAnswer,
    };
    (Class::Indeterminate, why)
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    pub class: Class,
    pub why: Why,
    pub duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub http_status: Option<u16>,
    /// The provider's error code, as it stood in the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider_request_id: Option<String>,
    /// The answer carries the provider's replay mark: it speaks for the first execution.
    pub replayed: bool,
    /// A failure that the provider keeps under the key: the same key only returns it again (rule 8).
    pub stored_failure: bool,
    /// How long the provider asked us to wait, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry_after_s: Option<u64>,
    /// SHA-256 of the raw answer, kept apart so that retention can drop it and the proof stands.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body_digest: Option<String>,
    /// The effect that the answer carried, whether or not it passed the check.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effect: Option<EffectSeen>,
}

/// One send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// Fresh for each attempt, sent as `X-Client-Request-Id`.
    pub client_request_id: String,
    /// When it was marked: before the bytes left.
    pub marked_at: Timestamp,
    /// The whole exchange ends this long after the mark, in milliseconds.
    pub send_timeout_ms: u64,
    pub ended_at: Option<Timestamp>,
    pub end: Option<AttemptEnd>,
}

impl Attempt {
    /// Whether the provider may have received it. An attempt without an end counts as indeterminate, and *deferred* arrived.
    pub fn may_have_arrived(&self) -> bool {
        self.end.as_ref().is_none_or(|end| end.class != Class::NotSent)
    }

    /// Whether it may have been executed.
    pub fn may_have_executed(&self) -> bool {
        !self.end.as_ref().is_some_and(|end| matches!(end.class, Class::NotSent | Class::Deferred))
    }

    /// The moment after which its sender puts nothing on the wire any more.
    pub fn deadline(&self) -> Timestamp {
        crate::window::later(self.marked_at, Duration::from_millis(self.send_timeout_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[AnswerRule] = &[
        AnswerRule {
            status: 429,
            code: Some("rate_limit"),
            class: Class::Deferred,
            why: Why::RateLimitNamed,
            source: "test",
        },
        AnswerRule {
            status: 400,
            code: Some("amount_too_large"),
            class: Class::Refused,
            why: Why::DefiniteRefusal,
            source: "test",
        },
    ];

    fn class(status: u16, codes: &[&str], well_formed: bool) -> (Class, Why) {
        classify(RULES, Answer { status, codes, well_formed })
    }

    #[test]
    fn only_what_is_on_the_list_is_definite() {
        assert_eq!(class(429, &["rate_limit"], true), (Class::Deferred, Why::RateLimitNamed));
        assert_eq!(class(400, &["amount_too_large"], true), (Class::Refused, Why::DefiniteRefusal));
        assert_eq!(class(429, &[], true), (Class::Indeterminate, Why::RateLimitUnnamed));
        assert_eq!(class(400, &["something_new"], true), (Class::Indeterminate, Why::UnlistedAnswer));
        assert_eq!(class(400, &["amount_too_large"], false), (Class::Indeterminate, Why::BodyNotUnderstood));
        assert_eq!(class(302, &[], true), (Class::Indeterminate, Why::Redirected));
        assert_eq!(class(403, &[], false), (Class::Indeterminate, Why::Forbidden));
        assert_eq!(class(500, &["amount_too_large"], true), (Class::Indeterminate, Why::ServerError));
    }
}
