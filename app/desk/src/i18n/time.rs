//! Times and spans as people read them: absolute first, relative second, UTC in the markup.

use std::time::Duration;

use jiff::Timestamp;
use leptos::prelude::*;

use super::{Arg, Message, Voice, en, zh_hant};
use crate::Lang;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A span in the unit that tells most: 45 s, 4 min, 2 h 5 min, 3 d.
pub(super) fn span(span: Duration) -> Message {
    let seconds = span.as_secs();
    let hours = seconds / HOUR;
    let minutes = (seconds % HOUR) / MINUTE;
    match seconds {
        // Under ten seconds a tenth counts, unless there is none.
        0..10 if span.subsec_millis() >= 50 => {
            let tenths = (span.as_millis() + 50) / 100;
            Message::SpanSeconds { seconds: Arg::plain(format!("{}.{}", tenths / 10, tenths % 10)) }
        }
        _ if seconds < 2 * MINUTE => Message::SpanSeconds { seconds: Arg::Count(seconds) },
        _ if seconds < HOUR => Message::SpanMinutes { minutes: Arg::Count(seconds / MINUTE) },
        _ if seconds < 2 * DAY && minutes > 0 => {
            Message::SpanHoursMinutes { hours: Arg::Count(hours), minutes: Arg::Count(minutes) }
        }
        _ if seconds < 2 * DAY => Message::SpanHours { hours: Arg::Count(hours) },
        _ => Message::SpanDays { days: Arg::Count(seconds / DAY) },
    }
}

impl Voice {
    /// `10:03:11`, with weekday and date unless it is today, with the year unless it is this one.
    pub(super) fn absolute(&self, at: Timestamp) -> String {
        self.written(at, "%H:%M:%S")
    }

    fn written(&self, at: Timestamp, format_of_another_day: &str) -> String {
        let then = at.to_zoned_datetime(self.zone.clone());
        let today = self.now.to_zoned_datetime(self.zone.clone());
        if then.date() == today.date() {
            return then.strftime("%H:%M:%S").to_string();
        }
        let time = then.strftime(format_of_another_day).to_string();
        let this_year = then.year() == today.year();
        match self.lang {
            Lang::En => en::dated(then.date(), this_year, &time),
            Lang::ZhHant => zh_hant::dated(then.date(), this_year, &time),
        }
    }

    /// A moment as markup, with UTC beside it for machines and for print.
    pub(crate) fn time(&self, at: Timestamp) -> AnyView {
        let text = self.absolute(at);
        let utc = utc(at);
        view! { <time datetime=utc>{text}</time> }.into_any()
    }

    /// How far it is from now: `4 min ago`, `in 35 s`.
    pub(crate) fn relative(&self, at: Timestamp) -> Message {
        let ahead = at > self.now;
        let span = Arg::Span(between(self.now, at));
        if ahead { Message::Ahead { span } } else { Message::Ago { span } }
    }

    /// Absolute, and relative on the next line, for a table: of another day without the seconds.
    pub(crate) fn time_and_relative(&self, at: Timestamp) -> AnyView {
        let (text, utc) = (self.written(at, "%H:%M"), utc(at));
        let relative = self.say(&self.relative(at));
        view! { <time datetime=utc>{text}</time><small>{relative}</small> }.into_any()
    }
}

/// How far two moments are apart.
pub(crate) fn between(a: Timestamp, b: Timestamp) -> Duration {
    b.duration_since(a).unsigned_abs()
}

/// RFC 3339, UTC, milliseconds only where there are any.
pub(crate) fn utc(at: Timestamp) -> String {
    let format = if at.subsec_millisecond() == 0 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S.%3fZ" };
    at.strftime(format).to_string()
}
