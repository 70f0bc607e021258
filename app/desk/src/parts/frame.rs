//! The frame of every page: band, navigation, language, and when it was true.

use jiff::SignedDuration;
use leptos::prelude::*;

use super::state::sprite;
use crate::i18n::{Arg, Message, Voice};
use crate::{Lang, Mode, Page, Viewer};

/// Which entry of the navigation a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Here {
    Operations,
    Help,
    Elsewhere,
}

/// Puts the whole document together. `body` is built inside an owner, which is cleaned up before this returns.
pub(crate) fn page(
    viewer: &Viewer,
    status: u16,
    title: &Message,
    here: Here,
    body: impl FnOnce(&Voice) -> AnyView,
) -> Page {
    let voice = Voice::of(viewer);
    let title = voice.plain(&Message::PageTitle { page: Arg::words(title.clone()) });
    let owner = Owner::new();
    let html = owner.with(|| document(viewer, &voice, &title, here, body(&voice)).to_html());
    owner.cleanup();
    // Marks for hydration, which never comes. Text and attributes can't hold one: there `<` is always escaped.
    let html = html.replace("<!>", "");
    Page { status, title, html }
}

fn document(viewer: &Viewer, voice: &Voice, title: &str, here: Here, body: AnyView) -> AnyView {
    let lang = viewer.lang.tag();
    let title = title.to_owned();
    let (css, icon) = (viewer.css_url.clone(), viewer.icon_url.clone());
    let skip = voice.plain(&Message::SkipToContent);
    view! {
        <!DOCTYPE html>
        <html lang=lang>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <title>{title}</title>
                <link rel="stylesheet" href=css />
                <link rel="icon" type="image/svg+xml" href=icon />
            </head>
            <body>
                <a class="skip" href="#main">{skip}</a>
                {sprite()}
                {header(viewer, voice, here)}
                <main id="main" tabindex="-1">{body}</main>
                {footer(viewer, voice)}
            </body>
        </html>
    }
    .into_any()
}

fn header(viewer: &Viewer, voice: &Voice, here: Here) -> AnyView {
    let (kind, word) = match viewer.mode {
        Mode::Production => ("band production", Message::BandProduction),
        Mode::Demo => ("band demo", Message::BandDemo),
    };
    let word = voice.say(&word);
    let clock = moved_clock(viewer.clock_offset).map(|moved| {
        let text = voice.say(&moved);
        view! { <span class="clock">{text}</span> }
    });
    let entries = [
        (Here::Operations, "/operations", Message::NavOperations),
        (Here::Help, "/help/states", Message::NavHelp),
    ]
    .map(|(entry, path, word)| {
        let (href, current) = (viewer.href(path, &[]), (entry == here).then_some("true"));
        let word = voice.plain(&word);
        view! { <a href=href aria-current=current>{word}</a> }
    });
    let languages = Lang::ALL.map(|lang| {
        let (href, current) = (viewer.in_lang(lang), (lang == viewer.lang).then_some("true"));
        // Each language is named in itself, for those who read no other.
        let name = match lang {
            Lang::En => "English",
            Lang::ZhHant => "繁體中文",
        };
        view! { <a href=href lang=lang.tag() hreflang=lang.tag() aria-current=current translate="no">{name}</a> }
    });
    let (pages, language) = (voice.plain(&Message::NavLabel), voice.plain(&Message::LanguageLabel));
    view! {
        <header>
            <p class=kind><strong>{word}</strong>{clock}</p>
            <div class="bar">
                <span class="brand" translate="no">"Counterfoil"</span>
                <nav aria-label=pages>{entries.collect_view()}</nav>
                <nav class="languages" aria-label=language>{languages.collect_view()}</nav>
            </div>
        </header>
    }
    .into_any()
}

fn moved_clock(offset: SignedDuration) -> Option<Message> {
    let span = Arg::Span(offset.unsigned_abs());
    match offset.signum() {
        0 => None,
        1 => Some(Message::BandTestClock { span }),
        _ => Some(Message::BandTestClockBack { span }),
    }
}

fn footer(viewer: &Viewer, voice: &Voice) -> AnyView {
    let zone = Arg::ident(viewer.zone_label());
    let as_of = voice.say(&Message::AsOf { time: Arg::Time(viewer.now), zone });
    let (href, refresh) = (viewer.here(), voice.plain(&Message::Refresh));
    view! { <footer><p>{as_of}" "<a href=href>{refresh}</a></p></footer> }.into_any()
}
