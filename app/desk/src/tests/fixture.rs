//! A desk over a handful of operations in every state, each brought there by the ledger's own rules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use counterfoil_ledger::attempt::{AttemptEnd, Class, Why};
use counterfoil_ledger::balance::Holder;
use counterfoil_ledger::chain;
use counterfoil_ledger::decide::{Action, Circumstances, Draft, Policy, Seen, decide};
use counterfoil_ledger::entry::{Actor, Asked, Entered, Entry, Hold, Subject};
use counterfoil_ledger::evidence::{EffectSeen, EffectStatus, LookUp, Unavailable, Walk};
use counterfoil_ledger::identity::{IdentityValue, Key, KeyRule, Marker, Namespace, OperationId, Revision};
use counterfoil_ledger::intent::{EffectKind, Intent, ProviderRequest};
use counterfoil_ledger::money::{ExponentTable, Money};
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::{Event, State};
use counterfoil_ledger::window::KeyProtects;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::*;

/// All of it happens on this day, in UTC; it is Taipei's morning.
pub(super) fn at(time: &str) -> Timestamp {
    format!("2026-11-30T{time}Z").parse().unwrap()
}

pub(super) const NOW: &str = "02:07:31";

pub(super) fn policy() -> Policy {
    let s = Duration::from_secs;
    Policy {
        send_timeout: s(10),
        key_window: s(24 * 3600),
        window_margin: s(900),
        key_protects: KeyProtects::All,
        offers_look_up: true,
        absence_lag: s(60),
        absence_count: 2,
        absence_gap: s(10),
        max_resends: 3,
        look_up_after: [15, 30, 120, 600, 1800, 7200, 21600].map(s).to_vec(),
        escalate_after: s(20 * 3600),
        pending_attention: s(3 * 24 * 3600),
    }
}

pub(super) fn provider() -> Provider {
    Provider {
        name: "Stripe".to_owned(),
        account: "stripe-main".parse().unwrap(),
        mode: AccountMode::Test,
        base_url: "https://api.stripe.com".to_owned(),
        exponents: ExponentTable::Stripe,
        console_effect: Some("https://dashboard.stripe.com/refunds/{id}".to_owned()),
        console_target: Some("https://dashboard.stripe.com/payments/{id}".to_owned()),
    }
}

/// One operation's history while it is being told.
#[derive(Clone)]
pub(super) struct Story {
    pub(super) operation: Operation,
    entries: Vec<Entered>,
    step: NextStep,
    pub(super) policy: Policy,
    pub(super) restored_at: Option<Timestamp>,
    now: Timestamp,
}

pub(super) struct Wanted<'a> {
    pub(super) order: &'a str,
    pub(super) line: &'a str,
    pub(super) minor: i64,
    pub(super) currency: &'a str,
    pub(super) revision: u8,
    pub(super) holds: Vec<Hold>,
    pub(super) customer: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
}

pub(super) fn wanted<'a>(order: &'a str, line: &'a str, minor: i64) -> Wanted<'a> {
    Wanted {
        order,
        line,
        minor,
        currency: "TWD",
        revision: 1,
        holds: Vec::new(),
        customer: None,
        reason: None,
    }
}

impl Story {
    pub(super) fn recorded(time: &str, wanted: Wanted<'_>) -> Self {
        let value = |text: &str| IdentityValue::try_from(text.to_owned()).unwrap();
        let namespace: Namespace = "demo".parse().unwrap();
        let revision = Revision::try_from(wanted.revision).unwrap();
        let values = [value(wanted.order), value(wanted.line)];
        let id = OperationId::compute(&"refund".parse().unwrap(), &values, revision).unwrap();
        let target = format!("pi_{}", wanted.order);
        let marker = Marker::compute(&namespace, &id);
        let intent = Intent {
            account: "stripe-main".parse().unwrap(),
            effect: EffectKind::Refund,
            target: target.clone(),
            money: Money::new(wanted.minor, wanted.currency.parse().unwrap()).unwrap(),
            marker: marker.clone(),
            key: Key::compute(KeyRule::Readable { bytes_max: 255 }, &namespace, &id),
            request: ProviderRequest {
                method: "POST".to_owned(),
                path: "/v1/refunds".to_owned(),
                content_type: "application/x-www-form-urlencoded".to_owned(),
                body: format!(
                    "payment_intent={target}&amount={}&metadata[operation_id]={marker}",
                    wanted.minor
                ),
            },
        };
        let (_, intent_hash) = intent.seal().unwrap();
        let [order, line] = values;
        let subject = Subject {
            kind: "refund".parse().unwrap(),
            identity: vec![("order".to_owned(), order.clone()), ("line_item".to_owned(), line)],
            revision,
            order,
            customer: wanted.customer.map(str::to_owned),
            params: None,
            send_within_s: 72 * 3600,
        };
        let state = if wanted.holds.is_empty() { State::Authorized } else { State::AwaitingApproval };
        let first = Entered {
            seq: 1,
            at: at(time),
            actor: Actor::Token("shop".to_owned()),
            entry: Entry::Recorded { subject: Box::new(subject), state, holds: wanted.holds },
        };
        let operation = Operation::replay(id, intent, intent_hash, std::slice::from_ref(&first)).unwrap();
        let step = NextStep { reason: counterfoil_ledger::decide::Reason::ReadyToSend, due_at: None };
        let story = Self {
            operation,
            entries: vec![first],
            step,
            policy: policy(),
            restored_at: None,
            now: at(time),
        };
        let reason = wanted.reason.unwrap_or("the left earbud is silent").to_owned();
        let asked = story.asked(time, &reason);
        asked.see(time, Seen::Timer)
    }

    pub(super) fn asked(self, time: &str, reason: &str) -> Self {
        let asked = Asked {
            token: "shop".to_owned(),
            owner: "mei".to_owned(),
            requested_by: Some("agent-7".to_owned()),
            reason: Some(reason.to_owned()),
        };
        self.write(time, &Actor::Token("shop".to_owned()), Entry::Asked(asked))
    }

    pub(super) fn write(self, time: &str, actor: &Actor, entry: Entry) -> Self {
        self.draft(at(time), actor, |draft| draft.write(entry).unwrap())
    }

    pub(super) fn raise(self, time: &str, actor: &Actor, event: Event) -> Self {
        self.draft(at(time), actor, |draft| draft.raise(event).unwrap())
    }

    fn draft(mut self, now: Timestamp, actor: &Actor, write: impl FnOnce(&mut Draft)) -> Self {
        let mut draft = Draft::of(&self.operation, actor, now);
        write(&mut draft);
        self.operation = draft.operation;
        self.entries.extend(draft.entries);
        self.now = now;
        self
    }

    /// Takes in what was seen, and decides.
    pub(super) fn see(self, time: &str, seen: Seen) -> Self {
        self.see_at(at(time), seen)
    }

    pub(super) fn see_at(mut self, now: Timestamp, seen: Seen) -> Self {
        let actor = match &seen {
            Seen::AttemptEnded { .. } => Actor::Sender("worker-2".to_owned()),
            Seen::Told(_) => Actor::Provider("stripe-main".to_owned()),
            Seen::LookedUp(_) | Seen::Timer => Actor::Reconciler("worker-1".to_owned()),
        };
        let circumstances = Circumstances {
            now,
            newest_in_ledger: now,
            account_paused: false,
            payment_blocked: false,
            restored_at: self.restored_at,
        };
        let decision = decide(&self.operation, seen, &actor, &self.policy, &circumstances).unwrap();
        self.operation = decision.after;
        self.entries.extend(decision.findings);
        let due_at = match decision.action {
            Action::Send | Action::LookUp | Action::Resend => Some(now),
            Action::WaitUntil { at } => Some(at),
            Action::Rest => None,
        };
        self.step = NextStep { reason: decision.reason, due_at };
        self.now = now;
        self
    }

    pub(super) fn marked(self, time: &str) -> Self {
        self.marked_at(at(time))
    }

    pub(super) fn marked_at(self, now: Timestamp) -> Self {
        let number = u32::try_from(self.operation.facts.attempts.len() + 1).unwrap();
        let started = Entry::AttemptStarted {
            number,
            client_request_id: format!("5c2f0c1e-0000-4000-8000-00000000000{number}"),
            send_timeout_ms: 10_000,
            key_window_s: 24 * 3600,
        };
        let story = self.draft(now, &Actor::Sender("worker-2".to_owned()), |draft| {
            draft.raise(Event::Marked).unwrap();
            draft.write(started).unwrap();
        });
        story.see_at(now, Seen::Timer)
    }

    pub(super) fn ended(self, time: &str, end: AttemptEnd) -> Self {
        let number = u32::try_from(self.operation.facts.attempts.len()).unwrap();
        self.see(time, Seen::AttemptEnded { number, end })
    }

    /// An effect on this operation's payment, with its amount and its marker.
    pub(super) fn effect(&self, external_id: &str, status: EffectStatus) -> EffectSeen {
        let provider_status = match status {
            EffectStatus::Pending => "pending",
            EffectStatus::Live => "succeeded",
            EffectStatus::Failed => "failed",
        };
        EffectSeen {
            external_id: external_id.to_owned(),
            marker: Some(self.operation.intent.marker.as_str().to_owned()),
            targets: vec![self.operation.intent.target.clone()],
            amount_minor: self.operation.intent.money.minor(),
            currency: self.operation.intent.money.currency().code().to_owned(),
            status,
            provider_status: provider_status.to_owned(),
            failure_reason: (status == EffectStatus::Failed).then(|| "expired_or_canceled_card".to_owned()),
            created_at: Some(self.now),
        }
    }

    pub(super) fn sheet(&self) -> OperationSheet {
        let mut head = chain::begin(&self.operation.id, &self.operation.intent_hash);
        let entries = self.entries.iter().map(|entered| {
            let sealed = chain::seal(&self.operation.id, &head, entered).unwrap();
            head.clone_from(&sealed.hash);
            ChainedEntry { entered: entered.clone(), hash: sealed.hash }
        });
        OperationSheet {
            entries: entries.collect(),
            operation: self.operation.clone(),
            step: self.step,
            policy: self.policy.clone(),
            provider: provider(),
            effects: self.effects(),
            related: Vec::new(),
            owner_name: Some("Ann".to_owned()),
            restored_at: self.restored_at,
            set_aside: None,
        }
    }

    /// The ledger is put back from a backup that was taken just now.
    pub(super) fn restored(mut self, time: &str) -> Self {
        self.restored_at = Some(at(time));
        self.see(time, Seen::Timer)
    }

    fn effects(&self) -> Vec<PaymentEffect> {
        let mut seen: BTreeMap<String, PaymentEffect> = BTreeMap::new();
        for entered in &self.entries {
            let effects: Vec<&EffectSeen> = match &entered.entry {
                Entry::AttemptEnded { end, .. } => end.effect.iter().collect(),
                Entry::LookedUp { look_up, .. } => look_up.effects.iter().collect(),
                Entry::Told { effect } => vec![effect],
                _ => Vec::new(),
            };
            for effect in effects {
                let ours = effect.marker.as_deref() == Some(self.operation.intent.marker.as_str());
                let holder = ours.then(|| self.operation.id.clone());
                let seen_at = entered.at;
                seen.insert(
                    effect.external_id.clone(),
                    PaymentEffect { effect: effect.clone(), holder, seen_at },
                );
            }
        }
        seen.into_values().collect()
    }

    pub(super) fn row(&self) -> OperationRow {
        let facts = &self.operation.facts;
        OperationRow {
            id: self.operation.id.clone(),
            state: facts.state,
            bounced: facts.bounced,
            kind: facts.subject.kind.clone(),
            order: facts.subject.order.as_str().to_owned(),
            money: self.operation.intent.money,
            exponents: ExponentTable::Stripe,
            account: self.operation.intent.account.clone(),
            external_id: facts.conclusion.external_id().map(str::to_owned),
            attempts: u32::try_from(facts.attempts.len()).unwrap(),
            window_closes_at: facts.window.map(|window| window.closes_at()),
            reason: self.step.reason,
            due_at: self.step.due_at,
            updated_at: facts.updated_at,
            incidents: u32::try_from(facts.incidents.len()).unwrap(),
            set_aside: None,
        }
    }
}

pub(super) fn end(class: Class, why: Why, http_status: Option<u16>) -> AttemptEnd {
    AttemptEnd {
        class,
        why,
        duration_ms: if http_status.is_some() { 412 } else { 9_990 },
        http_status,
        code: None,
        provider_request_id: http_status.map(|_| "req_9Xb2".to_owned()),
        replayed: false,
        stored_failure: false,
        retry_after_s: None,
        body_digest: None,
        effect: None,
    }
}

pub(super) fn lost() -> AttemptEnd {
    end(Class::Indeterminate, Why::ConnectionLost, None)
}

pub(super) fn look_up(started_at: Timestamp, walk: Walk, effects: Vec<EffectSeen>) -> Seen {
    Seen::LookedUp(LookUp {
        started_at,
        duration_ms: 180,
        walk,
        pages: 1,
        retries: 0,
        http_status: Some(200),
        provider_request_id: None,
        effects,
        others: 0,
    })
}

/// Order 1043: sent, the answer lost, asked again, looked up too early.
pub(super) fn unknown() -> Story {
    Story::recorded("02:02:58", wanted("1043", "li_2", 38_000))
        .marked("02:03:11")
        .ended("02:03:21", lost())
        .asked("02:03:25", "the tool call failed, trying once more")
        .see("02:03:36", look_up(at("02:03:36"), Walk::Complete, Vec::new()))
}

pub(super) fn confirmed() -> Story {
    let lost = Story::recorded("01:12:00", wanted("2201", "li_1", 52_000))
        .marked("01:12:01")
        .ended("01:12:11", lost());
    let effect = lost.effect("re_3PqA7", EffectStatus::Live);
    lost.see("01:12:26", look_up(at("01:12:26"), Walk::Complete, vec![effect]))
}

pub(super) fn awaiting() -> Story {
    Story::recorded(
        "01:40:00",
        Wanted { revision: 2, holds: vec![Hold::Revision], ..wanted("2202", "li_1", 9_900) },
    )
}

pub(super) fn above_limit_and_twin() -> Story {
    let holds = vec![
        Hold::AboveLimit { limit_minor: 500_000, together_minor: 612_000 },
        Hold::Twin { operation: OperationId::stored("refund-2203-LI_4") },
    ];
    Story::recorded("01:41:00", Wanted { holds, ..wanted("2203", "li_4", 612_000) })
}

pub(super) fn authorized() -> Story {
    Story::recorded("02:07:30", wanted("2204", "li_1", 12_000))
}

pub(super) fn deferred() -> Story {
    let turned_away = AttemptEnd {
        code: Some("rate_limit".to_owned()),
        ..end(Class::Deferred, Why::RateLimitNamed, Some(429))
    };
    Story::recorded("02:07:20", wanted("2205", "li_1", 4_500))
        .marked("02:07:30")
        .ended("02:07:31", turned_away)
}

pub(super) fn submitted() -> Story {
    Story::recorded("02:07:25", wanted("2206", "li_3", 7_700)).marked("02:07:28")
}

pub(super) fn pending() -> Story {
    let sent = Story::recorded("01:30:00", wanted("2207", "li_1", 16_600)).marked("01:30:01");
    let effect = sent.effect("re_3PqB1", EffectStatus::Pending);
    sent.ended(
        "01:30:02",
        AttemptEnd { effect: Some(effect), ..end(Class::Effect, Why::Accepted, Some(200)) },
    )
}

pub(super) fn failed() -> Story {
    let refused = AttemptEnd {
        code: Some("charge_already_refunded".to_owned()),
        ..end(Class::Refused, Why::DefiniteRefusal, Some(400))
    };
    Story::recorded("01:20:00", wanted("2208", "li_1", 30_000)).marked("01:20:01").ended("01:20:02", refused)
}

pub(super) fn bounced() -> Story {
    let sent = Story::recorded("00:20:00", wanted("2209", "li_1", 25_000)).marked("00:20:01");
    let live = sent.effect("re_3PqC9", EffectStatus::Live);
    let back = sent.effect("re_3PqC9", EffectStatus::Failed);
    sent.ended("00:20:02", AttemptEnd { effect: Some(live), ..end(Class::Effect, Why::Accepted, Some(200)) })
        .see("01:50:00", Seen::Told(back.clone()))
        .see("01:50:01", look_up(at("01:50:01"), Walk::Complete, vec![back]))
}

/// Somebody refunded the same amount by hand.
pub(super) fn escalated() -> Story {
    let lost = Story::recorded("01:00:00", wanted("4410", "li_1", 98_000))
        .marked("01:00:01")
        .ended("01:00:11", lost());
    let by_hand = EffectSeen { marker: None, ..lost.effect("re_hand", EffectStatus::Live) };
    lost.see("01:00:26", look_up(at("01:00:26"), Walk::Complete, vec![by_hand]))
}

/// Absence is proved, and somebody had asked to stop.
pub(super) fn escalated_absent() -> Story {
    Story::recorded("01:00:00", wanted("4411", "li_1", 64_000))
        .marked("01:00:01")
        .ended("01:00:11", lost())
        .write("01:00:12", &Actor::Token("shop".to_owned()), Entry::CancelAsked)
        .see("01:02:00", look_up(at("01:02:00"), Walk::Complete, Vec::new()))
        .see("01:02:10", look_up(at("01:02:10"), Walk::Complete, Vec::new()))
}

pub(super) fn cancelled() -> Story {
    Story::recorded(
        "01:45:00",
        Wanted { holds: vec![Hold::Revision], revision: 2, ..wanted("2210", "li_1", 8_000) },
    )
    .raise("01:46:00", &Actor::Person("mei".to_owned()), Event::Denied)
    .see("01:46:00", Seen::Timer)
}

pub(super) fn two_effects() -> Story {
    let lost = Story::recorded("01:05:00", wanted("4412", "li_1", 41_000))
        .marked("01:05:01")
        .ended("01:05:11", lost());
    let both = ["re_one", "re_two"].map(|id| lost.effect(id, EffectStatus::Live)).to_vec();
    lost.see("01:05:26", look_up(at("01:05:26"), Walk::Complete, both))
}

pub(super) fn look_up_down() -> Story {
    Story::recorded("02:00:00", wanted("4413", "li_1", 45_500))
        .marked("02:00:01")
        .ended(
            "02:00:02",
            AttemptEnd { stored_failure: true, ..end(Class::Indeterminate, Why::ServerError, Some(500)) },
        )
        .see("02:00:17", look_up(at("02:00:17"), Walk::Unavailable(Unavailable::Unauthorized), Vec::new()))
}

/// Every story, in the order of the list.
pub(super) fn stories() -> Vec<Story> {
    vec![
        escalated(),
        escalated_absent(),
        look_up_down(),
        unknown(),
        awaiting(),
        above_limit_and_twin(),
        bounced(),
        two_effects(),
        submitted(),
        deferred(),
        authorized(),
        pending(),
        confirmed(),
        failed(),
        cancelled(),
    ]
}

pub(super) fn viewer(lang: Lang, path_and_query: &str) -> Viewer {
    Viewer {
        lang,
        zone: TimeZone::get("Asia/Taipei").unwrap(),
        now: at(NOW),
        mode: Mode::Demo,
        clock_offset: SignedDuration::ZERO,
        css_url: "/assets/desk.css".to_owned(),
        icon_url: "/assets/icon.svg".to_owned(),
        path_and_query: path_and_query.to_owned(),
    }
}

/// What the pages read.
pub(super) struct Shelf {
    pub(super) rows: Vec<OperationRow>,
    pub(super) sheets: BTreeMap<String, OperationSheet>,
    pub(super) orders: BTreeMap<String, OrderSheet>,
    pub(super) next: Option<String>,
    pub(super) alarms: Vec<Alarm>,
    pub(super) broken: bool,
}

impl Shelf {
    pub(super) fn of(stories: &[Story]) -> Self {
        let sheets: BTreeMap<_, _> =
            stories.iter().map(|story| (story.operation.id.as_str().to_owned(), story.sheet())).collect();
        let mut orders: BTreeMap<String, OrderSheet> = BTreeMap::new();
        for story in stories {
            let sheet = story.sheet();
            let order = sheet.operation.facts.subject.order.as_str().to_owned();
            let entry = orders.entry(order.clone()).or_insert_with(|| order_sheet(&order, &sheet));
            entry.effects.extend(sheet.effects.clone());
            entry.operations.push(OrderOperation {
                operation: sheet.operation,
                entries: sheet.entries,
                step: sheet.step,
                policy: sheet.policy,
            });
        }
        Self {
            rows: stories.iter().map(Story::row).collect(),
            sheets,
            orders,
            next: Some("b2ZmLTUw".to_owned()),
            alarms: Vec::new(),
            broken: false,
        }
    }
}

fn order_sheet(order: &str, sheet: &OperationSheet) -> OrderSheet {
    OrderSheet {
        order: order.to_owned(),
        customer: Some("customer-88".to_owned()),
        payment: sheet.operation.intent.target.clone(),
        provider: provider(),
        currency: "TWD".parse().unwrap(),
        captured_minor: 158_000,
        lines: vec![
            OrderLine {
                id: "li_1".to_owned(),
                title: Some("Earphones 真無線耳機".to_owned()),
                quantity: Some(1),
                minor: 120_000,
            },
            OrderLine {
                id: "li_2".to_owned(),
                title: Some("Case".to_owned()),
                quantity: Some(1),
                minor: 38_000,
            },
        ],
        snapshot_at: at("01:00:00"),
        blocked: false,
        operations: Vec::new(),
        others: vec![Holder {
            operation: OperationId::stored("refund-9-li_1"),
            state: State::Failed,
            minor: 0,
        }],
        effects: Vec::new(),
    }
}

#[async_trait]
impl Desk for Shelf {
    async fn operations(
        &self,
        filter: &Filter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<OperationRows, DeskError> {
        if self.broken {
            return Err(DeskError::Store("disk I/O error: /var/lib/secret.db".into()));
        }
        if cursor.is_some_and(|cursor| Some(cursor) != self.next.as_deref()) {
            return Err(DeskError::Cursor);
        }
        let count = |state| u64::try_from(self.rows.iter().filter(|row| row.state == state).count()).unwrap();
        let open = State::ALL.into_iter().filter(|state| !state.is_final());
        let counts = Counts {
            attention: 7,
            window_closing: 0,
            pending_too_long: 0,
            open: open.map(|state| (state, count(state))).collect(),
        };
        let rows = self
            .rows
            .iter()
            .filter(|row| filter.state.is_none_or(|state| row.state == state))
            .filter(|row| filter.order.as_ref().is_none_or(|order| row.order == *order));
        let rows = rows.take(usize::try_from(limit).unwrap()).cloned().collect();
        Ok(OperationRows { rows, next: self.next.clone(), counts, ledger_is_empty: self.rows.is_empty() })
    }

    async fn operation(&self, id: &OperationId) -> Result<Option<OperationSheet>, DeskError> {
        Ok(self.sheets.get(id.as_str()).cloned())
    }

    async fn order(&self, order: &str) -> Result<Option<OrderSheet>, DeskError> {
        Ok(self.orders.get(order).cloned())
    }

    async fn daemon(&self) -> Result<DaemonSheet, DeskError> {
        Ok(DaemonSheet {
            last: Some(Run { started_at: at("02:07:30"), ended_at: Some(at("02:07:30")), rows: 3 }),
            schedule: "*/5 * * * * *".to_owned(),
            next_at: Some(at("02:07:35")),
            alarms: self.alarms.clone(),
        })
    }

    fn choices(&self) -> Choices {
        Choices { kinds: vec!["refund".parse().unwrap()], accounts: vec!["stripe-main".parse().unwrap()] }
    }
}
