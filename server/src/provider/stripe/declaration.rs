//! What Stripe promises, and which of its answers are definite. Facts as of 2026-11-30 (`providers.md` §1).

use counterfoil_ledger::attempt::{AnswerRule, Class, Why};
use counterfoil_ledger::identity::KeyRule;
use counterfoil_ledger::money::ExponentTable;

use crate::provider::Declaration;

pub(super) const STRIPE: Declaration = Declaration {
    name: "Stripe",
    // docs.stripe.com/api/idempotent_requests: up to 255 characters.
    key_rule: KeyRule::Readable { bytes_max: 255 },
    exponents: ExponentTable::Stripe,
    // docs.stripe.com/search: list calls aren't subject to the delay of searches.
    offers_look_up: true,
    console_url: "https://dashboard.stripe.com/search?query={}",
};

/// Stands among an answer's codes when its headers name the rate limit that was met.
pub(super) const RATE_LIMITED_REASON: &str = "stripe-rate-limited-reason";
/// Stands among an answer's codes when it is an `invalid_request_error` that names a parameter and no code of its own.
pub(super) const PARAMETER_WITHOUT_CODE: &str = "invalid_request_error with param, without code";

const LOW_LEVEL: &str = "docs.stripe.com/error-low-level, idempotency";
const CODES: &str = "docs.stripe.com/error-codes; stripe-python 2026-07-24, error code enum";
const RATE_LIMITS: &str = "docs.stripe.com/rate-limits";
const NAMED: &str =
    "docs.stripe.com/rate-limits; 429s occur before the idempotency layer (docs.stripe.com/error-low-level)";

/// Answers without an effect. The first that fits counts, and what doesn't stand here is indeterminate: 3xx, 402, 403, every 5xx,
/// an unnamed 429, and whatever comes next.
pub(super) const RULES: &[AnswerRule] = &[
    // These may *be* our effect, or hide one.
    indeterminate(400, "charge_already_refunded", Why::AlreadyDone, CODES),
    indeterminate(400, "idempotency_error", Why::KeyReusedOtherParameters, "stripe-python _api_requestor.py"),
    indeterminate(404, "idempotency_error", Why::KeyReusedOtherParameters, "stripe-python _api_requestor.py"),
    indeterminate(409, "idempotency_key_in_use", Why::InFlight, LOW_LEVEL),
    // The object was locked by another request, which may be ours.
    indeterminate(429, "lock_timeout", Why::LockTimeout, RATE_LIMITS),
    // Turned away before execution.
    rule(429, Some(RATE_LIMITED_REASON), Class::Deferred, Why::RateLimitNamed, NAMED),
    rule(429, Some("rate_limit"), Class::Deferred, Why::RateLimitNamed, NAMED),
    rule(401, None, Class::Deferred, Why::Unauthorized, LOW_LEVEL),
    // Will not be executed.
    refused(400, "amount_too_large", CODES),
    refused(400, "balance_insufficient", CODES),
    refused(400, "charge_disputed", CODES),
    refused(400, "refund_disputed_payment", CODES),
    refused(400, "resource_missing", CODES),
    refused(404, "resource_missing", CODES),
    refused(400, "parameter_invalid_empty", CODES),
    refused(400, "parameter_invalid_integer", CODES),
    refused(400, "parameter_invalid_string_blank", CODES),
    refused(400, "parameter_invalid_string_empty", CODES),
    refused(400, "parameter_missing", CODES),
    refused(400, "parameter_unknown", CODES),
    refused(400, "parameters_exclusive", CODES),
    // More than is left on the payment comes so: 400, `param` is `amount`, no code.
    refused(
        400,
        PARAMETER_WITHOUT_CODE,
        "docs.stripe.com/api/errors, `param`; over-amount as seen on stripe-stateful-mock 0.0.16",
    ),
];

const fn rule(
    status: u16,
    code: Option<&'static str>,
    class: Class,
    why: Why,
    source: &'static str,
) -> AnswerRule {
    AnswerRule { status, code, class, why, source }
}

const fn indeterminate(status: u16, code: &'static str, why: Why, source: &'static str) -> AnswerRule {
    rule(status, Some(code), Class::Indeterminate, why, source)
}

const fn refused(status: u16, code: &'static str, source: &'static str) -> AnswerRule {
    rule(status, Some(code), Class::Refused, Why::DefiniteRefusal, source)
}
