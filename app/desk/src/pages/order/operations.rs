//! The operations of the order, oldest first.

use leptos::prelude::*;

use super::Shown;
use crate::OrderOperation;
use crate::i18n::{Arg, Message, ident, of};
use crate::parts::state::badge_and_incidents;
use crate::parts::table::{cell, head, none, row, table};

const COLUMNS: [Message; 7] = [
    Message::ColumnOperation,
    Message::ColumnState,
    Message::ColumnAmount,
    Message::ColumnWhy,
    Message::ColumnExternalId,
    Message::ColumnAttempts,
    Message::ColumnNext,
];

impl Shown<'_> {
    pub(super) fn operations(&self) -> AnyView {
        let content = if self.sheet.operations.is_empty() {
            let nothing = self.say(&Message::OrderNoOperations);
            view! { <p class="empty">{nothing}</p> }.into_any()
        } else {
            let rows = self.sheet.operations.iter().map(|told| self.operation(told)).collect();
            table(self.voice, "", &Message::OrderOperationsCaption, &COLUMNS, rows)
        };
        self.section(&Message::OrderOperationsTitle, content)
    }

    fn operation(&self, told: &OrderOperation) -> AnyView {
        let voice = self.voice;
        let [id, state, amount, why, external, sends, next] = &COLUMNS;
        let operation = &told.operation;
        let facts = &operation.facts;
        let external_id = facts.conclusion.external_id().map_or_else(|| none(voice), ident);
        let due = match told.step.due_at {
            Some(at) if at > voice.now => voice.time_and_relative(at),
            Some(_) => self.say(&Message::DueNow),
            None => none(voice),
        };
        let money = Arg::Money(self.sheet.provider.display(operation.intent.money));
        let incidents = u64::try_from(facts.incidents.len()).unwrap_or(u64::MAX);
        let cells = vec![
            head(voice, id, voice.show(&self.operation_link(operation.id.as_str()))),
            cell(voice, state, badge_and_incidents(voice, facts.state, facts.bounced, incidents)),
            cell(voice, amount, voice.show(&money)),
            cell(voice, why, self.say(&of::reason_short(told.step.reason, facts.bounced))),
            cell(voice, external, external_id),
            cell(voice, sends, voice.show(&Arg::count(facts.attempts.len()))),
            cell(voice, next, due),
        ];
        row(cells)
    }
}
