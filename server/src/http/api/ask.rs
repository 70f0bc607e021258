//! The form of a request for an operation: every field checked before anything is recorded, all faults named at once.

use std::collections::BTreeMap;

use counterfoil_ledger::entry::Asked;
use counterfoil_ledger::identity::{IdentityValue, KindName, Revision};
use counterfoil_ledger::kind::{AmountFrom, Kind};
use counterfoil_ledger::money::Money;
use serde_json::{Map, Value};

use crate::http::Problem;
use crate::http::auth::Caller;
use crate::http::problem::FieldError;
use crate::work::authorize::{Ask, Wanted};

const REASON_CHARS_MAX: usize = 2000;
const NAME_CHARS_MAX: usize = 128;

/// Fields that are known. `idempotency_key` is let pass and has no meaning: whoever makes keys up makes a new one for the same
/// thing, and the ledger computes its own.
const FIELDS: [&str; 8] =
    ["kind", "identity", "revision", "params", "customer", "requested_by", "reason", "idempotency_key"];

#[derive(Default)]
struct Faults(Vec<FieldError>);

impl Faults {
    fn add(&mut self, field: impl Into<String>, detail: impl Into<String>) {
        self.0.push(FieldError { field: field.into(), detail: detail.into() });
    }
}

/// The kind that is asked for: first of all, because the token must be allowed to write it.
pub(super) fn kind<'a>(body: &Value, kinds: &'a BTreeMap<KindName, Kind>) -> Result<&'a Kind, Problem> {
    let Some(object) = body.as_object() else { return Err(Problem::field("body", "must be a JSON object")) };
    let Some(name) = object.get("kind") else { return Err(Problem::field("kind", "is missing")) };
    name.as_str()
        .and_then(|name| name.parse::<KindName>().ok())
        .and_then(|name| kinds.get(&name))
        .ok_or_else(|| Problem::field("kind", "is not a kind of this ledger"))
}

/// Reads the request.
pub(super) fn read(body: &Value, kind: &Kind, caller: &Caller) -> Result<Ask, Problem> {
    let empty = Map::new();
    let object = body.as_object().unwrap_or(&empty);
    let mut faults = Faults::default();
    for name in object.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
        faults.add(name.clone(), "is not a field of this request");
    }
    let identity = identity(object.get("identity"), kind, &mut faults);
    let revision = revision(object.get("revision"), &mut faults);
    let params = object.get("params").filter(|params| !params.is_null()).cloned();
    let wanted = wanted(params.as_ref(), kind, &mut faults);
    let mut text =
        |name: &str, chars_max, lines| free_text(object.get(name), name, chars_max, lines, &mut faults);
    let customer = text("customer", NAME_CHARS_MAX, false);
    let requested_by = text("requested_by", NAME_CHARS_MAX, false);
    let reason = text("reason", REASON_CHARS_MAX, true);
    if !faults.0.is_empty() {
        return Err(Problem::invalid(faults.0));
    }
    let asked = Asked { token: caller.0.name.clone(), owner: caller.0.owner.clone(), requested_by, reason };
    Ok(Ask { kind: kind.clone(), identity, revision, params, wanted, customer, asked })
}

fn identity(given: Option<&Value>, kind: &Kind, faults: &mut Faults) -> Vec<(String, IdentityValue)> {
    let Some(given) = given.and_then(Value::as_object) else {
        faults.add("identity", format!("must be an object with {}", kind.identity.join(", ")));
        return Vec::new();
    };
    for name in given.keys().filter(|name| !kind.identity.contains(name)) {
        faults.add(format!("identity.{name}"), format!("is no part of the identity of {}", kind.name));
    }
    let mut identity = Vec::with_capacity(kind.identity.len());
    for name in &kind.identity {
        let path = format!("identity.{name}");
        match given.get(name) {
            None => faults.add(path, "is missing"),
            Some(Value::String(text)) => match IdentityValue::try_from(text.clone()) {
                Ok(value) => identity.push((name.clone(), value)),
                Err(error) => faults.add(path, error.to_string()),
            },
            Some(_) => {
                faults.add(path, "must be a string: identifiers are opaque text, and 1043 isn't \"01043\"")
            }
        }
    }
    identity
}

fn revision(given: Option<&Value>, faults: &mut Faults) -> Revision {
    let Some(given) = given.filter(|given| !given.is_null()) else { return Revision::FIRST };
    let number = given.as_u64().and_then(|number| u8::try_from(number).ok());
    match number.map(Revision::try_from) {
        Some(Ok(revision)) => revision,
        Some(Err(_)) | None => {
            faults.add("revision", "must be a whole number from 1 to 99");
            Revision::FIRST
        }
    }
}

fn wanted(params: Option<&Value>, kind: &Kind, faults: &mut Faults) -> Wanted {
    let Some(params) = params else {
        if kind.amount_from == AmountFrom::Caller {
            faults.add("params.amount", "is missing");
        }
        return Wanted::Rest;
    };
    let Some(object) = params.as_object() else {
        faults.add("params", "must be an object");
        return Wanted::Rest;
    };
    let known: &[&str] = match kind.amount_from {
        AmountFrom::Order => &["quantity", "amount"],
        AmountFrom::Caller => &["amount"],
    };
    for name in object.keys().filter(|name| !known.contains(&name.as_str())) {
        faults.add(format!("params.{name}"), format!("is not a parameter of {}", kind.name));
    }
    match (object.get("quantity"), object.get("amount")) {
        (Some(_), Some(_)) => {
            faults.add("params", "takes a quantity or an amount, not both");
            Wanted::Rest
        }
        (Some(quantity), None) => {
            match quantity.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0) {
                Some(quantity) => Wanted::Quantity(quantity),
                None => {
                    faults.add("params.quantity", "must be a whole number, at least 1");
                    Wanted::Rest
                }
            }
        }
        (None, Some(amount)) => money(amount, "params.amount", faults).map_or(Wanted::Rest, Wanted::Amount),
        (None, None) => {
            if kind.amount_from == AmountFrom::Caller {
                faults.add("params.amount", "is missing");
            } else if object.is_empty() {
                faults.add(
                    "params",
                    "must name a quantity or an amount; leave it out for the rest of the line",
                );
            }
            Wanted::Rest
        }
    }
}

fn money(given: &Value, path: &str, faults: &mut Faults) -> Option<Money> {
    match read_money(given) {
        Ok(money) => Some(money),
        Err((field, detail)) => {
            faults.add(format!("{path}{field}"), detail);
            None
        }
    }
}

/// `{"amount":"38000","currency":"TWD"}`, or which part is wrong and why.
pub(super) fn read_money(given: &Value) -> Result<Money, (&'static str, String)> {
    let form = || {
        (
            "",
            "must be {\"amount\":\"38000\",\"currency\":\"TWD\"}, the amount in minor units as a string"
                .to_owned(),
        )
    };
    let object = given.as_object().ok_or_else(form)?;
    if object.keys().any(|name| !matches!(name.as_str(), "amount" | "currency" | "display")) {
        return Err(form());
    }
    let amount = object.get("amount").and_then(Value::as_str).ok_or_else(form)?;
    let currency = object.get("currency").and_then(Value::as_str).ok_or_else(form)?;
    let minor =
        counterfoil_ledger::money::parse_minor(amount).map_err(|error| (".amount", error.to_string()))?;
    let currency = currency
        .parse()
        .map_err(|error: counterfoil_ledger::money::MoneyError| (".currency", error.to_string()))?;
    Money::new(minor, currency).map_err(|error| (".amount", error.to_string()))
}

/// Free text: kept as given, and nothing in it that can't be seen. `lines`: may have several.
fn free_text(
    given: Option<&Value>,
    name: &str,
    chars_max: usize,
    lines: bool,
    faults: &mut Faults,
) -> Option<String> {
    let given = given.filter(|given| !given.is_null())?;
    let Some(text) = given.as_str() else {
        faults.add(name, "must be a string");
        return None;
    };
    let chars = text.chars().count();
    if chars > chars_max || (!lines && chars == 0) {
        faults.add(
            name,
            format!("must be at most {chars_max} characters{}", if lines { "" } else { ", and not empty" }),
        );
        return None;
    }
    let allowed = |c: char| (lines && matches!(c, '\n' | '\t')) || !c.is_control();
    if let Some(bad) = text.chars().find(|c| !allowed(*c)) {
        faults.add(name, format!("must not hold control characters (found U+{:04X})", u32::from(bad)));
        return None;
    }
    Some(text.to_owned())
}
