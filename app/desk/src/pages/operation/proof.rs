//! How to check that nothing was edited or removed, and everything as it is stored.

use leptos::prelude::*;
use serde_json::json;

use super::Shown;
use crate::i18n::{Arg, Message, visible_json};

impl Shown<'_> {
    pub(super) fn proof(&self) -> AnyView {
        let entries = &self.sheet.entries;
        let head = entries.last().map(|last| last.hash.clone()).unwrap_or_default();
        let says = self.say(&Message::ProofHead { head: Arg::Ident(head), count: Arg::count(entries.len()) });
        let how = self.say(&Message::ProofCommand);
        let raw_title = self.say(&Message::RawTitle);
        let raw = self.raw();
        let command = verify_command(self.sheet.operation.facts.subject.order.as_str());
        let content = view! {
            <p>{says}</p>
            <p>{how}</p>
            <pre translate="no">{command}</pre>
            <details><summary>{raw_title}</summary><pre translate="no">{raw}</pre></details>
        }
        .into_any();
        self.section("proof", &Message::ProofTitle, content)
    }

    fn raw(&self) -> String {
        let operation = &self.sheet.operation;
        let entries: Vec<_> = self
            .sheet
            .entries
            .iter()
            .map(|chained| json!({ "entry": chained.entered, "hash": chained.hash }))
            .collect();
        let raw = json!({
            "id": operation.id,
            "intent": operation.intent,
            "intent_hash": operation.intent_hash,
            "facts": operation.facts,
            "entries": entries,
        });
        visible_json(&raw)
    }
}

/// The command for a shell. What a shell would take apart is quoted; in a quoted word only the quote itself needs care.
pub(crate) fn verify_command(order: &str) -> String {
    let plain = order.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
        && !order.starts_with('-');
    if plain {
        format!("counterfoil verify --order {order}")
    } else {
        format!("counterfoil verify '--order={}'", order.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_pasted_whatever_the_order_is_called() {
        assert_eq!(verify_command("1043"), "counterfoil verify --order 1043");
        assert_eq!(verify_command("-rf"), "counterfoil verify '--order=-rf'");
        assert_eq!(verify_command("$(rm x)'; ls"), r"counterfoil verify '--order=$(rm x)'\''; ls'");
    }
}
