//! A state as people see it: glyph, word and colour, never colour alone.

use counterfoil_ledger::state::State;
use leptos::prelude::*;

use crate::i18n::{Arg, Message, Voice, of};

/// Glyph and word.
pub(crate) fn badge(voice: &Voice, state: State, bounced: bool) -> AnyView {
    let word = voice.plain(&of::state(state, bounced));
    let (class, href) = (format!("state {}", state.label()), format!("#g-{}", state.label()));
    view! { <span class=class><svg aria-hidden="true"><use_ href=href /></svg>{word}</span> }.into_any()
}

/// The same, and how many incidents there are beside it.
pub(crate) fn badge_and_incidents(voice: &Voice, state: State, bounced: bool, incidents: u64) -> AnyView {
    let badge = badge(voice, state, bounced);
    let mark = (incidents > 0).then(|| {
        let text = voice.say(&Message::IncidentsMark { count: Arg::Count(incidents) });
        view! { " "<span class="mark">{text}</span> }
    });
    view! { {badge}{mark} }.into_any()
}

/// The glyphs, once per page: each is drawn in 16 by 16 with the colour of its word.
pub(crate) fn sprite() -> AnyView {
    let glyphs = State::ALL.map(|state| {
        let id = format!("g-{}", state.label());
        let (ring, path) = drawing(state);
        let ring = ring.then(|| view! { <circle cx="8" cy="8" r="6.25" /> });
        view! { <symbol id=id viewBox="0 0 16 16">{ring}<path d=path /></symbol> }
    });
    view! { <svg class="sprite" aria-hidden="true">{glyphs.collect_view()}</svg> }.into_any()
}

/// Whether there is a ring, and what stands in it or instead of it.
fn drawing(state: State) -> (bool, &'static str) {
    match state {
        State::AwaitingApproval => (true, "M8 4.5V8h3.5"),
        State::Authorized => (true, ""),
        State::Submitted => (false, "M2 8h11M9 4l4 4-4 4"),
        State::Unknown => (false, "M4.75 5.5a3.25 3.25 0 1 1 4.9 2.8C8.5 9 8 9.6 8 11M8 13.4v.4"),
        State::Pending => (true, "M4.9 8h.2M7.9 8h.2M10.9 8h.2"),
        State::Confirmed => (false, "M2.5 8.5l3.75 3.75L13.5 4"),
        State::Failed => (false, "M3.5 3.5l9 9M12.5 3.5l-9 9"),
        State::Escalated => (false, "M8 2l6.5 11.5h-13zM8 6.5v3.25M8 11.6v.2"),
        State::Cancelled => (true, "M3.75 3.75l8.5 8.5"),
    }
}
