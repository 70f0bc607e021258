//! Operations by filter, newest first, by keyset.

use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::state::{State, UnknownState};
use sqlx::Row as _;

use super::read::{COLUMNS, loaded};
use super::{Connection, engine, query, unreadable};
use crate::store::clock::to_us;
use crate::store::{Filter, Listed, StoreError};

pub(super) async fn list(
    conn: &mut Connection,
    filter: &Filter,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<Listed>, StoreError> {
    let mut query = sqlx::QueryBuilder::<engine::Engine>::new(format!(
        "SELECT {COLUMNS} FROM operations WHERE ordinal < "
    ));
    query.push_bind(before.unwrap_or(i64::MAX));
    if !filter.states.is_empty() {
        query.push(" AND (state IN (");
        let mut states = query.separated(", ");
        for state in &filter.states {
            states.push_bind(state.label());
        }
        query.push(")");
        if filter.or_incident {
            query.push(" OR incidents > 0 OR set_aside IS NOT NULL");
        }
        query.push(")");
    }
    for (column, wanted) in [
        (" AND order_id = ", &filter.order),
        (" AND external_id = ", &filter.external_id),
        (" AND kind = ", &filter.kind),
        (" AND account = ", &filter.account),
    ] {
        if let Some(wanted) = wanted {
            query.push(column).push_bind(wanted.clone());
        }
    }
    if let Some(from) = filter.from {
        query.push(" AND created_at >= ").push_bind(to_us(from));
    }
    if let Some(to) = filter.to {
        query.push(" AND created_at < ").push_bind(to_us(to));
    }
    if let Some((after, until)) = filter.window_closes {
        query.push(" AND window_closes_at > ").push_bind(to_us(after));
        query.push(" AND window_closes_at < ").push_bind(to_us(until));
    }
    if let Some(since) = filter.unchanged_since {
        query.push(" AND updated_at < ").push_bind(to_us(since));
    }
    query.push(" ORDER BY ordinal DESC LIMIT ").push_bind(i64::from(limit));
    let rows = query
        .build()
        .persistent(engine::KEEPS_STATEMENTS)
        .fetch_all(conn)
        .await
        .map_err(StoreError::at("list operations"))?;
    rows.iter()
        .map(|row| {
            let step = "list operations";
            let id: String = row.try_get("id").map_err(StoreError::at(step))?;
            Ok(Listed {
                ordinal: row.try_get("ordinal").map_err(StoreError::at(step))?,
                set_aside: row.try_get("set_aside").map_err(StoreError::at(step))?,
                loaded: match loaded(row) {
                    Ok(loaded) => Ok(Box::new(loaded)),
                    Err(error @ StoreError::Failed { .. }) => return Err(error),
                    Err(error) => Err(error.to_string()),
                },
                id: OperationId::stored(id),
            })
        })
        .collect()
}

pub(super) async fn counts(conn: &mut Connection) -> Result<Vec<(State, u64)>, StoreError> {
    let step = "count operations";
    let rows = query("SELECT state, COUNT(*) AS n FROM operations GROUP BY state")
        .fetch_all(conn)
        .await
        .map_err(StoreError::at(step))?;
    rows.iter()
        .map(|row| {
            let label: String = row.try_get("state").map_err(StoreError::at(step))?;
            let state =
                label.parse().map_err(|error: UnknownState| unreadable("operations", "state", error))?;
            let n: i64 = row.try_get("n").map_err(StoreError::at(step))?;
            Ok((state, u64::try_from(n).unwrap_or(0)))
        })
        .collect()
}
