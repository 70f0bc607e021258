//! Entries and the head that follows from them, in one transaction, if nobody was faster.

use counterfoil_ledger::chain::{Link, Sealed, seal};
use counterfoil_ledger::entry::Entered;
use counterfoil_ledger::evidence::{EffectSeen, EffectStatus};
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::intent::canonical;
use counterfoil_ledger::operation::Operation;
use jiff::Timestamp;

use super::{Connection, query, unreadable};
use crate::store::clock::to_us;
use crate::store::{Change, LeaseRule, Step, StoreError, Written};

/// What the head's columns say, derived from the operation.
pub(super) struct Head {
    pub facts: String,
    pub state: &'static str,
    pub version: i64,
    pub seq: i64,
    pub holds: i64,
    pub external_id: Option<String>,
    pub incidents: i64,
    pub state_since: i64,
    pub window_closes_at: Option<i64>,
    pub updated_at: i64,
}

impl Head {
    pub(super) fn of(operation: &Operation) -> Result<Self, StoreError> {
        let facts = &operation.facts;
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        Ok(Self {
            facts: canonical(facts)
                .map_err(|error| unreadable("operations", operation.id.as_str(), error))?,
            state: facts.state.label(),
            version: number(facts.version),
            seq: number(facts.seq),
            holds: operation.holds_minor(),
            external_id: facts.conclusion.external_id().map(str::to_owned),
            incidents: number(facts.incidents.len() as u64),
            state_since: to_us(facts.state_since),
            window_closes_at: facts.window.map(|window| to_us(window.closes_at())),
            updated_at: to_us(facts.updated_at),
        })
    }
}

pub(super) async fn write(conn: &mut Connection, change: &Change) -> Result<Written, StoreError> {
    let id = &change.after.id;
    let (sealed, link) = seal_all(id, &change.head, &change.entries)?;
    let head = Head::of(&change.after)?;
    let (needs_token, gives_back) = match &change.lease {
        LeaseRule::NotNeeded => (None, None),
        LeaseRule::Held(token) => (Some(token.as_str()), None),
        LeaseRule::GivenBack(token) => (None, Some(token.as_str())),
    };
    let updated = query(
        "UPDATE operations SET facts = $1, state = $2, version = $3, seq = $4, head = $5, holds = $6, external_id = $7,
             incidents = $8, state_since = $9, window_closes_at = $10, updated_at = $11,
             due_at = CASE WHEN CAST($13 AS TEXT) IS NULL THEN due_at ELSE $12 END, reason = COALESCE($13, reason),
             lease_until = CASE WHEN lease_token = $14 THEN NULL ELSE lease_until END,
             lease_token = CASE WHEN lease_token = $14 THEN NULL ELSE lease_token END
         WHERE id = $15 AND seq = $16 AND head = $17
           AND (CAST($18 AS TEXT) IS NULL OR (lease_token = $18 AND lease_until > $19))",
    )
    .bind(&head.facts)
    .bind(head.state)
    .bind(head.version)
    .bind(head.seq)
    .bind(&link)
    .bind(head.holds)
    .bind(&head.external_id)
    .bind(head.incidents)
    .bind(head.state_since)
    .bind(head.window_closes_at)
    .bind(head.updated_at)
    .bind(change.step.as_ref().and_then(|step| step.due_at).map(to_us))
    .bind(change.step.as_ref().map(|step| reason_text(step, id)).transpose()?)
    .bind(gives_back)
    .bind(id.as_str())
    .bind(i64::try_from(change.expected_seq).unwrap_or(i64::MAX))
    .bind(&change.head)
    .bind(needs_token)
    .bind(to_us(change.now))
    .execute(&mut *conn)
    .await
    .map_err(StoreError::at("write operation head"))?;
    if updated.rows_affected() == 0 {
        return Ok(Written::Conflict);
    }
    insert_entries(conn, id, &sealed).await?;
    for (digest, bytes) in &change.bodies {
        save_body(conn, digest, bytes, change.now).await?;
    }
    // In one order everywhere, so that two who saw the same effects don't wait for each other.
    let mut effects: Vec<&EffectSeen> = change.effects.iter().collect();
    effects.sort_by(|one, other| one.external_id.cmp(&other.external_id));
    for effect in effects {
        save_effect(conn, &change.after, effect, change.now).await?;
    }
    Ok(Written::Done(link))
}

pub(super) fn reason_text(step: &Step, id: &OperationId) -> Result<String, StoreError> {
    canonical(&step.reason).map_err(|error| unreadable("operations", id.as_str(), error))
}

pub(super) fn seal_all(
    id: &OperationId,
    head: &str,
    entries: &[Entered],
) -> Result<(Vec<Sealed>, Link), StoreError> {
    let mut link = head.to_owned();
    let mut sealed = Vec::with_capacity(entries.len());
    for entered in entries {
        let row = seal(id, &link, entered).map_err(|error| unreadable("entries", id.as_str(), error))?;
        link.clone_from(&row.hash);
        sealed.push(row);
    }
    Ok((sealed, link))
}

pub(super) async fn insert_entries(
    conn: &mut Connection,
    id: &OperationId,
    sealed: &[Sealed],
) -> Result<(), StoreError> {
    for row in sealed {
        query("INSERT INTO entries (operation_id, seq, type, at, actor, body, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)")
            .bind(id.as_str())
            .bind(i64::try_from(row.seq).unwrap_or(i64::MAX))
            .bind(&row.label)
            .bind(to_us(row.at))
            .bind(&row.actor)
            .bind(&row.body)
            .bind(&row.hash)
            .execute(&mut *conn)
            .await
            .map_err(StoreError::at("append entry"))?;
    }
    Ok(())
}

async fn save_body(
    conn: &mut Connection,
    digest: &str,
    bytes: &[u8],
    now: Timestamp,
) -> Result<(), StoreError> {
    query("INSERT INTO bodies (digest, bytes, saved_at) VALUES ($1, $2, $3) ON CONFLICT (digest) DO NOTHING")
        .bind(digest)
        .bind(bytes)
        .bind(to_us(now))
        .execute(conn)
        .await
        .map_err(StoreError::at("save raw answer"))?;
    Ok(())
}

/// An effect belongs to the operation whose marker it bears.
async fn save_effect(
    conn: &mut Connection,
    operation: &Operation,
    effect: &EffectSeen,
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO effects (account, external_id, target, operation_id, marker, amount, currency, status, created_at,
             provider_status, first_seen_at, last_seen_at)
         VALUES ($1, $2, $3, (SELECT id FROM operations WHERE marker = $4 AND account = $1), $4, $5, $6, $7, $8, $10, $9, $9)
         ON CONFLICT (account, external_id) DO UPDATE SET operation_id = excluded.operation_id, marker = excluded.marker,
             amount = excluded.amount, status = excluded.status, provider_status = excluded.provider_status,
             last_seen_at = excluded.last_seen_at",
    )
    .bind(operation.intent.account.as_str())
    .bind(&effect.external_id)
    .bind(&operation.intent.target)
    .bind(&effect.marker)
    .bind(effect.amount_minor)
    .bind(&effect.currency)
    .bind(status_label(effect.status))
    .bind(effect.created_at.map(to_us))
    .bind(to_us(now))
    .bind(&effect.provider_status)
    .execute(conn)
    .await
    .map_err(StoreError::at("note effect"))?;
    Ok(())
}

pub(super) fn status_label(status: EffectStatus) -> &'static str {
    match status {
        EffectStatus::Pending => "pending",
        EffectStatus::Live => "live",
        EffectStatus::Failed => "failed",
    }
}

pub(super) async fn reschedule(
    conn: &mut Connection,
    id: &OperationId,
    lease: &str,
    step: &Step,
) -> Result<(), StoreError> {
    query(
        "UPDATE operations SET due_at = $1, reason = $2, lease_token = NULL, lease_until = NULL
         WHERE id = $3 AND lease_token = $4",
    )
    .bind(step.due_at.map(to_us))
    .bind(reason_text(step, id)?)
    .bind(id.as_str())
    .bind(lease)
    .execute(conn)
    .await
    .map_err(StoreError::at("reschedule operation"))?;
    Ok(())
}

pub(super) async fn set_aside(conn: &mut Connection, id: &OperationId, why: &str) -> Result<(), StoreError> {
    query("UPDATE operations SET set_aside = $1, lease_token = NULL, lease_until = NULL WHERE id = $2")
        .bind(why)
        .bind(id.as_str())
        .execute(conn)
        .await
        .map_err(StoreError::at("set operation aside"))?;
    Ok(())
}
