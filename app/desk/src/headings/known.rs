//! KNOWN: what evidence shows. NOT KNOWN: what no evidence shows yet.

use std::time::Duration;

use counterfoil_ledger::attempt::{Attempt, Class};
use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::entry::{Entry, Hold, Incident};
use counterfoil_ledger::evidence::{EffectStatus, Hit, Verdict};
use counterfoil_ledger::state::{Event, State};

use super::Case;
use crate::i18n::{Arg, Message, of};

impl Case<'_> {
    pub(super) fn known(&self) -> Vec<Message> {
        let facts = &self.sheet.operation.facts;
        let mut known = match facts.state {
            State::AwaitingApproval => {
                let mut known = vec![self.nothing_happened()];
                known.extend(self.held_because());
                known
            }
            State::Authorized => vec![self.nothing_happened()],
            State::Submitted => self.latest().map(marked).into_iter().collect(),
            State::Unknown => self.sent_and_seen(),
            State::Escalated => {
                let why = Arg::words(of::escalation(self.escalation()));
                let mut known = vec![Message::KnownEscalated { why, at: Arg::Time(facts.state_since) }];
                known.extend(self.sent_and_seen());
                known
            }
            State::Pending => self.held_by_provider(),
            State::Confirmed => self.exists(),
            State::Failed => self.failed(),
            State::Cancelled => vec![self.withdrawn()],
        };
        if facts.cancel_asked && facts.state != State::Cancelled {
            known.push(Message::KnownCancelAsked);
        }
        if facts.asked_count > 1 {
            known.push(Message::KnownAskedTimes { count: Arg::count(facts.asked_count) });
        }
        // What an incident says is known too, unless a sentence above has said it.
        known.extend(facts.incidents.iter().filter_map(|incident| match incident {
            Incident::Mismatch { .. } if matches!(facts.state, State::Unknown | State::Escalated) => None,
            Incident::Bounced { .. } if facts.bounced => None,
            _ => Some(Message::EntryIncident { incident: Arg::words(of::incident(incident)) }),
        }));
        known
    }

    fn nothing_happened(&self) -> Message {
        let facts = &self.sheet.operation.facts;
        if self.may_have_been_sent_before() {
            return Message::KnownRestored { at: Arg::Time(facts.created_at) };
        }
        match facts.attempts.len() {
            0 => Message::KnownNotSent { at: Arg::Time(facts.created_at) },
            sends => Message::KnownSendsDidNothing { count: Arg::count(sends) },
        }
    }

    /// Once it was allowed, only a lapse or a doubt brings it back; before, it is what it was held for from the beginning.
    fn held_because(&self) -> Vec<Message> {
        let operation = &self.sheet.operation;
        let subject = &operation.facts.subject;
        match self.moved_by() {
            Some(Event::Lapsed) => {
                let span = Arg::Span(Duration::from_secs(subject.send_within_s));
                return vec![Message::KnownHoldLapsed { span }];
            }
            Some(Event::HeldBack) => return vec![Message::KnownHeldBack],
            Some(Event::RestoreInDoubt) => return vec![Message::KnownHeldForRestore],
            _ => {}
        }
        let currency = operation.intent.money.currency();
        let money = |minor| Arg::Money(self.sheet.provider.display_minor(minor, currency));
        let because = |hold: &Hold| match hold {
            Hold::Revision => Message::KnownHoldRevision { number: Arg::count(subject.revision.number()) },
            Hold::AboveLimit { limit_minor, together_minor } => {
                Message::KnownHoldAboveLimit { together: money(*together_minor), limit: money(*limit_minor) }
            }
            Hold::Twin { operation } => Message::KnownHoldTwin { operation: Arg::ident(operation.as_str()) },
        };
        operation.facts.holds.iter().map(because).collect()
    }

    /// The event that brought it into its present state; `None`: it was recorded in it.
    fn moved_by(&self) -> Option<Event> {
        self.sheet.entries.iter().rev().find_map(|chained| match chained.entered.entry {
            Entry::State { event, .. } => Some(event),
            _ => None,
        })
    }

    fn sent_and_seen(&self) -> Vec<Message> {
        let facts = &self.sheet.operation.facts;
        let conclusion = &facts.conclusion;
        let provider = || Arg::plain(&self.sheet.provider.name);
        let mut known: Vec<_> = self.latest().map(left).into_iter().collect();
        if facts.look_ups > 0 {
            let last = self.sheet.entries.iter().rev().find_map(|chained| match &chained.entered.entry {
                Entry::LookedUp { look_up, counted, .. } => Some(of::look_up(look_up, *counted)),
                _ => None,
            });
            known.extend(last.map(|look_up| Message::KnownLookUp { look_up: Arg::words(look_up) }));
        }
        if conclusion.verdict == Verdict::Absent {
            known.push(Message::KnownAbsent { count: Arg::count(facts.absence.walks) });
        }
        for hit in &conclusion.hits {
            let id = Arg::ident(&hit.external_id);
            if !hit.matches() {
                known.push(Message::KnownMismatch { id, fields: of::fields(&hit.differences) });
            } else if hit.status == EffectStatus::Failed {
                known.push(Message::KnownOneFailed { id, provider: provider() });
            }
        }
        if !conclusion.unclaimed_equal.is_empty() {
            known.push(Message::KnownUnclaimed { ids: Arg::idents(&conclusion.unclaimed_equal) });
        }
        known
    }

    fn held_by_provider(&self) -> Vec<Message> {
        let hit = self.sheet.operation.facts.conclusion.standing().next();
        let held = |hit: &Hit| {
            let status = self.seen(&hit.external_id).map(|effect| effect.provider_status.clone());
            Message::KnownHeld {
                id: Arg::ident(&hit.external_id),
                provider: Arg::plain(&self.sheet.provider.name),
                status: status.map_or(Arg::words(Message::StatePending), Arg::Ident),
            }
        };
        hit.map(held).into_iter().collect()
    }

    fn seen(&self, external_id: &str) -> Option<&counterfoil_ledger::evidence::EffectSeen> {
        let effects = self.sheet.effects.iter().map(|seen| &seen.effect);
        effects.into_iter().find(|effect| effect.external_id == external_id)
    }

    fn exists(&self) -> Vec<Message> {
        let provider = Arg::plain(&self.sheet.provider.name);
        let id = self.sheet.operation.facts.conclusion.external_id();
        let exists = id.map(|id| Message::KnownExists { id: Arg::ident(id), provider });
        exists.into_iter().chain(self.settled_by()).collect()
    }

    /// Which evidence came right before the move into the present state.
    fn settled_by(&self) -> Option<Message> {
        let state = self.sheet.operation.facts.state;
        let entries = &self.sheet.entries;
        let moved = entries
            .iter()
            .rposition(|chained| matches!(&chained.entered.entry, Entry::State { to, .. } if *to == state))?;
        let before = entries.get(..moved)?;
        before.iter().rev().find_map(|chained| {
            let at = Arg::Time(chained.entered.at);
            match &chained.entered.entry {
                Entry::AttemptEnded { .. } => Some(Message::KnownSettledByAnswer { at }),
                Entry::LookedUp { .. } => Some(Message::KnownSettledByLookUp { at }),
                Entry::Told { .. } => Some(Message::KnownSettledByWebhook { at }),
                _ => None,
            }
        })
    }

    fn failed(&self) -> Vec<Message> {
        let facts = &self.sheet.operation.facts;
        let provider = Arg::plain(&self.sheet.provider.name);
        let failed = facts.conclusion.hits.iter().find(|hit| hit.status == EffectStatus::Failed);
        let Some(hit) = failed else {
            let code = facts
                .attempts
                .iter()
                .filter_map(|attempt| attempt.end.as_ref())
                .rfind(|end| end.class == Class::Refused)
                .and_then(|end| end.code.as_ref());
            let refused = match code {
                Some(code) => Message::KnownRefused { provider, code: Arg::ident(code) },
                None => Message::KnownRefusedPlain { provider },
            };
            return std::iter::once(refused).chain(self.settled_by()).collect();
        };
        let id = Arg::ident(&hit.external_id);
        let mut known = vec![if facts.bounced {
            Message::KnownBounced { id, provider, at: Arg::Time(facts.state_since) }
        } else {
            Message::KnownProviderFailed { id, provider }
        }];
        let reason = self.seen(&hit.external_id).and_then(|effect| effect.failure_reason.as_ref());
        known.extend(reason.map(|reason| Message::KnownFailureReason { reason: Arg::ident(reason) }));
        known.extend(self.settled_by());
        known.extend(facts.contradicted_since.map(|at| Message::KnownContradicted {
            provider: Arg::plain(&self.sheet.provider.name),
            at: Arg::Time(at),
        }));
        known
    }

    fn withdrawn(&self) -> Message {
        let at = Arg::Time(self.sheet.operation.facts.state_since);
        if self.moved_by() == Some(Event::Denied) {
            Message::KnownDenied { at }
        } else {
            Message::KnownWithdrawn { at }
        }
    }

    pub(super) fn not_known(&self) -> Vec<Message> {
        let operation = &self.sheet.operation;
        let conclusion = &operation.facts.conclusion;
        let provider = || Arg::plain(&self.sheet.provider.name);
        let mut open = match operation.facts.state {
            State::AwaitingApproval | State::Authorized | State::Cancelled
                if self.may_have_been_sent_before() =>
            {
                let money = Arg::Money(self.sheet.provider.display(operation.intent.money));
                vec![Message::NotKnownWhether { provider: provider(), money }]
            }
            State::AwaitingApproval | State::Authorized | State::Cancelled => Vec::new(),
            State::Submitted => vec![Message::NotKnownOnItsWay { provider: provider() }],
            State::Unknown | State::Escalated => {
                let money = Arg::Money(self.sheet.provider.display(operation.intent.money));
                let mut open = vec![Message::NotKnownWhether { provider: provider(), money }];
                let mismatched = conclusion.hits.iter().filter(|hit| !hit.matches());
                open.extend(
                    mismatched.map(|hit| Message::NotKnownMismatch { id: Arg::ident(&hit.external_id) }),
                );
                if !conclusion.unclaimed_equal.is_empty() {
                    open.push(Message::NotKnownUnclaimed { ids: Arg::idents(&conclusion.unclaimed_equal) });
                }
                open
            }
            State::Pending => vec![Message::NotKnownPending { provider: provider() }],
            State::Confirmed if self.sheet.step.reason == Reason::WatchedForBounce => {
                vec![Message::NotKnownBounce]
            }
            State::Failed if operation.facts.bounced => vec![Message::NotKnownCustomerPaid],
            State::Confirmed | State::Failed => Vec::new(),
        };
        if operation.facts.state == State::Failed && operation.facts.contradicted_since.is_some() {
            open.push(Message::NotKnownContradicted);
        }
        if self.has_incident(|incident| matches!(incident, Incident::TwoEffects { .. })) {
            open.push(Message::NotKnownWhichEffect);
        }
        if self.has_incident(|incident| matches!(incident, Incident::EffectAgainstState { .. })) {
            open.push(Message::NotKnownAgainstState);
        }
        if open.is_empty() {
            open.push(Message::NotKnownNothing);
        }
        open
    }
}

fn marked(attempt: &Attempt) -> Message {
    Message::KnownMarked { number: Arg::count(attempt.number), at: Arg::Time(attempt.marked_at) }
}

/// What became of a send that may have arrived.
fn left(attempt: &Attempt) -> Message {
    let (number, at) = (Arg::count(attempt.number), Arg::Time(attempt.marked_at));
    match (&attempt.end, attempt.ended_at) {
        (Some(end), Some(ended)) => {
            Message::KnownSent { number, at, ended: Arg::Time(ended), how: Arg::words(of::why(end.why)) }
        }
        _ => Message::KnownSenderGone { number, at },
    }
}
