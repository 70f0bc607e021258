//! Operations and orders as JSON.

use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::intent::EffectKind;
use counterfoil_ledger::money::{Currency, ExponentTable, Money};
use counterfoil_ledger::state::State;
use counterfoil_ledger::words::{Claim, claim, message};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::store::Loaded;
use crate::work::Works;

/// Money in answers.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct MoneyView {
    /// Whole minor units.
    #[schema(example = "38000")]
    amount: String,
    #[schema(example = "TWD")]
    currency: String,
    #[schema(example = "380.00 TWD")]
    display: String,
}

impl MoneyView {
    pub(super) fn of(money: Money, table: ExponentTable) -> Self {
        Self::minor(money.minor(), money.currency(), table)
    }

    /// Sums may be 0 or negative.
    pub(super) fn minor(minor: i64, currency: Currency, table: ExponentTable) -> Self {
        Self {
            amount: minor.to_string(),
            currency: currency.to_string(),
            display: format!("{} {currency}", table.decimal(minor, currency)),
        }
    }
}

/// Another address that belongs to it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct Link {
    #[schema(example = "order")]
    rel: &'static str,
    href: String,
}

/// An operation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct OperationView {
    /// The Operation ID.
    #[schema(example = "refund-1043-li_2")]
    id: String,
    kind: String,
    #[schema(value_type = Object)]
    identity: Map<String, Value>,
    revision: u8,
    /// What is known: see `/help/states`.
    #[schema(value_type = String, example = "unknown")]
    state: State,
    /// `failed` after it had been `confirmed`.
    bounced: bool,
    /// What is known, what isn't, what happens by itself, and what not to do.
    pub(crate) message: String,
    /// What the customer may be told.
    #[schema(value_type = String, example = "in_progress")]
    claim: Claim,
    /// Always `never`.
    #[schema(example = "never")]
    resend: &'static str,
    /// `false` on the call that made it.
    replayed: bool,
    amount: MoneyView,
    order: String,
    customer: Option<String>,
    #[schema(value_type = Option<Object>)]
    params: Option<Value>,
    intent_hash: String,
    /// The provider's number for the effect.
    external_id: Option<String>,
    /// Sends so far.
    attempts: usize,
    #[schema(value_type = Option<String>, format = DateTime)]
    first_sent_at: Option<Timestamp>,
    /// When the provider may forget the key.
    #[schema(value_type = Option<String>, format = DateTime)]
    key_expires_at: Option<Timestamp>,
    /// When the ledger looks by itself.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_check_at: Option<Timestamp>,
    /// Moves with state, decisions and the conclusion.
    version: u64,
    /// Things that a person must look into.
    #[schema(value_type = Vec<Object>)]
    incidents: Vec<counterfoil_ledger::entry::Incident>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    links: Vec<Link>,
}

/// After a restore it isn't proved yet that it wasn't sent before.
fn is_in_doubt(loaded: &Loaded) -> bool {
    matches!(loaded.step.reason, Reason::RestoreInDoubt { .. })
}

/// The time at which the ledger looks by itself, while it does.
pub(super) fn next_check_at(loaded: &Loaded) -> Option<Timestamp> {
    let state = loaded.operation.facts.state;
    let looks = matches!(state, State::Submitted | State::Unknown | State::Pending | State::Escalated);
    (looks || is_in_doubt(loaded)).then_some(loaded.step.due_at).flatten()
}

impl OperationView {
    /// `None`: the configuration no longer has the account, so that amounts can't be shown.
    pub(crate) fn of(works: &Works, loaded: &Loaded, replayed: bool) -> Option<Self> {
        let operation = &loaded.operation;
        let facts = &operation.facts;
        let subject = &facts.subject;
        let speaker = works.speaker(&operation.intent.account)?;
        let next_check_at = next_check_at(loaded);
        let in_doubt = is_in_doubt(loaded);
        let EffectKind::Refund = operation.intent.effect;
        Some(Self {
            id: operation.id.to_string(),
            kind: subject.kind.to_string(),
            identity: subject
                .identity
                .iter()
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect(),
            revision: subject.revision.number(),
            state: facts.state,
            bounced: facts.bounced,
            message: message(operation, speaker, next_check_at, in_doubt),
            claim: claim(operation, in_doubt),
            resend: "never",
            replayed,
            amount: MoneyView::of(operation.intent.money, speaker.exponents),
            order: subject.order.to_string(),
            customer: subject.customer.clone(),
            params: subject.params.clone(),
            intent_hash: operation.intent_hash.to_string(),
            external_id: facts.conclusion.external_id().map(str::to_owned),
            attempts: facts.attempts.len(),
            first_sent_at: operation.first_sent_at(),
            key_expires_at: facts.window.map(|window| window.closes_at()),
            next_check_at,
            version: facts.version,
            incidents: facts.incidents.clone(),
            created_at: facts.created_at,
            updated_at: facts.updated_at,
            links: links(loaded),
        })
    }

    /// As a value inside a problem.
    pub(super) fn value(works: &Works, loaded: &Loaded, replayed: bool) -> Value {
        Self::of(works, loaded, replayed).and_then(|view| serde_json::to_value(view).ok()).unwrap_or_default()
    }
}

fn links(loaded: &Loaded) -> Vec<Link> {
    let operation = &loaded.operation;
    let subject = &operation.facts.subject;
    let at = |id: &OperationId, rest: &str| format!("/v1/operations/{}{rest}", encode(id.as_str()));
    let mut links = vec![
        Link { rel: "self", href: at(&operation.id, "") },
        Link { rel: "timeline", href: at(&operation.id, "/timeline") },
        Link { rel: "attempts", href: at(&operation.id, "/attempts") },
        Link { rel: "evidence", href: at(&operation.id, "/evidence") },
        Link { rel: "order", href: format!("/v1/orders/{}", encode(subject.order.as_str())) },
        Link { rel: "desk", href: format!("/operations/{}", encode(operation.id.as_str())) },
    ];
    if let Some(previous) = subject.revision.previous()
        && let Ok(id) = OperationId::compute(&subject.kind, &subject.values(), previous)
    {
        links.push(Link { rel: "previous-revision", href: at(&id, "") });
    }
    for hold in &operation.facts.holds {
        if let counterfoil_ledger::entry::Hold::Twin { operation } = hold {
            links.push(Link { rel: "twin", href: at(operation, "") });
        }
    }
    links
}

/// One path segment.
pub(super) fn encode(text: &str) -> String {
    const SEGMENT: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    percent_encoding::utf8_percent_encode(text, SEGMENT).to_string()
}
