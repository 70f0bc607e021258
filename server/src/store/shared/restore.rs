//! The restore from a backup that is in force: begun and ended by acts in the ledger-wide chain, and kept nowhere else.

use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::identity::AccountName;
use counterfoil_ledger::intent::canonical;
use jiff::Timestamp;
use sqlx::Row as _;

use super::daemon::{clear_alarm, raise_alarm};
use super::{Connection, chain_act, engine, newest, query, unreadable};
use crate::store::clock::to_us;
use crate::store::{LedgerAct, StoreError};

pub(super) async fn restored_at(conn: &mut Connection) -> Result<Option<Timestamp>, StoreError> {
    let step = "read whether a restore is in force";
    let last = query(
        "SELECT type, body FROM chain WHERE type IN ('restore_began', 'restore_ended') ORDER BY seq DESC LIMIT 1",
    )
    .fetch_optional(conn)
    .await
    .map_err(StoreError::at(step))?;
    let Some(row) = last else { return Ok(None) };
    let label: String = row.try_get("type").map_err(StoreError::at(step))?;
    let body: String = row.try_get("body").map_err(StoreError::at(step))?;
    let body: serde_json::Value =
        serde_json::from_str(&body).map_err(|error| unreadable("chain", &label, error))?;
    let tagged = serde_json::json!({ "type": label, "body": body });
    match serde_json::from_value(tagged).map_err(|error| unreadable("chain", &label, error))? {
        LedgerAct::RestoreBegan { restored_at } => Ok(Some(restored_at)),
        _ => Ok(None),
    }
}

pub(super) async fn begin_restore(
    conn: &mut Connection,
    doubts: &[(AccountName, Reason)],
    now: Timestamp,
) -> Result<Timestamp, StoreError> {
    engine::lock_chain(conn).await?;
    let before = restored_at(conn).await?;
    // By a clock that is behind, the restore would lie before what the backup knows.
    let at = now.max(newest(conn).await?.unwrap_or(now)).max(before.unwrap_or(now));
    chain_act(conn, &LedgerAct::RestoreBegan { restored_at: at }, now).await?;
    clear_alarm(conn, "", AlarmKind::Restored, now).await?;
    raise_alarm(conn, "", AlarmKind::Restored, "nothing is sent for the first time without proof", at)
        .await?;
    let due = "UPDATE operations SET due_at = $1, look_up_asked_at = $1
         WHERE set_aside IS NULL AND state IN ('submitted', 'unknown', 'pending', 'escalated')";
    let wake = StoreError::at("make everything unsettled due");
    query(due).bind(to_us(now)).execute(&mut *conn).await.map_err(wake)?;
    for (account, reason) in doubts {
        let reason = canonical(reason).map_err(|error| unreadable("operations", account.as_str(), error))?;
        query(
            "UPDATE operations SET due_at = $1, reason = $2
             WHERE account = $3 AND set_aside IS NULL AND state IN ('authorized', 'awaiting_approval')",
        )
        .bind(to_us(now))
        .bind(&reason)
        .bind(account.as_str())
        .execute(&mut *conn)
        .await
        .map_err(StoreError::at("put in doubt what wasn't sent"))?;
    }
    Ok(at)
}

pub(super) async fn end_restore(
    conn: &mut Connection,
    person: &str,
    note: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    // Under the lock, so that of two people one ends it.
    engine::lock_chain(conn).await?;
    let Some(restored_at) = restored_at(conn).await? else { return Ok(None) };
    let act = LedgerAct::RestoreEnded { restored_at, person: person.to_owned(), note: note.to_owned() };
    chain_act(conn, &act, now).await?;
    clear_alarm(conn, "", AlarmKind::Restored, now).await?;
    query(
        "UPDATE operations SET due_at = $1
         WHERE due_at > $1 AND set_aside IS NULL AND state IN ('authorized', 'awaiting_approval', 'cancelled')",
    )
    .bind(to_us(now))
    .execute(conn)
    .await
    .map_err(StoreError::at("wake what waited for the restore's end"))?;
    Ok(Some(restored_at))
}
