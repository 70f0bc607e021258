//! An entry of a history, in words.

use counterfoil_ledger::entry::{Asked, Entry};
use counterfoil_ledger::window::later;
use leptos::prelude::*;

use super::state::badge;
use crate::i18n::{Arg, Message, Voice, ident, of};
use crate::{ChainedEntry, Provider};

/// What the entry says. `again`: somebody had asked for the operation before.
pub(crate) fn what(voice: &Voice, chained: &ChainedEntry, provider: &Provider, again: bool) -> AnyView {
    match &chained.entered.entry {
        Entry::Recorded { state, .. } => {
            voice.say(&Message::EntryRecorded { state: Arg::words(of::state(*state, false)) })
        }
        Entry::Asked(asked) => asked_for(voice, asked, again),
        Entry::State { from, to, event } => {
            let bounced = *from == counterfoil_ledger::state::State::Confirmed;
            let (from, to) = (badge(voice, *from, false), badge(voice, *to, bounced));
            let event = voice.say(&of::event(*event));
            view! { <span class="move">{from}" → "{to}</span>" "{event} }.into_any()
        }
        Entry::AttemptStarted { number, client_request_id, send_timeout_ms, .. } => {
            let deadline = later(chained.entered.at, std::time::Duration::from_millis(*send_timeout_ms));
            voice.say(&Message::EntryAttemptStarted {
                number: Arg::count(*number),
                request: Arg::ident(client_request_id),
                deadline: Arg::Time(deadline),
            })
        }
        Entry::AttemptEnded { number, end } => voice.say(&Message::EntryAttemptEnded {
            number: Arg::count(*number),
            class: Arg::words(of::class(end)),
            why: Arg::words(of::why(end.why)),
        }),
        Entry::LookedUp { look_up, counted, .. } => voice.say(&of::look_up(look_up, *counted)),
        Entry::Told { effect } => voice.say(&Message::EntryTold {
            id: Arg::ident(&effect.external_id),
            status: Arg::ident(&effect.provider_status),
            provider: Arg::plain(&provider.name),
        }),
        Entry::CancelAsked => voice.say(&Message::EntryCancelAsked),
        Entry::Incident(incident) => {
            voice.say(&Message::EntryIncident { incident: Arg::words(of::incident(incident)) })
        }
    }
}

/// Whether the entry is somebody asking for the operation.
pub(crate) fn asks(chained: &ChainedEntry) -> bool {
    matches!(chained.entered.entry, Entry::Asked(_))
}

fn asked_for(voice: &Voice, asked: &Asked, again: bool) -> AnyView {
    let said = voice.say(if again { &Message::EntryAskedAgain } else { &Message::EntryAsked });
    let by = asked.requested_by.as_ref().map(|name| {
        let by = voice.say(&Message::EntryAskedFor { name: Arg::ident(name) });
        view! { <small>{by}</small> }
    });
    let reason = asked.reason.as_ref().map(|reason| {
        let reason = ident(reason);
        view! { <q>{reason}</q> }
    });
    view! { {said}{by}{reason} }.into_any()
}
