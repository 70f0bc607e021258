//! `POST /v1/operations`: run an effect once.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use counterfoil_ledger::balance::Holder;
use counterfoil_ledger::money::ExponentTable;
use counterfoil_ledger::state::State as OperationState;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::view::{MoneyView, OperationView, encode, next_check_at};
use super::{Body, ask};
use crate::http::auth::Caller;
use crate::http::{Problem, Shared};
use crate::store::{Loaded, Refusal};
use crate::work::authorize::{Answer, Ask};

const WAIT_DEFAULT: Duration = Duration::from_secs(3);
const WAIT_MAX_S: u64 = 5;
/// After that the caller is told that it may be recorded. Below the time within which anything is answered.
const RECORDED_WITHIN: Duration = Duration::from_secs(12);

/// What is asked for.
#[derive(ToSchema)]
#[allow(
    dead_code,
    reason = "the body is read field by field so that every fault is named; this is its document"
)]
pub(super) struct OperationRequest {
    #[schema(example = "refund")]
    kind: String,
    /// The kind's identity fields, all of them, as strings. Compared byte for byte.
    #[schema(value_type = Object, example = json!({"order": "1043", "line_item": "li_2"}))]
    identity: Value,
    /// 1 (or left out) is the first; 2 to 99 is the same thing done again, which a person must approve.
    #[schema(minimum = 1, maximum = 99)]
    revision: Option<u8>,
    /// Left out: the rest of the line. Or `{"quantity":1}`, or `{"amount":{"amount":"38000","currency":"TWD"}}`.
    #[schema(value_type = Option<Object>)]
    params: Option<Value>,
    /// Must be the order's, when given.
    customer: Option<String>,
    /// Who asks, in the shop's words; decides nothing on this operation.
    requested_by: Option<String>,
    /// Why, in the caller's words; kept with the request, never sent.
    reason: Option<String>,
}

/// Run an effect once.
///
/// Whoever asks for the same thing gets the same operation. Asking again never sends; it makes the ledger look.
#[utoipa::path(
    post, path = "/v1/operations", request_body = OperationRequest, security(("token" = [])),
    params(("Prefer" = Option<String>, Header, description = "`wait=4`: seconds to wait for the first answer, 0 to 5; 3 when left out")),
    responses(
        (status = 201, body = OperationView, description = "New, and confirmed within the wait"),
        (status = 202, body = OperationView, description = "New, and not final: read it again at `Location`"),
        (status = 200, body = OperationView, description = "A repeat, whatever its state; or a new one that ended failed"),
        (status = 409, body = Problem, description = "`intent-mismatch`, `exceeds-refundable`, `revision-not-open`: nothing was sent"),
        (status = 422, body = Problem, description = "Refused before it was recorded: names the field"),
        (status = 503, body = Problem, description = "`not-recorded`: nothing was sent. `recording-unknown`: it may be")
    )
)]
pub(super) async fn create(
    State(shared): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    let kind = ask::kind(&body, &shared.works.kinds)?;
    caller.may_write(&kind.name)?;
    let ask = ask::read(&body, kind, &caller)?;
    let wait = wait(&headers)?;
    // Recording and sending go on when the caller hangs up.
    let (works, own) = (shared.works.clone(), ask.clone());
    let recording = shared.works.tasks.spawn(async move { works.authorize(own).await });
    let recorded = tokio::time::timeout(RECORDED_WITHIN, recording).await;
    let answer =
        recorded.map_err(|_| Problem::recording_unknown())?.map_err(|_| Problem::recording_unknown())??;
    match answer {
        Answer::New(new, sending) => {
            if let Some(sending) = sending {
                // Whether or not the wait was long enough: what is known now is what is told.
                let _ = tokio::time::timeout(wait, sending).await;
                let id = &new.operation.id;
                return match shared.works.store.load(id).await {
                    Ok(Some(loaded)) => Ok(new_answer(&shared, &loaded)),
                    // It is recorded and may be sent; nobody can say more.
                    Ok(None) | Err(_) => Err(Problem::recording_unknown().with("id", id.to_string())),
                };
            }
            Ok(new_answer(&shared, &new))
        }
        Answer::Repeat(stored) => Ok(answer_with(StatusCode::OK, &shared, &stored, true)),
        Answer::Mismatch { stored, fields } => Err(mismatch(&shared, &stored, &fields)),
        Answer::Refused(refusal) => Err(refused(&shared, &ask, refusal)),
        Answer::NotRecorded => Err(Problem::not_recorded()),
        Answer::RecordingUnknown => Err(Problem::recording_unknown()),
    }
}

fn wait(headers: &HeaderMap) -> Result<Duration, Problem> {
    let Some(prefer) = headers.get("prefer").and_then(|value| value.to_str().ok()) else {
        return Ok(WAIT_DEFAULT);
    };
    let Some(seconds) = prefer.split(',').find_map(|part| part.trim().strip_prefix("wait=")) else {
        return Ok(WAIT_DEFAULT);
    };
    let seconds: u64 =
        seconds.parse().map_err(|_| Problem::field("Prefer", "must be wait= and whole seconds"))?;
    Ok(Duration::from_secs(seconds.min(WAIT_MAX_S)))
}

fn new_answer(shared: &Shared, loaded: &Loaded) -> Response {
    let status = match loaded.operation.facts.state {
        OperationState::Confirmed => StatusCode::CREATED,
        OperationState::Failed => StatusCode::OK,
        _ => StatusCode::ACCEPTED,
    };
    answer_with(status, shared, loaded, false)
}

/// An operation as an answer, with where to read it and when that is worth it.
pub(super) fn answer_with(status: StatusCode, shared: &Shared, loaded: &Loaded, replayed: bool) -> Response {
    let Some(view) = OperationView::of(&shared.works, loaded, replayed) else {
        return Problem::from(crate::work::WorkError::NoAccount(loaded.operation.intent.account.clone()))
            .into_response();
    };
    let mut response = (status, Json(view)).into_response();
    let headers = response.headers_mut();
    let location = format!("/v1/operations/{}", encode(loaded.operation.id.as_str()));
    if let Ok(location) = HeaderValue::from_str(&location) {
        headers.insert(header::LOCATION, location);
    }
    if !loaded.operation.facts.state.is_final() {
        let now = loaded.operation.facts.updated_at;
        let seconds = next_check_at(loaded).map_or(5, |at| at.duration_since(now).as_secs().clamp(1, 3600));
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn mismatch(shared: &Shared, stored: &Loaded, fields: &[String]) -> Problem {
    let view = OperationView::value(&shared.works, stored, true);
    let detail = format!(
        "The operation {} exists with other parameters ({}). Nothing new was recorded and nothing was sent. {}",
        stored.operation.id,
        fields.join(", "),
        view.get("message").and_then(Value::as_str).unwrap_or_default(),
    );
    let mut problem = Problem::new(
        StatusCode::CONFLICT,
        "intent-mismatch",
        "The same operation was asked for with other parameters",
        detail,
    );
    problem.errors = fields
        .iter()
        .map(|field| crate::http::problem::FieldError {
            field: field.clone(),
            detail: "differs from the stored operation".to_owned(),
        })
        .collect();
    for name in ["state", "amount", "message", "claim", "resend"] {
        problem = problem.with(name, view.get(name).cloned().unwrap_or_default());
    }
    problem.with("intent_hash", stored.operation.intent_hash.to_string()).with("operation", view)
}

fn refused(shared: &Shared, ask: &Ask, refusal: Refusal) -> Problem {
    match refusal {
        Refusal::Field { field, detail } => Problem::field(field, detail),
        Refusal::RevisionNotOpen { previous, state } => Problem::new(
            StatusCode::CONFLICT,
            "revision-not-open",
            "The revision before isn't final",
            format!("{previous} is {state}. A new revision needs it confirmed, failed or cancelled. Nothing was recorded."),
        )
        .with("previous", previous.to_string())
        .with("state", state.label()),
        Refusal::Exceeds { of, exceeds, currency } => {
            let table = shared.works.speaker(&ask.kind.account).map_or(ExponentTable::Stripe, |speaker| speaker.exponents);
            let money = |minor| MoneyView::minor(minor, currency, table);
            let names: Vec<String> = exceeds.holders.iter().map(|h| format!("{} ({})", h.operation, h.state)).collect();
            let whose = if of == "payment" { "the payment" } else { "the line" };
            let held_by = if names.is_empty() { String::new() } else { format!(" Held by {}.", names.join(", ")) };
            let detail = format!(
                "{} {currency} is left of {whose}, and {} {currency} was asked for.{held_by} Nothing was recorded and nothing was sent.",
                table.decimal(exceeds.left_minor, currency),
                table.decimal(exceeds.asked_minor, currency),
            );
            let title = "More than can still be refunded";
            Problem::new(StatusCode::CONFLICT, "exceeds-refundable", title, detail)
                .with("of", of)
                .with("left", value(&money(exceeds.left_minor)))
                .with("limit", value(&money(exceeds.limit_minor)))
                .with("unclaimed", value(&money(exceeds.foreign_minor)))
                .with("holders", exceeds.holders.iter().map(|holder| held(holder, &money)).collect::<Vec<_>>())
        }
        Refusal::Fault(what) => {
            tracing::error!(fault = what, "an operation couldn't be put together");
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Something failed inside", "Nothing was recorded.")
        }
    }
}

fn value(money: &MoneyView) -> Value {
    serde_json::to_value(money).unwrap_or_default()
}

fn held(holder: &Holder, money: &dyn Fn(i64) -> MoneyView) -> Value {
    json!({ "operation": holder.operation, "state": holder.state, "amount": value(&money(holder.minor)) })
}
