//! `/operations/{id}`: everything about one effect, in the order of `desk.md`.

mod effects;
mod evidence;
mod facts;
mod proof;
mod sends;
mod timeline;
mod top;

use counterfoil_ledger::identity::OperationId;
use leptos::prelude::*;

use crate::i18n::{Arg, Message, Voice, of};
use crate::parts::frame::{Here, page};
use crate::{Desk, OperationSheet, Page, PageError, Viewer};

pub(crate) use proof::verify_command;

/// The page of one operation.
///
/// # Errors
/// [`PageError::NotFound`] when there is none, and others when it can't be loaded.
pub async fn operation(desk: &dyn Desk, viewer: &Viewer, id: &OperationId) -> Result<Page, PageError> {
    let sheet = desk.operation(id).await?.ok_or(PageError::NotFound)?;
    let facts = &sheet.operation.facts;
    let title = Message::OperationTitle {
        id: Arg::ident(sheet.operation.id.as_str()),
        state: Arg::words(of::state(facts.state, facts.bounced)),
    };
    Ok(page(viewer, 200, &title, Here::Elsewhere, |voice| {
        let shown = Shown { viewer, voice, sheet: &sheet };
        view! {
            {shown.top()}
            {shown.headings()}
            {shown.facts()}
            {shown.ids()}
            {shown.limits()}
            {shown.timeline()}
            {shown.sends()}
            {shown.evidence()}
            {shown.effects()}
            {shown.related()}
            {shown.proof()}
        }
        .into_any()
    }))
}

/// What is shown, to whom.
struct Shown<'a> {
    viewer: &'a Viewer,
    voice: &'a Voice,
    sheet: &'a OperationSheet,
}

impl Shown<'_> {
    fn say(&self, message: &Message) -> AnyView {
        self.voice.say(message)
    }

    /// A section under its title.
    fn section(&self, class: &'static str, title: &Message, content: AnyView) -> AnyView {
        let title = self.say(title);
        view! { <section class=class><h2>{title}</h2>{content}</section> }.into_any()
    }

    /// A list of names and values.
    fn pairs(&self, pairs: Vec<(Message, AnyView)>) -> AnyView {
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|(name, value)| {
                let name = self.say(&name);
                view! { <div><dt>{name}</dt><dd>{value}</dd></div> }
            })
            .collect();
        view! { <dl class="pairs">{pairs}</dl> }.into_any()
    }

    /// An identifier of the provider's, with a link to the provider's own page if it has one.
    fn at_provider(&self, id: &str, url: Option<String>) -> AnyView {
        let text = crate::i18n::ident(id);
        let link = url.map(|url| {
            let provider = Arg::plain(&self.sheet.provider.name);
            let open = self.voice.plain(&Message::IdConsole { provider });
            view! { " "<a class="console" href=url rel="noopener noreferrer">{open}</a> }
        });
        view! { {text}{link} }.into_any()
    }
}
