//! Writing what was decided, against everybody else who writes.

use std::time::{Duration, Instant};

use counterfoil_ledger::decide::{Decision, Seen, decide};
use counterfoil_ledger::entry::Actor;
use counterfoil_ledger::evidence::EffectSeen;

use super::{WorkError, Works, step_of};
use crate::store::{Change, LeaseRule, Loaded, StoreError, Written};

/// How long evidence is held in memory while the database is away. After that the row is found without it, and looked up.
const HOLD_EVIDENCE: Duration = Duration::from_secs(45);
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What came with a piece of evidence.
#[derive(Debug, Clone, Default)]
pub(super) struct Baggage {
    pub effects: Vec<EffectSeen>,
    pub bodies: Vec<(String, Vec<u8>)>,
}

impl Works {
    /// Writes evidence, whoever holds the lease: reloads and decides again until it stands. `lease` is given back if it is still
    /// ours.
    pub(super) async fn write_evidence(
        &self,
        mut loaded: Loaded,
        seen: Seen,
        actor: &Actor,
        lease: &str,
        baggage: Baggage,
    ) -> Result<Decision, WorkError> {
        let give_up_at = Instant::now() + HOLD_EVIDENCE;
        let mut pause = FIRST_PAUSE;
        let id = loaded.operation.id.clone();
        loop {
            let result = self.try_evidence(&loaded, seen.clone(), actor, lease, &baggage).await;
            match result {
                Ok(Some(decision)) => return Ok(decision),
                Ok(None) => {}
                Err(WorkError::Store(StoreError::CommitUnknown { .. } | StoreError::Failed { .. }))
                    if Instant::now() < give_up_at => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
            match self.store.load(&id).await {
                Ok(Some(fresh)) => {
                    if let Some(decision) = self.stands_already(&fresh, &seen) {
                        return Ok(decision);
                    }
                    loaded = fresh;
                }
                Ok(None) | Err(StoreError::Failed { .. }) if Instant::now() < give_up_at => {}
                Ok(None) => return Err(gone(&id)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn try_evidence(
        &self,
        loaded: &Loaded,
        seen: Seen,
        actor: &Actor,
        lease: &str,
        baggage: &Baggage,
    ) -> Result<Option<Decision>, WorkError> {
        let intent = &loaded.operation.intent;
        let circumstances = self.circumstances(intent, loaded.operation.facts.state).await?;
        let policy = &self.account(intent)?.policy;
        let decision = decide(&loaded.operation, seen, actor, policy, &circumstances)?;
        let change = Change {
            after: decision.after.clone(),
            expected_seq: loaded.operation.facts.seq,
            head: loaded.head.clone(),
            entries: decision.findings.clone(),
            step: Some(step_of(&decision, circumstances.now)),
            lease: LeaseRule::GivenBack(lease.to_owned()),
            effects: baggage.effects.clone(),
            bodies: baggage.bodies.clone(),
            now: circumstances.now,
        };
        match self.store.write(change).await? {
            Written::Done(_) => Ok(Some(decision)),
            Written::Conflict => Ok(None),
        }
    }

    /// After a lost COMMIT answer: whether this very evidence is there already.
    fn stands_already(&self, fresh: &Loaded, seen: &Seen) -> Option<Decision> {
        let facts = &fresh.operation.facts;
        let stands = match seen {
            Seen::AttemptEnded { number, .. } => {
                facts.attempts.iter().any(|attempt| attempt.number == *number && attempt.end.is_some())
            }
            Seen::LookedUp(look_up) => facts
                .last_look_up
                .is_some_and(|last| last.started_at == look_up.started_at && last.walk == look_up.walk),
            Seen::Timer | Seen::Told(_) => false,
        };
        stands.then(|| Decision {
            after: fresh.operation.clone(),
            findings: Vec::new(),
            action: counterfoil_ledger::decide::Action::Rest,
            reason: fresh.step.reason,
        })
    }
}

pub(super) fn gone(id: &counterfoil_ledger::identity::OperationId) -> WorkError {
    WorkError::Store(StoreError::Unreadable {
        table: "operations",
        row: id.to_string(),
        why: "it was here and is gone".to_owned(),
    })
}
