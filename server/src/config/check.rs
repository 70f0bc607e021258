//! What settings must be to each other: a resend that the key no longer protects must not be possible by any choice of numbers.

use std::time::Duration;

use jiff::SignedDuration;

use super::section::{At, Document};

/// The daemon's settings that accounts are checked against.
pub(super) struct DaemonTimes {
    pub(super) look_up_after: At<Vec<Duration>>,
    pub(super) escalate_after: At<Duration>,
    pub(super) lease: At<Duration>,
    pub(super) pending_attention: At<Duration>,
}

/// An account's settings with their lines.
pub(super) struct AccountTimes {
    pub(super) connect_timeout: At<Duration>,
    pub(super) send_timeout: At<Duration>,
    /// `None`: no key, or not set.
    pub(super) key_window: Option<At<Duration>>,
    pub(super) window_margin: At<Duration>,
    pub(super) absence_lag: At<Duration>,
    pub(super) absence_count: At<u32>,
    pub(super) absence_gap: At<Duration>,
    pub(super) max_resends: At<u32>,
}

/// Stripe may forget a key once it is 24 hours old (docs.stripe.com/api/idempotent_requests; `providers.md` §1). A longer window
/// would promise what the provider doesn't.
const STRIPE_KEY_WINDOW_MAX: Duration = Duration::from_secs(24 * 3600);

pub(super) fn account(document: &Document<'_>, account: &AccountTimes, daemon: &DaemonTimes) {
    let send = account.send_timeout.value;
    if account.connect_timeout.value > send {
        let problem =
            format!("is longer than send_timeout ({}), which holds the whole exchange", shown(send));
        account.connect_timeout.note(document, problem);
    }
    if send > daemon.lease.value {
        let problem = format!(
            "is longer than the daemon's lease ({}): another worker could take the row while this one sends",
            shown(daemon.lease.value)
        );
        account.send_timeout.note(document, problem);
    }
    if let Some(first) = daemon.look_up_after.value.first()
        && send > *first
    {
        let problem = format!(
            "is longer than the first gap of look_up_after ({}): a look-up could overtake the send",
            shown(*first)
        );
        account.send_timeout.note(document, problem);
    }
    if let Some(window) = &account.key_window {
        key_window(document, account, window, daemon);
    }
}

fn key_window(document: &Document<'_>, account: &AccountTimes, window: &At<Duration>, daemon: &DaemonTimes) {
    if window.value > STRIPE_KEY_WINDOW_MAX {
        window.note(document, "is longer than the 24h for which Stripe promises to know a key");
    }
    let margin = account.window_margin.value;
    if margin >= window.value {
        let problem = format!("leaves nothing of key_window ({}) to resend in", shown(window.value));
        account.window_margin.note(document, problem);
        return;
    }
    if margin < account.send_timeout.value {
        let problem = format!(
            "is shorter than send_timeout ({}): the last resend could arrive after the window",
            shown(account.send_timeout.value)
        );
        account.window_margin.note(document, problem);
    }
    let horizon = resend_horizon(account, &daemon.look_up_after.value);
    let usable = window.value.saturating_sub(margin);
    if horizon > usable {
        let problem = format!(
            "is too short for max_resends = {}: proving absence that often takes up to {}, and key_window less window_margin \
             leaves {}",
            account.max_resends.value,
            shown(horizon),
            shown(usable)
        );
        window.note(document, problem);
    }
}

/// How long after the first mark the last resend may be marked while every look-up works.
pub(super) fn resend_horizon(account: &AccountTimes, look_up_after: &[Duration]) -> Duration {
    let again = account.absence_gap.value.saturating_mul(account.absence_count.value.saturating_sub(1));
    let proof = first_counted_walk(account, look_up_after).saturating_add(again);
    proof.saturating_mul(account.max_resends.value)
}

/// How long after a mark the first walk begins that counts for absence, at the latest. Gaps run from the attempt's end, which is
/// anywhere up to the send time-out; a walk counts from the send time-out and the lag on.
fn first_counted_walk(account: &AccountTimes, look_up_after: &[Duration]) -> Duration {
    let end = account.send_timeout.value;
    let counts_from = end.saturating_add(account.absence_lag.value);
    let mut since_end = Duration::ZERO;
    let mut latest = Duration::ZERO;
    for gap in look_up_after {
        latest = latest.max(counts_from.min(end.saturating_add(since_end)).saturating_add(*gap));
        since_end = since_end.saturating_add(*gap);
        if since_end >= counts_from {
            return latest;
        }
    }
    let repeated = look_up_after.last().copied().unwrap_or_default();
    latest.max(counts_from.saturating_add(repeated))
}

/// `9m 15s`.
fn shown(length: Duration) -> String {
    SignedDuration::try_from(length).map_or_else(|_| format!("{length:?}"), |length| format!("{length:#}"))
}
