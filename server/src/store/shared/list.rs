//! Operations by filter, by keyset, and counts of what is open.

use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::state::State;
use sqlx::{QueryBuilder, Row as _};

use super::read::{COLUMNS, loaded};
use super::{Connection, Query, Row, engine, query};
use crate::store::clock::{from_us, to_us};
use crate::store::{Cursor, Filter, Limits, Listed, Plain, StoreError, Tally, View};

/// States in which something may still happen by itself or by a person.
const OPEN: &str =
    "state IN ('awaiting_approval', 'authorized', 'submitted', 'unknown', 'pending', 'escalated')";
/// What needs a person whatever the time.
const WITH_PERSON: &str =
    "(state IN ('escalated', 'awaiting_approval') OR incidents > 0 OR set_aside IS NOT NULL)";

type Builder = QueryBuilder<engine::Engine>;
/// Writes a condition.
type Push = fn(&mut Builder, Limits);

fn statement(query: &mut Builder) -> Query<'_> {
    query.build().persistent(engine::KEEPS_STATEMENTS)
}

fn push_window(query: &mut Builder, limits: Limits) {
    query
        .push("(state IN ('submitted', 'unknown', 'escalated') AND window_closes_at > ")
        .push_bind(to_us(limits.now));
    query.push(" AND window_closes_at < ").push_bind(to_us(limits.window_until)).push(")");
}

fn push_pending(query: &mut Builder, limits: Limits) {
    query.push("(state = 'pending' AND state_since < ").push_bind(to_us(limits.pending_since)).push(")");
}

fn push_attention(query: &mut Builder, limits: Limits) {
    query.push("(").push(WITH_PERSON).push(" OR ");
    push_window(query, limits);
    query.push(" OR ");
    push_pending(query, limits);
    query.push(")");
}

/// The sort key: by urgency a window that is open sorts by its end, everything else behind it; newest first needs none.
fn push_key(query: &mut Builder, filter: &Filter) {
    match filter.urgent_as_of {
        Some(now) => {
            query.push("CASE WHEN window_closes_at > ").push_bind(to_us(now));
            query
                .push(" AND ")
                .push(OPEN)
                .push(" THEN window_closes_at ELSE ")
                .push_bind(i64::MAX)
                .push(" END");
        }
        None => {
            query.push("CAST(0 AS BIGINT)");
        }
    }
}

pub(super) async fn list(
    conn: &mut Connection,
    filter: &Filter,
    after: Option<Cursor>,
    limit: u32,
) -> Result<Vec<Listed>, StoreError> {
    let mut query = Builder::new(format!(
        "SELECT {COLUMNS}, kind, order_id, account, state, amount, currency, updated_at, "
    ));
    push_key(&mut query, filter);
    query.push(" AS sort_key FROM operations WHERE ");
    match (filter.urgent_as_of, after) {
        (_, None) => {
            query.push("ordinal > 0");
        }
        (None, Some(after)) => {
            query.push("ordinal < ").push_bind(after.ordinal);
        }
        (Some(_), Some(after)) => {
            query.push("(");
            push_key(&mut query, filter);
            query.push(" > ").push_bind(after.key).push(" OR (");
            push_key(&mut query, filter);
            query
                .push(" = ")
                .push_bind(after.key)
                .push(" AND ordinal > ")
                .push_bind(after.ordinal)
                .push("))");
        }
    }
    match filter.view {
        View::All => {}
        View::Attention(limits) => {
            query.push(" AND ");
            push_attention(&mut query, limits);
        }
        View::WindowClosing(limits) => {
            query.push(" AND ");
            push_window(&mut query, limits);
        }
        View::PendingTooLong(limits) => {
            query.push(" AND ");
            push_pending(&mut query, limits);
        }
    }
    if !filter.states.is_empty() {
        query.push(" AND state IN (");
        let mut states = query.separated(", ");
        for state in &filter.states {
            states.push_bind(state.label());
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
    if let Some(before) = filter.before {
        query.push(" AND created_at < ").push_bind(to_us(before));
    }
    let order =
        if filter.urgent_as_of.is_some() { " ORDER BY sort_key, ordinal" } else { " ORDER BY ordinal DESC" };
    query.push(order).push(" LIMIT ").push_bind(i64::from(limit));
    let rows = statement(&mut query).fetch_all(conn).await.map_err(StoreError::at("list operations"))?;
    rows.iter()
        .map(|row| {
            let step = "list operations";
            let id: String = row.try_get("id").map_err(StoreError::at(step))?;
            Ok(Listed {
                place: Cursor {
                    key: row.try_get("sort_key").map_err(StoreError::at(step))?,
                    ordinal: row.try_get("ordinal").map_err(StoreError::at(step))?,
                },
                set_aside: row.try_get("set_aside").map_err(StoreError::at(step))?,
                plain: plain(row).map_err(StoreError::at(step))?,
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

fn plain(row: &Row) -> Result<Plain, sqlx::Error> {
    Ok(Plain {
        kind: row.try_get("kind")?,
        order: row.try_get("order_id")?,
        account: row.try_get("account")?,
        state: row.try_get("state")?,
        amount_minor: row.try_get("amount")?,
        currency: row.try_get("currency")?,
        updated_at: from_us(row.try_get("updated_at")?),
    })
}

pub(super) async fn tally(conn: &mut Connection, limits: Limits) -> Result<Tally, StoreError> {
    let step = "count what is open";
    let mut query = Builder::new("SELECT state, COUNT(*) AS n, ");
    let sums: [(Push, &str); 3] =
        [(push_attention, "attention"), (push_window, "window_closing"), (push_pending, "pending_too_long")];
    for (push, name) in sums {
        query.push("CAST(SUM(CASE WHEN ");
        push(&mut query, limits);
        query.push(" THEN 1 ELSE 0 END) AS BIGINT) AS ").push(name);
        query.push(if name == "pending_too_long" { " FROM operations WHERE " } else { ", " });
    }
    query.push(OPEN).push(" OR incidents > 0 OR set_aside IS NOT NULL GROUP BY state");
    let rows = statement(&mut query).fetch_all(&mut *conn).await.map_err(StoreError::at(step))?;
    let mut tally = Tally::default();
    for row in &rows {
        let label: String = row.try_get("state").map_err(StoreError::at(step))?;
        let number = |column: &str| {
            row.try_get::<i64, _>(column).map(|n| u64::try_from(n).unwrap_or(0)).map_err(StoreError::at(step))
        };
        // A row of another version needs attention, and must not hide all others.
        if let Some(state) = label.parse::<State>().ok().filter(|state| !state.is_final()) {
            tally.open.insert(state, number("n")?);
        }
        tally.attention += number("attention")?;
        tally.window_closing += number("window_closing")?;
        tally.pending_too_long += number("pending_too_long")?;
    }
    // Only when nothing is open is it worth asking whether there is anything at all.
    tally.ledger_is_empty = rows.is_empty()
        && self::query("SELECT 1 AS one FROM operations LIMIT 1")
            .fetch_optional(conn)
            .await
            .map_err(StoreError::at(step))?
            .is_none();
    Ok(tally)
}
