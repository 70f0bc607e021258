//! What each piece of evidence says, proves and doesn't prove.

use std::time::Duration;

use counterfoil_ledger::attempt::{AttemptEnd, Class};
use counterfoil_ledger::entry::Entry;
use counterfoil_ledger::evidence::{EffectSeen, EffectStatus, LookUp, Relation, Walk, relate};
use counterfoil_ledger::window::later;
use jiff::Timestamp;

use crate::OperationSheet;
use crate::i18n::{Arg, Message, of};

/// One piece.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) source: Message,
    pub(crate) received_at: Timestamp,
    pub(crate) says: Vec<Message>,
    pub(crate) proves: Vec<Message>,
    pub(crate) not_proves: Vec<Message>,
}

/// What is needed to judge an entry: what stood before it.
#[derive(Default)]
struct Before {
    /// The mark and the deadline of the latest send.
    latest: Option<(Timestamp, Timestamp)>,
    /// Look-ups counted towards absence since then.
    walks: u32,
    /// The restore from a backup that they speak for.
    restored_at: Option<Timestamp>,
}

/// Everything from outside, in the order in which it came.
pub(crate) fn evidence(sheet: &OperationSheet) -> Vec<Evidence> {
    let mut before = Before::default();
    sheet
        .entries
        .iter()
        .filter_map(|chained| {
            let at = chained.entered.at;
            match &chained.entered.entry {
                Entry::AttemptStarted { send_timeout_ms, .. } => {
                    let deadline = later(at, Duration::from_millis(*send_timeout_ms));
                    before = Before { latest: Some((at, deadline)), ..Before::default() };
                    None
                }
                Entry::AttemptEnded { number, end } => Some(answer(sheet, *number, end, at)),
                Entry::LookedUp { look_up, counted, proves_absence, restored_at } => {
                    if *restored_at > before.restored_at {
                        before = Before { walks: 0, restored_at: *restored_at, ..before };
                    }
                    before.walks += u32::from(*counted);
                    Some(looked_up(sheet, look_up, (*counted, *proves_absence), &before, at))
                }
                Entry::Told { effect } => Some(told(sheet, effect, at)),
                Entry::Recorded { .. }
                | Entry::Asked(_)
                | Entry::State { .. }
                | Entry::CancelAsked
                | Entry::Incident(_) => None,
            }
        })
        .collect()
}

fn answer(sheet: &OperationSheet, number: u32, end: &AttemptEnd, at: Timestamp) -> Evidence {
    let sent = || Arg::count(number);
    let mut says =
        vec![Message::SaysClass { class: Arg::words(of::class(end)), why: Arg::words(of::why(end.why)) }];
    if end.replayed {
        says.push(Message::Replayed);
    }
    let (mut proves, mut not_proves) = (Vec::new(), Vec::new());
    let others = (number > 1).then_some(Message::NotProvesOtherSends);
    match end.class {
        Class::NotSent => {
            proves.push(Message::ProvesNotSent { number: sent() });
            not_proves.extend(others);
        }
        Class::Deferred => {
            proves.push(Message::ProvesDeferred { number: sent() });
            not_proves.extend(others);
        }
        Class::Refused if end.replayed => {
            proves.push(Message::ProvesReplayedRefusal);
            not_proves.extend(others.map(|_| Message::NotProvesSecondExecution));
        }
        Class::Refused => {
            proves.push(Message::ProvesRefused { number: sent() });
            not_proves.extend(others);
        }
        Class::Effect | Class::Indeterminate => {}
    }
    match &end.effect {
        Some(effect) => {
            says.push(effect_says(sheet, effect));
            effect_proves(sheet, effect, &mut proves, &mut not_proves);
        }
        None if end.class == Class::Indeterminate => not_proves.push(Message::NotProvesOutcome),
        None => {}
    }
    Evidence {
        source: Message::EvidenceAttempt { number: sent() },
        received_at: at,
        says,
        proves,
        not_proves,
    }
}

fn looked_up(
    sheet: &OperationSheet,
    look_up: &LookUp,
    (counted, proves_absence): (bool, bool),
    before: &Before,
    at: Timestamp,
) -> Evidence {
    let mut says = vec![of::look_up(look_up, counted)];
    let (mut proves, mut not_proves) = (Vec::new(), Vec::new());
    for effect in &look_up.effects {
        says.push(effect_says(sheet, effect));
        effect_proves(sheet, effect, &mut proves, &mut not_proves);
    }
    if look_up.others > 0 {
        says.push(Message::EvidenceOthers { count: Arg::count(look_up.others) });
    }
    if look_up.retries > 0 {
        says.push(Message::EvidenceRetries { count: Arg::count(look_up.retries) });
    }
    let needed = sheet.policy.absence_count;
    let restored = before.restored_at.map(|at| later(at, sheet.policy.send_timeout));
    let sent = before.latest.map(|(_, deadline)| deadline);
    let horizon = sent.max(restored).map(|over| later(over, sheet.policy.absence_lag));
    match look_up.walk {
        Walk::Unavailable(_) => not_proves.push(Message::NotProvesOutcome),
        Walk::Inconclusive(_) => not_proves.push(Message::NotProvesAbsence),
        Walk::Complete if !look_up.effects.is_empty() => {}
        Walk::Complete if proves_absence => proves.push(Message::ProvesAbsence),
        Walk::Complete if counted => {
            proves.push(Message::ProvesAbsenceStep {
                walks: Arg::count(before.walks),
                needed: Arg::count(needed),
            });
            not_proves.push(Message::NotProvesAbsenceYet);
        }
        Walk::Complete => not_proves.push(match horizon {
            Some(horizon) if look_up.started_at < horizon => {
                Message::NotProvesAbsenceEarly { horizon: Arg::Time(horizon) }
            }
            _ => Message::NotProvesAbsenceYet,
        }),
    }
    Evidence { source: Message::EvidenceLookUp, received_at: at, says, proves, not_proves }
}

fn told(sheet: &OperationSheet, effect: &EffectSeen, at: Timestamp) -> Evidence {
    let (mut proves, mut not_proves) = (Vec::new(), Vec::new());
    effect_proves(sheet, effect, &mut proves, &mut not_proves);
    Evidence {
        source: Message::EvidenceWebhook { provider: Arg::plain(&sheet.provider.name) },
        received_at: at,
        says: vec![effect_says(sheet, effect)],
        proves,
        not_proves,
    }
}

fn effect_says(sheet: &OperationSheet, effect: &EffectSeen) -> Message {
    Message::SaysEffect {
        id: Arg::ident(&effect.external_id),
        status: Arg::ident(&effect.provider_status),
        money: money(sheet, effect),
    }
}

/// An effect's amount as it was seen, with the provider's exponent where its currency is one.
pub(crate) fn money(sheet: &OperationSheet, effect: &EffectSeen) -> Arg {
    match effect.currency.parse() {
        Ok(currency) => Arg::Money(sheet.provider.display_minor(effect.amount_minor, currency)),
        Err(_) => Arg::Ident(format!("{} {}", effect.amount_minor, effect.currency)),
    }
}

fn effect_proves(
    sheet: &OperationSheet,
    effect: &EffectSeen,
    proves: &mut Vec<Message>,
    not_proves: &mut Vec<Message>,
) {
    let id = || Arg::ident(&effect.external_id);
    match relate(&sheet.operation.intent, effect) {
        Relation::Ours => match effect.status {
            EffectStatus::Live => {
                proves.push(Message::ProvesExists { id: id() });
                not_proves.push(Message::NotProvesBank);
            }
            EffectStatus::Pending => {
                proves.push(Message::ProvesHeld { id: id() });
                not_proves.push(Message::NotProvesFinished);
            }
            EffectStatus::Failed => {
                proves.push(Message::ProvesFailed { id: id() });
                if sheet.operation.facts.attempts.len() > 1 {
                    not_proves.push(Message::NotProvesSecondExecution);
                }
            }
        },
        Relation::Mismatch(_) => {
            proves.push(Message::ProvesMismatch { id: id() });
            not_proves.push(Message::NotProvesOutcome);
        }
        Relation::UnclaimedEqual => not_proves.push(Message::NotProvesUnclaimed { ids: id() }),
        Relation::Foreign => not_proves.push(Message::NotProvesOutcome),
    }
}
