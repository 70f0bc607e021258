//! Everything on the payment, ours or not, and the operations that should be seen beside this one.

use counterfoil_ledger::evidence::{Relation as To, relate};
use leptos::prelude::*;

use super::Shown;
use crate::evidence::money;
use crate::i18n::{Arg, Message, ident};
use crate::parts::state::badge;
use crate::parts::table::{cell, head, row, table};
use crate::{PaymentEffect, Related, Relation};

const COLUMNS: [Message; 5] = [
    Message::ColumnExternalId,
    Message::ColumnAmount,
    Message::ColumnStatus,
    Message::ColumnHolder,
    Message::ColumnSeen,
];

impl Shown<'_> {
    pub(super) fn effects(&self) -> AnyView {
        let content = if self.sheet.effects.is_empty() {
            let nothing = self.say(&Message::EffectsNone);
            view! { <p class="empty">{nothing}</p> }.into_any()
        } else {
            let rows = self.sheet.effects.iter().map(|seen| self.effect(seen)).collect();
            let payment = Arg::ident(&self.sheet.operation.intent.target);
            table(self.voice, "effects", &Message::EffectsCaption { payment }, &COLUMNS, rows)
        };
        self.section("effects", &Message::EffectsTitle, content)
    }

    fn effect(&self, seen: &PaymentEffect) -> AnyView {
        let voice = self.voice;
        let [id, amount, status, holder, seen_at] = &COLUMNS;
        let external = &seen.effect.external_id;
        let cells = vec![
            head(voice, id, self.at_provider(external, self.sheet.provider.effect_url(external))),
            cell(voice, amount, voice.show(&money(self.sheet, &seen.effect))),
            cell(voice, status, ident(&seen.effect.provider_status)),
            cell(voice, holder, self.holder(seen)),
            cell(voice, seen_at, voice.time(seen.seen_at)),
        ];
        row(cells)
    }

    fn holder(&self, seen: &PaymentEffect) -> AnyView {
        let voice = self.voice;
        match &seen.holder {
            Some(holder) if *holder == self.sheet.operation.id => self.say(&Message::HolderThis),
            Some(holder) => voice.show(&Arg::Link {
                text: holder.as_str().to_owned(),
                href: self.viewer.operation_href(holder.as_str()),
            }),
            None => {
                let nobody = self.say(&Message::HolderNobody);
                let equal = relate(&self.sheet.operation.intent, &seen.effect) == To::UnclaimedEqual;
                let might = equal.then(|| {
                    let might = voice.say(&Message::MightBeThis);
                    view! { <span class="mark">{might}</span> }
                });
                view! { {nobody}{might} }.into_any()
            }
        }
    }

    pub(super) fn related(&self) -> Option<AnyView> {
        if self.sheet.related.is_empty() {
            return None;
        }
        let related: Vec<_> = self.sheet.related.iter().map(|related| self.other(related)).collect();
        let list = view! { <ul class="related">{related}</ul> }.into_any();
        Some(self.section("others", &Message::RelatedTitle, list))
    }

    fn other(&self, related: &Related) -> AnyView {
        let id = related.operation.as_str();
        let link = Arg::Link { text: id.to_owned(), href: self.viewer.operation_href(id) };
        let link = self.voice.show(&link);
        let relation = self.say(&match related.relation {
            Relation::Revision => Message::RelatedRevision,
            Relation::Twin => Message::RelatedTwin,
        });
        let badge = badge(self.voice, related.state, related.bounced);
        view! { <li>{link}" "{badge}" "<small>{relation}</small></li> }.into_any()
    }
}
