//! The table of operations.

use counterfoil_ledger::state::State;
use leptos::prelude::*;

use crate::i18n::{Arg, Message, Voice, ident, of};
use crate::parts::state::badge_and_incidents;
use crate::parts::table::{cell, head, none, row, table};
use crate::{ListView, OperationRow, Viewer};

const COLUMNS: [Message; 11] = [
    Message::ColumnState,
    Message::ColumnWhy,
    Message::ColumnOperation,
    Message::ColumnOrder,
    Message::ColumnAmount,
    Message::ColumnProvider,
    Message::ColumnExternalId,
    Message::ColumnAttempts,
    Message::ColumnDeadline,
    Message::ColumnLastChange,
    Message::ColumnNext,
];

pub(super) fn list(viewer: &Viewer, voice: &Voice, view: ListView, rows: &[OperationRow]) -> AnyView {
    let (name, zone) = (Arg::words(super::word(view)), Arg::ident(viewer.zone_label()));
    let caption = match view {
        ListView::All => Message::ListCaptionNewest { view: name, zone },
        _ => Message::ListCaption { view: name, zone },
    };
    let rows = rows.iter().map(|row| one(viewer, voice, row)).collect();
    table(voice, "operations", &caption, &COLUMNS, rows)
}

fn one(viewer: &Viewer, voice: &Voice, operation: &OperationRow) -> AnyView {
    let [state, why, id, order, amount, provider, external, sends, deadline, changed, next] = &COLUMNS;
    let operation_link = Arg::Link {
        text: operation.id.as_str().to_owned(),
        href: viewer.operation_href(operation.id.as_str()),
    };
    let order_link = Arg::Link { text: operation.order.clone(), href: viewer.order_href(&operation.order) };
    let money = Arg::Money(operation.exponents.display(operation.money));
    let external_id = operation.external_id.as_deref().map_or_else(|| none(voice), ident);
    let attempts = match operation.attempts {
        0 => none(voice),
        attempts => attempts.into_any(),
    };
    let cells = vec![
        cell(voice, state, state_and_marks(voice, operation)),
        cell(voice, why, why_or_error(voice, operation)),
        head(voice, id, voice.show(&operation_link)),
        cell(voice, order, voice.show(&order_link)),
        cell(voice, amount, voice.show(&money)),
        cell(voice, provider, ident(operation.account.as_str())),
        cell(voice, external, external_id),
        cell(voice, sends, attempts),
        cell(voice, deadline, deadline_of(voice, operation)),
        cell(voice, changed, voice.time_and_relative(operation.updated_at)),
        cell(voice, next, next_of(voice, operation)),
    ];
    row(cells)
}

fn state_and_marks(voice: &Voice, operation: &OperationRow) -> AnyView {
    let badge = badge_and_incidents(voice, operation.state, operation.bounced, operation.incidents.into());
    let set_aside = operation.set_aside.as_ref().map(|_| {
        let text = voice.say(&Message::SetAsideMark);
        view! { " "<span class="mark">{text}</span> }
    });
    view! { {badge}{set_aside} }.into_any()
}

fn why_or_error(voice: &Voice, operation: &OperationRow) -> AnyView {
    match &operation.set_aside {
        Some(why) => voice.say(&Message::SetAsideSays { why: Arg::ident(why) }),
        None => voice.say(&of::reason_short(operation.reason, operation.bounced)),
    }
}

/// While something may have happened and isn't settled, the window's end is what hurries.
fn deadline_of(voice: &Voice, operation: &OperationRow) -> AnyView {
    let open = matches!(operation.state, State::Submitted | State::Unknown | State::Escalated);
    match operation.window_closes_at {
        Some(at) if open && at > voice.now => voice.time_and_relative(at),
        Some(_) if open => voice.say(&Message::WindowClosed),
        _ => none(voice),
    }
}

fn next_of(voice: &Voice, operation: &OperationRow) -> AnyView {
    match operation.due_at {
        _ if operation.set_aside.is_some() => none(voice),
        Some(at) if at > voice.now => voice.time_and_relative(at),
        Some(_) => voice.say(&Message::DueNow),
        None => none(voice),
    }
}
