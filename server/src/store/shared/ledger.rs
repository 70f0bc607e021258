//! The ledger as a whole: which version it is, what it is bound to, and its own chain.

use counterfoil_ledger::identity::{KindName, Namespace, OperationId};
use counterfoil_ledger::intent::canonical;
use jiff::Timestamp;
use sqlx::Row as _;
use sqlx::migrate::Migrator;

use super::{Connection, engine, query, unreadable};
use crate::store::clock::{from_us, to_us};
use crate::store::{LedgerAct, RawAct, StoreError};

pub(super) async fn newest(conn: &mut Connection) -> Result<Option<Timestamp>, StoreError> {
    let step = "find the newest time";
    let row = query("SELECT MAX(updated_at) AS newest FROM operations")
        .fetch_one(conn)
        .await
        .map_err(StoreError::at(step))?;
    Ok(row.try_get::<Option<i64>, _>("newest").map_err(StoreError::at(step))?.map(from_us))
}

/// Refuses a database that isn't exactly as migrated as this program expects.
pub(in super::super) async fn migrated(conn: &mut Connection, ours: &Migrator) -> Result<(), StoreError> {
    let step = "read which migrations were applied";
    let other = |what: String| Err(StoreError::OtherLedger(what));
    let rows = match query("SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version")
        .fetch_all(conn)
        .await
    {
        Ok(rows) => rows,
        Err(sqlx::Error::Database(_)) => {
            return other("this database was never migrated: run `counterfoil migrate`".to_owned());
        }
        Err(error) => return Err(StoreError::at(step)(error)),
    };
    let mut ours = ours.iter();
    for row in rows {
        let version: i64 = row.try_get("version").map_err(StoreError::at(step))?;
        let checksum: Vec<u8> = row.try_get("checksum").map_err(StoreError::at(step))?;
        if ours.next().is_none_or(|ours| ours.version != version || *ours.checksum != *checksum) {
            return other(format!(
                "migration {version} of this database is another version's than this program's"
            ));
        }
    }
    match ours.next() {
        None => Ok(()),
        Some(missing) => {
            other(format!("this database lacks migration {}: run `counterfoil migrate`", missing.version))
        }
    }
}

pub(super) async fn bind(
    conn: &mut Connection,
    namespace: &Namespace,
    kinds: &[(KindName, Vec<String>)],
    at: Timestamp,
) -> Result<(), StoreError> {
    let fixed =
        query("INSERT INTO meta (name, value) VALUES ('namespace', $1) ON CONFLICT (name) DO NOTHING")
            .bind(namespace.as_str())
            .execute(&mut *conn)
            .await
            .map_err(StoreError::at("fix the namespace"))?;
    if fixed.rows_affected() > 0 {
        chain_act(conn, &LedgerAct::NamespaceFixed { namespace: namespace.to_string() }, at).await?;
    }
    let stored: String = query("SELECT value FROM meta WHERE name = 'namespace'")
        .fetch_one(&mut *conn)
        .await
        .and_then(|row| row.try_get("value"))
        .map_err(StoreError::at("read the namespace"))?;
    if stored != namespace.as_str() {
        return Err(StoreError::OtherLedger(format!(
            "this database is the ledger of namespace {stored:?}, and the configuration says {:?}: keys and markers would change",
            namespace.as_str()
        )));
    }
    for (kind, identity) in kinds {
        let text = canonical(identity).map_err(|error| unreadable("kinds", kind.as_str(), error))?;
        let fixed = query(
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
        let stored: String = query("SELECT identity FROM kinds WHERE kind = $1")
            .bind(kind.as_str())
            .fetch_one(&mut *conn)
            .await
            .and_then(|row| row.try_get("identity"))
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

pub(super) async fn chain_act(
    conn: &mut Connection,
    act: &LedgerAct,
    at: Timestamp,
) -> Result<(), StoreError> {
    engine::lock_chain(conn).await?;
    let (seq, before) = chain_head(conn).await?.map_or((1, String::new()), |(seq, hash)| (seq + 1, hash));
    let mut value =
        serde_json::to_value(act).map_err(|error| unreadable("chain", &seq.to_string(), error))?;
    let body = value.get_mut("body").map(serde_json::Value::take).unwrap_or_default();
    let label = value.get("type").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let body = canonical(&body).map_err(|error| unreadable("chain", &seq.to_string(), error))?;
    let mut raw =
        RawAct { seq, label, at: to_us(at), actor: "\"ledger\"".to_owned(), body, hash: String::new() };
    raw.hash = raw.link(&before);
    query("INSERT INTO chain (seq, type, at, actor, body, hash) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(raw.seq)
        .bind(&raw.label)
        .bind(raw.at)
        .bind(&raw.actor)
        .bind(&raw.body)
        .bind(&raw.hash)
        .execute(&mut *conn)
        .await
        .map_err(StoreError::at("append to the chain"))?;
    query(
        "INSERT INTO chain_head (one, seq, head) VALUES (1, $1, $2)
         ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, head = excluded.head",
    )
    .bind(raw.seq)
    .bind(&raw.hash)
    .execute(conn)
    .await
    .map_err(StoreError::at("move the head of the chain"))?;
    Ok(())
}

pub(super) async fn chain_head(conn: &mut Connection) -> Result<Option<(i64, String)>, StoreError> {
    let step = "read the head of the chain";
    let row = query("SELECT seq, head FROM chain_head WHERE one = 1")
        .fetch_optional(conn)
        .await
        .map_err(StoreError::at(step))?;
    row.map(|row| Ok((row.try_get("seq")?, row.try_get("head")?))).transpose().map_err(StoreError::at(step))
}

pub(super) async fn chain(conn: &mut Connection) -> Result<Vec<RawAct>, StoreError> {
    let step = "read the chain";
    let rows = query("SELECT seq, type, at, actor, body, hash FROM chain ORDER BY seq")
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

pub(super) async fn ids_after(
    conn: &mut Connection,
    ordinal: i64,
    limit: u32,
) -> Result<Vec<(i64, OperationId)>, StoreError> {
    let step = "walk the operations";
    let rows = query("SELECT ordinal, id FROM operations WHERE ordinal > $1 ORDER BY ordinal LIMIT $2")
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
