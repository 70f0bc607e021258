//! The evidence, each piece with what it says, what it proves and what it doesn't.

use leptos::prelude::*;

use super::Shown;
use crate::evidence::{Evidence, evidence};
use crate::i18n::{Arg, Message};

impl Shown<'_> {
    pub(super) fn evidence(&self) -> AnyView {
        let pieces = evidence(self.sheet);
        let content = if pieces.is_empty() {
            let nothing = self.say(&Message::EvidenceNone);
            view! { <p class="empty">{nothing}</p> }.into_any()
        } else {
            let pieces: Vec<_> = pieces.iter().map(|piece| self.piece(piece)).collect();
            view! { <ol class="pieces">{pieces}</ol> }.into_any()
        };
        self.section("evidence", &Message::EvidenceTitle, content)
    }

    fn piece(&self, piece: &Evidence) -> AnyView {
        let source = self.say(&piece.source);
        let received = self.say(&Message::EvidenceAt { at: Arg::Time(piece.received_at) });
        let nothing = [Message::ProvesNothing];
        let proves = if piece.proves.is_empty() { &nothing[..] } else { &piece.proves };
        let rows = [
            ("says", Message::EvidenceSays, &piece.says[..]),
            ("proves", Message::EvidenceProves, proves),
            ("not-proves", Message::EvidenceNotProves, &piece.not_proves),
        ]
        .into_iter()
        .filter(|(_, _, says)| !says.is_empty())
        .map(|(class, name, says)| {
            let name = self.say(&name);
            let says = says.iter().map(|message| {
                let text = self.say(message);
                view! { <p>{text}</p> }
            });
            view! { <div class=class><dt>{name}</dt><dd>{says.collect_view()}</dd></div> }
        });
        view! {
            <li><h3>{source}</h3><small>{received}</small><dl class="pairs">{rows.collect_view()}</dl></li>
        }
        .into_any()
    }
}
