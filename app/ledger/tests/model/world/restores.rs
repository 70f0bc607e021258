//! A backup of the ledger, and its restore: what was sent in between is known to the provider alone.

use counterfoil_ledger::entry::Entered;
use counterfoil_ledger::operation::Operation;

use super::{Mark, World};

/// The ledger as it was.
#[derive(Debug, Clone)]
pub(super) struct Backup {
    operation: Operation,
    entries: Vec<Entered>,
    marks: Vec<Mark>,
}

impl World {
    pub(super) fn backup_is_taken(&mut self) {
        self.backup = Some(Backup {
            operation: self.story.operation.clone(),
            entries: self.story.entries.clone(),
            marks: self.marks.clone(),
        });
    }

    /// Every process of the old ledger is gone, with all that it had in its hands; everything is due.
    pub(super) fn backup_is_restored(&mut self) {
        let Some(Backup { operation, entries, marks }) = self.backup.clone() else { return };
        self.told = operation.clone();
        self.marks = marks;
        self.story.operation = operation;
        self.story.entries = entries;
        let newest = self.story.entries.iter().map(|entered| entered.at).max().unwrap();
        self.story.circumstances.newest_in_ledger = newest;
        self.story.is_restored();
        self.late_reports.clear();
        self.late_look_ups.clear();
        self.restored = Some(self.now);
        self.due = Some(self.story.now());
    }

    /// Absence is counted by the ledger's clock. Set forward while something may still be under way, it counts too early.
    pub(super) fn excuse_a_clock_set_forward_after_a_restore(&mut self, seconds: i32) {
        let policy = &self.story.policy;
        let safe = i64::try_from((policy.send_timeout + policy.absence_lag).as_millis()).unwrap();
        if seconds > 0 && self.restored.is_some_and(|restored| self.now - restored < safe) {
            self.excuses.clock += 1;
        }
    }

    /// A person said that it may be sent although nobody could find out whether it was.
    pub(super) fn is_sent_in_doubt(&self) -> bool {
        let restored_at = self.story.circumstances.restored_at;
        let held_back = self.story.operation.facts.held_back;
        restored_at.is_some() && held_back.is_some_and(|held| held.approved && Some(held.at) >= restored_at)
    }
}
