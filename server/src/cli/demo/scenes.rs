//! The other operations: one or more in every state, each brought there by what really happens at the provider.

use std::time::Duration;

use counterfoil_ledger::evidence::EffectStatus;
use counterfoil_ledger::identity::AccountName;
use futures::future::try_join_all;
use serde_json::{Value, json};

use super::client::{Client, text};
use crate::cli::serve::Server;
use crate::cli::{Failure, print};

const SETTLED_WITHIN: Duration = Duration::from_secs(60);

/// A sample order: id, account, currency, what was captured, lines with amounts.
struct Sample {
    id: &'static str,
    account: &'static str,
    currency: &'static str,
    captured: &'static str,
    lines: &'static [(&'static str, &'static str, &'static str)],
    /// Refunds of its payment begin pending.
    slow_bank: bool,
}

const fn order(
    id: &'static str,
    captured: &'static str,
    lines: &'static [(&'static str, &'static str, &'static str)],
) -> Sample {
    Sample { id, account: "stripe-main", currency: "TWD", captured, lines, slow_bank: false }
}

const ORDERS: &[Sample] = &[
    order("1043", "158000", &[("li_1", "Earphones", "120000"), ("li_2", "Case", "38000")]),
    order("1044", "89000", &[("li_1", "Desk lamp", "89000")]),
    Sample { currency: "JPY", ..order("1045", "9899", &[("li_1", "湯呑み", "9899")]) },
    Sample { currency: "KWD", ..order("1046", "92000", &[("li_1", "Carpet, small", "92000")]) },
    order(
        "1047",
        "45000",
        &[("li_1", "Notebook", "15000"), ("li_2", "Notebook", "15000"), ("li_3", "Pen", "15000")],
    ),
    order("1048", "64000", &[("li_1", "Raincoat", "64000")]),
    order("1049", "120000", &[("li_1", "Chair", "60000"), ("li_2", "Cushion", "60000")]),
    order("1050", "75000", &[("li_1", "Backpack", "75000")]),
    Sample { slow_bank: true, ..order("1051", "33000", &[("li_1", "Kettle", "33000")]) },
    Sample { slow_bank: true, ..order("1052", "52000", &[("li_1", "Toaster", "52000")]) },
    order("1053", "98000", &[("li_1", "Camera strap", "98000")]),
    order("1054", "21000", &[("li_1", "Bottle", "21000")]),
    order("1055", "50000", &[("li_1", "Blanket", "25000"), ("li_2", "Pillow", "25000")]),
    order("1056", "84000", &[("li_1", "Keyboard", "42000"), ("li_2", "Mouse", "42000")]),
    order("1057", "30000", &[("li_1", "Tea set", "15000"), ("li_2", "Tray", "15000")]),
    order("1058", "900000", &[("li_1", "Bicycle", "600000"), ("li_2", "Trailer", "300000")]),
    order("1059", "36000", &[("li_2", "Socks, pair", "18000"), ("LI_2", "Socks, pair", "18000")]),
    Sample { account: "stripe-eu", currency: "EUR", ..order("1060", "4900", &[("li_1", "Poster", "4900")]) },
    Sample {
        account: "stripe-jp",
        currency: "JPY",
        ..order("1061", "12000", &[("li_1", "Umbrella", "12000")])
    },
    order("1062", "750000", &[("li_1", "Sofa", "750000")]),
];

/// Tells the simulator of every payment, and of what an earlier run left there; tells the ledger of every order.
pub(super) async fn pay(server: &Server, client: &Client) -> Result<(), Failure> {
    for sample in ORDERS {
        let payment = format!("pi_{}", sample.id);
        let status = if sample.slow_bank { "pending" } else { "succeeded" };
        let paid = json!({ "id": payment, "amount": sample.captured, "currency": sample.currency, "refund_status": status });
        client.control("payments", &paid).await?;
        remember(server, client, sample.account, &payment).await?;
        let money = |amount: &str| json!({ "amount": amount, "currency": sample.currency });
        let lines: Vec<Value> = sample
            .lines
            .iter()
            .map(|(id, title, amount)| json!({ "id": id, "title": title, "quantity": 1, "amount": money(amount) }))
            .collect();
        let snapshot = json!({
            "payment": payment, "account": sample.account, "currency": sample.currency,
            "captured": money(sample.captured), "line_items": lines
        });
        client.put_order(sample.id, &snapshot).await?;
    }
    Ok(())
}

/// The simulator forgets when it stops; the ledger doesn't.
async fn remember(server: &Server, client: &Client, account: &str, payment: &str) -> Result<(), Failure> {
    let account = AccountName::try_from(account.to_owned()).map_err(Failure::failed)?;
    let sheet = server.works.store.payment(&account, payment).await.map_err(Failure::failed)?;
    for effect in sheet.into_iter().flat_map(|sheet| sheet.effects) {
        let metadata = effect.marker.map_or_else(|| json!({}), |marker| json!({ "operation_id": marker }));
        let refund = json!({
            "payment": payment, "amount": effect.amount_minor.to_string(), "metadata": metadata, "id": effect.external_id
        });
        client.control("refunds", &refund).await?;
        if effect.status == EffectStatus::Failed {
            client
                .control(&format!("refunds/{}", effect.external_id), &json!({ "status": "failed" }))
                .await?;
        }
    }
    Ok(())
}

/// Asks for a refund and returns what is known then.
async fn refund(
    client: &Client,
    kind: &str,
    order: &str,
    line: &str,
    revision: u8,
) -> Result<Value, Failure> {
    let ask = json!({
        "kind": kind, "identity": { "order": order, "line_item": line }, "revision": revision,
        "reason": "The customer sent it back."
    });
    let (status, answer) = client.ask(&ask).await?;
    if status >= 400 {
        return Err(Failure::Failed(format!("refund of {order} {line}: {status} {answer}")));
    }
    Ok(answer)
}

async fn reaches(client: &Client, id: &str, state: &str) -> Result<Value, Failure> {
    client.until(id, SETTLED_WITHIN, |operation| text(operation, "state") == state).await
}

/// Plays them, and says how many are in which state.
pub(super) async fn play(client: &Client) -> Result<(), Failure> {
    print("");
    print("Some twenty more refunds, so that every state can be looked at …");
    for (order, line) in
        [("1044", "li_1"), ("1045", "li_1"), ("1046", "li_1"), ("1047", "li_1"), ("1047", "li_2")]
    {
        refund(client, "refund", order, line, 1).await?;
    }
    // Lost before it happened: absence is proved, the same key goes once more.
    client.fault("refund-1048-li_1", "none", "drop").await?;
    refund(client, "refund", "1048", "li_1", 1).await?;
    // Somebody refunded most of it on the provider's site: a definite refusal.
    client.control("refunds", &json!({ "payment": "pi_1049", "amount": "100000" })).await?;
    refund(client, "refund", "1049", "li_1", 1).await?;
    // It succeeded, and the bank sent the money back.
    let returned = refund(client, "refund", "1050", "li_1", 1).await?;
    let bounce = json!({ "status": "failed", "failure_reason": "expired_or_canceled_card" });
    client.control(&format!("refunds/{}", text(&returned, "external_id")), &bounce).await?;
    client.act("refund-1050-li_1", "lookup").await?;
    reaches(client, "refund-1050-li_1", "failed").await?;
    refund(client, "refund", "1050", "li_1", 2).await?;
    // Held by the provider.
    refund(client, "refund", "1051", "li_1", 1).await?;
    refund(client, "refund", "1052", "li_1", 1).await?;
    // A 500 that the provider keeps under the key: the same key only brings it back.
    for order in ["1053", "1054"] {
        client.fault(&format!("refund-{order}-li_1"), "none", "500_stored").await?;
        refund(client, "refund", order, "li_1", 1).await?;
    }
    // The answer is lost, and an equal refund that nobody claims stands on the payment: for a person.
    for (order, amount) in [("1055", "25000"), ("1056", "42000")] {
        client.control("refunds", &json!({ "payment": format!("pi_{order}"), "amount": amount })).await?;
        client.fault(&format!("refund-{order}-li_1"), "none", "drop").await?;
        refund(client, "refund", order, "li_1", 1).await?;
    }
    // The provider does it twice: confirmed, with an incident, both counted.
    client.fault("refund-1057-li_1", "twice", "drop").await?;
    refund(client, "refund", "1057", "li_1", 1).await?;
    // Above the limit; a look-alike; and one that is withdrawn before it is sent.
    refund(client, "refund", "1058", "li_1", 1).await?;
    refund(client, "refund", "1059", "li_2", 1).await?;
    refund(client, "refund", "1059", "LI_2", 1).await?;
    refund(client, "refund", "1062", "li_1", 1).await?;
    client.act("refund-1062-li_1", "cancel").await?;
    // A provider that can't be reached, and one that takes its time.
    refund(client, "refund_eu", "1060", "li_1", 1).await?;
    client.fault("refund_jp-1061-li_1", "none", "hang").await?;
    refund(client, "refund_jp", "1061", "li_1", 1).await?;
    let settled = [
        ("refund-1048-li_1", "confirmed"),
        ("refund-1055-li_1", "escalated"),
        ("refund-1056-li_1", "escalated"),
        ("refund-1057-li_1", "confirmed"),
    ];
    try_join_all(settled.map(|(id, state)| reaches(client, id, state))).await?;
    print("… are there.");
    Ok(())
}
