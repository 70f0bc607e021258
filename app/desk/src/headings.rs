//! KNOWN, NOT KNOWN, NEXT by itself, YOU, NOT ALLOWED: what the page of an operation says before anything else.
//!
//! Computed from the operation, the reason of the last decision and the policy, and from nothing else: the same facts always
//! say the same.

mod known;
mod next;
mod not_allowed;
mod you;

use counterfoil_ledger::attempt::Attempt;
use counterfoil_ledger::decide::{Circumstances, Escalation, Reason, RuledOut, resend_ruled_out};
use counterfoil_ledger::entry::Incident;
use counterfoil_ledger::evidence::{Verdict, Walk};
use counterfoil_ledger::words::{self, Claim};
use jiff::Timestamp;

use crate::OperationSheet;
use crate::i18n::Message;

/// What stands under each heading.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Headings {
    pub(crate) known: Vec<Message>,
    pub(crate) not_known: Vec<Message>,
    pub(crate) next: Vec<Message>,
    pub(crate) you: Vec<Message>,
    pub(crate) not_allowed: Vec<Message>,
}

/// Everything that the headings are computed from.
struct Case<'a> {
    sheet: &'a OperationSheet,
    now: Timestamp,
}

/// Computes the headings.
pub(crate) fn headings(sheet: &OperationSheet, now: Timestamp) -> Headings {
    let case = Case { sheet, now };
    Headings {
        known: case.known(),
        not_known: case.not_known(),
        next: case.next(),
        you: case.you(),
        not_allowed: case.not_allowed(),
    }
}

/// After a restore it isn't proved yet that it wasn't sent before.
fn is_in_doubt(sheet: &OperationSheet) -> bool {
    matches!(sheet.step.reason, Reason::RestoreInDoubt { .. })
}

/// What the customer may be told.
fn claim(sheet: &OperationSheet) -> Message {
    match words::claim(&sheet.operation, is_in_doubt(sheet)) {
        Claim::NothingYet => Message::ClaimNothingYet,
        Claim::InProgress => Message::ClaimInProgress,
        Claim::Done => Message::ClaimDone,
        Claim::NotDone if sheet.operation.facts.bounced => Message::ClaimBounced,
        Claim::NotDone => Message::ClaimNotDone,
    }
}

impl Case<'_> {
    fn latest(&self) -> Option<&Attempt> {
        self.sheet.operation.facts.attempts.last()
    }

    /// Why the machine will never send it again, as far as facts and policy tell.
    fn ruled_out(&self) -> Option<RuledOut> {
        let circumstances = Circumstances {
            now: self.now,
            newest_in_ledger: self.now,
            account_paused: false,
            payment_blocked: false,
            restored_at: self.sheet.restored_at,
        };
        resend_ruled_out(&self.sheet.operation, &self.sheet.policy, &circumstances)
    }

    /// Why it is with a person. The decision that sent it there says so; later ones only say that it still is, and then the
    /// facts tell.
    fn escalation(&self) -> Escalation {
        if let Reason::ToPerson { why } = self.sheet.step.reason {
            return why;
        }
        let facts = &self.sheet.operation.facts;
        if facts.conclusion.hits.iter().any(|hit| !hit.matches()) {
            return Escalation::Mismatch;
        }
        if !facts.conclusion.unclaimed_equal.is_empty() {
            return Escalation::UnclaimedEqualEffect;
        }
        if let Some(Walk::Inconclusive(doubt)) = facts.last_look_up.map(|last| last.walk) {
            return Escalation::WalkInDoubt(doubt);
        }
        match self.ruled_out() {
            Some(why) if facts.conclusion.verdict == Verdict::Absent => Escalation::ResendRuledOut(why),
            _ => Escalation::TimeIsUp,
        }
    }

    /// Nobody can say yet whether it was sent before the ledger was restored from a backup.
    fn may_have_been_sent_before(&self) -> bool {
        is_in_doubt(self.sheet) || words::held_for_restore(&self.sheet.operation)
    }

    fn has_incident(&self, is_it: impl Fn(&Incident) -> bool) -> bool {
        self.sheet.operation.facts.incidents.iter().any(is_it)
    }
}
