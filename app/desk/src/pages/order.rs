//! `/orders/{order}`: the auditor's unit. Totals and the worst case, then everything that happened in one stream.

mod operations;
mod stream;
mod totals;

use leptos::prelude::*;

use super::operation::verify_command;
use crate::i18n::{Arg, Message, Voice, ident};
use crate::parts::frame::{Here, page};
use crate::parts::table::{cell, head, none, row, table};
use crate::{Desk, OrderLine, OrderSheet, Page, PageError, Viewer};

#[cfg(test)]
pub(crate) use totals::totals_of;

/// The page of one order, by the shop's own number, byte for byte.
///
/// # Errors
/// [`PageError::NotFound`] when there is none, and others when it can't be loaded.
pub async fn order(desk: &dyn Desk, viewer: &Viewer, order: &str) -> Result<Page, PageError> {
    let sheet = desk.order(order).await?.ok_or(PageError::NotFound)?;
    let title = Message::OrderTitle { order: Arg::ident(&sheet.order) };
    Ok(page(viewer, 200, &title, Here::Elsewhere, |voice| {
        let shown = Shown { viewer, voice, sheet: &sheet };
        view! {
            <h1>{voice.say(&title)}</h1>
            {shown.top()}
            {shown.totals()}
            {shown.operations()}
            {shown.lines()}
            {shown.stream()}
            {shown.proof()}
        }
        .into_any()
    }))
}

/// What is shown, to whom.
struct Shown<'a> {
    viewer: &'a Viewer,
    voice: &'a Voice,
    sheet: &'a OrderSheet,
}

const LINES: [Message; 4] =
    [Message::ColumnLine, Message::ColumnTitle, Message::ColumnQuantity, Message::ColumnAmount];

impl Shown<'_> {
    fn say(&self, message: &Message) -> AnyView {
        self.voice.say(message)
    }

    fn section(&self, title: &Message, content: AnyView) -> AnyView {
        let title = self.say(title);
        view! { <section><h2>{title}</h2>{content}</section> }.into_any()
    }

    fn money(&self, minor: i64) -> Arg {
        Arg::Money(self.sheet.provider.display_minor(minor, self.sheet.currency))
    }

    fn operation_link(&self, id: &str) -> Arg {
        Arg::Link { text: id.to_owned(), href: self.viewer.operation_href(id) }
    }

    fn top(&self) -> AnyView {
        let sheet = self.sheet;
        let payment = self.say(&Message::OrderPayment {
            payment: Arg::ident(&sheet.payment),
            account: Arg::ident(sheet.provider.account.as_str()),
        });
        let console = sheet.provider.target_url(&sheet.payment).map(|url| {
            let provider = Arg::plain(&sheet.provider.name);
            let open = self.voice.plain(&Message::IdConsole { provider });
            view! { " "<a class="console" href=url rel="noopener noreferrer">{open}</a> }
        });
        let customer = sheet.customer.as_ref().map(|customer| {
            let customer = self.say(&Message::OrderCustomer { customer: Arg::ident(customer) });
            view! { <span>{customer}</span> }
        });
        let snapshot = self.say(&Message::OrderSnapshot { at: Arg::Time(sheet.snapshot_at) });
        let blocked = sheet.blocked.then(|| {
            let text = self.say(&Message::OrderBlocked);
            view! { <section class="alarms"><p>{text}</p></section> }
        });
        view! {
            <p class="about"><span>{payment}{console}</span>{customer}<span>{snapshot}</span></p>
            {blocked}
        }
        .into_any()
    }

    fn lines(&self) -> Option<AnyView> {
        if self.sheet.lines.is_empty() {
            return None;
        }
        let rows = self.sheet.lines.iter().map(|line| self.line(line)).collect();
        let lines = table(self.voice, "lines", &Message::LinesCaption, &LINES, rows);
        Some(self.section(&Message::LinesTitle, lines))
    }

    fn line(&self, line: &OrderLine) -> AnyView {
        let voice = self.voice;
        let [id, title, quantity, amount] = &LINES;
        let cells = vec![
            head(voice, id, ident(&line.id)),
            cell(voice, title, line.title.as_deref().map_or_else(|| none(voice), ident)),
            cell(voice, quantity, line.quantity.map_or_else(|| none(voice), IntoAny::into_any)),
            cell(voice, amount, voice.show(&self.money(line.minor))),
        ];
        row(cells)
    }

    fn proof(&self) -> AnyView {
        let how = self.say(&Message::ProofCommand);
        let command = verify_command(&self.sheet.order);
        let content = view! { <p>{how}</p><pre translate="no">{command}</pre> }.into_any();
        self.section(&Message::ProofTitle, content)
    }
}
