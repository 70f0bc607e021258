//! Rows as they stand, unread, for `verify`.

use std::collections::BTreeMap;

use counterfoil_ledger::identity::OperationId;
use sha2::{Digest, Sha256};
use sqlx::Row as _;

use super::{Connection, query};
use crate::store::{RawRow, StoreError};

pub(super) async fn raw(conn: &mut Connection, id: &OperationId) -> Result<Option<RawRow>, StoreError> {
    const TEXTS: [&str; 9] =
        ["base_id", "kind", "order_id", "account", "target", "currency", "marker", "state", "external_id"];
    const NUMBERS: [&str; 10] = [
        "revision",
        "amount",
        "version",
        "seq",
        "holds",
        "incidents",
        "state_since",
        "window_closes_at",
        "created_at",
        "updated_at",
    ];
    let step = "read the row as it stands";
    let row = query(
        "SELECT base_id, kind, revision, order_id, account, target, amount, currency, marker, intent, intent_hash, facts, state,
             version, seq, head, holds, external_id, incidents, state_since, window_closes_at, created_at, updated_at
         FROM operations WHERE id = $1",
    )
    .bind(id.as_str())
    .fetch_optional(&mut *conn)
    .await
    .map_err(StoreError::at(step))?;
    let Some(row) = row else { return Ok(None) };
    let mut columns = BTreeMap::new();
    for name in TEXTS {
        columns.insert(name, row.try_get::<Option<String>, _>(name).map_err(StoreError::at(step))?);
    }
    for name in NUMBERS {
        let value = row.try_get::<Option<i64>, _>(name).map_err(StoreError::at(step))?;
        columns.insert(name, value.map(|value| value.to_string()));
    }
    let text = |column: &str| row.try_get::<String, _>(column).map_err(StoreError::at(step));
    Ok(Some(RawRow {
        intent: text("intent")?,
        intent_hash: text("intent_hash")?,
        facts: text("facts")?,
        head: text("head")?,
        columns,
        entries: match super::entries(conn, id).await {
            Ok(entries) => Ok(entries),
            Err(
                error @ (StoreError::Failed { .. } | StoreError::CommitUnknown { .. } | StoreError::Closing),
            ) => {
                return Err(error);
            }
            Err(error) => Err(error.to_string()),
        },
    }))
}

/// Raw answers that are read at a time.
const PAGE: i64 = 200;

pub(super) async fn misfits(conn: &mut Connection) -> Result<Vec<String>, StoreError> {
    let step = "look for misfits";
    let mut found = Vec::new();
    let orphans = query(
        "SELECT DISTINCT e.operation_id FROM entries e LEFT JOIN operations o ON o.id = e.operation_id WHERE o.id IS NULL",
    )
    .fetch_all(&mut *conn)
    .await
    .map_err(StoreError::at(step))?;
    for row in orphans {
        let id: String = row.try_get("operation_id").map_err(StoreError::at(step))?;
        found.push(format!("entries: those of {id} belong to no operation"));
    }
    let mut after = String::new();
    loop {
        let rows = query("SELECT digest, bytes FROM bodies WHERE digest > $1 ORDER BY digest LIMIT $2")
            .bind(&after)
            .bind(PAGE)
            .fetch_all(&mut *conn)
            .await
            .map_err(StoreError::at(step))?;
        if rows.is_empty() {
            return Ok(found);
        }
        for row in rows {
            let digest: String = row.try_get("digest").map_err(StoreError::at(step))?;
            let bytes: Vec<u8> = row.try_get("bytes").map_err(StoreError::at(step))?;
            if hex::encode(Sha256::digest(&bytes)) != digest {
                found.push(format!("bodies: the raw answer {digest} isn't what was saved"));
            }
            after = digest;
        }
    }
}
