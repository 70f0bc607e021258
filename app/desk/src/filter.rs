//! Which operations a list shows: the views, the filters, and how they stand in a URL.

use counterfoil_ledger::identity::{AccountName, KindName};
use counterfoil_ledger::state::State;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// A view of the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListView {
    /// Escalated, awaiting approval, bounced, with an incident, pending too long, window closing within 2 h, or set aside.
    #[default]
    Attention,
    Unknown,
    /// Not settled, and the key's window closes within 2 h.
    WindowClosing,
    /// Pending for longer than the account's `pending_attention`.
    PendingTooLong,
    Escalated,
    All,
}

impl ListView {
    /// Every view, in the order of the bar.
    pub const ALL: [Self; 6] = [
        Self::Attention,
        Self::Unknown,
        Self::WindowClosing,
        Self::PendingTooLong,
        Self::Escalated,
        Self::All,
    ];

    /// The label in URLs.
    pub fn label(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Unknown => "unknown",
            Self::WindowClosing => "window",
            Self::PendingTooLong => "pending",
            Self::Escalated => "escalated",
            Self::All => "all",
        }
    }
}

/// What is asked of the store. Everything that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub view: ListView,
    pub state: Option<State>,
    pub kind: Option<KindName>,
    pub account: Option<AccountName>,
    /// The whole order number, byte for byte.
    pub order: Option<String>,
    /// The whole external id, byte for byte.
    pub external_id: Option<String>,
    /// Recorded at or after this.
    pub from: Option<Timestamp>,
    /// Recorded before this.
    pub before: Option<Timestamp>,
}

/// A field of the filter form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryField {
    View,
    State,
    Kind,
    Account,
    From,
    To,
}

/// A value in the URL that can't be used. It is said beside the field; it is never silently dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryProblem {
    pub field: QueryField,
    pub value: String,
}

/// The query of `/operations` as it stands in the URL, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationsQuery {
    pub view: String,
    pub state: String,
    pub kind: String,
    pub account: String,
    pub order: String,
    pub external_id: String,
    /// A day in the installation's zone, `2026-11-30`.
    pub from: String,
    /// The last day that is shown.
    pub to: String,
    pub cursor: Option<String>,
}

impl OperationsQuery {
    /// Takes the decoded pairs of a query. A key that isn't ours is left alone; of a repeated one the last counts.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut query = Self::default();
        for (key, value) in pairs {
            match key.as_str() {
                "view" => query.view = value,
                "state" => query.state = value,
                "kind" => query.kind = value,
                "account" => query.account = value,
                "order" => query.order = value,
                "external_id" => query.external_id = value,
                "from" => query.from = value,
                "to" => query.to = value,
                "cursor" => query.cursor = Some(value).filter(|cursor| !cursor.is_empty()),
                _ => {}
            }
        }
        query
    }

    /// The pairs that stand in a URL, empty ones and the cursor left out.
    pub fn pairs(&self) -> Vec<(&'static str, &str)> {
        [
            ("view", &self.view),
            ("state", &self.state),
            ("kind", &self.kind),
            ("account", &self.account),
            ("order", &self.order),
            ("external_id", &self.external_id),
            ("from", &self.from),
            ("to", &self.to),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key, value.as_str()))
        .collect()
    }

    /// Whether anything but the view narrows the list.
    pub fn narrows(&self) -> bool {
        self.pairs().iter().any(|(key, _)| *key != "view")
    }

    /// Reads the query in a zone. What can't be read is named, and doesn't filter.
    pub fn read(&self, zone: &TimeZone) -> (Filter, Vec<QueryProblem>) {
        let mut problems = Vec::new();
        let view = read(&self.view, QueryField::View, &mut problems, |text| {
            ListView::ALL.into_iter().find(|view| view.label() == text)
        })
        // Who searches for something means wherever it is; who opens the list means what needs attention.
        .unwrap_or(if self.narrows() { ListView::All } else { ListView::default() });
        let filter = Filter {
            view,
            state: read(&self.state, QueryField::State, &mut problems, |text| text.parse().ok()),
            kind: read(&self.kind, QueryField::Kind, &mut problems, |text| text.parse().ok()),
            account: read(&self.account, QueryField::Account, &mut problems, |text| text.parse().ok()),
            order: Some(self.order.clone()).filter(|order| !order.is_empty()),
            external_id: Some(self.external_id.clone()).filter(|id| !id.is_empty()),
            from: read(&self.from, QueryField::From, &mut problems, |text| {
                day_begins(text.parse().ok()?, zone)
            }),
            before: read(&self.to, QueryField::To, &mut problems, |text| {
                day_begins(text.parse::<Date>().ok()?.tomorrow().ok()?, zone)
            }),
        };
        (filter, problems)
    }
}

fn read<T>(
    text: &str,
    field: QueryField,
    problems: &mut Vec<QueryProblem>,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    if text.is_empty() {
        return None;
    }
    let parsed = parse(text);
    if parsed.is_none() {
        problems.push(QueryProblem { field, value: text.to_owned() });
    }
    parsed
}

fn day_begins(day: Date, zone: &TimeZone) -> Option<Timestamp> {
    day.to_zoned_datetime(zone.clone()).ok().map(|begin| begin.timestamp())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> OperationsQuery {
        OperationsQuery::from_pairs(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn days_are_days_of_the_installations_zone_and_the_last_one_is_included() {
        let zone = TimeZone::get("Asia/Taipei").unwrap();
        let (filter, problems) = query(&[("from", "2026-11-30"), ("to", "2026-11-30")]).read(&zone);
        assert_eq!(problems, []);
        assert_eq!(filter.from.unwrap().to_string(), "2026-11-29T16:00:00Z");
        assert_eq!(filter.before.unwrap().to_string(), "2026-11-30T16:00:00Z");
    }

    #[test]
    fn what_cannot_be_read_is_named_and_never_silently_dropped() {
        let (filter, problems) =
            query(&[("view", "mine"), ("state", "Unknown"), ("from", "30.11.2026"), ("order", " 1043")])
                .read(&TimeZone::UTC);
        let fields: Vec<_> = problems.iter().map(|problem| problem.field).collect();
        assert_eq!(fields, [QueryField::View, QueryField::State, QueryField::From]);
        assert_eq!(filter.state, None);
        assert_eq!(filter.order.as_deref(), Some(" 1043"), "identifiers are never trimmed");
    }

    #[test]
    fn an_empty_field_of_the_form_filters_nothing() {
        let query = query(&[("view", "all"), ("state", ""), ("order", ""), ("cursor", "")]);
        assert!(!query.narrows());
        assert_eq!(query.cursor, None);
        assert_eq!(query.read(&TimeZone::UTC).0, Filter { view: ListView::All, ..Filter::default() });
    }
}
