//! What goes back to the caller: a reply, and the errors in Stripe's shape.
//!
//! The texts are the simulator's own; types and codes are Stripe's.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Response, StatusCode, header::CONTENT_TYPE},
};
use serde_json::{Value, json};

/// One complete answer, before anything happens to it on the wire.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Text,
}

/// A body and its content type.
#[derive(Clone, Debug)]
pub(super) enum Text {
    Json(Value),
    Html(&'static str),
}

impl Reply {
    pub(super) fn ok(body: Value) -> Self {
        Self { status: 200, headers: Vec::new(), body: Text::Json(body) }
    }

    /// What a proxy in front of the provider says when it can't reach it: no `Request-Id`, no JSON.
    pub(super) fn proxy_page() -> Self {
        let page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n";
        Self { status: 502, headers: Vec::new(), body: Text::Html(page) }
    }

    /// A 500 that stands under its key. The same key only replays it, which `Stripe-Should-Retry` says
    /// (docs.stripe.com/error-low-level).
    pub(super) fn broken_for_good() -> Self {
        Self::from(Refusal::broken()).with("stripe-should-retry", "false")
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The same answer with one more header.
    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The bytes of the body.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match &self.body {
            Text::Json(value) => value.to_string().into_bytes(),
            Text::Html(page) => page.as_bytes().to_vec(),
        }
    }

    /// The answer with `body` as its body, whatever the reply's own is.
    pub(super) fn respond(&self, body: Body) -> Response<Body> {
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = match self.body {
            Text::Json(_) => "application/json",
            Text::Html(_) => "text/html",
        };
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        for (name, value) in &self.headers {
            if let Ok(value) = HeaderValue::from_str(value) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        response
    }
}

/// An error in Stripe's shape: `{"error":{"type","code"?,"message","param"?}}`.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    status: u16,
    kind: &'static str,
    code: Option<&'static str>,
    param: Option<String>,
    message: String,
}

impl Refusal {
    /// 400 `invalid_request_error`, the shape of most refusals.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, kind: "invalid_request_error", code: None, param: None, message: message.into() }
    }

    /// 404 `resource_missing`.
    pub(super) fn missing(what: &str, id: &str, param: &str) -> Self {
        Self::invalid(format!("There is no {what} '{id}'")).status(404).code("resource_missing").param(param)
    }

    /// 404 for a path that Stripe doesn't serve.
    pub(super) fn no_such_url(method: &str, path: &str) -> Self {
        Self::invalid(format!("There is nothing at {method} {path}")).status(404)
    }

    /// 401: no key at all, or a key that isn't one of the account's.
    pub(super) fn unauthorized(given: bool) -> Self {
        let message = if given { "The API key isn't valid" } else { "No API key was given" };
        Self::invalid(message).status(401)
    }

    /// 500 `api_error`.
    pub(super) fn broken() -> Self {
        Self::invalid("Something went wrong on the provider's side").status(500).kind("api_error")
    }

    /// 503 `api_error`, while look-ups are down.
    pub(super) fn down() -> Self {
        Self::invalid("The provider can't answer reads at the moment").status(503).kind("api_error")
    }

    /// 429 that doesn't say what was limited: it could be a lock time-out.
    pub(super) fn too_many() -> Self {
        Self::invalid("Too many requests").status(429)
    }

    /// 409: another request with this key is being executed.
    pub(super) fn in_flight() -> Self {
        Self::invalid("A request with this idempotency key is being executed")
            .status(409)
            .kind("idempotency_error")
            .code("idempotency_key_in_use")
    }

    /// 400 `idempotency_error`: the key was first used for another request.
    pub(super) fn key_reused(message: impl Into<String>) -> Self {
        Self::invalid(message).kind("idempotency_error")
    }

    #[must_use]
    pub(super) fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    #[must_use]
    pub(super) fn param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// What is wrong, for people.
    pub(super) fn into_message(self) -> String {
        self.message
    }

    fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    fn kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        let mut error = json!({ "type": refusal.kind, "message": refusal.message });
        if let Some(code) = refusal.code {
            error["code"] = code.into();
        }
        if let Some(param) = refusal.param {
            error["param"] = param.into();
        }
        Self { status: refusal.status, headers: Vec::new(), body: Text::Json(json!({ "error": error })) }
    }
}
