//! An HTTP answer, and what every answer of one sort has to look like.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// An HTTP answer. `body` is JSON, or null when the answer was something else; `text` is what came over the wire.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
    /// Bytes of the body as they came, compressed if they were.
    pub size: usize,
}

impl Reply {
    /// One header as text, empty when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// Fails unless the status is `status`; for reading on: `ledger.refund(…).await.is(202)`.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Fails unless it is a problem of RFC 9457 whose type ends with `kind`.
    #[track_caller]
    pub fn is_problem(&self, status: u16, kind: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        assert!(self.header("content-type").starts_with("application/problem+json"), "{:?}", self.headers);
        for member in ["type", "title", "detail"] {
            assert!(self.body[member].is_string(), "no `{member}` in {}", self.text);
        }
        assert!(self.body["type"].as_str().unwrap().ends_with(kind), "{kind} isn't told in {}", self.text);
    }

    /// Fails unless it was refused before recording, with a problem that names a field that begins with `field`.
    #[track_caller]
    pub fn refuses(&self, field: &str) {
        self.is_problem(422, "");
        assert!(self.names(field), "{field:?} isn't named in {}", self.text);
    }

    /// Whether one of the problem's errors names a field that begins with `field`, and says what is wrong with it.
    pub fn names(&self, field: &str) -> bool {
        self.body["errors"].as_array().is_some_and(|errors| {
            errors.iter().any(|error| {
                error["field"].as_str().is_some_and(|named| named.starts_with(field))
                    && error["detail"].is_string()
            })
        })
    }
}
