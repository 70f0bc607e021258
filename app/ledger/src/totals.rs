//! What became of a payment's money, and what may have left it at worst. Every sum is the sum of its items.

use std::time::Duration;

use crate::balance::Holder;
use crate::decide::Policy;
use crate::entry::{Entered, Entry};
use crate::evidence::{EffectStatus, Walk};
use crate::identity::OperationId;
use crate::money::Currency;
use crate::operation::Operation;
use crate::state::State;
use crate::window::{KeyProtects, later};

/// An operation with its whole history, to be summed up.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    pub operation: &'a Operation,
    pub entries: &'a [Entered],
    pub policy: &'a Policy,
}

/// An effect on the payment that no operation claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclaimed {
    pub external_id: String,
    pub minor: i64,
    pub currency: String,
    pub status: EffectStatus,
}

/// What one item of a sum stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// For an operation, in its state.
    Operation { operation: OperationId, state: State },
    /// For one more execution that this send may have been: no key tied it to the first, and no look-up disproved it yet.
    Send { operation: OperationId, attempt: u32 },
    /// For an effect that nobody claims.
    Unclaimed { external_id: String },
    /// For an operation of another order on the same payment.
    Elsewhere { operation: OperationId, state: State },
}

/// One item of a sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub stands: Stands,
    pub minor: i64,
}

/// What became of a payment's money, in one currency. Every sum is the sum of its items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Exists at the provider.
    pub refunded: Vec<Item>,
    /// Allowed, on its way or held by the provider.
    pub in_flight: Vec<Item>,
    /// Sent, and nothing proves what happened.
    pub unknown: Vec<Item>,
    /// What other orders hold of the same payment.
    pub elsewhere: Vec<Item>,
    /// More executions than one that a send may have been.
    pub extra: Vec<Item>,
}

/// The sum of items.
pub fn sum_minor(items: &[Item]) -> i64 {
    items.iter().fold(0_i64, |sum, item| sum.saturating_add(item.minor))
}

impl Totals {
    /// Sums up one currency; amounts of another are left out.
    pub fn of(currency: Currency, told: &[Told<'_>], others: &[Holder], unclaimed: &[Unclaimed]) -> Self {
        let mut totals = Self::default();
        for told in told.iter().filter(|told| told.operation.intent.money.currency() == currency) {
            totals.add_operation(*told);
        }
        for effect in unclaimed.iter().filter(|effect| effect.currency == currency.code()) {
            let item = Item {
                stands: Stands::Unclaimed { external_id: effect.external_id.clone() },
                minor: effect.minor,
            };
            match effect.status {
                EffectStatus::Live => totals.refunded.push(item),
                EffectStatus::Pending => totals.in_flight.push(item),
                EffectStatus::Failed => {}
            }
        }
        totals.elsewhere = others
            .iter()
            .filter(|holder| holder.minor > 0)
            .map(|holder| Item {
                stands: Stands::Elsewhere { operation: holder.operation.clone(), state: holder.state },
                minor: holder.minor,
            })
            .collect();
        totals
    }

    fn add_operation(&mut self, told: Told<'_>) {
        let operation = told.operation;
        let state = operation.facts.state;
        let held = operation.holds_minor();
        if held > 0 {
            let item =
                Item { stands: Stands::Operation { operation: operation.id.clone(), state }, minor: held };
            match state {
                // What failed or was withdrawn holds only what exists against its state.
                State::Confirmed | State::Failed | State::Cancelled => self.refunded.push(item),
                State::AwaitingApproval | State::Authorized | State::Submitted | State::Pending => {
                    self.in_flight.push(item)
                }
                State::Unknown | State::Escalated => self.unknown.push(item),
            }
        }
        self.extra.extend(unprotected_sends(told).into_iter().map(|attempt| Item {
            stands: Stands::Send { operation: operation.id.clone(), attempt },
            minor: operation.intent.money.minor(),
        }));
    }

    /// Everything that is held: it can't be refunded once more (rule 11).
    pub fn held_minor(&self) -> i64 {
        [&self.refunded, &self.in_flight, &self.unknown, &self.elsewhere]
            .into_iter()
            .fold(0_i64, |sum, items| sum.saturating_add(sum_minor(items)))
    }

    /// Everything that may have left or may still leave: what is held, and one more amount for each send that no key tied to
    /// the first one.
    pub fn worst_case_minor(&self) -> i64 {
        self.held_minor().saturating_add(sum_minor(&self.extra))
    }

    /// What may still be refunded, never below 0.
    pub fn left_minor(&self, captured_minor: i64) -> i64 {
        captured_minor.saturating_sub(self.held_minor()).max(0)
    }
}

/// Sends after the first that may have been executions of their own: not protected by the key, and not disproved by a complete
/// look-up that began after everything of theirs must show.
fn unprotected_sends(told: Told<'_>) -> Vec<u32> {
    let facts = &told.operation.facts;
    let shows_after = |deadline, lag: Duration| {
        told.entries.iter().any(|entered| match &entered.entry {
            Entry::LookedUp { look_up, .. } => {
                look_up.walk == Walk::Complete && look_up.started_at >= later(deadline, lag)
            }
            _ => false,
        })
    };
    facts
        .attempts
        .iter()
        .filter(|attempt| attempt.may_have_executed())
        .skip(1)
        .filter(|attempt| {
            let protected = told.policy.key_protects == KeyProtects::All
                && facts.window.is_some_and(|window| attempt.deadline() <= window.closes_at());
            !protected && !shows_after(attempt.deadline(), told.policy.absence_lag)
        })
        .map(|attempt| attempt.number)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::{AttemptEnd, Class, Why};
    use crate::entry::{Actor, Subject};
    use crate::evidence::{EffectSeen, LookUp};
    use crate::identity::{IdentityValue, Key, Marker, Revision};
    use crate::intent::{EffectKind, Intent, IntentHash, ProviderRequest};
    use crate::money::Money;
    use crate::state::Event;
    use jiff::Timestamp;

    const DAY_S: u64 = 24 * 3600;

    fn policy(key_protects: KeyProtects) -> Policy {
        Policy {
            send_timeout: Duration::from_secs(10),
            key_window: Duration::from_secs(DAY_S),
            window_margin: Duration::from_secs(900),
            key_protects,
            offers_look_up: true,
            absence_lag: Duration::from_secs(60),
            absence_count: 2,
            absence_gap: Duration::from_secs(10),
            max_resends: 3,
            look_up_after: vec![Duration::from_secs(15)],
            escalate_after: Duration::from_secs(DAY_S),
            pending_attention: Duration::from_secs(DAY_S),
        }
    }

    /// Seconds from the first mark.
    fn at(second: u64) -> Timestamp {
        later(Timestamp::from_second(1_796_000_000).unwrap(), Duration::from_secs(second))
    }

    /// A refund of 380.00 TWD and its history so far.
    struct History {
        operation: Operation,
        entries: Vec<Entered>,
    }

    impl History {
        fn recorded() -> Self {
            let value = |text: &str| IdentityValue::try_from(text.to_owned()).unwrap();
            let subject = Subject {
                kind: "refund".parse().unwrap(),
                identity: vec![("order".to_owned(), value("1043"))],
                revision: Revision::FIRST,
                order: value("1043"),
                customer: None,
                params: None,
                send_within_s: DAY_S,
            };
            let recorded =
                Entry::Recorded { subject: Box::new(subject), state: State::Authorized, holds: Vec::new() };
            let first =
                Entered { seq: 1, at: at(0), actor: Actor::Token("shop".to_owned()), entry: recorded };
            let intent = Intent {
                account: "stripe-main".parse().unwrap(),
                effect: EffectKind::Refund,
                target: "pi_1043".to_owned(),
                money: Money::new(38_000, twd()).unwrap(),
                marker: Marker::stored("shop.refund-1043"),
                key: Key::stored("shop.refund-1043"),
                request: ProviderRequest {
                    method: "POST".to_owned(),
                    path: "/v1/refunds".to_owned(),
                    content_type: String::new(),
                    body: String::new(),
                },
            };
            let operation = Operation::replay(
                OperationId::stored("refund-1043"),
                intent,
                IntentHash::stored("00"),
                std::slice::from_ref(&first),
            );
            Self { operation: operation.unwrap(), entries: vec![first] }
        }

        fn write(mut self, at: Timestamp, entry: Entry) -> Self {
            let seq = self.operation.facts.seq + 1;
            let entered = Entered { seq, at, actor: Actor::Sender("w-1".to_owned()), entry };
            self.operation.absorb(&entered).unwrap();
            self.entries.push(entered);
            self
        }

        fn moved(self, to: State, event: Event) -> Self {
            let (from, at) = (self.operation.facts.state, self.operation.facts.updated_at);
            self.write(at, Entry::State { from, to, event })
        }

        fn sent(self, second: u64, class: Class) -> Self {
            let number = u32::try_from(self.operation.facts.attempts.len() + 1).unwrap();
            let started = Entry::AttemptStarted {
                number,
                client_request_id: String::new(),
                send_timeout_ms: 10_000,
                key_window_s: DAY_S,
            };
            let end = AttemptEnd {
                class,
                why: Why::TimedOut,
                duration_ms: 10_000,
                http_status: None,
                code: None,
                provider_request_id: None,
                replayed: false,
                stored_failure: false,
                retry_after_s: None,
                body_digest: None,
                effect: None,
            };
            self.write(at(second), started).write(at(second + 10), Entry::AttemptEnded { number, end })
        }

        fn looked_up(self, second: u64, walk: Walk, effects: Vec<EffectSeen>) -> Self {
            let look_up = LookUp {
                started_at: at(second),
                duration_ms: 1,
                walk,
                pages: 1,
                retries: 0,
                http_status: None,
                provider_request_id: None,
                effects,
                others: 0,
            };
            self.write(
                at(second),
                Entry::LookedUp { look_up, counted: false, proves_absence: false, restored_at: None },
            )
        }

        fn totals(&self, key_protects: KeyProtects, unclaimed: &[Unclaimed]) -> Totals {
            let policy = policy(key_protects);
            let told = Told { operation: &self.operation, entries: &self.entries, policy: &policy };
            Totals::of(twd(), &[told], &[], unclaimed)
        }
    }

    fn twd() -> Currency {
        "TWD".parse().unwrap()
    }

    fn unknown() -> History {
        History::recorded()
            .moved(State::Submitted, Event::Marked)
            .sent(0, Class::Indeterminate)
            .moved(State::Unknown, Event::AnswerLost)
    }

    #[test]
    fn a_lost_refund_is_unknown_money_and_the_worst_case_counts_it_once() {
        let totals = unknown().totals(KeyProtects::All, &[]);
        assert_eq!(sum_minor(&totals.unknown), 38_000);
        assert_eq!(sum_minor(&totals.refunded), 0);
        assert_eq!(totals.worst_case_minor(), 38_000);
        assert_eq!(totals.left_minor(158_000), 120_000);
        assert_eq!(totals.left_minor(20_000), 0, "never below 0");
    }

    /// Inside its window the key makes two sends one execution; a send that can end after the window's end may be a second one.
    #[test]
    fn a_send_outside_its_window_may_be_one_more_until_a_complete_look_up_disproves_it() {
        let inside = unknown().sent(DAY_S - 10, Class::Indeterminate);
        assert_eq!(inside.totals(KeyProtects::All, &[]).worst_case_minor(), 38_000);

        let outside = || unknown().sent(DAY_S - 9, Class::Indeterminate);
        let totals = outside().totals(KeyProtects::All, &[]);
        assert_eq!(totals.worst_case_minor(), 76_000);
        assert_eq!(totals.held_minor(), 38_000, "what is left goes by what is held");
        let send = Stands::Send { operation: OperationId::stored("refund-1043"), attempt: 2 };
        assert_eq!(totals.extra, [Item { stands: send, minor: 38_000 }]);

        // The send's deadline, and the provider's lag of 60 s.
        let shows = DAY_S + 1 + 60;
        let worst = |history: History| history.totals(KeyProtects::All, &[]).worst_case_minor();
        assert_eq!(worst(outside().looked_up(shows - 1, Walk::Complete, Vec::new())), 76_000);
        let capped = Walk::Inconclusive(crate::evidence::Doubt::PageCap);
        assert_eq!(worst(outside().looked_up(shows, capped, Vec::new())), 76_000);
        assert_eq!(worst(outside().looked_up(shows, Walk::Complete, Vec::new())), 38_000);
    }

    #[test]
    fn where_the_key_does_not_protect_every_further_send_may_be_one_more() {
        let twice = || unknown().sent(100, Class::Indeterminate);
        assert_eq!(twice().totals(KeyProtects::Success, &[]).worst_case_minor(), 76_000);
        assert_eq!(unknown().totals(KeyProtects::None, &[]).worst_case_minor(), 38_000);
        let not_sent = unknown().sent(100, Class::NotSent).sent(200, Class::Deferred);
        assert_eq!(not_sent.totals(KeyProtects::None, &[]).worst_case_minor(), 38_000);
    }

    /// Two effects: both left.
    #[test]
    fn every_effect_that_exists_is_refunded_money_whoever_made_it() {
        let effect = |external_id: &str| EffectSeen {
            external_id: external_id.to_owned(),
            marker: Some("shop.refund-1043".to_owned()),
            targets: vec!["pi_1043".to_owned()],
            amount_minor: 38_000,
            currency: "TWD".to_owned(),
            status: EffectStatus::Live,
            provider_status: "succeeded".to_owned(),
            failure_reason: None,
            created_at: None,
        };
        let two = unknown()
            .looked_up(100, Walk::Complete, vec![effect("re_1"), effect("re_2")])
            .moved(State::Confirmed, Event::EffectLive);
        let unclaimed = |external_id: &str, status, currency: &str| Unclaimed {
            external_id: external_id.to_owned(),
            minor: 500,
            currency: currency.to_owned(),
            status,
        };
        let by_hand = [
            unclaimed("re_hand", EffectStatus::Live, "TWD"),
            unclaimed("re_wait", EffectStatus::Pending, "TWD"),
            unclaimed("re_gone", EffectStatus::Failed, "TWD"),
            unclaimed("re_euro", EffectStatus::Live, "EUR"),
        ];
        let totals = two.totals(KeyProtects::All, &by_hand);
        assert_eq!(sum_minor(&totals.refunded), 76_500);
        assert_eq!(sum_minor(&totals.in_flight), 500);
        assert_eq!(totals.worst_case_minor(), 77_000);
        assert_eq!(totals.left_minor(158_000), 81_000);
    }

    #[test]
    fn what_other_orders_hold_of_the_payment_is_not_left() {
        let policy = policy(KeyProtects::All);
        let history = unknown();
        let told = Told { operation: &history.operation, entries: &history.entries, policy: &policy };
        let holder = |id: &str, state, minor| Holder { operation: OperationId::stored(id), state, minor };
        let others = [holder("refund-9", State::Pending, 20_000), holder("refund-8", State::Failed, 0)];
        let totals = Totals::of(twd(), &[told], &others, &[]);
        assert_eq!(totals.left_minor(158_000), 100_000);
        assert_eq!(totals.elsewhere.len(), 1);
        let euro = Totals::of("EUR".parse().unwrap(), &[told], &[], &[]);
        assert_eq!(euro, Totals::default(), "never added across currencies");
    }
}
