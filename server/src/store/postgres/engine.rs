//! What is PostgreSQL's own: types, locks and the claim.
//!
//! Every lock ends with its transaction: a lock of the session would outlive its owner behind a pooler. Where there may be no
//! row yet (a new order), or where nobody has the right to lock one (the chain is append-only), it is an advisory lock.

use counterfoil_ledger::identity::{AccountName, OperationId};
use sqlx::Row as _;
use sqlx::migrate::Migrator;

use crate::store::clock::to_us;
use crate::store::{Claim, StoreError};

pub(super) type Engine = sqlx::Postgres;
pub(super) type Connection = sqlx::PgConnection;
pub(super) type Row = sqlx::postgres::PgRow;

/// Behind a pooler the next transaction may run in another session, which doesn't know our statements by name.
pub(super) const KEEPS_STATEMENTS: bool = false;

/// The migrations. They are locked by us: sqlx would take a lock of the session.
pub(super) fn migrations() -> Migrator {
    let mut migrations = sqlx::migrate!("../migrations/postgres");
    migrations.set_locking(false);
    migrations
}

/// One at a time writes about an order, or takes in a snapshot of it.
pub(super) async fn lock_order(conn: &mut Connection, order: &str) -> Result<(), StoreError> {
    advisory_lock(conn, &format!("counterfoil order {order}")).await.map_err(StoreError::at("lock the order"))
}

/// One at a time reserves money of a payment.
pub(super) async fn lock_payment(
    conn: &mut Connection,
    account: &str,
    payment: &str,
) -> Result<(), StoreError> {
    sqlx::query("SELECT captured FROM payments WHERE account = $1 AND payment = $2 FOR UPDATE")
        .persistent(KEEPS_STATEMENTS)
        .bind(account)
        .bind(payment)
        .fetch_optional(conn)
        .await
        .map_err(StoreError::at("lock the payment"))?;
    Ok(())
}

/// One at a time appends to the ledger's chain.
pub(super) async fn lock_chain(conn: &mut Connection) -> Result<(), StoreError> {
    advisory_lock(conn, "counterfoil chain").await.map_err(StoreError::at("lock the chain"))
}

/// One at a time migrates.
pub(super) async fn lock_schema(conn: &mut Connection) -> Result<(), StoreError> {
    advisory_lock(conn, "counterfoil schema").await.map_err(StoreError::at("lock the schema"))
}

async fn advisory_lock(conn: &mut Connection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .persistent(KEEPS_STATEMENTS)
        .bind(name)
        .execute(conn)
        .await?;
    Ok(())
}

pub(super) async fn claim_due(
    conn: &mut Connection,
    account: &AccountName,
    claim: &Claim,
    limit: u32,
) -> Result<Vec<OperationId>, StoreError> {
    let step = "claim due rows";
    // NO KEY: a row isn't passed over because an entry or an effect that refers to it is just being written.
    let rows = sqlx::query(
        "WITH due AS (SELECT ordinal FROM operations
             WHERE account = $3 AND due_at <= $4 AND set_aside IS NULL AND (lease_until IS NULL OR lease_until <= $4)
             ORDER BY due_at LIMIT $5 FOR NO KEY UPDATE SKIP LOCKED)
         UPDATE operations SET lease_token = $1, lease_until = $2 FROM due WHERE operations.ordinal = due.ordinal
         RETURNING operations.id, operations.due_at",
    )
    .persistent(KEEPS_STATEMENTS)
    .bind(&claim.token)
    .bind(to_us(claim.until))
    .bind(account.as_str())
    .bind(to_us(claim.now))
    .bind(i64::from(limit))
    .fetch_all(conn)
    .await
    .map_err(StoreError::at(step))?;
    let mut due = rows
        .iter()
        .map(|row| Ok((row.try_get::<i64, _>("due_at")?, row.try_get::<String, _>("id")?)))
        .collect::<Result<Vec<_>, sqlx::Error>>()
        .map_err(StoreError::at(step))?;
    due.sort();
    Ok(due.into_iter().map(|(_, id)| OperationId::stored(id)).collect())
}
