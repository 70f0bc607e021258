//! A new operation: its surroundings read with the payment locked, judged, written.

use counterfoil_ledger::chain::begin;
use counterfoil_ledger::entry::Entry;
use counterfoil_ledger::identity::{IdentityValue, KindName, OperationId, Revision};
use counterfoil_ledger::operation::Operation;
use sqlx::Row as _;

use super::change::{Head, insert_entries, reason_text, seal_all};
use super::{Connection, Row, engine, orders, query, unreadable};
use crate::store::clock::{from_us, to_us};
use crate::store::{
    Judge, LedgerAct, Loaded, Neighbour, NewOperation, Place, Recorded, StoreError, Surroundings,
};

pub(super) async fn record(
    conn: &mut Connection,
    place: &Place,
    judge: &Judge,
) -> Result<Recorded, StoreError> {
    // While it is held, the order can't move to another payment behind our back.
    engine::lock_order(conn, &place.order).await?;
    let mut order = orders::order(conn, &place.order).await?;
    if let Some(order) = &order {
        engine::lock_payment(conn, order.account.as_str(), &order.payment).await?;
    }
    // Under the lock, so that of two at once the second finds the first.
    if let Some(existing) = super::load(conn, &place.id).await? {
        return Ok(Recorded::Existing(Box::new(existing)));
    }
    let (account, payment) =
        order.as_ref().map_or(("", ""), |order| (order.account.as_str(), order.payment.as_str()));
    let captured_minor = orders::captured(conn, account, payment).await?.map_or(0, |(captured, _)| captured);
    let mut unclaimed = orders::effects(conn, account, payment).await?;
    unclaimed.retain(|effect| effect.operation.is_none());
    let restored_at = super::restored_at(conn).await?;
    let neighbours = neighbours(conn, account, payment, &place.base_id).await?;
    if let Some(order) = &mut order {
        // It was read before the payment was locked.
        order.captured_minor = captured_minor;
    }
    let surroundings = Surroundings { captured_minor, unclaimed, restored_at, neighbours, order };
    match judge(&surroundings) {
        Err(refusal) => Ok(Recorded::Refused(refusal)),
        Ok(new) => {
            let marker = Some(new.intent.marker.to_string());
            let recorded = insert(conn, place, new).await?;
            if surroundings.unclaimed.iter().any(|effect| effect.marker == marker) {
                orders::claim_effects(conn, &recorded.operation).await?;
            }
            Ok(Recorded::New(Box::new(recorded)))
        }
    }
}

async fn neighbours(
    conn: &mut Connection,
    account: &str,
    payment: &str,
    base_id: &OperationId,
) -> Result<Vec<Neighbour>, StoreError> {
    let rows = query(
        "SELECT id, base_id, kind, revision, order_id, facts, account, target, state, amount, currency, holds, created_at
         FROM operations WHERE (account = $1 AND target = $2) OR base_id = $3 ORDER BY ordinal",
    )
    .bind(account)
    .bind(payment)
    .bind(base_id.as_str())
    .fetch_all(conn)
    .await
    .map_err(StoreError::at("read neighbours"))?;
    rows.iter().map(neighbour).collect()
}

/// The part of the facts that neighbours are compared by.
#[derive(serde::Deserialize)]
struct Named {
    subject: NamedSubject,
}

#[derive(serde::Deserialize)]
struct NamedSubject {
    identity: Vec<(String, IdentityValue)>,
}

fn neighbour(row: &Row) -> Result<Neighbour, StoreError> {
    let step = "read neighbour";
    let id: String = row.try_get("id").map_err(StoreError::at(step))?;
    let text = |column: &str| row.try_get::<String, _>(column).map_err(StoreError::at(step));
    let number = |column: &str| row.try_get::<i64, _>(column).map_err(StoreError::at(step));
    let bad = |what: String| unreadable("operations", &id, what);
    let named: Named = serde_json::from_str(&text("facts")?).map_err(|error| bad(error.to_string()))?;
    Ok(Neighbour {
        base_id: OperationId::stored(text("base_id")?),
        kind: KindName::try_from(text("kind")?).map_err(|error| bad(error.to_string()))?,
        revision: Revision::try_from(u8::try_from(number("revision")?).unwrap_or(0))
            .map_err(|error| bad(error.to_string()))?,
        order: text("order_id")?,
        identity: named.subject.identity.into_iter().map(|(_, value)| value).collect(),
        account: text("account")?,
        target: text("target")?,
        state: text("state")?
            .parse()
            .map_err(|error: counterfoil_ledger::state::UnknownState| bad(error.to_string()))?,
        amount_minor: number("amount")?,
        currency: text("currency")?
            .parse()
            .map_err(|error: counterfoil_ledger::money::MoneyError| bad(error.to_string()))?,
        holds_minor: number("holds")?,
        created_at: from_us(number("created_at")?),
        id: OperationId::stored(id.clone()),
    })
}

async fn insert(conn: &mut Connection, place: &Place, new: NewOperation) -> Result<Loaded, StoreError> {
    let operation =
        Operation::replay(place.id.clone(), new.intent.clone(), new.intent_hash.clone(), &new.entries)
            .map_err(|error| unreadable("operations", place.id.as_str(), error))?;
    let subject = operation.facts.subject.clone();
    debug_assert!(matches!(new.entries.first().map(|first| &first.entry), Some(Entry::Recorded { .. })));
    let (sealed, link) = seal_all(&place.id, &begin(&place.id, &new.intent_hash), &new.entries)?;
    let head = Head::of(&operation)?;
    let row = query(
        "INSERT INTO operations (id, base_id, kind, revision, order_id, account, target, amount, currency, marker, intent,
             intent_hash, facts, state, version, seq, head, holds, external_id, incidents, state_since, window_closes_at,
             created_at, updated_at, due_at, reason, lease_token, lease_until)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
             $25, $26, $27, $28)
         RETURNING ordinal",
    )
    .bind(place.id.as_str())
    .bind(place.base_id.as_str())
    .bind(subject.kind.as_str())
    .bind(i64::from(subject.revision.number()))
    .bind(subject.order.as_str())
    .bind(new.intent.account.as_str())
    .bind(&new.intent.target)
    .bind(new.intent.money.minor())
    .bind(new.intent.money.currency().code())
    .bind(new.intent.marker.as_str())
    .bind(&new.intent_text)
    .bind(new.intent_hash.as_str())
    .bind(&head.facts)
    .bind(head.state)
    .bind(head.version)
    .bind(head.seq)
    .bind(&link)
    .bind(head.holds)
    .bind(&head.external_id)
    .bind(head.incidents)
    .bind(head.state_since)
    .bind(head.window_closes_at)
    .bind(to_us(operation.facts.created_at))
    .bind(head.updated_at)
    .bind(new.step.due_at.map(to_us))
    .bind(reason_text(&new.step, &place.id)?)
    .bind(new.lease.as_ref().map(|(token, _)| token.as_str()))
    .bind(new.lease.as_ref().map(|(_, until)| to_us(*until)))
    .fetch_one(&mut *conn)
    .await
    .map_err(StoreError::at("record operation"))?;
    insert_entries(conn, &place.id, &sealed).await?;
    let act = LedgerAct::OperationRecorded { operation: place.id.clone(), intent_hash: new.intent_hash };
    super::chain_act(conn, &act, place.now).await?;
    Ok(Loaded {
        ordinal: row.try_get("ordinal").map_err(StoreError::at("record operation"))?,
        operation,
        head: link,
        step: new.step,
        lease: new.lease,
        look_up_asked_at: None,
        set_aside: None,
    })
}
