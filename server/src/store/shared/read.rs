//! Operations and entries back from their rows.

use counterfoil_ledger::chain::Sealed;
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::intent::IntentHash;
use counterfoil_ledger::operation::{Facts, Operation};
use jiff::Timestamp;
use sqlx::Row as _;

use super::{Connection, Row, query, unreadable};
use crate::store::clock::from_us;
use crate::store::{Loaded, Step, StoreError};

/// The columns that [`loaded`] reads.
pub(super) const COLUMNS: &str = "ordinal, id, intent, intent_hash, facts, head, due_at, reason, lease_token, lease_until, look_up_asked_at, set_aside";

pub(super) async fn load(conn: &mut Connection, id: &OperationId) -> Result<Option<Loaded>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM operations WHERE id = $1");
    let row = query(sqlx::AssertSqlSafe(sql))
        .bind(id.as_str())
        .fetch_optional(conn)
        .await
        .map_err(StoreError::at("load operation"))?;
    row.map(|row| loaded(&row)).transpose()
}

pub(super) fn loaded(row: &Row) -> Result<Loaded, StoreError> {
    let step = "read operation row";
    let id: String = row.try_get("id").map_err(StoreError::at(step))?;
    let text = |column: &str| row.try_get::<String, _>(column).map_err(StoreError::at(step));
    let time = |column: &str| {
        row.try_get::<Option<i64>, _>(column).map(|us| us.map(from_us)).map_err(StoreError::at(step))
    };
    let bad = |error: serde_json::Error| unreadable("operations", &id, error);
    let lease_token: Option<String> = row.try_get("lease_token").map_err(StoreError::at(step))?;
    let lease_until = time("lease_until")?;
    let facts: Facts = serde_json::from_str(&text("facts")?).map_err(bad)?;
    // The column keeps the last time that somebody asked, so that the gap holds after the answer too.
    let answered = |asked: &Timestamp| facts.last_look_up.is_some_and(|last| last.started_at >= *asked);
    let look_up_asked_at = time("look_up_asked_at")?.filter(|asked| !answered(asked));
    Ok(Loaded {
        ordinal: row.try_get("ordinal").map_err(StoreError::at(step))?,
        operation: Operation {
            id: OperationId::stored(id.clone()),
            intent: serde_json::from_str(&text("intent")?).map_err(bad)?,
            intent_hash: IntentHash::stored(text("intent_hash")?),
            facts,
        },
        head: text("head")?,
        step: Step { due_at: time("due_at")?, reason: serde_json::from_str(&text("reason")?).map_err(bad)? },
        lease: lease_token.zip(lease_until),
        look_up_asked_at,
        set_aside: row.try_get("set_aside").map_err(StoreError::at(step))?,
    })
}

pub(super) async fn entries(conn: &mut Connection, id: &OperationId) -> Result<Vec<Sealed>, StoreError> {
    let rows =
        query("SELECT seq, type, at, actor, body, hash FROM entries WHERE operation_id = $1 ORDER BY seq")
            .bind(id.as_str())
            .fetch_all(conn)
            .await
            .map_err(StoreError::at("read entries"))?;
    rows.iter().map(|row| sealed(row).map_err(StoreError::at("read entry"))).collect()
}

fn sealed(row: &Row) -> Result<Sealed, sqlx::Error> {
    Ok(Sealed {
        seq: u64::try_from(row.try_get::<i64, _>("seq")?).unwrap_or(0),
        label: row.try_get("type")?,
        at: from_us(row.try_get("at")?),
        actor: row.try_get("actor")?,
        body: row.try_get("body")?,
        hash: row.try_get("hash")?,
    })
}
