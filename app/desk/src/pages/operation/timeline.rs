//! The timeline: every entry with its actor, the gap since the last, and its place in the chain.

use leptos::prelude::*;

use super::Shown;
use crate::i18n::{Arg, Message, between, ident, of};
use crate::parts::entry::{asks, what};
use crate::parts::table::{cell, row, table};

const COLUMNS: [Message; 5] =
    [Message::ColumnTime, Message::ColumnGap, Message::ColumnWhat, Message::ColumnWho, Message::ColumnChain];

impl Shown<'_> {
    pub(super) fn timeline(&self) -> AnyView {
        let voice = self.voice;
        let [time, gap, says, who, chain] = &COLUMNS;
        let mut last = None;
        let mut asked = false;
        let rows = self.sheet.entries.iter().map(|chained| {
            let at = chained.entered.at;
            let since = last.replace(at).map(|last| {
                let span = Arg::Span(between(last, at));
                voice.say(&Message::GapIs { span })
            });
            let again = asks(chained) && std::mem::replace(&mut asked, true);
            let prefix: String = chained.hash.chars().take(8).collect();
            let cells = vec![
                cell(voice, time, voice.time(at)),
                cell(voice, gap, since.into_any()),
                cell(voice, says, what(voice, chained, &self.sheet.provider, again)),
                cell(voice, who, voice.say(&of::actor(&chained.entered.actor))),
                cell(voice, chain, ident(&prefix)),
            ];
            row(cells)
        });
        let rows = rows.collect();
        let caption = Message::TimelineCaption { zone: Arg::ident(self.viewer.zone_label()) };
        self.section("timeline", &Message::TimelineTitle, table(voice, "stream", &caption, &COLUMNS, rows))
    }
}
