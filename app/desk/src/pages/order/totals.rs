//! What became of the payment's money, per currency, never added across; each sum opens to its items.

use std::collections::BTreeSet;

use counterfoil_ledger::entry::Entered;
use counterfoil_ledger::money::Currency;
use counterfoil_ledger::totals::{Item, Stands, Told, Totals, Unclaimed, sum_minor};
use leptos::prelude::*;

use super::Shown;
use crate::OrderSheet;
use crate::i18n::{Arg, Message, ident};
use crate::parts::state::badge;

/// The totals of a sheet in one currency.
pub(crate) fn totals_of(sheet: &OrderSheet, currency: Currency) -> Totals {
    let histories: Vec<Vec<Entered>> = sheet
        .operations
        .iter()
        .map(|told| told.entries.iter().map(|chained| chained.entered.clone()).collect())
        .collect();
    let told: Vec<_> = sheet
        .operations
        .iter()
        .zip(&histories)
        .map(|(told, entries)| Told { operation: &told.operation, entries, policy: &told.policy })
        .collect();
    let unclaimed: Vec<_> = sheet
        .effects
        .iter()
        .filter(|seen| seen.holder.is_none())
        .map(|seen| Unclaimed {
            external_id: seen.effect.external_id.clone(),
            minor: seen.effect.amount_minor,
            currency: seen.effect.currency.clone(),
            status: seen.effect.status,
        })
        .collect();
    let others = if currency == sheet.currency { &sheet.others[..] } else { &[] };
    Totals::of(currency, &told, others, &unclaimed)
}

/// Every currency that money of this order is in; the payment's own comes first.
fn currencies(sheet: &OrderSheet) -> Vec<Currency> {
    let operations = sheet.operations.iter().map(|told| told.operation.intent.money.currency());
    let effects = sheet.effects.iter().filter_map(|seen| seen.effect.currency.parse().ok());
    let mut others: BTreeSet<Currency> = operations.chain(effects).collect();
    others.remove(&sheet.currency);
    std::iter::once(sheet.currency).chain(others).collect()
}

impl Shown<'_> {
    pub(super) fn totals(&self) -> AnyView {
        let each: Vec<_> =
            currencies(self.sheet).into_iter().map(|currency| self.totals_in(currency)).collect();
        each.into_any()
    }

    fn totals_in(&self, currency: Currency) -> AnyView {
        let ours = currency == self.sheet.currency;
        let totals = totals_of(self.sheet, currency);
        let captured = if ours { self.sheet.captured_minor } else { 0 };
        let everything = || {
            let held = [&totals.refunded, &totals.in_flight, &totals.unknown, &totals.elsewhere];
            held.into_iter().flatten().cloned().collect::<Vec<_>>()
        };
        let worst = totals.worst_case_minor();
        let over = (worst > captured).then(|| {
            let money =
                Arg::Money(self.sheet.provider.display_minor(worst.saturating_sub(captured), currency));
            self.say(&Message::MoreThanPaid { money })
        });
        let paid = ours.then(|| {
            let payment = Message::ItemCaptured { payment: Arg::ident(&self.sheet.payment) };
            let item = self.say(&payment);
            let list = view! { <ul><li>{item}</li></ul> }.into_any();
            self.sum(currency, "paid", &Message::TotalPaid, captured, list)
        });
        let of_items = |class, name: Message, items: &[Item]| {
            self.sum(currency, class, &name, sum_minor(items), self.items(currency, items))
        };
        let elsewhere =
            (!totals.elsewhere.is_empty()).then(|| of_items("", Message::TotalElsewhere, &totals.elsewhere));
        let worst_items: Vec<_> = everything().into_iter().chain(totals.extra.clone()).collect();
        let worst_list = {
            let (is, items) = (self.say(&Message::WorstIs), self.items(currency, &worst_items));
            view! { <p>{is}</p>{items} }.into_any()
        };
        let worst_class = if over.is_some() { "worst over" } else { "worst" };
        let left = ours.then(|| {
            let (is, items) = (self.say(&Message::LeftIs), self.items(currency, &everything()));
            let list = view! { <p>{is}</p>{items} }.into_any();
            self.sum(currency, "left", &Message::TotalLeft, totals.left_minor(captured), list)
        });
        let title = if currencies(self.sheet).len() > 1 {
            Message::TotalsCurrency { currency: Arg::plain(currency.code()) }
        } else {
            Message::TotalsTitle
        };
        let over = over.map(|text| view! { <p class="over" role="status"><strong>{text}</strong></p> });
        let sums = view! {
            <div class="sums">
                {paid}
                {of_items("", Message::TotalRefunded, &totals.refunded)}
                {of_items("", Message::TotalInFlight, &totals.in_flight)}
                {of_items("", Message::TotalUnknown, &totals.unknown)}
                {elsewhere}
                {self.sum(currency, worst_class, &Message::TotalWorst, worst, worst_list)}
                {left}
            </div>
            {over}
        }
        .into_any();
        self.section(&title, sums)
    }

    fn sum(
        &self,
        currency: Currency,
        class: &'static str,
        name: &Message,
        minor: i64,
        opens_to: AnyView,
    ) -> AnyView {
        let name = self.say(name);
        let money = self.voice.show(&Arg::Money(self.sheet.provider.display_minor(minor, currency)));
        let class = format!("sum {class}");
        view! {
            <details class=class>
                <summary><span>{name}</span><strong>{money}</strong></summary>
                {opens_to}
            </details>
        }
        .into_any()
    }

    fn items(&self, currency: Currency, items: &[Item]) -> AnyView {
        if items.is_empty() {
            let nothing = self.say(&Message::NothingInIt);
            return view! { <p class="empty">{nothing}</p> }.into_any();
        }
        let items: Vec<_> = items
            .iter()
            .map(|item| {
                let money =
                    self.voice.show(&Arg::Money(self.sheet.provider.display_minor(item.minor, currency)));
                let stands = self.stands(&item.stands);
                view! { <li>{stands}" "{money}</li> }
            })
            .collect();
        view! { <ul>{items}</ul> }.into_any()
    }

    fn stands(&self, stands: &Stands) -> AnyView {
        match stands {
            Stands::Operation { operation, state } | Stands::Elsewhere { operation, state } => {
                let link = self.voice.show(&self.operation_link(operation.as_str()));
                let badge = badge(self.voice, *state, false);
                view! { {link}" "{badge} }.into_any()
            }
            Stands::Send { operation, attempt } => self.say(&Message::ItemSend {
                operation: self.operation_link(operation.as_str()),
                number: Arg::count(*attempt),
            }),
            Stands::Unclaimed { external_id } => {
                let url = self.sheet.provider.effect_url(external_id);
                match url {
                    Some(url) => {
                        let id = ident(external_id);
                        let nobody = self.say(&Message::HolderNobody);
                        view! { <a class="console" href=url rel="noopener noreferrer">{id}</a>" "{nobody} }
                            .into_any()
                    }
                    None => self.say(&Message::ItemUnclaimed { id: Arg::ident(external_id) }),
                }
            }
        }
    }
}
