//! Whether the process is there, and whether it can do its work.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use super::Shared;

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(ready))
}

/// Ready: the database answers, and we aren't going down.
async fn ready(State(shared): State<Shared>) -> (StatusCode, &'static str) {
    if shared.works.stopping.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping");
    }
    match shared.works.store.ping().await {
        Ok(()) => (StatusCode::OK, "ready"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database doesn't answer"),
    }
}
