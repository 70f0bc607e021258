//! What the daemon keeps for itself: due rows, pauses, alarms, runs. The claim itself is the engine's.

use std::time::Duration;

use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::identity::{AccountName, OperationId};
use jiff::Timestamp;
use sqlx::Row as _;

use super::{Connection, query, unreadable};
use crate::store::clock::{from_us, to_us};
use crate::store::{Alarm, Pause, Run, StoreError};

pub(super) async fn next_due(conn: &mut Connection, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
    let step = "find the next due row";
    let row = query(
        "SELECT MIN(CASE WHEN lease_until IS NULL OR lease_until <= $1 OR lease_until < due_at THEN due_at ELSE lease_until END)
             AS due FROM operations WHERE due_at IS NOT NULL AND set_aside IS NULL",
    )
    .bind(to_us(now))
    .fetch_one(conn)
    .await
    .map_err(StoreError::at(step))?;
    Ok(row.try_get::<Option<i64>, _>("due").map_err(StoreError::at(step))?.map(from_us))
}

pub(super) async fn ask_look_up(
    conn: &mut Connection,
    id: &OperationId,
    now: Timestamp,
    gap: Duration,
) -> Result<bool, StoreError> {
    let updated = query(
        "UPDATE operations SET look_up_asked_at = $1, due_at = $1
         WHERE id = $2 AND set_aside IS NULL AND (look_up_asked_at IS NULL OR look_up_asked_at <= $3 OR look_up_asked_at > $1)
           AND state IN ('unknown', 'pending', 'escalated', 'confirmed')",
    )
    .bind(to_us(now))
    .bind(id.as_str())
    .bind(to_us(counterfoil_ledger::window::earlier(now, gap)))
    .execute(conn)
    .await
    .map_err(StoreError::at("ask for a look-up"))?;
    Ok(updated.rows_affected() > 0)
}

pub(super) async fn wake_account(
    conn: &mut Connection,
    account: &AccountName,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let updated = query(
        "UPDATE operations SET look_up_asked_at = $1, due_at = $1
         WHERE account = $2 AND due_at > $1 AND set_aside IS NULL AND state IN ('unknown', 'pending', 'escalated', 'authorized')",
    )
    .bind(to_us(now))
    .bind(account.as_str())
    .execute(conn)
    .await
    .map_err(StoreError::at("wake the account's rows"))?;
    Ok(updated.rows_affected())
}

pub(super) async fn pause(
    conn: &mut Connection,
    account: &AccountName,
    secret_digest: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    const FIRST_CANARY: Duration = Duration::from_secs(60);
    query(
        "INSERT INTO pauses (account, paused_at, canary_at, canary_gap_s, secret_digest) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (account) DO NOTHING",
    )
    .bind(account.as_str())
    .bind(to_us(now))
    .bind(to_us(counterfoil_ledger::window::later(now, FIRST_CANARY)))
    .bind(i64::try_from(FIRST_CANARY.as_secs()).unwrap_or(60))
    .bind(secret_digest)
    .execute(conn)
    .await
    .map_err(StoreError::at("pause account"))?;
    Ok(())
}

/// Ends a pause and makes what waited for it due.
pub(super) async fn resume(
    conn: &mut Connection,
    account: &AccountName,
    now: Timestamp,
) -> Result<(), StoreError> {
    let ended = query("DELETE FROM pauses WHERE account = $1")
        .bind(account.as_str())
        .execute(&mut *conn)
        .await
        .map_err(StoreError::at("resume account"))?;
    if ended.rows_affected() > 0 {
        query(
            "UPDATE operations SET due_at = $1
             WHERE account = $2 AND due_at > $1 AND set_aside IS NULL AND state = 'authorized'",
        )
        .bind(to_us(now))
        .bind(account.as_str())
        .execute(conn)
        .await
        .map_err(StoreError::at("wake what waited for the account"))?;
    }
    Ok(())
}

pub(super) async fn paused(
    conn: &mut Connection,
    account: &AccountName,
) -> Result<Option<Pause>, StoreError> {
    let step = "read pause";
    let row = query("SELECT paused_at, canary_at, secret_digest FROM pauses WHERE account = $1")
        .bind(account.as_str())
        .fetch_optional(conn)
        .await
        .map_err(StoreError::at(step))?;
    row.map(|row| {
        Ok(Pause {
            paused_at: from_us(row.try_get("paused_at").map_err(StoreError::at(step))?),
            canary_at: from_us(row.try_get("canary_at").map_err(StoreError::at(step))?),
            secret_digest: row.try_get("secret_digest").map_err(StoreError::at(step))?,
        })
    })
    .transpose()
}

pub(super) async fn take_canary(
    conn: &mut Connection,
    account: &AccountName,
    now: Timestamp,
) -> Result<bool, StoreError> {
    const LONGEST_GAP_S: i64 = 3600;
    let taken = query(
        "UPDATE pauses SET canary_at = $1 + 1000000 * CASE WHEN 2 * canary_gap_s > $3 THEN $3 ELSE 2 * canary_gap_s END,
             canary_gap_s = CASE WHEN 2 * canary_gap_s > $3 THEN $3 ELSE 2 * canary_gap_s END
         WHERE account = $2 AND canary_at <= $1",
    )
    .bind(to_us(now))
    .bind(account.as_str())
    .bind(LONGEST_GAP_S)
    .execute(conn)
    .await
    .map_err(StoreError::at("take the canary"))?;
    Ok(taken.rows_affected() > 0)
}

fn kind_label(kind: AlarmKind) -> Result<String, StoreError> {
    serde_json::to_value(kind)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .ok_or_else(|| unreadable("alarms", "kind", "it has no label"))
}

pub(super) async fn raise_alarm(
    conn: &mut Connection,
    account: &str,
    kind: AlarmKind,
    detail: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let raised = query(
        "INSERT INTO alarms (id, account, kind, detail, raised_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
    )
    .bind(uuid::Uuid::new_v4().to_string())
    .bind(account)
    .bind(kind_label(kind)?)
    .bind(detail)
    .bind(to_us(now))
    .execute(conn)
    .await
    .map_err(StoreError::at("raise alarm"))?;
    Ok(raised.rows_affected() > 0)
}

pub(super) async fn clear_alarm(
    conn: &mut Connection,
    account: &str,
    kind: AlarmKind,
    now: Timestamp,
) -> Result<(), StoreError> {
    query("UPDATE alarms SET cleared_at = $1 WHERE account = $2 AND kind = $3 AND cleared_at IS NULL")
        .bind(to_us(now))
        .bind(account)
        .bind(kind_label(kind)?)
        .execute(conn)
        .await
        .map_err(StoreError::at("clear alarm"))?;
    Ok(())
}

pub(super) async fn alarms(conn: &mut Connection) -> Result<Vec<Alarm>, StoreError> {
    let step = "read alarms";
    let rows = query(
        "SELECT account, kind, detail, raised_at FROM alarms WHERE cleared_at IS NULL ORDER BY raised_at, id LIMIT 100",
    )
    .fetch_all(conn)
    .await
    .map_err(StoreError::at(step))?;
    rows.iter()
        .map(|row| {
            let label: String = row.try_get("kind").map_err(StoreError::at(step))?;
            Ok(Alarm {
                account: row.try_get("account").map_err(StoreError::at(step))?,
                kind: serde_json::from_value(label.clone().into())
                    .map_err(|error| unreadable("alarms", &label, error))?,
                detail: row.try_get("detail").map_err(StoreError::at(step))?,
                raised_at: from_us(row.try_get("raised_at").map_err(StoreError::at(step))?),
            })
        })
        .collect()
}

pub(super) async fn note_run(conn: &mut Connection, run: &Run) -> Result<(), StoreError> {
    query(
        "INSERT INTO runs (job, started_at, finished_at, found) VALUES ($1, $2, $3, $4)
         ON CONFLICT (job) DO UPDATE SET started_at = excluded.started_at, finished_at = excluded.finished_at,
             found = excluded.found",
    )
    .bind(&run.job)
    .bind(to_us(run.started_at))
    .bind(run.finished_at.map(to_us))
    .bind(i64::try_from(run.found).unwrap_or(i64::MAX))
    .execute(conn)
    .await
    .map_err(StoreError::at("note run"))?;
    Ok(())
}

pub(super) async fn runs(conn: &mut Connection) -> Result<Vec<Run>, StoreError> {
    let step = "read runs";
    let rows = query("SELECT job, started_at, finished_at, found FROM runs ORDER BY job")
        .fetch_all(conn)
        .await
        .map_err(StoreError::at(step))?;
    rows.iter()
        .map(|row| {
            Ok(Run {
                job: row.try_get("job").map_err(StoreError::at(step))?,
                started_at: from_us(row.try_get("started_at").map_err(StoreError::at(step))?),
                finished_at: row
                    .try_get::<Option<i64>, _>("finished_at")
                    .map_err(StoreError::at(step))?
                    .map(from_us),
                found: u64::try_from(row.try_get::<i64, _>("found").map_err(StoreError::at(step))?)
                    .unwrap_or(0),
            })
        })
        .collect()
}
