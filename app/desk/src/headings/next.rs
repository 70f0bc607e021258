//! NEXT, by itself: what the machine does without anybody, when, and why not more.

use counterfoil_ledger::decide::{Reason, escalates_at};
use counterfoil_ledger::state::State;

use super::Case;
use crate::i18n::{Arg, Message, of};

impl Case<'_> {
    pub(super) fn next(&self) -> Vec<Message> {
        if self.sheet.set_aside.is_some() {
            return vec![Message::NextSetAside];
        }
        let provider = || Arg::plain(&self.sheet.provider.name);
        let account = || Arg::ident(self.sheet.provider.account.as_str());
        let due_at = self.sheet.step.due_at.map(Arg::Time);
        let tried_again = || due_at.clone().map(|at| Message::NextTriedAgainAt { at });
        let mut next = Vec::new();
        match self.sheet.step.reason {
            Reason::WaitsForApproval => next.push(Message::NextNothingApproval),
            Reason::ReadyToSend => next.push(Message::NextSends { provider: provider() }),
            Reason::SendsAgainLater => next.push(match due_at {
                Some(at) => Message::NextSendsAgainAt { at },
                None => Message::NextSends { provider: provider() },
            }),
            Reason::AccountPaused => {
                next.push(Message::NextAccountPaused { account: account() });
                next.extend(tried_again());
            }
            Reason::PaymentBlocked => {
                next.push(Message::NextPaymentBlocked);
                next.extend(tried_again());
            }
            Reason::SenderAtWork => next.extend(due_at.map(|at| Message::NextAnswerOr { at })),
            Reason::LooksUpNext => next.push(self.next_look_up()),
            Reason::LookUpFailed { why } => {
                next.push(Message::NextLookUpFailed { why: Arg::words(of::unavailable(why)) });
                next.push(self.next_look_up());
            }
            Reason::TooEarlyToCount => {
                next.push(Message::NextTooEarly);
                next.push(self.next_look_up());
            }
            Reason::AbsenceNotProvedYet { walks, needed } => {
                next.push(Message::NextAbsenceNotProved {
                    walks: Arg::count(walks),
                    needed: Arg::count(needed),
                });
                next.push(self.next_look_up());
            }
            Reason::AbsentAndProtected => next.push(Message::NextResends),
            Reason::KeyIsTheQuestion => {
                next.push(Message::NextKeyIsTheQuestion { provider: provider() });
                next.extend(self.coming_due().map(|at| Message::NextTriedAgainAt { at }));
            }
            Reason::RestoreInDoubt { walks, needed, unavailable } => {
                next.push(Message::NextRestored { walks: Arg::count(walks), needed: Arg::count(needed) });
                next.extend(
                    unavailable
                        .map(|why| Message::NextLookUpFailed { why: Arg::words(of::unavailable(why)) }),
                );
                next.push(self.next_look_up());
            }
            Reason::ResendWaitsForClock => {
                next.push(Message::NextResendWaitsForClock);
                next.push(self.next_look_up());
            }
            Reason::ResendWaitsForAccount => {
                next.push(Message::NextResendWaitsForAccount { account: account() });
                next.push(self.next_look_up());
            }
            Reason::ResendWaitsForPayment => {
                next.push(Message::NextResendWaitsForPayment);
                next.push(self.next_look_up());
            }
            Reason::StoredFailureReplays => {
                next.push(Message::NextStoredFailure);
                next.push(self.next_look_up());
            }
            Reason::WaitsForEvidence => next.push(Message::NextWaitsForEvidence { provider: provider() }),
            Reason::AtProvider => next.push(match self.coming_due() {
                Some(at) => Message::NextReadAgainAt { at },
                None if due_at.is_some() => Message::NextReadAgainNow,
                None => Message::NextWebhooksOnly,
            }),
            Reason::WatchedForBounce => next.push(match self.coming_due() {
                Some(at) => Message::NextWatchedAt { at },
                None => Message::NextReadAgainNow,
            }),
            Reason::Settled | Reason::StoppedBeforeSending => next.push(Message::NextNothing),
            Reason::ToPerson { .. } | Reason::StillWithPerson => next.push(match due_at {
                Some(at) => Message::NextLooksOnAt { at },
                None => Message::NextWebhooksOnly,
            }),
        }
        if self.sheet.operation.facts.state == State::Unknown {
            let at = Arg::Time(escalates_at(&self.sheet.operation, &self.sheet.policy));
            next.push(Message::NextToPersonAt { at });
        }
        next
    }

    /// The due time, unless it has come already.
    fn coming_due(&self) -> Option<Arg> {
        self.sheet.step.due_at.filter(|at| *at > self.now).map(Arg::Time)
    }

    /// Where nothing can be looked up, only the provider's own word is left.
    fn next_look_up(&self) -> Message {
        if !self.sheet.policy.offers_look_up {
            return Message::NextWebhooksOnly;
        }
        let number = Arg::count(self.sheet.operation.facts.look_ups.saturating_add(1));
        match self.coming_due() {
            Some(at) => Message::NextLookUpAt { number, at },
            None => Message::NextLookUpNow { number },
        }
    }
}
