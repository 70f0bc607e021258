//! Proof that nothing was edited, removed or put in: every chain is walked, every history told again, every stored column
//! compared with what follows from it.

use std::collections::{BTreeMap, BTreeSet};

use counterfoil_ledger::chain::{open, walk};
use counterfoil_ledger::entry::Entered;
use counterfoil_ledger::identity::{OperationId, Revision};
use counterfoil_ledger::intent::{Intent, IntentHash, canonical};
use counterfoil_ledger::operation::Operation;

use crate::store::{LedgerAct, RawAct, RawRow, Store, StoreError};

const BATCH: u32 = 500;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    pub operations: u64,
    pub entries: u64,
    pub acts: u64,
    /// What doesn't hold, in order; each names table, row and what is wrong.
    pub broken: Vec<String>,
}

/// Verifies the whole ledger. `seen` is told how many operations were walked so far.
///
/// # Errors
/// [`StoreError`] when it can't be read at all.
pub async fn ledger(store: &dyn Store, seen: &mut (dyn FnMut(u64) + Send)) -> Result<Verified, StoreError> {
    let mut found = Verified::default();
    let mut recorded = acts(store, &mut found).await?;
    let mut ordinal = 0;
    loop {
        let batch = store.ids_after(ordinal, BATCH).await?;
        let Some((last, _)) = batch.last() else { break };
        ordinal = *last;
        for (_, id) in &batch {
            let hash = one(store, id, &mut found).await?;
            match (recorded.remove(id.as_str()), hash) {
                (Some(expected), Some(hash)) if expected != hash => {
                    found.broken.push(format!(
                        "operations {id}: intent_hash isn't the one that the ledger's chain recorded"
                    ));
                }
                (None, _) => {
                    found.broken.push(format!("operations {id}: the ledger's chain never recorded it"))
                }
                _ => {}
            }
            seen(found.operations);
        }
    }
    found
        .broken
        .extend(recorded.into_keys().map(|id| format!("operations {id}: it was recorded and is missing")));
    found.broken.extend(store.misfits().await?);
    Ok(found)
}

/// Verifies the operations of one order.
///
/// # Errors
/// [`StoreError`] when they can't be read at all.
pub async fn order(store: &dyn Store, order: &str) -> Result<Verified, StoreError> {
    let mut found = Verified::default();
    let filter = crate::store::Filter { order: Some(order.to_owned()), ..Default::default() };
    let mut after = None;
    loop {
        let batch = store.list(&filter, after, BATCH).await?;
        let Some(last) = batch.last() else { break };
        after = Some(last.place);
        for listed in &batch {
            one(store, &listed.id, &mut found).await?;
        }
    }
    Ok(found)
}

/// Walks the ledger-wide chain and returns the operations that it recorded, with their intent hashes.
async fn acts(store: &dyn Store, found: &mut Verified) -> Result<BTreeMap<String, String>, StoreError> {
    // The head first: what is appended while we read stands behind it.
    let head = store.chain_head().await?;
    let acts = store.chain().await?;
    let mut recorded = BTreeMap::new();
    let mut before = String::new();
    for (expected, act) in (1..).zip(&acts) {
        if act.seq != expected {
            found.broken.push(format!("chain {expected}: it is missing"));
            break;
        }
        if act.link(&before) != act.hash {
            found.broken.push(format!("chain {}: it isn't what was written", act.seq));
            break;
        }
        before.clone_from(&act.hash);
        found.acts += 1;
        if let Some((operation, hash)) = recorded_operation(act) {
            recorded.insert(operation, hash);
        }
    }
    if let Some((seq, hash)) = head {
        let end = usize::try_from(seq).ok().and_then(|seq| acts.get(seq.checked_sub(1)?));
        match end {
            None => found.broken.push(format!(
                "chain {}: it is missing: chain_head says that the chain goes on to {seq}",
                acts.len() + 1
            )),
            Some(act) if act.hash != hash => {
                found.broken.push(format!("chain_head: it isn't the hash of act {seq}"));
            }
            Some(_) => {}
        }
    } else if !acts.is_empty() {
        found.broken.push("chain_head: it is missing".to_owned());
    }
    Ok(recorded)
}

fn recorded_operation(act: &RawAct) -> Option<(String, String)> {
    let body: serde_json::Value = serde_json::from_str(&act.body).ok()?;
    let tagged = serde_json::json!({ "type": act.label, "body": body });
    match serde_json::from_value(tagged).ok()? {
        LedgerAct::OperationRecorded { operation, intent_hash } => {
            Some((operation.to_string(), intent_hash.to_string()))
        }
        _ => None,
    }
}

/// Verifies one operation and returns its stored intent hash.
async fn one(
    store: &dyn Store,
    id: &OperationId,
    found: &mut Verified,
) -> Result<Option<String>, StoreError> {
    found.operations += 1;
    let Some(row) = store.raw(id).await? else { return Ok(None) };
    match check(id, &row) {
        Ok(entries) => found.entries += entries,
        Err(broken) => found.broken.push(broken),
    }
    Ok(Some(row.intent_hash))
}

fn check(id: &OperationId, row: &RawRow) -> Result<u64, String> {
    let sealed = row.entries.as_ref().map_err(|error| format!("entries {id}: {error}"))?;
    let intent: Intent = serde_json::from_str(&row.intent)
        .map_err(|error| format!("operations {id}: intent can't be read: {error}"))?;
    let (text, hash) = intent.seal().map_err(|error| format!("operations {id}: {error}"))?;
    if text != row.intent || hash.as_str() != row.intent_hash {
        return Err(format!("operations {id}: intent isn't what intent_hash was taken over"));
    }
    let hash = IntentHash::stored(&row.intent_hash);
    let head = walk(id, &hash, sealed).map_err(|broken| format!("entries {id}, {broken}"))?;
    if head != row.head {
        let last = sealed.last().map_or(0, |sealed| sealed.seq);
        return Err(format!(
            "entries {id}, entry {}: is missing: the head goes on after entry {last}",
            last + 1
        ));
    }
    let entries: Vec<Entered> = sealed
        .iter()
        .map(open)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("entries {id}: {error}"))?;
    let told = Operation::replay(id.clone(), intent, hash, &entries)
        .map_err(|error| format!("entries {id}: {error}"))?;
    let facts = canonical(&told.facts).map_err(|error| format!("operations {id}: {error}"))?;
    if facts != row.facts {
        return Err(format!("operations {id}: facts isn't what its entries tell"));
    }
    let wrong = wrong_columns(&told, row);
    if !wrong.is_empty() {
        let names: Vec<&str> = wrong.into_iter().collect();
        return Err(format!("operations {id}: {} isn't what its entries tell", names.join(", ")));
    }
    Ok(sealed.len() as u64)
}

/// The columns that don't follow from the history.
fn wrong_columns(told: &Operation, row: &RawRow) -> BTreeSet<&'static str> {
    let subject = &told.facts.subject;
    let time = |at: jiff::Timestamp| at.as_microsecond().to_string();
    let base = OperationId::compute(&subject.kind, &subject.values(), Revision::FIRST).ok();
    let same_id = OperationId::compute(&subject.kind, &subject.values(), subject.revision).ok();
    let expected: BTreeMap<&'static str, Option<String>> = BTreeMap::from([
        ("base_id", base.map(|id| id.to_string())),
        ("kind", Some(subject.kind.to_string())),
        ("revision", Some(subject.revision.number().to_string())),
        ("order_id", Some(subject.order.to_string())),
        ("account", Some(told.intent.account.to_string())),
        ("target", Some(told.intent.target.clone())),
        ("amount", Some(told.intent.money.minor().to_string())),
        ("currency", Some(told.intent.money.currency().to_string())),
        ("marker", Some(told.intent.marker.to_string())),
        ("state", Some(told.facts.state.to_string())),
        ("version", Some(told.facts.version.to_string())),
        ("seq", Some(told.facts.seq.to_string())),
        ("holds", Some(told.holds_minor().to_string())),
        ("external_id", told.facts.conclusion.external_id().map(str::to_owned)),
        ("incidents", Some(told.facts.incidents.len().to_string())),
        ("state_since", Some(time(told.facts.state_since))),
        ("window_closes_at", told.facts.window.map(|window| time(window.closes_at()))),
        ("created_at", Some(time(told.facts.created_at))),
        ("updated_at", Some(time(told.facts.updated_at))),
    ]);
    let mut wrong: BTreeSet<&'static str> = expected
        .iter()
        .filter(|(name, value)| row.columns.get(*name) != Some(*value))
        .map(|(name, _)| *name)
        .collect();
    if same_id.as_ref() != Some(&told.id) {
        wrong.insert("id");
    }
    wrong
}
