//! Is anything wrong: the reconciler's last run, and alarms.

use counterfoil_ledger::alarm::AlarmKind;
use std::time::Duration;

use jiff::Timestamp;
use leptos::prelude::*;

use crate::i18n::{Arg, Message, Voice};
use crate::{Alarm, DaemonSheet, Viewer};

/// A reconciler that is silent for this long is late.
const SILENT_AFTER: Duration = Duration::from_secs(120);

pub(super) fn status(viewer: &Viewer, voice: &Voice, daemon: &DaemonSheet) -> AnyView {
    let alarms = (!daemon.alarms.is_empty()).then(|| {
        let label = voice.plain(&Message::AlarmsLabel);
        let items = daemon.alarms.iter().map(|alarm| {
            let text = voice.say(&alarm_says(alarm));
            view! { <li>{text}</li> }
        });
        view! { <section class="alarms" aria-label=label><ul>{items.collect_view()}</ul></section> }
    });
    let schedule = || Arg::ident(&daemon.schedule);
    let (class, ran) = match daemon.last {
        None => ("reconciler", Message::ReconcilerNever { schedule: schedule() }),
        Some(run) => {
            let time = Arg::Time(run.started_at);
            let relative = Arg::words(voice.relative(run.started_at));
            if is_late(run.ended_at.unwrap_or(run.started_at), viewer.now) {
                ("reconciler late", Message::ReconcilerLate { time, relative })
            } else {
                ("reconciler", Message::ReconcilerRan { time, relative, schedule: schedule() })
            }
        }
    };
    let ran = voice.say(&ran);
    let next = daemon.next_at.map(|at| voice.say(&Message::ReconcilerNext { time: Arg::Time(at) }));
    view! { {alarms}<p class=class>{ran}" "{next}</p> }.into_any()
}

fn is_late(last_sign: Timestamp, now: Timestamp) -> bool {
    now > counterfoil_ledger::window::later(last_sign, SILENT_AFTER)
}

fn alarm_says(alarm: &Alarm) -> Message {
    let account = match &alarm.subject {
        Some(subject) => Arg::ident(subject.as_str()),
        None => Arg::words(Message::EveryAccount),
    };
    let since = Arg::Time(alarm.since);
    match alarm.kind {
        AlarmKind::WritesUnauthorized => Message::AlarmUnauthorized { account, since },
        AlarmKind::ReadsUnauthorized => Message::AlarmReadsUnauthorized { account, since },
        AlarmKind::AccountDown => Message::AlarmAccountDown { account, since },
        AlarmKind::CapturedBelowHeld => Message::AlarmCapturedBelowHeld { payment: account, since },
        AlarmKind::ClockBehind => Message::AlarmClockBehind { since },
        AlarmKind::Restored => Message::AlarmRestored { since },
        AlarmKind::RowSetAside => Message::AlarmRowsSetAside { since },
    }
}
