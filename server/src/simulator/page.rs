//! Reads of lists: the filters, the cursor, and what the look-up mode makes of them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    account::Account,
    clock::{later, milliseconds},
    mode::{LookupMode, Mode},
    parameters::Parameters,
    payment::Payment,
    refund::Refund,
    wire::Refusal,
};

const REFUND_FILTERS: &[&str] =
    &["payment_intent", "charge", "created", "limit", "starting_after", "ending_before"];
const CHARGE_FILTERS: &[&str] = &["payment_intent", "created", "limit", "starting_after", "ending_before"];

/// `GET /v1/refunds`, newest first.
///
/// # Errors
/// 400 for a parameter that isn't understood; 404 for a payment or a cursor that doesn't exist.
pub(super) fn refunds(
    account: &Account,
    query: &Parameters,
    mode: Mode,
    now: Timestamp,
) -> Result<Value, Refusal> {
    query.only(REFUND_FILTERS)?;
    let asked = Asked::read(query)?;
    let mut found: Vec<&Refund> = match filter(account, query)? {
        Some(payment) => account.refunds_of(payment).collect(),
        None => account.refunds().iter().collect(),
    };
    if mode.lookup == LookupMode::Lagging {
        let lag = milliseconds(mode.lag_ms);
        found.retain(|refund| later(refund.created, lag) <= now);
    }
    found.retain(|refund| asked.admits(refund.created));
    found.sort_by_key(|refund| std::cmp::Reverse((refund.created, refund.position)));
    asked.page("/v1/refunds", mode, &found, |refund| refund.id.as_str(), |refund| refund.object())
}

/// `GET /v1/charges`, newest first.
///
/// # Errors
/// As [`refunds`].
pub(super) fn charges(account: &Account, query: &Parameters, mode: Mode) -> Result<Value, Refusal> {
    query.only(CHARGE_FILTERS)?;
    let asked = Asked::read(query)?;
    let mut found: Vec<(&str, &Payment)> = match filter(account, query)? {
        Some(payment) => payment.charge.as_deref().map(|charge| (charge, payment)).into_iter().collect(),
        None => account
            .payments()
            .filter_map(|payment| payment.charge.as_deref().map(|charge| (charge, payment)))
            .collect(),
    };
    found.retain(|(_, payment)| asked.admits(payment.created));
    found.sort_by_key(|(charge, payment)| std::cmp::Reverse((payment.created, *charge)));
    let render = |(_, payment): &(&str, &Payment)| payment.charge(account.refunded(payment));
    asked.page("/v1/charges", mode, &found, |(charge, _)| *charge, render)
}

/// The one payment that a list is narrowed to.
fn filter<'a>(account: &'a Account, query: &Parameters) -> Result<Option<&'a Payment>, Refusal> {
    let mut chosen: Option<&Payment> = None;
    for (name, what) in [("payment_intent", "payment intent"), ("charge", "charge")] {
        let Some(id) = query.text(name)? else { continue };
        let payment = account.payment(id).ok_or_else(|| Refusal::missing(what, id, name))?;
        if chosen.is_some_and(|other| other.id != payment.id) {
            return Err(Refusal::invalid("The charge isn't of that payment intent").param("charge"));
        }
        chosen = Some(payment);
    }
    Ok(chosen)
}

/// A test of the second an object was created in against the second that was asked for.
type Test = fn(&i64, &i64) -> bool;

/// Where a page begins and how long it may be.
struct Asked {
    limit: usize,
    after: Option<String>,
    before: Option<String>,
    created: Vec<(Test, i64)>,
}

impl Asked {
    fn read(query: &Parameters) -> Result<Self, Refusal> {
        let limit = query.integer("limit")?.unwrap_or(10);
        let limit =
            usize::try_from(limit).ok().filter(|limit| (1..=100).contains(limit)).ok_or_else(|| {
                Refusal::invalid("'limit' must be between 1 and 100")
                    .code("parameter_invalid_integer")
                    .param("limit")
            })?;
        let after = query.text("starting_after")?.map(str::to_owned);
        let before = query.text("ending_before")?.map(str::to_owned);
        if after.is_some() && before.is_some() {
            return Err(Refusal::invalid("A page either starts after an object or ends before one")
                .param("ending_before"));
        }
        let mut created: Vec<(Test, i64)> = Vec::new();
        let bounds: [(&str, Test); 5] = [
            ("created", i64::eq),
            ("created[gt]", i64::gt),
            ("created[gte]", i64::ge),
            ("created[lt]", i64::lt),
            ("created[lte]", i64::le),
        ];
        for (name, test) in bounds {
            if let Some(second) = query.integer(name)? {
                created.push((test, second));
            }
        }
        Ok(Self { limit, after, before, created })
    }

    fn admits(&self, created: Timestamp) -> bool {
        self.created.iter().all(|(test, second)| test(&created.as_second(), second))
    }

    /// Cuts the page out of `all`, which stands newest first.
    fn page<T>(
        &self,
        url: &str,
        mode: Mode,
        all: &[T],
        id: impl Fn(&T) -> &str,
        render: impl Fn(&T) -> Value,
    ) -> Result<Value, Refusal> {
        let place = |cursor: &str, name: &str| {
            all.iter()
                .position(|item| id(item) == cursor)
                .ok_or_else(|| Refusal::missing("object", cursor, name))
        };
        let looping = mode.lookup == LookupMode::Loop;
        let (start, end, more) = if let Some(cursor) = self.before.as_deref().filter(|_| !looping) {
            let end = place(cursor, "ending_before")?;
            let start = end.saturating_sub(self.limit);
            (start, end, start > 0)
        } else {
            let start = match self.after.as_deref().filter(|_| !looping) {
                Some(cursor) => place(cursor, "starting_after")? + 1,
                None => 0,
            };
            let reach = if mode.lookup == LookupMode::Capped { mode.cap.min(all.len()) } else { all.len() };
            let end = start.saturating_add(self.limit).min(reach).max(start);
            (start, end, end < all.len())
        };
        let data: Vec<Value> = all.get(start..end).unwrap_or_default().iter().map(render).collect();
        Ok(json!({ "object": "list", "url": url, "has_more": more || looping, "data": data }))
    }
}
