//! The desk's pages: addresses, headers and nothing else.
use super::Shared;
use axum::Router;
pub(super) fn router() -> Router<Shared> {
    Router::new()
}
