//! `/v1`: the names that other programs rely on (`api.md`).

mod ask;
mod create;
mod operations;
mod orders;
mod view;

use axum::Router;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};
use axum::http::StatusCode;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::SwaggerUi;

use super::{Problem, Shared};
pub(crate) use view::OperationView;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Counterfoil",
        description = "Every side effect gets an identity from what is to be done, is written down before it is sent, stays unknown \
            until evidence settles it, and is settled once. `resend` is always `never`: asking again with the same content is \
            safe and never sends anything twice. `claim` is what the customer may be told."
    ),
    modifiers(&Bearer)
)]
struct Document;

struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        components.add_security_scheme("token", scheme);
    }
}

/// The machine interface with its document and its browser.
pub(super) fn router() -> Router<Shared> {
    let (router, document) = OpenApiRouter::<Shared>::with_openapi(Document::openapi())
        .routes(routes!(create::create, operations::list))
        .routes(routes!(operations::get))
        .routes(routes!(operations::timeline))
        .routes(routes!(operations::attempts))
        .routes(routes!(operations::evidence))
        .routes(routes!(operations::cancel))
        .routes(routes!(operations::look_up))
        .routes(routes!(orders::put, orders::get))
        .split_for_parts();
    router
        .merge(SwaggerUi::new("/v1/docs").url("/v1/openapi.json", document))
        .route("/v1/{*rest}", axum::routing::any(|| async { Problem::not_found("address under /v1") }))
}

/// A JSON body, refused with a problem when it isn't one.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(Problem))]
pub(super) struct Body<T>(pub T);

/// Query parameters, refused with a problem when they can't be read.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
pub(super) struct Parameters<T>(pub T);

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        let status = rejection.status();
        let detail = match status {
            StatusCode::PAYLOAD_TOO_LARGE => {
                "The body is larger than 64 KiB. Nothing was recorded.".to_owned()
            }
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                "Send `Content-Type: application/json`. Nothing was recorded.".to_owned()
            }
            _ => "The body isn't JSON. Nothing was recorded.".to_owned(),
        };
        Self::new(status, "body", "The body can't be read", detail)
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::field("query", rejection.body_text())
    }
}
