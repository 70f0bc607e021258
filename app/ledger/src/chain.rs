//! Proof that nothing was edited, removed or put in between.
//!
//! Every entry of an operation carries the hash of the one before. The hash is taken over the stored text, byte for byte, so
//! that even a space put into a stored body is noticed. Sealed rows are what the store keeps; [`walk`] checks them.

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::entry::{Actor, Entered, Entry};
use crate::identity::OperationId;
use crate::intent::{IntentHash, NotCanonical, canonical};

/// A hash in the chain, in hex.
pub type Link = String;

/// An entry as text, in the form in which it is hashed and stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    pub seq: u64,
    /// The entry's type.
    pub label: String,
    pub at: Timestamp,
    /// Canonical JSON of the actor.
    pub actor: String,
    /// Canonical JSON of the entry's body; `null` when it has none.
    pub body: String,
    pub hash: Link,
}

/// The link before the first: over the Operation ID and the intent hash.
pub fn begin(id: &OperationId, intent_hash: &IntentHash) -> Link {
    let mut hash = Sha256::new();
    hash.update(id.as_str());
    hash.update([0]);
    hash.update(intent_hash.as_str());
    hex::encode(hash.finalize())
}

/// Seals the next entry: `SHA-256(h ‖ JCS({actor, at, body, op, seq, type}))`.
///
/// # Errors
/// [`NotCanonical`], never for the ledger's own types.
pub fn seal(id: &OperationId, before: &str, entered: &Entered) -> Result<Sealed, NotCanonical> {
    let mut value = serde_json::to_value(&entered.entry).map_err(NotCanonical::from)?;
    let body = value.get_mut("body").map(serde_json::Value::take).unwrap_or_default();
    let mut sealed = Sealed {
        seq: entered.seq,
        label: entered.entry.label().to_owned(),
        at: entered.at,
        actor: canonical(&entered.actor)?,
        body: canonical(&body)?,
        hash: String::new(),
    };
    sealed.hash = link(id, before, &sealed)?;
    Ok(sealed)
}

fn link(id: &OperationId, before: &str, sealed: &Sealed) -> Result<Link, NotCanonical> {
    // The keys stand in RFC 8785's order, and actor and body are canonical as stored.
    let text = format!(
        r#"{{"actor":{},"at":{},"body":{},"op":{},"seq":{},"type":{}}}"#,
        sealed.actor,
        canonical(&sealed.at)?,
        sealed.body,
        canonical(id)?,
        sealed.seq,
        canonical(&sealed.label)?,
    );
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(text);
    Ok(hex::encode(hash.finalize()))
}

/// The first place at which a chain doesn't hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: {what}")]
pub struct Broken {
    pub seq: u64,
    pub what: &'static str,
}

/// Checks sealed entries in order and returns the head.
///
/// # Errors
/// [`Broken`] names the first entry that was changed, removed or put in.
pub fn walk(id: &OperationId, intent_hash: &IntentHash, entries: &[Sealed]) -> Result<Link, Broken> {
    let mut head = begin(id, intent_hash);
    for (expected, sealed) in (1..).zip(entries) {
        if sealed.seq != expected {
            return Err(Broken { seq: expected, what: "is missing" });
        }
        let changed = Broken {
            seq: sealed.seq,
            what: "isn't what was written: its hash doesn't follow from the one before",
        };
        head = link(id, &head, sealed).map_err(|_| changed.clone())?;
        if head != sealed.hash {
            return Err(changed);
        }
    }
    Ok(head)
}

/// A stored entry that can't be read back.
#[derive(Debug, thiserror::Error)]
#[error("entry {seq} can't be read back")]
pub struct Unreadable {
    pub seq: u64,
    #[source]
    source: serde_json::Error,
}

/// Reads a sealed entry back.
///
/// # Errors
/// [`Unreadable`] for a type or a body that this version doesn't know.
pub fn open(sealed: &Sealed) -> Result<Entered, Unreadable> {
    let unreadable = |source| Unreadable { seq: sealed.seq, source };
    let body: serde_json::Value = serde_json::from_str(&sealed.body).map_err(unreadable)?;
    let mut tagged = serde_json::Map::new();
    tagged.insert("type".to_owned(), sealed.label.clone().into());
    if !body.is_null() {
        tagged.insert("body".to_owned(), body);
    }
    let entry: Entry = serde_json::from_value(tagged.into()).map_err(unreadable)?;
    let actor: Actor = serde_json::from_str(&sealed.actor).map_err(unreadable)?;
    Ok(Entered { seq: sealed.seq, at: sealed.at, actor, entry })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Event, State};

    fn history() -> (OperationId, IntentHash, Vec<Sealed>) {
        let id = OperationId::stored("refund-1043-li_2");
        let hash = IntentHash::stored("00");
        let mut head = begin(&id, &hash);
        let mut sealed = Vec::new();
        let entries = [
            Entry::State { from: State::Authorized, to: State::Submitted, event: Event::Marked },
            Entry::CancelAsked,
            Entry::State { from: State::Submitted, to: State::Unknown, event: Event::AnswerLost },
        ];
        for (seq, entry) in (1..).zip(entries) {
            let at = Timestamp::from_second(1_796_000_000 + i64::try_from(seq).unwrap()).unwrap();
            let entered = Entered { seq, at, actor: Actor::Sender("w-1".to_owned()), entry };
            let row = seal(&id, &head, &entered).unwrap();
            assert_eq!(open(&row).unwrap(), entered);
            head.clone_from(&row.hash);
            sealed.push(row);
        }
        (id, hash, sealed)
    }

    #[test]
    fn a_chain_that_nobody_touched_holds_and_keeps_its_golden_vector() {
        let (id, hash, sealed) = history();
        assert_eq!(walk(&id, &hash, &sealed).unwrap(), sealed[2].hash);
        // Computed with printf and sha256sum.
        assert_eq!(sealed[0].hash, "09bfa966d766e16cf12ae0677eb3d731adf901eb5623a6b36d95741549f2087e");
    }

    #[test]
    fn one_byte_changed_in_any_column_names_that_entry() {
        let (id, hash, sealed) = history();
        let touch: [fn(&mut Sealed); 6] = [
            |row| row.body.insert(1, ' '),
            |row| row.actor = row.actor.replace("w-1", "w-2"),
            |row| row.label.push('x'),
            |row| row.at = Timestamp::from_second(1).unwrap(),
            |row| row.hash = row.hash.replace(['0', '1', '2', '3', '4', '5', '6', '7'], "f"),
            |row| row.body = row.body.to_uppercase(),
        ];
        for touch in touch {
            let mut rows = sealed.clone();
            touch(&mut rows[1]);
            if rows[1] != sealed[1] {
                assert_eq!(walk(&id, &hash, &rows).unwrap_err().seq, 2);
            }
        }
    }

    #[test]
    fn an_entry_removed_or_moved_is_named() {
        let (id, hash, sealed) = history();
        let mut rows = sealed.clone();
        rows.remove(1);
        assert_eq!(walk(&id, &hash, &rows).unwrap_err(), Broken { seq: 2, what: "is missing" });
        let mut rows = sealed.clone();
        rows.swap(0, 1);
        assert_eq!(walk(&id, &hash, &rows).unwrap_err().seq, 1);
        assert_eq!(walk(&OperationId::stored("refund-1043-li_3"), &hash, &sealed).unwrap_err().seq, 1);
    }
}
