//! One due row: re-read, decide, carry the one action out.
//!
//! It takes no input but the row's name. Whatever a crash left behind is found here like anything else that is due: recovery is
//! the ordinary path.

use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::decide::{Action, Decision, Seen, decide};
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::state::State;

use super::commit::Baggage;
use super::send::Sent;
use super::{WorkError, Works, step_of};
use crate::provider::LookUpReport;
use crate::store::{Change, LeaseRule, Loaded, StoreError, Written};

impl Works {
    /// Works on one claimed row and gives the lease back. Never fails the sweep: what goes wrong is logged once, here.
    pub(super) async fn reconcile(&self, id: &OperationId, lease: &str) {
        match Box::pin(self.reconcile_row(id, lease)).await {
            Ok(()) => {}
            Err(WorkError::Store(error @ StoreError::Unreadable { .. })) => {
                self.poison(id, &error.to_string()).await
            }
            Err(error @ (WorkError::Decide(_) | WorkError::NoAccount(_))) => {
                self.poison(id, &error.to_string()).await
            }
            // The lease runs out by itself, and the row is found again.
            Err(error) => {
                tracing::error!(operation = %id, error = %error, "a row couldn't be worked on; it stays due")
            }
        }
    }

    async fn reconcile_row(&self, id: &OperationId, lease: &str) -> Result<(), WorkError> {
        let Some(loaded) = self.store.load(id).await? else { return Ok(()) };
        // Claimed is not enough: the lease must still be ours when the row's turn comes.
        if loaded.lease.as_ref().is_none_or(|(token, _)| token != lease) {
            return Ok(());
        }
        let intent = &loaded.operation.intent;
        let circumstances = self.circumstances(intent, loaded.operation.facts.state).await?;
        let policy = &self.account(intent)?.policy;
        let decision = decide(&loaded.operation, Seen::Timer, &self.reconciler(), policy, &circumstances)?;
        let asked = loaded.look_up_asked_at.is_some() && policy.offers_look_up && can_be_looked_up(&decision);
        match decision.action {
            Action::Send | Action::Resend => {
                Box::pin(self.send_or_wait(loaded, decision, lease, Vec::new())).await
            }
            Action::LookUp => Box::pin(self.look_up_and_act(loaded, decision, lease)).await,
            Action::WaitUntil { .. } | Action::Rest if asked => {
                Box::pin(self.look_up_and_act(loaded, decision, lease)).await
            }
            Action::WaitUntil { .. } | Action::Rest if decision.findings.is_empty() => {
                Ok(self.store.reschedule(id, lease, &step_of(&decision, circumstances.now)).await?)
            }
            Action::WaitUntil { .. } | Action::Rest => {
                self.write_evidence(loaded, Seen::Timer, &self.reconciler(), lease, Baggage::default())
                    .await?;
                Ok(())
            }
        }
    }

    async fn look_up_and_act(&self, loaded: Loaded, timer: Decision, lease: &str) -> Result<(), WorkError> {
        let Some(loaded) = self.write_timer(loaded, timer, lease).await? else { return Ok(()) };
        let Some(LookUpReport { look_up, all }) = self.look_up(&loaded, lease).await? else { return Ok(()) };
        let seen = Seen::LookedUp(look_up);
        let intent = &loaded.operation.intent;
        let circumstances = self.circumstances(intent, loaded.operation.facts.state).await?;
        let policy = &self.account(intent)?.policy;
        let decision = decide(&loaded.operation, seen.clone(), &self.reconciler(), policy, &circumstances)?;
        if decision.action == Action::Resend {
            // Evidence and mark in one transaction: nothing comes in between that would have said otherwise.
            if let Sent::Ended(_) = self.send(loaded.clone(), decision, lease, all.clone()).await? {
                return Ok(());
            }
        }
        let before = loaded.operation.facts.state;
        let baggage = Baggage { effects: all, bodies: Vec::new() };
        let written = self.write_evidence(loaded, seen, &self.reconciler(), lease, baggage).await?;
        let after = &written.after.facts;
        if after.state != before {
            tracing::info!(operation = %written.after.id, from = %before, to = %after.state, "a look-up moved an operation");
        }
        Ok(())
    }

    /// Writes what the due time alone brought (a sender that is gone) before anything is asked. `None`: somebody was faster.
    async fn write_timer(
        &self,
        loaded: Loaded,
        decision: Decision,
        lease: &str,
    ) -> Result<Option<Loaded>, WorkError> {
        if decision.findings.is_empty() {
            return Ok(Some(loaded));
        }
        let now = self.store.now().await?;
        let step = step_of(&decision, now);
        let change = Change {
            after: decision.after.clone(),
            expected_seq: loaded.operation.facts.seq,
            head: loaded.head.clone(),
            entries: decision.findings,
            step: Some(step.clone()),
            lease: LeaseRule::Held(lease.to_owned()),
            effects: Vec::new(),
            bodies: Vec::new(),
            now,
        };
        Ok(match self.store.write(change).await? {
            Written::Done(head) => Some(Loaded { operation: decision.after, head, step, ..loaded }),
            Written::Conflict => None,
        })
    }

    /// Sends, or puts the row back when it isn't to be sent now.
    async fn send_or_wait(
        &self,
        loaded: Loaded,
        decision: Decision,
        lease: &str,
        seen_on_payment: Vec<counterfoil_ledger::evidence::EffectSeen>,
    ) -> Result<(), WorkError> {
        let id = loaded.operation.id.clone();
        let mut step = loaded.step.clone();
        if let Sent::NotNow | Sent::Overtaken = self.send(loaded, decision, lease, seen_on_payment).await? {
            let now = self.store.now().await?;
            step.due_at = Some(counterfoil_ledger::window::later(now, std::time::Duration::from_secs(5)));
            self.store.reschedule(&id, lease, &step).await?;
        }
        Ok(())
    }

    async fn poison(&self, id: &OperationId, why: &str) {
        tracing::error!(operation = %id, error = why, "a row is set aside; the sweep goes on without it");
        let set = async {
            self.store.set_aside(id, why).await?;
            let now = self.store.now().await?;
            self.store.raise_alarm("", AlarmKind::RowSetAside, &format!("{id}: {why}"), now).await
        };
        if let Err(error) = set.await {
            tracing::error!(operation = %id, error = %error, "the row couldn't be set aside");
        }
    }
}

fn can_be_looked_up(decision: &Decision) -> bool {
    matches!(
        decision.after.facts.state,
        State::Unknown | State::Pending | State::Escalated | State::Confirmed
    ) && decision
        .after
        .open_attempt()
        .is_none_or(|attempt| attempt.deadline() <= decision.after.facts.updated_at)
}
