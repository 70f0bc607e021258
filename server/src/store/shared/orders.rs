//! Orders, payments and what is held on them.

use counterfoil_ledger::balance::Holder;
use counterfoil_ledger::evidence::EffectStatus;
use counterfoil_ledger::identity::{AccountName, OperationId};
use counterfoil_ledger::intent::canonical;
use counterfoil_ledger::money::{Currency, MoneyError};
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::UnknownState;
use jiff::Timestamp;
use sqlx::Row as _;

use super::{Connection, engine, query, unreadable};
use crate::store::clock::{from_us, to_us};
use crate::store::{KnownEffect, OrderPut, OrderSnapshot, PaymentSheet, StoreError};

pub(super) async fn order(conn: &mut Connection, id: &str) -> Result<Option<OrderSnapshot>, StoreError> {
    let step = "read order";
    let row = query(
        "SELECT o.account, o.payment, o.currency, o.customer, o.lines, o.updated_at, p.captured
         FROM orders o JOIN payments p ON p.account = o.account AND p.payment = o.payment WHERE o.id = $1",
    )
    .bind(id)
    .fetch_optional(conn)
    .await
    .map_err(StoreError::at(step))?;
    let Some(row) = row else { return Ok(None) };
    let text = |column: &str| row.try_get::<String, _>(column).map_err(StoreError::at(step));
    let bad = |what: String| unreadable("orders", id, what);
    Ok(Some(OrderSnapshot {
        id: id.to_owned(),
        account: AccountName::try_from(text("account")?).map_err(|error| bad(error.to_string()))?,
        payment: text("payment")?,
        currency: text("currency")?.parse().map_err(|error: MoneyError| bad(error.to_string()))?,
        captured_minor: row.try_get("captured").map_err(StoreError::at(step))?,
        customer: row.try_get("customer").map_err(StoreError::at(step))?,
        lines: serde_json::from_str(&text("lines")?).map_err(|error| bad(error.to_string()))?,
        updated_at: from_us(row.try_get("updated_at").map_err(StoreError::at(step))?),
    }))
}

pub(super) async fn captured(
    conn: &mut Connection,
    account: &str,
    payment: &str,
) -> Result<Option<(i64, Currency)>, StoreError> {
    let step = "read payment";
    let row = query("SELECT captured, currency FROM payments WHERE account = $1 AND payment = $2")
        .bind(account)
        .bind(payment)
        .fetch_optional(conn)
        .await
        .map_err(StoreError::at(step))?;
    row.map(|row| {
        let code: String = row.try_get("currency").map_err(StoreError::at(step))?;
        let currency = code.parse().map_err(|error: MoneyError| unreadable("payments", payment, error))?;
        Ok((row.try_get("captured").map_err(StoreError::at(step))?, currency))
    })
    .transpose()
}

/// Effects that were seen before their operation was recorded belong to it now.
pub(super) async fn claim_effects(conn: &mut Connection, operation: &Operation) -> Result<(), StoreError> {
    query("UPDATE effects SET operation_id = $1 WHERE account = $2 AND marker = $3 AND operation_id IS NULL")
        .bind(operation.id.as_str())
        .bind(operation.intent.account.as_str())
        .bind(operation.intent.marker.as_str())
        .execute(conn)
        .await
        .map_err(StoreError::at("claim effects"))?;
    Ok(())
}

async fn holders(conn: &mut Connection, account: &str, payment: &str) -> Result<Vec<Holder>, StoreError> {
    let step = "read holders";
    let rows = query(
        "SELECT id, state, holds FROM operations WHERE account = $1 AND target = $2 AND holds > 0 ORDER BY ordinal",
    )
    .bind(account)
    .bind(payment)
    .fetch_all(conn)
    .await
    .map_err(StoreError::at(step))?;
    rows.iter()
        .map(|row| {
            let id: String = row.try_get("id").map_err(StoreError::at(step))?;
            let label: String = row.try_get("state").map_err(StoreError::at(step))?;
            let state = label.parse().map_err(|error: UnknownState| unreadable("operations", &id, error))?;
            Ok(Holder {
                state,
                minor: row.try_get("holds").map_err(StoreError::at(step))?,
                operation: OperationId::stored(id),
            })
        })
        .collect()
}

pub(super) async fn put_order(
    conn: &mut Connection,
    order: &OrderSnapshot,
    now: Timestamp,
) -> Result<OrderPut, StoreError> {
    let account = order.account.as_str();
    engine::lock_order(conn, &order.id).await?;
    let before = self::order(conn, &order.id).await?;
    if let Some(before) = before
        .as_ref()
        .filter(|before| (before.account.as_str(), &before.payment) != (account, &order.payment))
    {
        engine::lock_payment(conn, before.account.as_str(), &before.payment).await?;
        let held = holders(conn, before.account.as_str(), &before.payment).await?;
        let ours = order_operations(conn, &order.id).await?;
        let held: Vec<Holder> = held.into_iter().filter(|holder| ours.contains(&holder.operation)).collect();
        if !held.is_empty() {
            return Ok(OrderPut::PaymentHeld(held));
        }
    }
    // One statement, so that of two who bring the same new payment the second waits for the first, and then sees its currency.
    let saved = query(
        "INSERT INTO payments (account, payment, currency, captured, updated_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (account, payment) DO UPDATE SET captured = excluded.captured, updated_at = excluded.updated_at
             WHERE payments.currency = excluded.currency",
    )
    .bind(account)
    .bind(&order.payment)
    .bind(order.currency.code())
    .bind(order.captured_minor)
    .bind(to_us(now))
    .execute(&mut *conn)
    .await
    .map_err(StoreError::at("save payment"))?;
    if saved.rows_affected() == 0
        && let Some((_, currency)) = captured(conn, account, &order.payment).await?
    {
        return Ok(OrderPut::OtherCurrency(currency));
    }
    let lines = canonical(&order.lines).map_err(|error| unreadable("orders", &order.id, error))?;
    query(
        "INSERT INTO orders (id, account, payment, currency, customer, lines, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
         ON CONFLICT (id) DO UPDATE SET account = excluded.account, payment = excluded.payment, currency = excluded.currency,
             customer = excluded.customer, lines = excluded.lines, updated_at = excluded.updated_at",
    )
    .bind(&order.id)
    .bind(account)
    .bind(&order.payment)
    .bind(order.currency.code())
    .bind(&order.customer)
    .bind(lines)
    .bind(to_us(now))
    .execute(&mut *conn)
    .await
    .map_err(StoreError::at("save order"))?;
    Ok(if before.is_some() { OrderPut::Replaced } else { OrderPut::New })
}

async fn order_operations(conn: &mut Connection, order: &str) -> Result<Vec<OperationId>, StoreError> {
    let step = "read the order's operations";
    let rows = query("SELECT id FROM operations WHERE order_id = $1 ORDER BY ordinal")
        .bind(order)
        .fetch_all(conn)
        .await
        .map_err(StoreError::at(step))?;
    rows.iter()
        .map(|row| row.try_get("id").map(|id: String| OperationId::stored(id)).map_err(StoreError::at(step)))
        .collect()
}

pub(super) async fn payment(
    conn: &mut Connection,
    account: &AccountName,
    payment: &str,
) -> Result<Option<PaymentSheet>, StoreError> {
    let Some((captured_minor, currency)) = captured(conn, account.as_str(), payment).await? else {
        return Ok(None);
    };
    Ok(Some(PaymentSheet {
        account: account.clone(),
        payment: payment.to_owned(),
        currency,
        captured_minor,
        holders: holders(conn, account.as_str(), payment).await?,
        effects: effects(conn, account.as_str(), payment).await?,
    }))
}

pub(super) async fn effects(
    conn: &mut Connection,
    account: &str,
    payment: &str,
) -> Result<Vec<KnownEffect>, StoreError> {
    let step = "read effects";
    let rows = query(
        "SELECT external_id, operation_id, marker, amount, currency, status, provider_status, created_at, last_seen_at FROM effects
         WHERE account = $1 AND target = $2 ORDER BY first_seen_at, external_id",
    )
    .bind(account)
    .bind(payment)
    .fetch_all(conn)
    .await
    .map_err(StoreError::at(step))?;
    rows.iter()
        .map(|row| {
            let label: String = row.try_get("status").map_err(StoreError::at(step))?;
            let external_id: String = row.try_get("external_id").map_err(StoreError::at(step))?;
            let status = match label.as_str() {
                "pending" => EffectStatus::Pending,
                "live" => EffectStatus::Live,
                "failed" => EffectStatus::Failed,
                _ => return Err(unreadable("effects", &external_id, format!("no such status: {label:?}"))),
            };
            Ok(KnownEffect {
                external_id,
                operation: row
                    .try_get::<Option<String>, _>("operation_id")
                    .map_err(StoreError::at(step))?
                    .map(OperationId::stored),
                marker: row.try_get("marker").map_err(StoreError::at(step))?,
                amount_minor: row.try_get("amount").map_err(StoreError::at(step))?,
                currency: row.try_get("currency").map_err(StoreError::at(step))?,
                status,
                provider_status: row.try_get("provider_status").map_err(StoreError::at(step))?,
                created_at: row
                    .try_get::<Option<i64>, _>("created_at")
                    .map_err(StoreError::at(step))?
                    .map(from_us),
                last_seen_at: from_us(row.try_get("last_seen_at").map_err(StoreError::at(step))?),
            })
        })
        .collect()
}
