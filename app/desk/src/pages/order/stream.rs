//! Everything that happened on the order: the entries of all its operations, merged.

use leptos::prelude::*;

use super::Shown;
use crate::i18n::{Arg, Message, between, of};
use crate::parts::entry::{asks, what};
use crate::parts::table::{cell, row, table};

const COLUMNS: [Message; 5] = [
    Message::ColumnTime,
    Message::ColumnGap,
    Message::ColumnOperation,
    Message::ColumnWhat,
    Message::ColumnWho,
];

impl Shown<'_> {
    pub(super) fn stream(&self) -> Option<AnyView> {
        if self.sheet.operations.is_empty() {
            return None;
        }
        let voice = self.voice;
        let [time, gap, operation, says, who] = &COLUMNS;
        let mut merged: Vec<_> = self
            .sheet
            .operations
            .iter()
            .flat_map(|told| {
                let mut asked = false;
                told.entries.iter().map(move |chained| {
                    let again = asks(chained) && std::mem::replace(&mut asked, true);
                    (chained, again, told)
                })
            })
            .collect();
        // Stable: within one moment an operation's own order stands.
        merged.sort_by_key(|(chained, _, _)| chained.entered.at);
        let mut last = None;
        let rows = merged.into_iter().map(|(chained, again, told)| {
            let at = chained.entered.at;
            let since = last.replace(at).map(|last| {
                let span = Arg::Span(between(last, at));
                voice.say(&Message::GapIs { span })
            });
            let cells = vec![
                cell(voice, time, voice.time(at)),
                cell(voice, gap, since.into_any()),
                cell(voice, operation, voice.show(&self.operation_link(told.operation.id.as_str()))),
                cell(voice, says, what(voice, chained, &self.sheet.provider, again)),
                cell(voice, who, voice.say(&of::actor(&chained.entered.actor))),
            ];
            row(cells)
        });
        let rows = rows.collect();
        let caption = Message::StreamCaption { zone: Arg::ident(self.viewer.zone_label()) };
        Some(self.section(&Message::StreamTitle, table(voice, "stream", &caption, &COLUMNS, rows)))
    }
}
