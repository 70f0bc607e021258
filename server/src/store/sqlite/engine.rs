//! What is SQLite's own: types, locks and the claim. One writer makes every lock superfluous.

use counterfoil_ledger::identity::{AccountName, OperationId};
use sqlx::Row as _;

use crate::store::clock::to_us;
use crate::store::{Claim, StoreError};

pub(super) type Engine = sqlx::Sqlite;
pub(super) type Connection = sqlx::SqliteConnection;
pub(super) type Row = sqlx::sqlite::SqliteRow;

/// A connection is one session, so it may keep its statements.
pub(super) const KEEPS_STATEMENTS: bool = true;

pub(super) static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../migrations/sqlite");

/// Nothing to do: the writer is alone.
pub(super) async fn lock_order(_: &mut Connection, _: &str) -> Result<(), StoreError> {
    Ok(())
}

/// Nothing to do: the writer is alone.
pub(super) async fn lock_payment(_: &mut Connection, _: &str, _: &str) -> Result<(), StoreError> {
    Ok(())
}

/// Nothing to do: the writer is alone.
pub(super) async fn lock_chain(_: &mut Connection) -> Result<(), StoreError> {
    Ok(())
}

pub(super) async fn claim_due(
    conn: &mut Connection,
    account: &AccountName,
    claim: &Claim,
    limit: u32,
) -> Result<Vec<OperationId>, StoreError> {
    let step = "claim due rows";
    let rows = sqlx::query(
        "UPDATE operations SET lease_token = $1, lease_until = $2
         WHERE ordinal IN (SELECT ordinal FROM operations
             WHERE account = $3 AND due_at <= $4 AND set_aside IS NULL AND (lease_until IS NULL OR lease_until <= $4)
             ORDER BY due_at LIMIT $5)
         RETURNING id, due_at",
    )
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
