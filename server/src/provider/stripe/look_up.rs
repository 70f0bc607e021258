//! How refunds are found again: every page of the payment's refunds, then each that concerns us by its own id.
//!
//! Stripe offers no filter by metadata and no search for refunds, so the marker is compared here, byte for byte. A list may show a
//! status that is out of date; an effect is reported only as it was read directly.

use std::collections::BTreeSet;
use std::time::Instant;

use counterfoil_ledger::evidence::{Doubt, EffectSeen, LookUp, Relation, Unavailable, Walk, relate};
use counterfoil_ledger::intent::Intent;
use jiff::Timestamp;

use super::{Stripe, request, wire};
use crate::provider::LookUpReport;
use crate::provider::transport::{Question, ReadOutcome};

/// Pages that are read at most: ten thousand refunds on one payment.
pub(super) const PAGES_MAX: u32 = 100;
/// Effects that are read again at most. More of them is a matter for people in any case.
pub(super) const READ_AGAIN_MAX: usize = 50;

/// A walk under way.
struct Walker<'a> {
    stripe: &'a Stripe,
    intent: &'a Intent,
    deadline: Instant,
    pages: u32,
    retries: u32,
    http_status: Option<u16>,
    provider_request_id: Option<String>,
    rows: Vec<EffectSeen>,
}

pub(super) async fn look_up(
    stripe: &Stripe,
    intent: &Intent,
    known: &[String],
    started_at: Timestamp,
) -> LookUpReport {
    let begun = Instant::now();
    let mut walker = Walker {
        stripe,
        intent,
        deadline: begun + stripe.look_up_timeout,
        pages: 0,
        retries: 0,
        http_status: None,
        provider_request_id: None,
        rows: Vec::new(),
    };
    let mut walk = walker.pages().await;
    let mut effects = Vec::new();
    // What couldn't be reached for the first page isn't asked about anything else now.
    if walker.pages > 0 {
        let concerns = walker.concerns(known);
        if concerns.len() > READ_AGAIN_MAX && walk == Walk::Complete {
            walk = Walk::Inconclusive(Doubt::PageCap);
        }
        for id in concerns.iter().take(READ_AGAIN_MAX) {
            match walker.one(id).await {
                Ok(effect) => effects.push(effect),
                // Whatever the list said of it, it wasn't read: this walk proves nothing about absence.
                Err(why) => {
                    walk = Walk::Unavailable(why);
                    break;
                }
            }
        }
    }
    let fresh: BTreeSet<&str> = effects.iter().map(|effect| effect.external_id.as_str()).collect();
    let mut all: Vec<EffectSeen> =
        walker.rows.iter().filter(|row| !fresh.contains(row.external_id.as_str())).cloned().collect();
    let others = all.iter().filter(|row| relate(intent, row) == Relation::Foreign).count();
    all.extend(effects.iter().cloned());
    let look_up = LookUp {
        started_at,
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        walk,
        pages: walker.pages,
        retries: walker.retries,
        http_status: walker.http_status,
        provider_request_id: walker.provider_request_id,
        effects,
        others: u32::try_from(others).unwrap_or(u32::MAX),
    };
    LookUpReport { look_up, all }
}

impl Walker<'_> {
    /// Reads every page.
    async fn pages(&mut self) -> Walk {
        let mut seen = BTreeSet::new();
        let mut after: Option<String> = None;
        loop {
            if self.pages == PAGES_MAX {
                return Walk::Inconclusive(Doubt::PageCap);
            }
            let question = request::page(self.stripe, &self.intent.target, after.as_deref());
            let page = match self.read(question, wire::page).await {
                Ok(page) => page,
                Err(why) => return Walk::Unavailable(why),
            };
            self.pages += 1;
            // More is promised than the provider shows: its cap, not ours.
            if page.has_more && page.rows.is_empty() {
                return Walk::Inconclusive(Doubt::PageCap);
            }
            let mut loops = false;
            for row in page.rows {
                after = Some(row.external_id.clone());
                if !seen.insert(row.external_id.clone()) {
                    loops = true;
                } else if self.concerns_target(&row) {
                    self.rows.push(row);
                }
            }
            if loops {
                return Walk::Inconclusive(Doubt::CursorLoop);
            }
            if !page.has_more {
                return Walk::Complete;
            }
        }
    }

    /// A provider that ignores the filter shows others' effects too; one that bears our marker concerns us wherever it is.
    fn concerns_target(&self, row: &EffectSeen) -> bool {
        row.targets.contains(&self.intent.target)
            || row.marker.as_deref() == Some(self.intent.marker.as_str())
    }

    /// What must be read by its own id: all that bears our marker, nobody's of our amount, and what we knew before.
    fn concerns(&self, known: &[String]) -> Vec<String> {
        let mut ids: Vec<String> = self
            .rows
            .iter()
            .filter(|row| relate(self.intent, row) != Relation::Foreign)
            .map(|row| row.external_id.clone())
            .collect();
        for id in known {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        ids
    }

    async fn one(&mut self, id: &str) -> Result<EffectSeen, Unavailable> {
        let question = request::one(self.stripe, id);
        self.read(question, |body| wire::refund(body).filter(|effect| effect.external_id == id)).await
    }

    async fn read<T>(
        &mut self,
        question: Option<Question>,
        understand: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<T, Unavailable> {
        let Some(question) = question else { return Err(Unavailable::NotConnected) };
        let ReadOutcome { result, retries, http_status, provider_request_id } =
            self.stripe.transport.read(&question, self.deadline, understand).await;
        self.retries += retries;
        self.http_status = http_status;
        self.provider_request_id = provider_request_id;
        result
    }
}
