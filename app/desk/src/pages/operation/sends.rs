//! Every send, with what it told us and why it counts as that.

use std::time::Duration;

use counterfoil_ledger::attempt::{Attempt, AttemptEnd};
use leptos::prelude::*;

use super::Shown;
use crate::i18n::{Arg, Message, ident, of, visible};
use crate::parts::table::{cell, head, none, row, table};

const COLUMNS: [Message; 6] = [
    Message::ColumnNumber,
    Message::ColumnSentAt,
    Message::ColumnDuration,
    Message::ColumnResult,
    Message::ColumnClassWhy,
    Message::ColumnRequestIds,
];

impl Shown<'_> {
    pub(super) fn sends(&self) -> AnyView {
        let attempts = &self.sheet.operation.facts.attempts;
        let content = if attempts.is_empty() {
            let nothing = self.say(&Message::AttemptsNone);
            view! { <p class="empty">{nothing}</p> }.into_any()
        } else {
            let rows = attempts.iter().map(|attempt| self.send(attempt)).collect();
            let sends = table(self.voice, "sends", &Message::AttemptsCaption, &COLUMNS, rows);
            view! { {sends}{self.request()} }.into_any()
        };
        self.section("attempts", &Message::AttemptsTitle, content)
    }

    fn send(&self, attempt: &Attempt) -> AnyView {
        let voice = self.voice;
        let [number, sent_at, took, result, why, request_ids] = &COLUMNS;
        let end = attempt.end.as_ref();
        let duration = end.map_or_else(
            || none(voice),
            |end| voice.show(&Arg::Span(Duration::from_millis(end.duration_ms))),
        );
        let ours = voice.say(&Message::RequestIdOurs { id: Arg::ident(&attempt.client_request_id) });
        let theirs = end.and_then(|end| end.provider_request_id.as_ref()).map(|id| {
            let theirs = voice.say(&Message::RequestIdTheirs { id: Arg::ident(id) });
            view! { <p>{theirs}</p> }
        });
        let cells = vec![
            head(voice, number, voice.say(&Message::AttemptIs { number: Arg::count(attempt.number) })),
            cell(voice, sent_at, voice.time(attempt.marked_at)),
            cell(voice, took, duration),
            cell(voice, result, self.result(end)),
            cell(voice, why, self.why(end)),
            cell(voice, request_ids, view! { <p>{ours}</p>{theirs} }.into_any()),
        ];
        row(cells)
    }

    /// *not sent · turned away · sent, no answer · HTTP n*.
    fn result(&self, end: Option<&AttemptEnd>) -> AnyView {
        self.say(&match end {
            None => Message::ClassOpen,
            Some(AttemptEnd { http_status: Some(status), .. }) => {
                Message::HttpStatus { status: Arg::count(*status) }
            }
            Some(end) => of::class(end),
        })
    }

    fn why(&self, end: Option<&AttemptEnd>) -> AnyView {
        let Some(end) = end else { return none(self.voice) };
        let mut says =
            vec![Message::SaysClass { class: Arg::words(of::class(end)), why: Arg::words(of::why(end.why)) }];
        says.extend(end.code.as_ref().map(|code| Message::ErrorCode { code: Arg::ident(code) }));
        says.extend(end.replayed.then_some(Message::Replayed));
        says.extend(end.stored_failure.then_some(Message::StoredFailure));
        let digest = end.body_digest.as_ref();
        says.extend(digest.map(|digest| Message::ResponseDigest { digest: Arg::ident(digest) }));
        let says = says.iter().map(|message| {
            let text = self.say(message);
            view! { <p>{text}</p> }
        });
        says.collect_view().into_any()
    }

    /// The stored bytes that every send carries; credentials are never among them.
    fn request(&self) -> AnyView {
        let request = &self.sheet.operation.intent.request;
        let title = self.say(&Message::RequestTitle);
        let line = ident(&format!("{} {}", request.method, request.path));
        let (kind, body) = (ident(&request.content_type), visible(&request.body));
        view! {
            <details>
                <summary>{title}</summary>
                <p class="hash">{line}</p>
                <p class="hash">{kind}</p>
                <pre translate="no">{body}</pre>
            </details>
        }
        .into_any()
    }
}
