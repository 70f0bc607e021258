//! Facts and identifiers.

use std::time::Duration;

use counterfoil_ledger::intent::EffectKind;
use counterfoil_ledger::window::KeyProtects;
use leptos::prelude::*;

use super::Shown;
use crate::AccountMode;
use crate::i18n::{Arg, Message, ident};

impl Shown<'_> {
    pub(super) fn facts(&self) -> AnyView {
        let operation = &self.sheet.operation;
        let facts = &operation.facts;
        let subject = &facts.subject;
        let provider = &self.sheet.provider;
        let show = |arg: Arg| self.voice.show(&arg);
        let EffectKind::Refund = operation.intent.effect;
        let order = subject.order.as_str();
        let mut pairs = vec![
            (Message::FactKind, self.say(&Message::Refund)),
            (Message::FactAmount, show(Arg::Money(provider.display(operation.intent.money)))),
            (
                Message::FactOrder,
                show(Arg::Link { text: order.to_owned(), href: self.viewer.order_href(order) }),
            ),
            (Message::FactIdentity, self.identity()),
            (Message::FactRevision, show(Arg::count(subject.revision.number()))),
            (
                Message::FactTarget,
                self.at_provider(&operation.intent.target, provider.target_url(&operation.intent.target)),
            ),
        ];
        pairs.extend(subject.customer.as_deref().map(|customer| (Message::FactCustomer, ident(customer))));
        if let Some(asked) = &facts.asked {
            let requester = self.say(&Message::FactRequesterIs {
                token: Arg::ident(&asked.token),
                owner: Arg::ident(self.sheet.owner_name.as_deref().unwrap_or(&asked.owner)),
            });
            pairs.push((Message::FactRequester, requester));
            let by = asked.requested_by.as_deref();
            pairs.extend(by.map(|by| (Message::FactRequestedBy, ident(by))));
            pairs.extend(asked.reason.as_deref().map(|reason| (Message::FactReason, ident(reason))));
        }
        pairs.extend(subject.params.as_ref().map(|params| (Message::FactParams, ident(&params.to_string()))));
        pairs.extend([
            (Message::FactAccount, self.account()),
            (Message::FactRecorded, show(Arg::Time(facts.created_at))),
        ]);
        pairs.extend(facts.unknown_since.map(|at| (Message::FactUnknownSince, show(Arg::Time(at)))));
        self.section("facts", &Message::FactsTitle, self.pairs(pairs))
    }

    pub(super) fn limits(&self) -> AnyView {
        let policy = &self.sheet.policy;
        let span = |span: Duration| self.voice.show(&Arg::Span(span));
        let send_within = Duration::from_secs(self.sheet.operation.facts.subject.send_within_s);
        let pairs = vec![
            (Message::FactSendWithin, span(send_within)),
            (Message::FactSendTimeout, span(policy.send_timeout)),
            (
                Message::FactMaxResends,
                self.say(&Message::FactTimes { count: Arg::count(policy.max_resends) }),
            ),
            (
                Message::FactAbsence,
                self.say(&Message::FactAbsenceIs {
                    count: Arg::count(policy.absence_count),
                    lag: Arg::Span(policy.absence_lag),
                    gap: Arg::Span(policy.absence_gap),
                }),
            ),
            (Message::FactEscalateAfter, span(policy.escalate_after)),
        ];
        self.section("limits", &Message::LimitsTitle, self.pairs(pairs))
    }

    fn identity(&self) -> AnyView {
        let fields = self.sheet.operation.facts.subject.identity.iter();
        let values = fields.map(|(name, value)| Arg::Ident(format!("{name}={value}"))).collect();
        self.voice.show(&Arg::Many(values))
    }

    fn account(&self) -> AnyView {
        let provider = &self.sheet.provider;
        let mode = match provider.mode {
            AccountMode::Live => Message::ModeLive,
            AccountMode::Test => Message::ModeTest,
        };
        self.say(&Message::FactAccountIs {
            account: Arg::ident(provider.account.as_str()),
            provider: Arg::plain(&provider.name),
            mode: Arg::words(mode),
            base: Arg::ident(&provider.base_url),
        })
    }

    pub(super) fn ids(&self) -> AnyView {
        let operation = &self.sheet.operation;
        let mut pairs = vec![
            (Message::IdOperation, ident(operation.id.as_str())),
            (Message::IdKey, ident(operation.intent.key.as_str())),
            (Message::IdMarker, ident(operation.intent.marker.as_str())),
            (Message::IdIntentHash, ident(operation.intent_hash.as_str())),
        ];
        let first = operation.first_sent_at();
        pairs.extend(first.map(|at| (Message::IdFirstSent, self.voice.time(at))));
        pairs.push((Message::IdWindow, self.window()));
        pairs.extend(operation.facts.conclusion.hits.iter().map(|hit| {
            let url = self.sheet.provider.effect_url(&hit.external_id);
            (Message::IdExternal, self.at_provider(&hit.external_id, url))
        }));
        self.section("ids", &Message::IdsTitle, self.pairs(pairs))
    }

    fn window(&self) -> AnyView {
        let says = match self.sheet.operation.facts.window.map(|window| window.closes_at()) {
            _ if self.sheet.policy.key_protects == KeyProtects::None => Message::IdWindowNoKeys,
            None => Message::IdWindowNone,
            Some(at) if at > self.viewer.now => Message::IdWindowUntil { at: Arg::Time(at) },
            Some(at) => Message::IdWindowClosed { at: Arg::Time(at) },
        };
        self.say(&says)
    }
}
