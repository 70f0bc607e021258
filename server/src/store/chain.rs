//! What stands in the ledger-wide chain, and rows as they stand for `verify`.

use std::collections::BTreeMap;

use counterfoil_ledger::chain::Sealed;
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::intent::IntentHash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Role;

/// An act on the whole ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "body", rename_all = "snake_case")]
pub enum LedgerAct {
    NamespaceFixed {
        namespace: String,
    },
    KindFixed {
        kind: String,
        identity: Vec<String>,
    },
    OperationRecorded {
        operation: OperationId,
        intent_hash: IntentHash,
    },
    PersonAdded {
        person: String,
        name: String,
        role: Role,
    },
    TokenAdded {
        token: String,
        owner: String,
        scopes: Vec<String>,
    },
    TestClock {
        offset_s: i64,
    },
    /// The ledger was put back from a backup (rule 17).
    RestoreBegan {
        restored_at: Timestamp,
    },
    /// A person, by stable id, ends what the restore held back.
    RestoreEnded {
        restored_at: Timestamp,
        person: String,
        note: String,
    },
}

/// A row of the ledger-wide chain as it stands.
#[derive(Debug, Clone)]
pub struct RawAct {
    pub seq: i64,
    pub label: String,
    pub at: i64,
    pub actor: String,
    pub body: String,
    pub hash: String,
}

/// An operation's row as it stands: every chained or derived column by name, and its entries.
#[derive(Debug, Clone)]
pub struct RawRow {
    pub intent: String,
    pub intent_hash: String,
    pub facts: String,
    pub head: String,
    /// The columns that follow from intent and facts, as text.
    pub columns: BTreeMap<&'static str, Option<String>>,
    pub entries: Result<Vec<Sealed>, String>,
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
