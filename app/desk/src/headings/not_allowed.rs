//! NOT ALLOWED: what nobody may do now, and why.

use counterfoil_ledger::decide::{Reason, RuledOut};
use counterfoil_ledger::state::State;
use counterfoil_ledger::window::later;

use super::Case;
use crate::i18n::{Arg, Message, of};

impl Case<'_> {
    pub(super) fn not_allowed(&self) -> Vec<Message> {
        match self.sheet.operation.facts.state {
            State::AwaitingApproval => vec![Message::NotAllowedUnapproved],
            State::Authorized => vec![Message::NotAllowedAnotherWay],
            State::Submitted => vec![Message::NotAllowedResendWhileSending, Message::NotAllowedTakeBack],
            State::Unknown | State::Escalated => {
                let mut not_allowed = vec![self.resend()];
                not_allowed.push(Message::NotAllowedNewKey);
                not_allowed.push(Message::NotAllowedTakeBack);
                not_allowed.push(Message::NotAllowedOutcome);
                not_allowed
            }
            State::Pending => vec![Message::NotAllowedResendHeld, Message::NotAllowedTakeBack],
            State::Confirmed => vec![Message::NotAllowedResendDone],
            State::Failed => vec![Message::NotAllowedResendSettled],
            State::Cancelled => vec![Message::NotAllowedWithdrawn],
        }
    }

    /// Sending again: ruled out for good, blocked by a stored failure, not proved to be absent, or for the reconciler alone.
    fn resend(&self) -> Message {
        let facts = &self.sheet.operation.facts;
        let policy = &self.sheet.policy;
        let ruled_out =
            |why: RuledOut| Message::NotAllowedResendRuledOut { why: Arg::words(of::ruled_out(why)) };
        let conclusion = &facts.conclusion;
        let maybe: Vec<_> = conclusion.hits.iter().map(|hit| &hit.external_id).collect();
        if !maybe.is_empty() || !conclusion.unclaimed_equal.is_empty() {
            let ids = Arg::idents(maybe.into_iter().chain(&conclusion.unclaimed_equal));
            return Message::NotAllowedResendMayExist { ids };
        }
        if let Some(why) = self.ruled_out() {
            return ruled_out(why);
        }
        if self.sheet.step.reason == Reason::StoredFailureReplays
            || facts.attempts.iter().filter_map(|attempt| attempt.end.as_ref()).any(|end| end.stored_failure)
        {
            return Message::NotAllowedResendStoredFailure;
        }
        match self.latest() {
            Some(latest) if policy.offers_look_up && !facts.absence_proved => {
                let after = later(latest.deadline(), policy.absence_lag);
                Message::NotAllowedResendUnproved {
                    needed: Arg::count(policy.absence_count),
                    after: Arg::Time(after),
                }
            }
            _ => Message::NotAllowedByHand,
        }
    }
}
