//! What a caller is told. A model acts on it, so every answer says what is known, what isn't, what happens by itself and what
//! not to do. Never "failed, try again" for anything but a definite refusal.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::attempt::Class;
use crate::entry::Hold;
use crate::intent::EffectKind;
use crate::money::ExponentTable;
use crate::operation::Operation;
use crate::state::State;

/// What the caller may tell the customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    NothingYet,
    InProgress,
    Done,
    NotDone,
}

impl Claim {
    /// The claim that a state allows.
    pub fn of(state: State) -> Self {
        match state {
            State::AwaitingApproval | State::Authorized => Self::NothingYet,
            State::Submitted | State::Unknown | State::Pending | State::Escalated => Self::InProgress,
            State::Confirmed => Self::Done,
            State::Failed | State::Cancelled => Self::NotDone,
        }
    }
}

/// What the caller may tell the customer of this operation. `in_doubt`: after a restore it isn't proved yet that it wasn't sent
/// before.
pub fn claim(operation: &Operation, in_doubt: bool) -> Claim {
    if in_doubt || held_for_restore(operation) { Claim::InProgress } else { Claim::of(operation.facts.state) }
}

/// Whether it waits for a person because nobody can find out what was sent before a restore.
pub fn held_for_restore(operation: &Operation) -> bool {
    let facts = &operation.facts;
    facts.state == State::AwaitingApproval
        && facts.held_back.is_some_and(|held| held.for_restore && !held.approved)
}

/// How the provider is called and how it counts money.
#[derive(Debug, Clone, Copy)]
pub struct Speaker<'a> {
    /// `Stripe`.
    pub provider: &'a str,
    pub exponents: ExponentTable,
}

/// What is to be done, for the middle of a sentence: `refund of 380.00 TWD`.
pub fn what(operation: &Operation, speaker: Speaker<'_>) -> String {
    let EffectKind::Refund = operation.intent.effect;
    format!("refund of {}", speaker.exponents.display(operation.intent.money))
}

/// The message for a caller. `next_check_at`: when the machine looks again by itself. `in_doubt`: after a restore it isn't proved
/// yet that it wasn't sent before.
pub fn message(
    operation: &Operation,
    speaker: Speaker<'_>,
    next_check_at: Option<Timestamp>,
    in_doubt: bool,
) -> String {
    let what = what(operation, speaker);
    let provider = speaker.provider;
    let next = next_check_at.map_or_else(String::new, |at| format!("; next check at {}", seconds(at)));
    let facts = &operation.facts;
    if held_for_restore(operation) {
        return format!(
            "This ledger was restored from a backup, and it can't find out whether the {what} was sent to {provider} before. It may already have happened. Do not send it another way. A person must look first. Tell the customer it is being confirmed."
        );
    }
    if in_doubt {
        let stopped = if facts.state == State::Cancelled { "It was withdrawn since. " } else { "" };
        return format!(
            "This ledger was restored from a backup, and whether the {what} was sent to {provider} before isn't known yet. It may already have happened. Do not send it another way. {stopped}Counterfoil is checking before anything is sent{next}. Tell the customer it is being confirmed."
        );
    }
    match facts.state {
        State::AwaitingApproval => format!(
            "The {what} is recorded and was not sent. {} Do not send it another way. Tell the customer that nothing has happened yet.",
            why_held(operation)
        ),
        State::Authorized => match facts.attempts.last() {
            None => format!(
                "The {what} is recorded and will be sent to {provider}; it certainly has not happened yet. Do not send it another way."
            ),
            Some(_) => format!(
                "The {what} is recorded. {provider} did not execute it so far, and Counterfoil will send it again by itself. Do not send it another way."
            ),
        },
        State::Submitted => format!(
            "The {what} is being sent to {provider} now. It may already have happened. Do not send it again. {}Tell the customer it is being confirmed.",
            stopped(operation)
        ),
        State::Unknown => format!(
            "The {what} was sent to {provider} and no answer {}. It may already have happened. Do not send it again. {}Counterfoil is checking{next}. Tell the customer it is being confirmed.",
            lost(operation),
            stopped(operation)
        ),
        State::Escalated => format!(
            "The {what} was sent to {provider} and it is still not proved whether it happened. Do not send it again. A person decides now; Counterfoil goes on looking{next}. Tell the customer it is being confirmed."
        ),
        State::Pending => format!(
            "{provider} holds the {what} and has not finished it. Do not send it again. Counterfoil is watching it{next}. Tell the customer it is being processed."
        ),
        State::Confirmed => format!(
            "The {what} exists at {provider}{}. It is done; do not send it again.",
            facts.conclusion.external_id().map_or_else(String::new, |id| format!(" as {id}"))
        ),
        State::Failed if facts.bounced => format!(
            "The {what} had succeeded at {provider} and came back: the customer does not have the money. A person has a task. Do not send it again; doing it once more is a new revision with its own approval."
        ),
        State::Failed if facts.conclusion.external_id().is_some() => format!(
            "{provider} took the {what} up and says that it failed: the customer does not have the money. Repeating the request changes nothing; doing it once more is a new revision with its own approval."
        ),
        State::Failed => format!(
            "The {what} was refused by {provider}{} and did not happen. Repeating the request changes nothing; doing it once more is a new revision with its own approval.",
            refusal_code(operation)
        ),
        State::Cancelled => format!("The {what} was withdrawn before it was sent, and did not happen."),
    }
}

/// Before seconds nobody plans: `2026-11-30T10:03:31Z`.
fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Rule 14: after the mark a cancel only stops further sends, and says so.
fn stopped(operation: &Operation) -> &'static str {
    if operation.facts.cancel_asked {
        "It was asked to stop after it had left, so nothing more is sent, and what left may still count. "
    } else {
        ""
    }
}

fn lost(operation: &Operation) -> String {
    let status = operation
        .facts
        .attempts
        .last()
        .and_then(|attempt| attempt.end.as_ref())
        .and_then(|end| end.http_status);
    match status {
        Some(status) => format!("that proves anything came back (HTTP {status})"),
        None => "arrived".to_owned(),
    }
}

fn refusal_code(operation: &Operation) -> String {
    operation
        .facts
        .attempts
        .iter()
        .filter_map(|attempt| attempt.end.as_ref())
        .rfind(|end| end.class == Class::Refused)
        .and_then(|end| end.code.as_deref())
        .map_or_else(String::new, |code| format!(" ({code})"))
}

fn why_held(operation: &Operation) -> String {
    match operation.facts.holds.first() {
        Some(Hold::Revision) => {
            "It is a revision, and a person must approve it before the first send.".to_owned()
        }
        Some(Hold::AboveLimit { .. }) => {
            "It is above the limit, and a person must approve it before the first send.".to_owned()
        }
        Some(Hold::Twin { operation }) => {
            format!(
                "It looks like {operation} written another way, and a person must say whether it is meant."
            )
        }
        None if operation.facts.conclusion.hits.iter().any(|hit| !hit.matches()) => {
            "The provider holds something that bears its name and is not what was intended, and a person must look first."
                .to_owned()
        }
        None => "It was not sent in time, and a person must approve it again.".to_owned(),
    }
}
