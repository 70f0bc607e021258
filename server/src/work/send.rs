//! One send: mark, commit, send, classify, commit.
//!
//! Nothing leaves before the mark is durable and known to be ours. The deadline runs on the monotonic clock from before the
//! mark's time was taken, so that a process that slept in between sends nothing behind anybody's back.

use std::time::Instant;

use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::attempt::Why;
use counterfoil_ledger::decide::{Decision, Draft, Reason, Seen, mark_before};
use counterfoil_ledger::entry::Entry;
use counterfoil_ledger::evidence::EffectSeen;
use counterfoil_ledger::identity::AccountName;
use counterfoil_ledger::state::Event;
use counterfoil_ledger::window::later;
use jiff::Timestamp;
use uuid::Uuid;

use super::commit::Baggage;
use super::{Account, WorkError, Works};
use crate::store::{Change, LeaseRule, Loaded, Step, StoreError, Written};

/// What became of a send.
#[derive(Debug)]
pub enum Sent {
    /// It was marked, sent, and its end stands.
    Ended(Box<Decision>),
    /// Nothing left: the account is paused, or we are going down.
    NotNow,
    /// Nothing left: somebody else wrote first, or has the lease.
    Overtaken,
}

impl Works {
    /// Carries out `Send` or `Resend`, as just decided on `loaded`, under `lease`.
    ///
    /// # Errors
    /// [`WorkError`]: if the mark's commit failed nothing was sent; if the end's did, the row is found without it and looked up.
    pub(super) async fn send(
        &self,
        loaded: Loaded,
        decision: Decision,
        lease: &str,
        seen_on_payment: Vec<EffectSeen>,
    ) -> Result<Sent, WorkError> {
        let account = self.account(&loaded.operation.intent)?;
        if self.stopping.is_cancelled() || !self.may_write(account, &loaded).await? {
            return Ok(Sent::NotNow);
        }
        account.provider.pace().await;
        // Before the database's time is taken: our deadline is never later than the one others reckon with.
        let deadline = Instant::now() + account.policy.send_timeout;
        let client_request_id = Uuid::new_v4().to_string();
        let Some(marked) =
            self.mark(account, &loaded, decision, lease, &client_request_id, seen_on_payment).await?
        else {
            return Ok(Sent::Overtaken);
        };
        let number = marked.operation.facts.attempts.last().map_or(1, |attempt| attempt.number);
        let report = account.provider.send(&marked.operation.intent, &client_request_id, deadline).await;
        tracing::info!(
            operation = %marked.operation.id, attempt = number, class = ?report.end.class, why = ?report.end.why,
            http_status = report.end.http_status, duration_ms = report.end.duration_ms, "an attempt ended"
        );
        let why = report.end.why;
        let turned_away = why == Why::Unauthorized;
        let answered = report.end.http_status.is_some();
        let baggage = Baggage {
            effects: report.end.effect.clone().into_iter().collect(),
            bodies: report.end.body_digest.clone().zip(report.body).into_iter().collect(),
        };
        if turned_away {
            self.pause_writes(account, &marked).await?;
        }
        let seen = Seen::AttemptEnded { number, end: report.end };
        let ended = self.write_evidence(marked.clone(), seen, &self.sender(), lease, baggage).await?;
        if answered && !turned_away {
            self.writes_work(&marked).await?;
        }
        self.due.notify_one();
        Ok(Sent::Ended(Box::new(ended)))
    }

    /// Commits the mark. `None`: it isn't ours to send.
    async fn mark(
        &self,
        account: &Account,
        loaded: &Loaded,
        decision: Decision,
        lease: &str,
        client_request_id: &str,
        seen_on_payment: Vec<EffectSeen>,
    ) -> Result<Option<Loaded>, WorkError> {
        let now = self.store.now().await?;
        if now >= mark_before(&decision.after, &account.policy) {
            return Ok(None);
        }
        let mut draft = Draft::of(&decision.after, &self.sender(), now);
        let number =
            u32::try_from(draft.operation.facts.attempts.len()).unwrap_or(u32::MAX).saturating_add(1);
        let send_timeout_ms = u64::try_from(account.policy.send_timeout.as_millis()).unwrap_or(u64::MAX);
        draft.write(Entry::AttemptStarted {
            number,
            client_request_id: client_request_id.to_owned(),
            send_timeout_ms,
            key_window_s: account.policy.key_window.as_secs(),
        })?;
        draft.raise(Event::Marked)?;
        let mut entries = decision.findings;
        entries.append(&mut draft.entries);
        // If this process dies now, the row is due again when nothing can leave any more.
        let step =
            Step { due_at: Some(later(now, account.policy.send_timeout)), reason: Reason::SenderAtWork };
        let change = Change {
            after: draft.operation.clone(),
            expected_seq: loaded.operation.facts.seq,
            head: loaded.head.clone(),
            entries,
            step: Some(step.clone()),
            lease: LeaseRule::Held(lease.to_owned()),
            effects: seen_on_payment,
            bodies: Vec::new(),
            now,
        };
        match self.store.write(change).await {
            Ok(Written::Done(head)) => {
                Ok(Some(Loaded { operation: draft.operation, head, step, ..loaded.clone() }))
            }
            Ok(Written::Conflict) => Ok(None),
            // Only a mark that is read back, and is this very one, was made.
            Err(StoreError::CommitUnknown { .. }) => {
                let read = self.store.load(&loaded.operation.id).await?;
                Ok(read.filter(|read| {
                    read.operation
                        .open_attempt()
                        .is_some_and(|attempt| attempt.client_request_id == client_request_id)
                }))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// While the account's writes are paused, one canary send may go when it is due.
    async fn may_write(&self, account: &Account, loaded: &Loaded) -> Result<bool, WorkError> {
        let name = &loaded.operation.intent.account;
        let Some(pause) = self.store.paused(name).await? else { return Ok(true) };
        let now = self.store.now().await?;
        if pause.secret_digest != account.secret_digest {
            self.resume_writes(name, now).await?;
            return Ok(true);
        }
        Ok(self.store.take_canary(name, now).await?)
    }

    async fn pause_writes(&self, account: &Account, loaded: &Loaded) -> Result<(), WorkError> {
        let name = &loaded.operation.intent.account;
        let now = self.store.now().await?;
        self.store.pause(name, &account.secret_digest, now).await?;
        let detail = format!(
            "{} answered 401 to a send; nothing is sent until the secret works",
            account.speaker().provider
        );
        if self.store.raise_alarm(name.as_str(), AlarmKind::WritesUnauthorized, &detail, now).await? {
            tracing::error!(account = %name, "the account's writes are paused: the provider answered 401");
        }
        Ok(())
    }

    async fn writes_work(&self, loaded: &Loaded) -> Result<(), WorkError> {
        let name = &loaded.operation.intent.account;
        if self.store.paused(name).await?.is_some() {
            let now = self.store.now().await?;
            self.resume_writes(name, now).await?;
        }
        Ok(())
    }

    /// Ends a pause: the secret changed, or the canary got through.
    async fn resume_writes(&self, name: &AccountName, now: Timestamp) -> Result<(), WorkError> {
        self.store.resume(name, now).await?;
        self.store.clear_alarm(name.as_str(), AlarmKind::WritesUnauthorized, now).await?;
        tracing::info!(account = %name, "the account's writes go on");
        Ok(())
    }
}
