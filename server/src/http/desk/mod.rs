//! The desk's pages: addresses and headers in, documents out. What they show is in the crate `counterfoil-desk`.
//!
//! Until people sign in the desk is read-only, and served to this very machine only.

mod read;

use axum::Router;
use axum::extract::{FromRequestParts, Path, RawQuery, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use counterfoil_desk::{Lang, Mode, OperationsQuery, Page, PageError, Viewer, help_states, problem};
use counterfoil_ledger::identity::OperationId;
use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::{Shared, assets};
use read::Reader;

/// Nothing but our own style: no script, no frame, no form to elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

pub(super) fn router() -> Router<Shared> {
    Router::new()
        .route("/", get(|| async { Redirect::to("/operations") }))
        .route("/operations", get(operations))
        .route("/operations/{id}", get(operation))
        .route("/orders/{order}", get(order))
        .route("/help/states", get(help))
        .layer(from_fn(this_machine_only))
}

/// A page that another site opens under a name of its own (DNS rebinding) is none of ours.
async fn this_machine_only(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).map(|host| {
        host.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(host, |(name, _)| name)
    });
    if !matches!(host, Some("localhost" | "127.0.0.1" | "[::1]")) {
        return (StatusCode::FORBIDDEN, "The desk is served to this very machine only.").into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

fn pairs(query: Option<&str>) -> Vec<(String, String)> {
    serde_urlencoded::from_str(query.unwrap_or_default()).unwrap_or_default()
}

/// Who looks, and at what: what every page begins with.
struct Visit {
    shared: Shared,
    viewer: Viewer,
}

impl Visit {
    fn reader(&self) -> Reader<'_> {
        Reader { shared: &self.shared, now: self.viewer.now }
    }

    /// A page, or the page that says why there is none. What failed is logged here, once, and never shown.
    fn answer(&self, page: Result<Page, PageError>) -> Response {
        let page = page.unwrap_or_else(|error| {
            if let PageError::CouldNotLoad(cause) = &error {
                tracing::error!(error = ?cause, "a page could not be loaded");
            }
            problem(&error, &self.viewer)
        });
        let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.html).into_response()
    }
}

impl FromRequestParts<Shared> for Visit {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Self::Rejection> {
        let query = pairs(parts.uri.query());
        let asked = |name: &str| query.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let accepted = parts.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let zone = asked("tz").and_then(|name| TimeZone::get(name).ok());
        // Without the store's time no page of ours can be made.
        let now = shared.works.store.now().await.map_err(|error| {
            tracing::error!(error = %error, "the desk could not ask the store for the time");
            (StatusCode::SERVICE_UNAVAILABLE, "The ledger can't be read at the moment. 目前無法讀取帳本。")
        })?;
        let viewer = Viewer {
            lang: Lang::choose(asked("lang"), accepted),
            zone: zone.unwrap_or_else(|| shared.installation.zone.clone()),
            now,
            mode: if shared.installation.demo { Mode::Demo } else { Mode::Production },
            clock_offset: SignedDuration::from_secs(shared.works.clock.offset_s()),
            css_url: assets::url("desk.css"),
            icon_url: assets::url("icon.svg"),
            path_and_query: parts
                .uri
                .path_and_query()
                .map_or_else(|| parts.uri.path().to_owned(), ToString::to_string),
        };
        Ok(Self { shared: shared.clone(), viewer })
    }
}

async fn operations(visit: Visit, RawQuery(query): RawQuery) -> Response {
    let query = OperationsQuery::from_pairs(pairs(query.as_deref()));
    visit.answer(counterfoil_desk::operations(&visit.reader(), &visit.viewer, &query).await)
}

async fn operation(visit: Visit, Path(id): Path<String>) -> Response {
    let id = OperationId::stored(id);
    visit.answer(counterfoil_desk::operation(&visit.reader(), &visit.viewer, &id).await)
}

async fn order(visit: Visit, Path(id): Path<String>) -> Response {
    visit.answer(counterfoil_desk::order(&visit.reader(), &visit.viewer, &id).await)
}

async fn help(visit: Visit) -> Response {
    visit.answer(Ok(help_states(&visit.viewer)))
}
