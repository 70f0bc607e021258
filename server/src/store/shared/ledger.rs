//! The ledger as a whole: what it is bound to, its own chain, and rows as they stand for `verify`.

use std::collections::BTreeMap;

use counterfoil_ledger::identity::{KindName, Namespace, OperationId};
use counterfoil_ledger::intent::canonical;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::Row as _;

use super::{Connection, engine, unreadable};
use crate::store::clock::{from_us, to_us};
use crate::store::{LedgerAct, RawAct, RawRow, StoreError};

pub(in super::super) async fn newest(conn: &mut Connection) -> Result<Option<Timestamp>, StoreError> {
    let step = "find the newest time";
    let row = sqlx::query("SELECT MAX(updated_at) AS newest FROM operations")
        .fetch_one(conn)
        .await
        .map_err(StoreError::at(step))?;
    Ok(row.try_get::<Option<i64>, _>("newest").map_err(StoreError::at(step))?.map(from_us))
}

pub(in super::super) async fn bind(
    conn: &mut Connection,
    namespace: &Namespace,
    kinds: &[(KindName, Vec<String>)],
    at: Timestamp,
) -> Result<(), StoreError> {
    let fixed =
        sqlx::query("INSERT INTO meta (name, value) VALUES ('namespace', $1) ON CONFLICT (name) DO NOTHING")
            .bind(namespace.as_str())
            .execute(&mut *conn)
            .await
            .map_err(StoreError::at("fix the namespace"))?;
    if fixed.rows_affected() > 0 {
        chain_act(conn, &LedgerAct::NamespaceFixed { namespace: namespace.to_string() }, at).await?;
    }
    let stored: String = sqlx::query_scalar("SELECT value FROM meta WHERE name = 'namespace'")
        .fetch_one(&mut *conn)
        .await
        .map_err(StoreError::at("read the namespace"))?;
    if stored != namespace.as_str() {
        return Err(StoreError::OtherLedger(format!(
            "this database is the ledger of namespace {stored:?}, and the configuration says {:?}: keys and markers would change",
            namespace.as_str()
        )));
    }
    for (kind, identity) in kinds {
        let text = canonical(identity).map_err(|error| unreadable("kinds", kind.as_str(), error))?;
        let fixed = sqlx::query(
            "INSERT INTO kinds (kind, identity, fixed_at) VALUES ($1, $2, $3) ON CONFLICT (kind) DO NOTHING",
        )
        .bind(kind.as_str())
        .bind(&text)
        .bind(to_us(at))
        .execute(&mut *conn)
        .await
        .map_err(StoreError::at("fix a kind's identity"))?;
        if fixed.rows_affected() > 0 {
            let act = LedgerAct::KindFixed { kind: kind.to_string(), identity: identity.clone() };
            chain_act(conn, &act, at).await?;
        }
        let stored: String = sqlx::query_scalar("SELECT identity FROM kinds WHERE kind = $1")
            .bind(kind.as_str())
            .fetch_one(&mut *conn)
            .await
            .map_err(StoreError::at("read a kind's identity"))?;
        if stored != text {
            return Err(StoreError::OtherLedger(format!(
                "the identity of kind {kind} is {stored} in this database, and the configuration says {text}: \
                 the same thing would get another Operation ID"
            )));
        }
    }
    Ok(())
}

pub(in super::super) async fn chain_act(
    conn: &mut Connection,
    act: &LedgerAct,
    at: Timestamp,
) -> Result<(), StoreError> {
    engine::lock_chain(conn).await?;
    let last = sqlx::query("SELECT seq, hash FROM chain ORDER BY seq DESC LIMIT 1")
        .fetch_optional(&mut *conn)
        .await
        .map_err(StoreError::at("read the head of the chain"))?;
    let step = "read the head of the chain";
    let (seq, before) = match last {
        Some(row) => (
            row.try_get::<i64, _>("seq").map_err(StoreError::at(step))? + 1,
            row.try_get::<String, _>("hash").map_err(StoreError::at(step))?,
        ),
        None => (1, String::new()),
    };
    let mut value =
        serde_json::to_value(act).map_err(|error| unreadable("chain", &seq.to_string(), error))?;
    let body = value.get_mut("body").map(serde_json::Value::take).unwrap_or_default();
    let label = value.get("type").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let body = canonical(&body).map_err(|error| unreadable("chain", &seq.to_string(), error))?;
    let mut raw =
        RawAct { seq, label, at: to_us(at), actor: "\"ledger\"".to_owned(), body, hash: String::new() };
    raw.hash = raw.link(&before);
    sqlx::query("INSERT INTO chain (seq, type, at, actor, body, hash) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(raw.seq)
        .bind(&raw.label)
        .bind(raw.at)
        .bind(&raw.actor)
        .bind(&raw.body)
        .bind(&raw.hash)
        .execute(conn)
        .await
        .map_err(StoreError::at("append to the chain"))?;
    Ok(())
}

pub(in super::super) async fn chain(conn: &mut Connection) -> Result<Vec<RawAct>, StoreError> {
    let step = "read the chain";
    let rows = sqlx::query("SELECT seq, type, at, actor, body, hash FROM chain ORDER BY seq")
        .fetch_all(conn)
        .await
        .map_err(StoreError::at(step))?;
    rows.iter()
        .map(|row| {
            Ok(RawAct {
                seq: row.try_get("seq")?,
                label: row.try_get("type")?,
                at: row.try_get("at")?,
                actor: row.try_get("actor")?,
                body: row.try_get("body")?,
                hash: row.try_get("hash")?,
            })
        })
        .collect::<Result<_, sqlx::Error>>()
        .map_err(StoreError::at(step))
}

pub(in super::super) async fn ids_after(
    conn: &mut Connection,
    ordinal: i64,
    limit: u32,
) -> Result<Vec<(i64, OperationId)>, StoreError> {
    let step = "walk the operations";
    let rows = sqlx::query("SELECT ordinal, id FROM operations WHERE ordinal > $1 ORDER BY ordinal LIMIT $2")
        .bind(ordinal)
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await
        .map_err(StoreError::at(step))?;
    rows.iter()
        .map(|row| Ok((row.try_get("ordinal")?, OperationId::stored(row.try_get::<String, _>("id")?))))
        .collect::<Result<_, sqlx::Error>>()
        .map_err(StoreError::at(step))
}

pub(in super::super) async fn raw(
    conn: &mut Connection,
    id: &OperationId,
) -> Result<Option<RawRow>, StoreError> {
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
    let row = sqlx::query(
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

pub(in super::super) async fn misfits(conn: &mut Connection) -> Result<Vec<String>, StoreError> {
    let step = "look for misfits";
    let mut found = Vec::new();
    let orphans: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT e.operation_id FROM entries e LEFT JOIN operations o ON o.id = e.operation_id WHERE o.id IS NULL",
    )
    .fetch_all(&mut *conn)
    .await
    .map_err(StoreError::at(step))?;
    found.extend(orphans.into_iter().map(|id| format!("entries: those of {id} belong to no operation")));
    let rows = sqlx::query("SELECT digest, bytes FROM bodies")
        .fetch_all(conn)
        .await
        .map_err(StoreError::at(step))?;
    for row in rows {
        let digest: String = row.try_get("digest").map_err(StoreError::at(step))?;
        let bytes: Vec<u8> = row.try_get("bytes").map_err(StoreError::at(step))?;
        if hex::encode(Sha256::digest(&bytes)) != digest {
            found.push(format!("bodies: the raw answer {digest} isn't what was saved"));
        }
    }
    Ok(found)
}

impl RawAct {
    /// The link of this act after the one before: over the stored text, byte for byte.
    pub fn link(&self, before: &str) -> String {
        let label = serde_json::Value::from(self.label.as_str());
        let text = format!(
            r#"{{"actor":{},"at":{},"body":{},"seq":{},"type":{label}}}"#,
            self.actor, self.at, self.body, self.seq
        );
        hex::encode(Sha256::new().chain_update(before).chain_update(text).finalize())
    }
}
