//! The first sentence and the five headings.

use leptos::prelude::*;

use super::Shown;
use crate::headings::headings;
use crate::i18n::{Arg, Message, ident, of};
use crate::parts::state::badge;

impl Shown<'_> {
    pub(super) fn top(&self) -> AnyView {
        let operation = &self.sheet.operation;
        let facts = &operation.facts;
        let order = facts.subject.order.as_str();
        let lead = self.say(&Message::Lead {
            what: Arg::words(of::what(operation, &self.sheet.provider)),
            order: Arg::Link { text: order.to_owned(), href: self.viewer.order_href(order) },
            state: Arg::Strong(Box::new(of::state(facts.state, facts.bounced))),
            since: Arg::Time(facts.state_since),
            zone: Arg::ident(self.viewer.zone_label()),
        });
        let badge = badge(self.voice, facts.state, facts.bounced);
        let version = self.say(&Message::VersionIs { number: Arg::Count(facts.version) });
        let id = ident(operation.id.as_str());
        let set_aside = self.sheet.set_aside.as_ref().map(|why| {
            let (title, says) = (
                self.say(&Message::SetAsideTitle),
                self.say(&Message::SetAsideSays { why: Arg::ident(why) }),
            );
            view! { <section class="alarms"><h2>{title}</h2><p>{says}</p></section> }
        });
        view! {
            <div class="title"><h1>{id}</h1>{badge}<span class="version">{version}</span></div>
            <p class="lead">{lead}</p>
            {set_aside}
        }
        .into_any()
    }

    pub(super) fn headings(&self) -> AnyView {
        let headings = headings(self.sheet, self.viewer.now);
        let rows = [
            ("known", Message::Known, headings.known),
            ("not-known", Message::NotKnown, headings.not_known),
            ("next", Message::NextByItself, headings.next),
            ("you", Message::You, headings.you),
            ("not-allowed", Message::NotAllowed, headings.not_allowed),
        ]
        .map(|(class, heading, says)| {
            let heading = self.say(&heading);
            let says = says.iter().map(|message| {
                let message = self.say(message);
                view! { <p>{message}</p> }
            });
            view! { <div class=class><dt>{heading}</dt><dd>{says.collect_view()}</dd></div> }
        });
        view! { <dl class="headings">{rows.collect_view()}</dl> }.into_any()
    }
}
