//! The tester's side over HTTP, `/simulator/…`. What can be ordered, and what that does, stands in `orders`.

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use super::{Effect, Rejected, Seen, Simulator};

impl IntoResponse for Rejected {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Conflict(_) => StatusCode::CONFLICT,
        };
        (status, Json(json!({ "detail": self.to_string() }))).into_response()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance_s: u32,
}

/// The routes under `/simulator`.
pub(super) fn routes() -> Router<Simulator> {
    Router::new()
        .route("/simulator/payments", post(add_payment))
        .route("/simulator/refunds", post(add_refund))
        .route("/simulator/refunds/{id}", post(move_refund))
        .route("/simulator/faults", post(add_fault).delete(clear_faults))
        .route("/simulator/mode", post(set_mode))
        .route("/simulator/clock", post(advance))
        .route("/simulator/webhooks", post(set_webhook))
        .route("/simulator/effects", get(effects))
        .route("/simulator/requests", get(requests))
}

/// Any content type will do: a tester's `curl -d` sends none that fits.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Rejected> {
    serde_json::from_slice(body).map_err(|error| Rejected::Invalid(error.to_string()))
}

async fn add_payment(State(simulator): State<Simulator>, body: Bytes) -> Result<Response, Rejected> {
    let paid = simulator.add_payment(parse(&body)?)?;
    let status = if paid.existed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(paid)).into_response())
}

async fn add_refund(State(simulator): State<Simulator>, body: Bytes) -> Result<Response, Rejected> {
    let effect = simulator.add_refund(parse(&body)?)?;
    Ok((StatusCode::CREATED, Json(effect)).into_response())
}

async fn move_refund(
    State(simulator): State<Simulator>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<Effect>, Rejected> {
    simulator.move_refund(&id, parse(&body)?).map(Json)
}

async fn add_fault(State(simulator): State<Simulator>, body: Bytes) -> Result<StatusCode, Rejected> {
    simulator.add_fault(parse(&body)?)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn clear_faults(State(simulator): State<Simulator>) -> StatusCode {
    simulator.clear_faults();
    StatusCode::NO_CONTENT
}

async fn set_mode(State(simulator): State<Simulator>, body: Bytes) -> Result<Response, Rejected> {
    Ok(Json(simulator.set_mode(parse(&body)?)?).into_response())
}

async fn advance(State(simulator): State<Simulator>, body: Bytes) -> Result<Response, Rejected> {
    let Advance { advance_s } = parse(&body)?;
    Ok(Json(json!({ "now": simulator.advance(advance_s) })).into_response())
}

async fn set_webhook(State(simulator): State<Simulator>, body: Bytes) -> Result<StatusCode, Rejected> {
    simulator.set_webhook(parse(&body)?)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn effects(State(simulator): State<Simulator>) -> Json<Vec<Effect>> {
    Json(simulator.effects())
}

async fn requests(State(simulator): State<Simulator>) -> Json<Vec<Seen>> {
    Json(simulator.requests())
}
