//! What is said, in which language, and how the things that stand inside a sentence are shown.
//!
//! A component says a [`Message`]; it never holds a text of its own. Identifiers from outside are isolated and their invisible
//! characters shown as escapes; times are absolute, in the viewer's zone, with UTC in the markup.

mod en;
mod message;
pub(crate) mod of;
mod time;
mod zh_hant;

use std::time::Duration;

use counterfoil_ledger::identity::is_invisible;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use leptos::prelude::*;

pub(crate) use message::Message;
pub(crate) use time::between;

use crate::{Lang, Viewer};

/// Something that stands inside a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arg {
    /// Text from outside: isolated, not translated, what is invisible in it escaped.
    Ident(String),
    /// The same, as a link to a page of ours.
    Link {
        text: String,
        href: String,
    },
    Time(Timestamp),
    Span(Duration),
    Count(u64),
    /// An amount with its currency.
    Money(String),
    /// A name or a number of our own.
    Plain(String),
    /// Another message inside this one.
    Words(Box<Message>),
    /// The same, to stand out.
    Strong(Box<Message>),
    /// Several, joined as the language joins them.
    Many(Vec<Arg>),
}

impl Arg {
    pub(crate) fn ident(text: impl Into<String>) -> Self {
        Self::Ident(text.into())
    }

    pub(crate) fn idents<'a>(texts: impl IntoIterator<Item = &'a String>) -> Self {
        Self::Many(texts.into_iter().map(|text| Self::Ident(text.clone())).collect())
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::Plain(text.into())
    }

    pub(crate) fn words(message: Message) -> Self {
        Self::Words(Box::new(message))
    }

    /// A number of things that there is.
    pub(crate) fn count(number: impl TryInto<u64>) -> Self {
        Self::Count(number.try_into().unwrap_or(u64::MAX))
    }
}

/// Shows what can't be seen: control, zero-width and bidirectional characters as `\u202e`.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) {
            let mut units = [0_u16; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// JSON over many lines; what can't be seen in its strings is escaped as JSON escapes it, so that it stays the same JSON.
pub(crate) fn visible_json(value: &serde_json::Value) -> String {
    let text = format!("{value:#}");
    // Inside strings a line's end is escaped already: these are the ones between the lines.
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Who speaks to the viewer: a language, a zone, and what time it is.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    pub(crate) lang: Lang,
    zone: TimeZone,
    pub(crate) now: Timestamp,
}

/// A part of a message's text.
enum Piece<'a> {
    Text(&'a str),
    Arg(&'a Arg),
}

impl Voice {
    pub(crate) fn of(viewer: &Viewer) -> Self {
        Self { lang: viewer.lang, zone: viewer.zone.clone(), now: viewer.now }
    }

    fn template(&self, message: &Message) -> &'static str {
        match self.lang {
            Lang::En => en::template(message),
            Lang::ZhHant => zh_hant::template(message),
        }
    }

    fn between(&self) -> &'static str {
        match self.lang {
            Lang::En => en::BETWEEN,
            Lang::ZhHant => zh_hant::BETWEEN,
        }
    }

    fn pieces<'a>(&self, message: &'a Message) -> Vec<Piece<'a>> {
        let args = message.args();
        let mut pieces = Vec::new();
        let mut rest = self.template(message);
        while let Some((text, after)) = rest.split_once('{') {
            pieces.push(Piece::Text(text));
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            pieces.extend(args.iter().find(|(known, _)| *known == name).map(|(_, arg)| Piece::Arg(arg)));
            rest = after;
        }
        pieces.push(Piece::Text(rest));
        pieces.retain(|piece| !matches!(piece, Piece::Text("")));
        pieces
    }

    /// The message as plain text, for titles and attributes.
    pub(crate) fn plain(&self, message: &Message) -> String {
        self.pieces(message)
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Arg(arg) => self.plain_arg(arg),
            })
            .collect()
    }

    fn plain_arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::Ident(text) | Arg::Link { text, .. } => visible(text),
            Arg::Time(at) => self.absolute(*at),
            Arg::Span(span) => self.plain(&time::span(*span)),
            Arg::Count(number) => number.to_string(),
            Arg::Money(text) | Arg::Plain(text) => text.clone(),
            Arg::Words(message) | Arg::Strong(message) => self.plain(message),
            Arg::Many(args) => {
                let texts: Vec<_> = args.iter().map(|arg| self.plain_arg(arg)).collect();
                texts.join(self.between())
            }
        }
    }

    /// The message as markup.
    pub(crate) fn say(&self, message: &Message) -> AnyView {
        let pieces = self.pieces(message);
        if pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Text(_) | Piece::Arg(Arg::Plain(_) | Arg::Count(_))))
        {
            return self.plain(message).into_any();
        }
        pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.to_owned().into_any(),
                Piece::Arg(arg) => self.show(arg),
            })
            .collect_view()
            .into_any()
    }

    /// One thing as markup.
    pub(crate) fn show(&self, arg: &Arg) -> AnyView {
        match arg {
            Arg::Ident(text) => ident(text),
            Arg::Link { text, href } => {
                let (href, text) = (href.clone(), ident(text));
                view! { <a href=href>{text}</a> }.into_any()
            }
            Arg::Time(at) => self.time(*at),
            Arg::Money(text) => {
                let text = text.clone();
                view! { <span class="money">{text}</span> }.into_any()
            }
            Arg::Span(_) | Arg::Count(_) | Arg::Plain(_) => self.plain_arg(arg).into_any(),
            Arg::Words(message) => self.say(message),
            Arg::Strong(message) => {
                let text = self.say(message);
                view! { <strong>{text}</strong> }.into_any()
            }
            Arg::Many(args) => {
                let mut views = Vec::new();
                for (index, arg) in args.iter().enumerate() {
                    if index > 0 {
                        views.push(self.between().into_any());
                    }
                    views.push(self.show(arg));
                }
                views.collect_view().into_any()
            }
        }
    }
}

/// Text from outside: set apart from the text around it, never translated, selected as a whole, nothing invisible.
pub(crate) fn ident(text: &str) -> AnyView {
    let text = visible(text);
    view! { <bdi translate="no">{text}</bdi> }.into_any()
}

#[cfg(test)]
mod tests;
