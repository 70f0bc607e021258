//! Style and icons, embedded in the binary and served under a hash of their content, for ever.

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rust_embed::RustEmbed;

use super::Shared;

#[derive(RustEmbed)]
#[folder = "../style"]
struct Style;

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/assets/{hash}/{name}", get(serve))
}

/// The address of an asset: it changes when its content does.
pub(super) fn url(name: &str) -> String {
    let hash =
        Style::get(name).map(|file| hex::encode(&file.metadata.sha256_hash()[..8])).unwrap_or_default();
    format!("/assets/{hash}/{name}")
}

async fn serve(Path((hash, name)): Path<(String, String)>) -> Response {
    let Some(file) = Style::get(&name) else { return StatusCode::NOT_FOUND.into_response() };
    if url(&name) != format!("/assets/{hash}/{name}") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let kind = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let headers =
        [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (headers, file.data.into_owned()).into_response()
}
