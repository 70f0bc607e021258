//! What the outside reaches: the machine interface, the desk, health.

pub mod api;
mod assets;
pub mod auth;
mod desk;
mod health;
mod problem;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, header};
use jiff::tz::TimeZone;
use tower::ServiceBuilder;
use tower_http::compression::CompressionLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::{DefaultOnResponse, TraceLayer};

use crate::config::Schedule;
use crate::work::Works;
pub use problem::Problem;

/// The largest body that is read.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// An answer takes at most the longest wait, and what a slow database takes.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What handlers share.
#[derive(Clone)]
pub struct Shared {
    pub works: Arc<Works>,
    pub installation: Arc<Installation>,
    pub limits: Arc<auth::Limits>,
}

/// What pages say about this installation.
#[derive(Debug)]
pub struct Installation {
    pub zone: TimeZone,
    pub demo: bool,
    pub reconcile: Schedule,
    /// Accounts' base URLs and modes, as pages show them.
    pub accounts: std::collections::BTreeMap<counterfoil_ledger::identity::AccountName, AccountFace>,
    /// Until people sign in, the desk is read-only and served on loopback only.
    pub desk: bool,
}

/// How an account looks to people.
#[derive(Debug, Clone)]
pub struct AccountFace {
    pub base_url: String,
    /// The secret is a test key, or the provider is a simulator.
    pub test: bool,
}

/// Everything under one roof.
pub fn router(shared: Shared) -> Router {
    let layers = ServiceBuilder::new()
        .layer(SetRequestIdLayer::new(REQUEST_ID, MakeRequestUuid))
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(|request: &axum::http::Request<_>| {
                    // Never the query: it may hold what somebody searched for.
                    let id = request.headers().get(&REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or("");
                    tracing::debug_span!("request", method = %request.method(), path = request.uri().path(), request_id = id)
                })
                .on_response(DefaultOnResponse::new().level(tracing::Level::DEBUG)),
        )
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(TimeoutLayer::with_status_code(axum::http::StatusCode::SERVICE_UNAVAILABLE, ANSWER_WITHIN))
        .layer(SetResponseHeaderLayer::if_not_present(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        .layer(SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
        .layer(CompressionLayer::new());
    let desk = if shared.installation.desk { desk::router() } else { Router::new() };
    Router::new()
        .merge(api::router())
        .merge(desk)
        .merge(health::router())
        .merge(assets::router())
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(layers)
        .with_state(shared)
}
