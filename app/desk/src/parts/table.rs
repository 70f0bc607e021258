//! Tables that become cards on a narrow screen and stay tables for a screen reader.

use leptos::prelude::*;

use crate::i18n::{Message, Voice};

/// A table with its caption and its columns. `rows` come from [`row`].
pub(crate) fn table(
    voice: &Voice,
    class: &str,
    caption: &Message,
    columns: &[Message],
    rows: Vec<AnyView>,
) -> AnyView {
    let class = format!("cards {class}");
    let label = voice.plain(caption);
    let caption = voice.say(caption);
    let heads: Vec<_> = columns
        .iter()
        .map(|column| {
            let word = voice.plain(column);
            if is_number(column) {
                view! { <th scope="col" role="columnheader" class="number">{word}</th> }.into_any()
            } else {
                view! { <th scope="col" role="columnheader">{word}</th> }.into_any()
            }
        })
        .collect();
    // A card's parts are blocks, which takes their roles away unless they are said.
    view! {
        <div class="scroll" role="region" tabindex="0" aria-label=label>
            <table class=class role="table">
                <caption>{caption}</caption>
                <thead role="rowgroup"><tr role="row">{heads.collect_view()}</tr></thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// One row.
pub(crate) fn row(cells: Vec<AnyView>) -> AnyView {
    view! { <tr role="row">{cells}</tr> }.into_any()
}

/// Numbers end on one line, and so do the words above them.
fn is_number(column: &Message) -> bool {
    matches!(
        column,
        Message::ColumnAmount
            | Message::ColumnAttempts
            | Message::ColumnGap
            | Message::ColumnDuration
            | Message::ColumnQuantity
    )
}

/// A cell; its column's word stands before it on a card.
pub(crate) fn cell(voice: &Voice, column: &Message, content: AnyView) -> AnyView {
    let label = voice.plain(column);
    match column {
        column if is_number(column) => {
            view! { <td role="cell" data-label=label class="number">{content}</td> }.into_any()
        }
        Message::ColumnChain => {
            view! { <td role="cell" data-label=label class="hash">{content}</td> }.into_any()
        }
        _ => view! { <td role="cell" data-label=label>{content}</td> }.into_any(),
    }
}

/// The cell that names its row.
pub(crate) fn head(voice: &Voice, column: &Message, content: AnyView) -> AnyView {
    let label = voice.plain(column);
    view! { <th scope="row" role="rowheader" data-label=label>{content}</th> }.into_any()
}

/// Stands where there is nothing.
pub(crate) fn none(voice: &Voice) -> AnyView {
    let word = voice.plain(&Message::NoValue);
    view! { <span class="none"><span aria-hidden="true">"–"</span><span class="sr">{word}</span></span> }
        .into_any()
}
