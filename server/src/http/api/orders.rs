//! The shop's word on an order, and what became of its money.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use counterfoil_ledger::chain::open;
use counterfoil_ledger::entry::Entered;
use counterfoil_ledger::identity::{AccountName, IdentityValue};
use counterfoil_ledger::money::{Currency, ExponentTable, Money};
use counterfoil_ledger::totals::{Told, Totals, Unclaimed, sum_minor};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::Body;
use super::ask::read_money;
use super::view::{MoneyView, OperationView};
use crate::http::auth::Caller;
use crate::http::problem::FieldError;
use crate::http::{Problem, Shared};
use crate::store::{Filter, OrderLine, OrderPut, OrderSnapshot, PaymentSheet, StoreError};

const LINES_MAX: usize = 500;
const PAYMENT_CHARS_MAX: usize = 255;
const TITLE_CHARS_MAX: usize = 200;
/// Operations of one order that are shown at once.
const OPERATIONS_MAX: u32 = 1000;

/// What became of an order's money, in its one currency.
#[derive(Serialize, ToSchema)]
pub(super) struct OrderView {
    id: String,
    customer: Option<String>,
    account: String,
    payment: String,
    /// What was captured of the payment, which orders may share.
    captured: MoneyView,
    #[schema(value_type = Vec<Object>)]
    line_items: Vec<Value>,
    totals: TotalsView,
    operations: Vec<OperationView>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: jiff::Timestamp,
}

/// Sums over the order's operations, its payment's unclaimed effects and what other orders hold.
#[derive(Serialize, ToSchema)]
pub(super) struct TotalsView {
    paid: MoneyView,
    refunded: MoneyView,
    in_flight: MoneyView,
    unknown: MoneyView,
    /// Everything that may have left or may still leave.
    worst_case: MoneyView,
    /// What may still be refunded.
    left: MoneyView,
}

/// Take in the shop's snapshot of an order.
///
/// `{"payment":"pi_…","account"?,"customer"?,"currency":"TWD","captured":{…},"line_items":[{"id","title"?,"quantity"?,"amount":{…}}]}`
#[utoipa::path(put, path = "/v1/orders/{order}", params(("order" = String, Path)), request_body = Object, security(("token" = [])),
    responses((status = 201, description = "New"), (status = 200, description = "Replaced or unchanged"),
        (status = 409, body = Problem, description = "`payment-held`: the payment can't change while operations hold money on it"),
        (status = 422, body = Problem)))]
pub(super) async fn put(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Body(body): Body<Value>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    caller.may("orders:write")?;
    let accounts: Vec<&AccountName> = shared.works.accounts.keys().collect();
    let now = shared.works.store.now().await?;
    let order = read(&id, &body, &accounts, now)?;
    let answer = json!({ "id": order.id, "payment": order.payment, "updated_at": order.updated_at });
    match shared.works.take_order(order).await? {
        OrderPut::New => Ok((StatusCode::CREATED, Json(answer))),
        OrderPut::Replaced => Ok((StatusCode::OK, Json(answer))),
        OrderPut::OtherCurrency(currency) => {
            Err(Problem::field("currency", format!("is not the payment's currency, which is {currency}")))
        }
        OrderPut::PaymentHeld(holders) => {
            let names: Vec<String> = holders.iter().map(|holder| holder.operation.to_string()).collect();
            let detail = format!(
                "The order's payment can't change while operations hold money on it: {}. Nothing was changed.",
                names.join(", ")
            );
            Err(Problem::new(StatusCode::CONFLICT, "payment-held", "The payment can't change", detail)
                .with("holders", names))
        }
    }
}

fn read(
    id: &str,
    body: &Value,
    accounts: &[&AccountName],
    now: jiff::Timestamp,
) -> Result<OrderSnapshot, Problem> {
    const KNOWN: [&str; 6] = ["payment", "account", "customer", "currency", "captured", "line_items"];
    let empty = Map::new();
    let mut faults = Vec::new();
    let mut fault = |field: String, detail: String| faults.push(FieldError { field, detail });
    let object = body.as_object().unwrap_or(&empty);
    for name in object.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
        fault(name.clone(), "is not a field of an order".to_owned());
    }
    if let Err(error) = IdentityValue::try_from(id.to_owned()) {
        fault("order".to_owned(), error.to_string());
    }
    let text = |name: &str| object.get(name).filter(|value| !value.is_null());
    let payment = text("payment").and_then(Value::as_str).unwrap_or_default();
    if let Some(detail) = opaque(payment) {
        fault("payment".to_owned(), detail);
    }
    let customer = text("customer").and_then(Value::as_str).map(str::to_owned);
    if text("customer").is_some() && customer.as_deref().is_none_or(|customer| opaque(customer).is_some()) {
        fault("customer".to_owned(), "must be 1 to 255 visible characters".to_owned());
    }
    let account = match (text("account"), accounts) {
        (Some(name), _) => accounts.iter().find(|account| name.as_str() == Some(account.as_str())).copied(),
        (None, [only]) => Some(*only),
        (None, _) => None,
    };
    if account.is_none() {
        fault("account".to_owned(), "must be an account of the configuration".to_owned());
    }
    let currency: Option<Currency> =
        text("currency").and_then(Value::as_str).and_then(|code| code.parse().ok());
    if currency.is_none() {
        fault("currency".to_owned(), "must be an active ISO 4217 code in capitals, like \"TWD\"".to_owned());
    }
    let mut money = |given: Option<&Value>, path: String| -> Option<Money> {
        match read_money(given.unwrap_or(&Value::Null)) {
            Ok(money) if currency.is_none_or(|currency| currency == money.currency()) => Some(money),
            Ok(_) => {
                fault(format!("{path}.currency"), "must be the order's currency".to_owned());
                None
            }
            Err((part, detail)) => {
                fault(format!("{path}{part}"), detail);
                None
            }
        }
    };
    let captured = money(text("captured"), "captured".to_owned());
    let mut lines = Vec::new();
    let mut seen = BTreeSet::new();
    let given = text("line_items").and_then(Value::as_array);
    for (index, line) in given.into_iter().flatten().take(LINES_MAX).enumerate() {
        let path = format!("line_items[{index}]");
        let amount = money(line.get("amount"), format!("{path}.amount"));
        lines.push((path, line, amount));
    }
    if given.is_none_or(|given| given.len() > LINES_MAX) {
        fault("line_items".to_owned(), format!("must be an array of at most {LINES_MAX} lines"));
    }
    let mut read_lines = Vec::new();
    for (path, line, amount) in lines {
        let id = line.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Err(error) = IdentityValue::try_from(id.clone()) {
            fault(format!("{path}.id"), error.to_string());
        } else if !seen.insert(id.clone()) {
            fault(format!("{path}.id"), "stands twice in this order".to_owned());
        }
        let quantity = line.get("quantity").filter(|value| !value.is_null());
        let pieces = quantity.and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
        if quantity.is_some() && pieces.is_none() {
            fault(format!("{path}.quantity"), "must be a whole number, at least 1".to_owned());
        }
        let title = line.get("title").filter(|value| !value.is_null());
        let name = title
            .and_then(Value::as_str)
            .filter(|title| title.chars().count() <= TITLE_CHARS_MAX && !title.contains('\0'));
        if title.is_some() && name.is_none() {
            fault(
                format!("{path}.title"),
                format!("must be a string of at most {TITLE_CHARS_MAX} characters"),
            );
        }
        if let Some(amount) = amount {
            read_lines.push(OrderLine {
                id,
                title: name.map(str::to_owned),
                quantity: pieces,
                amount_minor: amount.minor(),
            });
        }
    }
    match (account, currency, captured) {
        (Some(account), Some(currency), Some(captured)) if faults.is_empty() => Ok(OrderSnapshot {
            id: id.to_owned(),
            account: account.clone(),
            payment: payment.to_owned(),
            currency,
            captured_minor: captured.minor(),
            customer,
            lines: read_lines,
            updated_at: now,
        }),
        _ => Err(Problem::invalid(faults)),
    }
}

/// What is wrong with a foreign name, if anything is.
fn opaque(text: &str) -> Option<String> {
    let good = !text.is_empty()
        && text.chars().count() <= PAYMENT_CHARS_MAX
        && text.trim() == text
        && !text.chars().any(counterfoil_ledger::identity::is_invisible);
    (!good).then(|| format!("must be 1 to {PAYMENT_CHARS_MAX} visible characters without outer white space"))
}

/// An order: totals, worst case, operations.
#[utoipa::path(get, path = "/v1/orders/{order}", params(("order" = String, Path)), security(("token" = [])),
    responses((status = 200, body = OrderView), (status = 404, body = Problem)))]
pub(super) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<OrderView>, Problem> {
    caller.may_read_all()?;
    let store = &shared.works.store;
    let order = store.order(&id).await?.ok_or_else(|| Problem::not_found("order"))?;
    let account = shared
        .works
        .accounts
        .get(&order.account)
        .ok_or_else(|| crate::work::WorkError::NoAccount(order.account.clone()))?;
    let table = account.speaker().exponents;
    let filter = Filter { order: Some(id.clone()), ..Filter::default() };
    let mut loaded = Vec::new();
    for row in store.list(&filter, None, OPERATIONS_MAX).await? {
        if let Ok(operation) = row.loaded {
            let sealed = store.entries(&row.id).await?;
            let entries: Vec<Entered> =
                sealed.iter().map(open).collect::<Result<_, _>>().map_err(|error| {
                    StoreError::Unreadable {
                        table: "entries",
                        row: row.id.to_string(),
                        why: error.to_string(),
                    }
                })?;
            loaded.push((*operation, entries));
        }
    }
    let told: Vec<Told<'_>> = loaded
        .iter()
        .map(|(loaded, entries)| Told { operation: &loaded.operation, entries, policy: &account.policy })
        .collect();
    let payment = store.payment(&order.account, &order.payment).await?;
    let totals = totals(&order, payment.as_ref(), &told, table);
    let operations =
        loaded.iter().filter_map(|(loaded, _)| OperationView::of(&shared.works, loaded, true)).collect();
    Ok(Json(OrderView {
        captured: MoneyView::minor(order.captured_minor, order.currency, table),
        line_items: order.lines.iter().map(|line| line_view(line, order.currency, table)).collect(),
        totals,
        operations,
        customer: order.customer,
        account: order.account.to_string(),
        payment: order.payment,
        updated_at: order.updated_at,
        id,
    }))
}

fn line_view(line: &OrderLine, currency: Currency, table: ExponentTable) -> Value {
    json!({ "id": line.id, "title": line.title, "quantity": line.quantity,
        "amount": serde_json::to_value(MoneyView::minor(line.amount_minor, currency, table)).unwrap_or_default() })
}

fn totals(
    order: &OrderSnapshot,
    payment: Option<&PaymentSheet>,
    told: &[Told<'_>],
    table: ExponentTable,
) -> TotalsView {
    let ours: BTreeSet<&str> = told.iter().map(|told| told.operation.id.as_str()).collect();
    let others: Vec<_> = payment
        .into_iter()
        .flat_map(|payment| &payment.holders)
        .filter(|holder| !ours.contains(holder.operation.as_str()))
        .cloned()
        .collect();
    let unclaimed: Vec<Unclaimed> = payment
        .into_iter()
        .flat_map(|payment| &payment.effects)
        .filter(|effect| effect.operation.is_none())
        .map(|effect| Unclaimed {
            external_id: effect.external_id.clone(),
            minor: effect.amount_minor,
            currency: effect.currency.clone(),
            status: effect.status,
        })
        .collect();
    let totals = Totals::of(order.currency, told, &others, &unclaimed);
    let money = |minor| MoneyView::minor(minor, order.currency, table);
    TotalsView {
        paid: money(order.captured_minor),
        refunded: money(sum_minor(&totals.refunded)),
        in_flight: money(sum_minor(&totals.in_flight)),
        unknown: money(sum_minor(&totals.unknown)),
        worst_case: money(totals.worst_case_minor()),
        left: money(totals.left_minor(order.captured_minor)),
    }
}
