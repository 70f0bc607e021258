//! One look-up: ask the provider what exists, and take it in.

use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::decide::{Reason, escalates_at};
use counterfoil_ledger::evidence::{LookUp, Unavailable, Walk};
use counterfoil_ledger::state::State;
use counterfoil_ledger::window::later;
use jiff::Timestamp;

use super::account::Turned;
use super::{Account, WorkError, Works};
use crate::provider::LookUpReport;
use crate::store::{Loaded, Step};

impl Works {
    /// Looks an operation up. `None`: the account is down, and the row waits for the probe.
    pub(super) async fn look_up(
        &self,
        loaded: &Loaded,
        lease: &str,
    ) -> Result<Option<LookUpReport>, WorkError> {
        let intent = &loaded.operation.intent;
        let account = self.account(intent)?;
        let now = self.store.now().await?;
        if let Some(wait) = account.look_up_in() {
            let person_at = escalates_at(&loaded.operation, &account.policy);
            if loaded.operation.facts.state == State::Unknown && person_at <= now {
                return Ok(Some(LookUpReport { look_up: account_down(now), all: Vec::new() }));
            }
            let mut at = later(now, wait);
            if loaded.operation.facts.state == State::Unknown {
                at = at.min(person_at);
            }
            let why = Unavailable::AccountDown;
            let reason = match loaded.step.reason {
                Reason::RestoreInDoubt { walks, needed, .. } => {
                    Reason::RestoreInDoubt { walks, needed, unavailable: Some(why) }
                }
                _ => Reason::LookUpFailed { why },
            };
            self.store.reschedule(&loaded.operation.id, lease, &Step { due_at: Some(at), reason }).await?;
            return Ok(None);
        }
        // Unclaimed ones too: one that has failed since doesn't stand in the way any more.
        let conclusion = &loaded.operation.facts.conclusion;
        let hits = conclusion.hits.iter().map(|hit| &hit.external_id);
        let known: Vec<String> = hits.chain(&conclusion.unclaimed_equal).cloned().collect();
        let started_at = self.store.now().await?;
        let report = account.provider.look_up(intent, &known, started_at).await;
        let look_up = &report.look_up;
        tracing::info!(
            operation = %loaded.operation.id, walk = ?look_up.walk, pages = look_up.pages, found = look_up.effects.len(),
            others = look_up.others, duration_ms = look_up.duration_ms, "looked an operation up"
        );
        self.note_reads(account, loaded, look_up).await?;
        Ok(Some(report))
    }

    /// Alarms, breaker, and the sweep when a provider is back.
    async fn note_reads(
        &self,
        account: &Account,
        loaded: &Loaded,
        look_up: &LookUp,
    ) -> Result<(), WorkError> {
        let name = &loaded.operation.intent.account;
        let now = self.store.now().await?;
        let read = !matches!(look_up.walk, Walk::Unavailable(_));
        if let Walk::Unavailable(Unavailable::Unauthorized | Unavailable::Forbidden) = look_up.walk {
            let status = look_up.http_status.unwrap_or(401);
            let detail = format!(
                "{} answered {status} to a look-up; nothing can be found out",
                account.speaker().provider
            );
            if self.store.raise_alarm(name.as_str(), AlarmKind::ReadsUnauthorized, &detail, now).await? {
                tracing::error!(account = %name, http_status = status, "the account's look-ups are turned away");
            }
        } else if read {
            self.store.clear_alarm(name.as_str(), AlarmKind::ReadsUnauthorized, now).await?;
        }
        match account.looked_up(read) {
            Turned::Down => {
                let detail = format!("{} can't be looked up; rows wait for it", account.speaker().provider);
                self.store.raise_alarm(name.as_str(), AlarmKind::AccountDown, &detail, now).await?;
                tracing::warn!(account = %name, "look-ups fail one after the other; only a probe goes from now on");
            }
            Turned::Up => {
                self.store.clear_alarm(name.as_str(), AlarmKind::AccountDown, now).await?;
                let woken = self.store.wake_account(name, now).await?;
                tracing::info!(account = %name, rows = woken, "the provider is back; everything unsettled is looked up");
                self.due.notify_one();
            }
            Turned::Nothing => {}
        }
        Ok(())
    }
}

fn account_down(now: Timestamp) -> LookUp {
    LookUp {
        started_at: now,
        duration_ms: 0,
        walk: Walk::Unavailable(Unavailable::AccountDown),
        pages: 0,
        retries: 0,
        http_status: None,
        provider_request_id: None,
        effects: Vec::new(),
        others: 0,
    }
}
