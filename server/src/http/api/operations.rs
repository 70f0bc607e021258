//! Reading operations, and the two things that may be asked of one: stop, and look now.
#![allow(unused_qualifications, reason = "utoipa writes the path of a parameter struct out")]

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use counterfoil_ledger::chain::open;
use counterfoil_ledger::entry::{Actor, Entered, Entry};
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::state::State as OperationState;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::Parameters;
use super::create::answer_with;
use super::view::OperationView;
use crate::http::auth::Caller;
use crate::http::{Problem, Shared};
use crate::store::{Cursor, Filter, Loaded, StoreError};
use crate::work::WorkError;
use crate::work::authorize::LOOK_UP_GAP;

const LIMIT_DEFAULT: u32 = 50;
const LIMIT_MAX: u32 = 200;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    /// A state, or several with commas between.
    state: Option<String>,
    /// The shop's own number, exactly.
    order: Option<String>,
    /// The provider's number, exactly.
    external_id: Option<String>,
    /// `next` of the page before.
    cursor: Option<i64>,
    /// 1 to 200; 50 when left out.
    limit: Option<u32>,
}

/// One page of operations, newest first.
#[derive(Serialize, ToSchema)]
pub(super) struct OperationPage {
    operations: Vec<OperationView>,
    /// Operations whose rows can't be read; a person has an alarm.
    unreadable: Vec<String>,
    /// The cursor of the next page; null on the last.
    next: Option<i64>,
}

/// List operations, newest first.

#[utoipa::path(get, path = "/v1/operations", params(ListQuery), security(("token" = [])),
    responses((status = 200, body = OperationPage), (status = 422, body = Problem)))]
pub(super) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<OperationPage>, Problem> {
    caller.may_read_all()?;
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Problem::field("limit", format!("must be from 1 to {LIMIT_MAX}")));
    }
    let states = query
        .state
        .iter()
        .flat_map(|states| states.split(','))
        .map(str::parse::<OperationState>)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| Problem::field("state", "is not a state"))?;
    let filter = Filter { states, order: query.order, external_id: query.external_id, ..Filter::default() };
    let after = query.cursor.map(|ordinal| Cursor { key: 0, ordinal });
    let mut listed = shared.works.store.list(&filter, after, limit + 1).await?;
    let more = listed.len() > limit as usize;
    listed.truncate(limit as usize);
    let next = listed.last().filter(|_| more).map(|last| last.place.ordinal);
    let mut page = OperationPage { operations: Vec::new(), unreadable: Vec::new(), next };
    for row in listed {
        match row.loaded.ok().and_then(|loaded| OperationView::of(&shared.works, &loaded, true)) {
            Some(view) => page.operations.push(view),
            None => page.unreadable.push(row.id.to_string()),
        }
    }
    Ok(Json(page))
}

async fn load(shared: &Shared, caller: &Caller, id: &str) -> Result<Loaded, Problem> {
    let id = OperationId::stored(id);
    let loaded = shared.works.store.load(&id).await?;
    match &loaded {
        Some(loaded) => caller.may_read(&loaded.operation.facts.subject.kind)?,
        // Who may not read everything isn't told what there is.
        None => caller.may_read_all()?,
    }
    loaded.ok_or_else(|| Problem::not_found("operation"))
}

/// Read one operation.
#[utoipa::path(get, path = "/v1/operations/{id}", params(("id" = String, Path)), security(("token" = [])),
    responses((status = 200, body = OperationView), (status = 404, body = Problem)))]
pub(super) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<OperationView>, Problem> {
    let loaded = load(&shared, &caller, &id).await?;
    let account = loaded.operation.intent.account.clone();
    Ok(Json(OperationView::of(&shared.works, &loaded, true).ok_or(WorkError::NoAccount(account))?))
}

async fn entries(shared: &Shared, caller: &Caller, id: &str) -> Result<Vec<(Entered, String)>, Problem> {
    let loaded = load(shared, caller, id).await?;
    let sealed = shared.works.store.entries(&loaded.operation.id).await?;
    sealed
        .iter()
        .map(|row| {
            open(row).map(|entered| (entered, row.hash.clone())).map_err(|error| {
                StoreError::Unreadable { table: "entries", row: id.to_owned(), why: error.to_string() }.into()
            })
        })
        .collect()
}

/// Every entry, with its link in the operation's chain.
#[utoipa::path(get, path = "/v1/operations/{id}/timeline", params(("id" = String, Path)), security(("token" = [])),
    responses((status = 200, description = "`entries`: seq, at, actor, type, body, hash"), (status = 404, body = Problem)))]
pub(super) async fn timeline(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let entries: Vec<Value> = entries(&shared, &caller, &id)
        .await?
        .into_iter()
        .map(|(entered, hash)| {
            let mut value = serde_json::to_value(&entered).unwrap_or_default();
            if let Some(object) = value.as_object_mut() {
                object.insert("hash".to_owned(), hash.into());
            }
            value
        })
        .collect();
    Ok(Json(json!({ "operation": id, "entries": entries })))
}

/// Every send, with what came back.
#[utoipa::path(get, path = "/v1/operations/{id}/attempts", params(("id" = String, Path)), security(("token" = [])),
    responses((status = 200, description = "`attempts`: number, marked_at, ended_at, end (class, why, http_status, …)"), (status = 404, body = Problem)))]
pub(super) async fn attempts(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let loaded = load(&shared, &caller, &id).await?;
    Ok(Json(json!({ "operation": id, "attempts": loaded.operation.facts.attempts })))
}

/// Everything from outside that says something about the effect, and what it adds up to.
#[utoipa::path(get, path = "/v1/operations/{id}/evidence", params(("id" = String, Path)), security(("token" = [])),
    responses((status = 200, description = "`evidence`: look-ups, answers and what the provider told us; `conclusion`"), (status = 404, body = Problem)))]
pub(super) async fn evidence(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let loaded = load(&shared, &caller, &id).await?;
    let evidence: Vec<Value> = entries(&shared, &caller, &id)
        .await?
        .into_iter()
        .filter(|(entered, _)| {
            matches!(entered.entry, Entry::AttemptEnded { .. } | Entry::LookedUp { .. } | Entry::Told { .. })
        })
        .map(|(entered, _)| serde_json::to_value(&entered).unwrap_or_default())
        .collect();
    Ok(Json(
        json!({ "operation": id, "evidence": evidence, "conclusion": loaded.operation.facts.conclusion }),
    ))
}

/// We intend to stop: before it is sent it cancels; after, it only stops further sends.
#[utoipa::path(post, path = "/v1/operations/{id}/cancel", params(("id" = String, Path)), security(("token" = [])),
    responses((status = 200, body = OperationView), (status = 404, body = Problem)))]
pub(super) async fn cancel(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let loaded = load(&shared, &caller, &id).await?;
    caller.may_write(&loaded.operation.facts.subject.kind)?;
    let actor = Actor::Token(caller.0.name.clone());
    let stopped = shared
        .works
        .cancel(&loaded.operation.id, actor)
        .await?
        .ok_or_else(|| Problem::not_found("operation"))?;
    Ok(answer_with(StatusCode::OK, &shared, &stopped, true))
}

/// Make the ledger look now, once per 5 s however many ask.
#[utoipa::path(post, path = "/v1/operations/{id}/lookup", params(("id" = String, Path)), security(("token" = [])),
    responses((status = 202, body = OperationView), (status = 404, body = Problem)))]
pub(super) async fn look_up(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let loaded = load(&shared, &caller, &id).await?;
    let now = shared.works.store.now().await?;
    if shared.works.store.ask_look_up(&loaded.operation.id, now, LOOK_UP_GAP).await? {
        shared.works.due.notify_one();
    }
    let loaded = load(&shared, &caller, &id).await?;
    Ok(answer_with(StatusCode::ACCEPTED, &shared, &loaded, true))
}
