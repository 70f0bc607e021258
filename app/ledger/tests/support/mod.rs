//! Builders for stories: one refund of 380.00 TWD and the default policy of `api.md`. The [`Story`] itself is beside it.
#![allow(dead_code, unreachable_pub, reason = "every test file uses its own part of the builders")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use counterfoil_ledger::attempt::{AttemptEnd, Class, Why};
use counterfoil_ledger::decide::{Action, Decision, Policy, Reason};
use counterfoil_ledger::entry::{Actor, Subject};
use counterfoil_ledger::evidence::{EffectSeen, EffectStatus};
use counterfoil_ledger::identity::{Key, KeyRule, Marker, Namespace, OperationId, Revision};
use counterfoil_ledger::intent::{EffectKind, Intent, ProviderRequest};
use counterfoil_ledger::money::Money;
use counterfoil_ledger::window::KeyProtects;
use jiff::Timestamp;

mod story;
pub use story::Story;

pub const AMOUNT: i64 = 38_000;
pub const PAYMENT: &str = "pi_1043";
pub const MARKER: &str = "shop.refund-1043-li_2";

pub const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
pub const fn mins(n: u64) -> Duration {
    secs(n * 60)
}
pub const fn hours(n: u64) -> Duration {
    mins(n * 60)
}
pub const fn days(n: u64) -> Duration {
    hours(n * 24)
}

/// When the stories begin: the operation is recorded.
pub fn recorded_at() -> Timestamp {
    "2026-11-30T10:02:58Z".parse().unwrap()
}

/// The defaults of `api.md` for a Stripe account.
pub fn policy() -> Policy {
    Policy {
        send_timeout: secs(10),
        key_window: hours(24),
        window_margin: mins(15),
        key_protects: KeyProtects::All,
        offers_look_up: true,
        absence_lag: secs(60),
        absence_count: 2,
        absence_gap: secs(10),
        max_resends: 3,
        look_up_after: vec![secs(15), secs(30), mins(2), mins(10), mins(30), hours(2), hours(6)],
        escalate_after: hours(20),
        pending_attention: days(3),
    }
}

pub fn intent() -> Intent {
    let namespace: Namespace = "shop".parse().unwrap();
    let id = operation_id();
    let body =
        format!("payment_intent={PAYMENT}&amount={AMOUNT}&metadata[operation_id]=shop.refund-1043-li_2");
    Intent {
        account: "stripe-main".parse().unwrap(),
        effect: EffectKind::Refund,
        target: PAYMENT.to_owned(),
        money: Money::new(AMOUNT, "TWD".parse().unwrap()).unwrap(),
        marker: Marker::compute(&namespace, &id),
        key: Key::compute(KeyRule::Readable { bytes_max: 255 }, &namespace, &id),
        request: ProviderRequest {
            method: "POST".to_owned(),
            path: "/v1/refunds".to_owned(),
            content_type: "application/x-www-form-urlencoded".to_owned(),
            body,
        },
    }
}

pub fn operation_id() -> OperationId {
    let values = ["1043", "li_2"].map(|value| value.to_owned().try_into().unwrap());
    OperationId::compute(&"refund".parse().unwrap(), &values, Revision::FIRST).unwrap()
}

pub fn subject() -> Subject {
    Subject {
        kind: "refund".parse().unwrap(),
        identity: vec![
            ("order".to_owned(), "1043".to_owned().try_into().unwrap()),
            ("line_item".to_owned(), "li_2".to_owned().try_into().unwrap()),
        ],
        revision: Revision::FIRST,
        order: "1043".to_owned().try_into().unwrap(),
        customer: None,
        params: None,
        send_within_s: 72 * 3600,
    }
}

/// The end of an attempt of which only the class matters.
pub fn end(class: Class) -> AttemptEnd {
    let (why, http_status) = match class {
        Class::NotSent => (Why::ConnectFailed, None),
        Class::Deferred => (Why::RateLimitNamed, Some(429)),
        Class::Refused => (Why::DefiniteRefusal, Some(400)),
        Class::Effect => (Why::Accepted, Some(200)),
        Class::Indeterminate => (Why::TimedOut, None),
    };
    AttemptEnd {
        class,
        why,
        duration_ms: 10_000,
        http_status,
        code: None,
        provider_request_id: None,
        replayed: false,
        stored_failure: false,
        retry_after_s: None,
        body_digest: None,
        effect: None,
    }
}

pub fn not_sent() -> AttemptEnd {
    end(Class::NotSent)
}
pub fn deferred() -> AttemptEnd {
    end(Class::Deferred)
}
pub fn refused() -> AttemptEnd {
    end(Class::Refused)
}
pub fn no_answer() -> AttemptEnd {
    end(Class::Indeterminate)
}
pub fn replayed(end: AttemptEnd) -> AttemptEnd {
    AttemptEnd { replayed: true, ..end }
}
/// A 500 that the provider keeps under the key.
pub fn stored_500() -> AttemptEnd {
    AttemptEnd {
        why: Why::ServerError,
        http_status: Some(500),
        stored_failure: true,
        ..end(Class::Indeterminate)
    }
}
/// A 500 of which nobody says that it is kept.
pub fn plain_500() -> AttemptEnd {
    AttemptEnd { why: Why::ServerError, http_status: Some(500), ..end(Class::Indeterminate) }
}
pub fn accepted(effect: EffectSeen) -> AttemptEnd {
    AttemptEnd { effect: Some(effect), ..end(Class::Effect) }
}

/// An effect as the provider shows it, everything as intended.
pub fn ours(external_id: &str, status: EffectStatus) -> EffectSeen {
    EffectSeen {
        external_id: external_id.to_owned(),
        marker: Some(MARKER.to_owned()),
        targets: vec![PAYMENT.to_owned(), "ch_1043".to_owned()],
        amount_minor: AMOUNT,
        currency: "TWD".to_owned(),
        status,
        provider_status: match status {
            EffectStatus::Pending => "pending",
            EffectStatus::Live => "succeeded",
            EffectStatus::Failed => "failed",
        }
        .to_owned(),
        failure_reason: None,
        created_at: None,
    }
}

/// A refund that somebody made by hand: no marker, our amount, our payment.
pub fn by_hand(external_id: &str) -> EffectSeen {
    EffectSeen { marker: None, ..ours(external_id, EffectStatus::Live) }
}

/// It bears our marker and moved another amount.
pub fn wrong_amount(external_id: &str) -> EffectSeen {
    EffectSeen { amount_minor: AMOUNT + 1, ..ours(external_id, EffectStatus::Live) }
}

pub fn reconciler() -> Actor {
    Actor::Reconciler("w-1".to_owned())
}

/// The action waits until this moment.
pub fn waits_until(at: Timestamp) -> Action {
    Action::WaitUntil { at }
}

/// The operation went to a person, and why.
pub fn to_person(decision: &Decision) -> Option<counterfoil_ledger::decide::Escalation> {
    match decision.reason {
        Reason::ToPerson { why } => Some(why),
        _ => None,
    }
}
