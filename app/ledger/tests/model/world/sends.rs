//! One send: the mark, what becomes of the sender, of the request and of the report.

use counterfoil_ledger::attempt::AttemptEnd;
use counterfoil_ledger::decide::Seen;
use counterfoil_ledger::state::State;
use counterfoil_ledger::window::later;

use super::{Mark, World};
use crate::provider::{Behaviour, Keys, LANDS_AFTER_MS};
use crate::rules;
use crate::steps::{Fate, Fortune};
use crate::support;

impl World {
    pub(super) fn sends(&mut self, fortune: Fortune, permitted: bool) {
        if fortune.sender == Fate::DiesBeforeTheMark {
            return;
        }
        let protected = self.provider.protects(self.now);
        if self.story.state() == State::Authorized {
            if self.is_sent_in_doubt() {
                self.excuses.permitted += u32::from(!protected);
            } else {
                rules::nothing_has_happened(self);
            }
        } else if permitted && !protected {
            self.excuses.permitted += 1;
        } else if !permitted {
            self.excuse_a_clock_that_was_set_back();
        }
        let number = self.story.marks();
        self.marks.push(Mark { at: self.now, skew: self.skew });
        self.due = Some(later(self.story.now(), self.story.policy.send_timeout));
        let timeout = i64::try_from(self.story.policy.send_timeout.as_millis()).unwrap();
        match fortune.sender {
            Fate::DiesBeforeTheMark | Fate::DiesAfterTheMark => {}
            Fate::SleepsPastItsDeadline => self.late_reports.push((number, support::not_sent())),
            Fate::CannotConnect => {
                self.passes(30);
                self.decides(Seen::AttemptEnded { number, end: support::not_sent() });
            }
            Fate::RequestLost => self.no_answer_came(number, timeout),
            Fate::RequestArrivesLate => {
                self.provider.receives_later(self.now + LANDS_AFTER_MS, fortune.provider);
                self.excuse_two(fortune.provider);
                self.no_answer_came(number, timeout);
            }
            Fate::AnswerLost => {
                self.arrives(number, fortune.provider);
                self.no_answer_came(number, timeout);
            }
            Fate::DiesWithTheAnswer => {
                self.arrives(number, fortune.provider);
            }
            Fate::ReportsLate => {
                let end = self.arrives(number, fortune.provider);
                self.late_reports.push((number, end));
            }
            Fate::AllGoesWell => {
                let end = self.arrives(number, fortune.provider);
                self.passes(150);
                self.decides(Seen::AttemptEnded { number, end });
            }
        }
    }

    fn no_answer_came(&mut self, number: u32, timeout: i64) {
        self.passes(timeout);
        self.decides(Seen::AttemptEnded { number, end: support::no_answer() });
    }

    fn arrives(&mut self, number: u32, behaviour: Behaviour) -> AttemptEnd {
        rules::is_marked(self, number);
        self.excuse_two(behaviour);
        let end = self.provider.receives(self.now, behaviour);
        rules::one_effect(self);
        end
    }

    fn excuse_two(&mut self, behaviour: Behaviour) {
        self.excuses.provider_made_two += u32::from(behaviour == Behaviour::ExecutesTwice);
    }

    /// The window is measured by a clock. Set back by more than the margin, it hides that the window has ended.
    fn excuse_a_clock_that_was_set_back(&mut self) {
        let window_ms = self.provider.window_ms;
        let arrived =
            self.story.operation.facts.attempts.iter().position(|attempt| attempt.may_have_arrived());
        let Some(first) = arrived.map(|index| self.marks[index]) else { return };
        let too_late = self.provider.keys == Keys::PrunedAtTheWindowsEnd && self.now - first.at >= window_ms;
        if too_late {
            let margin = i64::try_from(self.story.policy.window_margin.as_millis()).unwrap();
            let back = self.marks.iter().map(|mark| mark.skew - self.skew).max().unwrap_or(0);
            assert!(back > margin, "a resend left after the window's end, and no clock is to blame");
            self.excuses.clock += 1;
        }
    }
}
