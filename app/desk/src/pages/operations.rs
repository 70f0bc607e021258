//! `/operations`: narrow, then look closer.

mod filters;
mod rows;
mod status;

use counterfoil_ledger::state::State;
use leptos::prelude::*;

use crate::i18n::{Arg, Message, Voice};
use crate::parts::frame::{Here, page};
use crate::parts::state::badge;
use crate::{Desk, ListView, OperationRows, OperationsQuery, Page, PageError, Viewer};

/// Rows on one page.
const ROWS: u32 = 50;

/// The list. `query` is the URL's, decoded.
///
/// # Errors
/// [`PageError`] when it can't be loaded or the cursor isn't one of ours.
pub async fn operations(
    desk: &dyn Desk,
    viewer: &Viewer,
    query: &OperationsQuery,
) -> Result<Page, PageError> {
    let (filter, problems) = query.read(&viewer.zone);
    let rows = desk.operations(&filter, query.cursor.as_deref(), ROWS).await?;
    let daemon = desk.daemon().await?;
    let choices = desk.choices();
    Ok(page(viewer, 200, &Message::OperationsTitle, Here::Operations, |voice| {
        let title = voice.say(&Message::OperationsTitle);
        let list = if rows.rows.is_empty() {
            let empty = voice.say(&which_empty(query, filter.view, &rows));
            view! { <p class="empty">{empty}</p> }.into_any()
        } else {
            rows::list(viewer, voice, filter.view, &rows.rows)
        };
        view! {
            <h1>{title}</h1>
            {status::status(viewer, voice, &daemon)}
            {views(viewer, voice, query, filter.view, &rows)}
            {filters::filters(viewer, voice, query, &problems, &choices)}
            {list}
            {pager(viewer, voice, query, rows.next.as_deref())}
        }
        .into_any()
    }))
}

fn word(view: ListView) -> Message {
    match view {
        ListView::Attention => Message::ViewAttention,
        ListView::Unknown => Message::ViewUnknown,
        ListView::WindowClosing => Message::ViewWindowClosing,
        ListView::PendingTooLong => Message::ViewPendingTooLong,
        ListView::Escalated => Message::ViewEscalated,
        ListView::All => Message::ViewAll,
    }
}

/// The views as links, with exact counts of what is open. The filters stay.
fn views(
    viewer: &Viewer,
    voice: &Voice,
    query: &OperationsQuery,
    shown: ListView,
    rows: &OperationRows,
) -> AnyView {
    let counts = &rows.counts;
    let links = ListView::ALL.map(|view| {
        let mut pairs: Vec<_> = query.pairs().into_iter().filter(|(key, _)| *key != "view").collect();
        pairs.insert(0, ("view", view.label()));
        let (href, current) = (viewer.href("/operations", &pairs), (view == shown).then_some("page"));
        let count = match view {
            ListView::Attention => Some(counts.attention),
            ListView::Unknown => Some(counts.of(State::Unknown)),
            ListView::WindowClosing => Some(counts.window_closing),
            ListView::PendingTooLong => Some(counts.pending_too_long),
            ListView::Escalated => Some(counts.of(State::Escalated)),
            ListView::All => None,
        };
        let count = count.map(|count| view! { " "<b>{count}</b> });
        let word = voice.plain(&word(view));
        view! { <li><a href=href aria-current=current>{word}{count}</a></li> }
    });
    let label = voice.plain(&Message::ViewsLabel);
    view! {
        <nav class="views" aria-label=label><ul>{links.collect_view()}</ul></nav>
        {open_now(viewer, voice, rows)}
    }
    .into_any()
}

/// How many there are in each open state, whatever is shown; a state without any is left out.
fn open_now(viewer: &Viewer, voice: &Voice, rows: &OperationRows) -> AnyView {
    let open: Vec<_> = State::ALL
        .into_iter()
        .filter(|state| !state.is_final() && rows.counts.of(*state) > 0)
        .map(|state| {
            let pairs = [("view", ListView::All.label()), ("state", state.label())];
            let (href, count) = (viewer.href("/operations", &pairs), rows.counts.of(state));
            let badge = badge(voice, state, false);
            view! { <li><a href=href>{badge}" "<b>{count}</b></a></li> }
        })
        .collect();
    (!open.is_empty())
        .then(|| {
            let label = voice.plain(&Message::OpenNow);
            view! { <div class="open"><span id="open">{label}</span><ul aria-labelledby="open">{open}</ul></div> }
        })
        .into_any()
}

fn which_empty(query: &OperationsQuery, view: ListView, rows: &OperationRows) -> Message {
    if rows.ledger_is_empty {
        return Message::EmptyNothingYet;
    }
    if query.cursor.is_some() {
        return Message::EmptyPage;
    }
    let day = |text: &String| Arg::ident(text);
    match (query.from.is_empty(), query.to.is_empty()) {
        (false, false) => Message::EmptySearchedOnly { from: day(&query.from), to: day(&query.to) },
        (false, true) => Message::EmptySearchedFrom { from: day(&query.from) },
        (true, false) => Message::EmptySearchedTo { to: day(&query.to) },
        (true, true) if view == ListView::Attention && !query.narrows() => Message::EmptyAttention,
        (true, true) => Message::EmptyNoMatch,
    }
}

/// Keyset paging: forward by cursor, and back to the first page.
fn pager(viewer: &Viewer, voice: &Voice, query: &OperationsQuery, next: Option<&str>) -> AnyView {
    let pairs = query.pairs();
    let first = query.cursor.as_ref().map(|_| {
        let (href, word) = (viewer.href("/operations", &pairs), voice.plain(&Message::FirstPage));
        view! { <a href=href>{word}</a> }
    });
    let next = next.map(|cursor| {
        let mut pairs = pairs.clone();
        pairs.push(("cursor", cursor));
        let (href, word) = (viewer.href("/operations", &pairs), voice.plain(&Message::NextPage));
        view! { <a rel="next" href=href>{word}</a> }
    });
    (first.is_some() || next.is_some())
        .then(|| {
            let label = voice.plain(&Message::PagesLabel);
            view! { <nav class="pager" aria-label=label>{first}{next}</nav> }
        })
        .into_any()
}
