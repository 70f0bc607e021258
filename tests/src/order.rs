//! The shop's side of a story: orders, lines and refunds as JSON.

use serde_json::{Value, json};

/// Money as the API takes it: minor units in a string.
pub fn money(amount: &str, currency: &str) -> Value {
    json!({ "amount": amount, "currency": currency })
}

/// One line of an order: what was paid for `id`, in minor units.
pub fn line(id: &str, amount: &str, currency: &str) -> Value {
    json!({ "id": id, "title": id, "quantity": 1, "amount": money(amount, currency) })
}

/// An order's snapshot: all of `captured` was captured on `payment`.
pub fn order(payment: &str, captured: &str, currency: &str, lines: &[(&str, &str)]) -> Value {
    let lines: Vec<Value> = lines.iter().map(|(id, amount)| line(id, amount, currency)).collect();
    json!({
        "payment": payment,
        "customer": "cus_7",
        "currency": currency,
        "captured": money(captured, currency),
        "line_items": lines,
    })
}

/// The request for what is left of one line.
pub fn refund_of(order: &str, line: &str) -> Value {
    json!({ "kind": "refund", "identity": { "order": order, "line_item": line } })
}
