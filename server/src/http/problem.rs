//! Errors are answers: problem details (RFC 9457), never a stack.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::store::StoreError;
use crate::work::WorkError;

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// A path into the request: `identity.order`, `params.amount`.
    pub field: String,
    /// What it must be. Never repeats the value.
    pub detail: String,
}

/// A problem as it is answered.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// `urn:counterfoil:` and the problem's name.
    #[serde(rename = "type")]
    #[schema(example = "urn:counterfoil:intent-mismatch")]
    pub kind: String,
    pub title: &'static str,
    pub status: u16,
    /// What is known, what isn't, and what to do or not to do.
    pub detail: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// What else the problem says, by name: `operation`, `holders`.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    pub more: Map<String, Value>,
}

impl Problem {
    /// A problem by name.
    pub fn new(status: StatusCode, name: &str, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:counterfoil:{name}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            errors: Vec::new(),
            more: Map::new(),
        }
    }

    /// The request is refused before anything is recorded.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let names: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
        let detail = format!("Nothing was recorded and nothing was sent. Wrong: {}.", names.join(", "));
        Self {
            errors,
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", "The request can't be used", detail)
        }
    }

    /// One field is wrong.
    pub fn field(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError { field: field.into(), detail: detail.into() }])
    }

    /// There is no such thing.
    pub fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "Not found", format!("There is no such {what}."))
    }

    /// The ledger could not record it, so nothing was sent.
    pub fn not_recorded() -> Self {
        let detail = "The ledger could not record the request, so nothing was recorded and nothing was sent. \
                      Asking again with the same content is safe.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "not-recorded", "Not recorded, not sent", detail)
    }

    /// It may be recorded and may be sent.
    pub fn recording_unknown() -> Self {
        let detail = "The database's answer was lost, so the request may be recorded and may be sent. \
                      Asking again with exactly the same content is safe; do not do it any other way. \
                      Tell the customer it is being confirmed.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "recording-unknown", "It may be recorded", detail)
            .with("claim", "in_progress")
            .with("resend", "never")
    }

    /// Says one thing more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
        }
        response
    }
}

/// A failure inside: logged once, here, and shown to nobody.
impl From<WorkError> for Problem {
    fn from(error: WorkError) -> Self {
        tracing::error!(error = %error, source = source(&error), "a request failed inside");
        match error {
            WorkError::Store(
                StoreError::Failed { .. } | StoreError::CommitUnknown { .. } | StoreError::Closing,
            ) => {
                let detail = "The ledger can't be reached at the moment. What is recorded stays recorded, and nothing was changed.";
                Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "unavailable",
                    "The ledger can't be reached",
                    detail,
                )
            }
            _ => {
                let detail = "Something failed inside. What is recorded stays recorded. Do not do it another way; \
                              read the operation to see what is known.";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Something failed inside", detail)
            }
        }
    }
}

fn source(error: &WorkError) -> String {
    let mut text = String::new();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text.push_str(&source.to_string());
        text.push_str("; ");
        next = source.source();
    }
    text
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        WorkError::from(error).into()
    }
}
