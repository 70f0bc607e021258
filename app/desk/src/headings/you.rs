//! YOU: what a person has to do, or when to look again; and what the customer may be told.

use counterfoil_ledger::decide::{Escalation, Reason, escalates_at};
use counterfoil_ledger::entry::{Hold, Incident};
use counterfoil_ledger::evidence::Unavailable;
use counterfoil_ledger::state::State;
use counterfoil_ledger::window::later;

use super::{Case, claim};
use crate::i18n::{Arg, Message};

impl Case<'_> {
    pub(super) fn you(&self) -> Vec<Message> {
        let facts = &self.sheet.operation.facts;
        let mut you = Vec::new();
        if self.sheet.set_aside.is_some() {
            you.push(Message::YouEngineer);
        }
        you.extend(facts.incidents.iter().filter_map(|incident| look_into(incident, facts.state)));
        match facts.state {
            State::AwaitingApproval => {
                you.extend(facts.holds.iter().filter_map(|hold| match hold {
                    Hold::Twin { operation } => {
                        Some(Message::YouTwin { operation: Arg::ident(operation.as_str()) })
                    }
                    Hold::Revision | Hold::AboveLimit { .. } => None,
                }));
                if self.may_have_been_sent_before() {
                    you.push(Message::YouLookFirst { provider: Arg::plain(&self.sheet.provider.name) });
                }
                you.push(Message::YouApprove);
            }
            State::Authorized | State::Submitted | State::Unknown => you.extend(self.around_a_send()),
            State::Escalated => you.push(self.decide()),
            State::Pending => you.push(self.wait_for_the_provider()),
            State::Failed if facts.bounced => you.push(Message::YouBounced),
            State::Failed if facts.contradicted_since.is_some() => {}
            State::Failed | State::Cancelled => you.push(Message::YouRevision),
            State::Confirmed => {}
        }
        if you.is_empty() {
            you.push(Message::YouNothing);
        }
        // Whoever sees money that isn't there yet is tempted to send it by hand.
        if matches!(facts.state, State::Submitted | State::Unknown | State::Escalated | State::Pending) {
            you.push(Message::YouNotElsewhere { provider: Arg::plain(&self.sheet.provider.name) });
        }
        you.push(claim(self.sheet));
        you
    }

    fn around_a_send(&self) -> Option<Message> {
        let account = || Arg::ident(self.sheet.provider.account.as_str());
        let operation = &self.sheet.operation;
        match self.sheet.step.reason {
            Reason::AccountPaused
            | Reason::ResendWaitsForAccount
            | Reason::LookUpFailed { why: Unavailable::Unauthorized | Unavailable::Forbidden } => {
                Some(Message::YouAccountPaused { account: account() })
            }
            Reason::PaymentBlocked | Reason::ResendWaitsForPayment => Some(Message::YouPaymentBlocked),
            Reason::ResendWaitsForClock => Some(Message::YouClock),
            _ => match operation.facts.state {
                State::Submitted => {
                    let at = self.latest()?.deadline();
                    (at > self.now).then_some(Message::YouNothingUntil { at: Arg::Time(at) })
                }
                State::Unknown => {
                    let at = Arg::Time(escalates_at(operation, &self.sheet.policy));
                    Some(Message::YouNothingUntil { at })
                }
                _ => None,
            },
        }
    }

    fn decide(&self) -> Message {
        let conclusion = &self.sheet.operation.facts.conclusion;
        match self.escalation() {
            Escalation::WalkInDoubt(_) => Message::YouDecideWalk,
            Escalation::Mismatch => {
                let mismatched = conclusion.hits.iter().filter(|hit| !hit.matches());
                Message::YouDecideMismatch { id: Arg::idents(mismatched.map(|hit| &hit.external_id)) }
            }
            Escalation::UnclaimedEqualEffect => {
                Message::YouDecideUnclaimed { ids: Arg::idents(&conclusion.unclaimed_equal) }
            }
            Escalation::ResendRuledOut(_) => Message::YouDecideAbsent,
            Escalation::TimeIsUp => Message::YouDecide,
        }
    }

    fn wait_for_the_provider(&self) -> Message {
        let facts = &self.sheet.operation.facts;
        let at = later(facts.state_since, self.sheet.policy.pending_attention);
        match facts.conclusion.external_id() {
            Some(id) if at <= self.now => Message::YouAskProvider {
                provider: Arg::plain(&self.sheet.provider.name),
                id: Arg::ident(id),
            },
            _ => Message::YouPendingUntil { at: Arg::Time(at) },
        }
    }
}

/// What an incident asks of a person; what the state says already isn't said twice.
fn look_into(incident: &Incident, state: State) -> Option<Message> {
    match incident {
        Incident::TwoEffects { external_ids } => {
            Some(Message::YouTwoEffects { ids: Arg::idents(external_ids) })
        }
        Incident::EffectAgainstState { external_id, .. } => {
            Some(Message::YouAgainstState { id: Arg::ident(external_id) })
        }
        Incident::Mismatch { external_id, .. } if !matches!(state, State::Unknown | State::Escalated) => {
            Some(Message::YouDecideMismatch { id: Arg::ident(external_id) })
        }
        Incident::Mismatch { .. } | Incident::Bounced { .. } => None,
    }
}
