//! A hand-made provider on loopback that answers what a test wants.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Seen {
    /// A parameter of the query.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(&self.query).unwrap();
        pairs.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The id in `/v1/refunds/{id}`.
    pub(super) fn id(&self) -> Option<&str> {
        self.path.strip_prefix("/v1/refunds/")
    }
}

pub(super) struct Fake {
    pub(super) base_url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Fake {
    /// Answers each request with what `answer` makes of it.
    pub(super) async fn answering(answer: impl Fn(&Seen) -> Response + Send + Sync + 'static) -> Self {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (kept, answer) = (Arc::clone(&seen), Arc::new(answer));
        let app = Router::new().fallback(move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let request = Seen {
                method,
                path: uri.path().to_owned(),
                query: uri.query().unwrap_or_default().to_owned(),
                headers,
                body: String::from_utf8(body.to_vec()).unwrap(),
            };
            kept.lock().unwrap().push(request.clone());
            let response = answer(&request);
            async move { response }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { base_url, seen }
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// JSON with a request id.
pub(super) fn ok(body: &Value) -> Response {
    ([("request-id", "req_42")], body.to_string()).into_response()
}

pub(super) fn status(status: u16, body: &str) -> Response {
    (StatusCode::from_u16(status).unwrap(), body.to_owned()).into_response()
}

/// A refund on `pi_1043` in TWD.
pub(super) fn refund(id: &str, marker: Option<&str>, amount: i64, status: &str) -> Value {
    json!({
        "id": id, "object": "refund", "amount": amount, "currency": "twd", "status": status,
        "payment_intent": "pi_1043", "charge": "ch_1043", "created": 1_790_000_000,
        "metadata": marker.map_or_else(|| json!({}), |marker| json!({"operation_id": marker})),
    })
}

/// Serves these refunds as Stripe does: pages of at most a hundred, each refund by its id.
pub(super) async fn serving(refunds: Vec<Value>) -> Fake {
    Fake::answering(move |request| match request.id() {
        Some(id) => match refunds.iter().find(|refund| refund["id"] == id) {
            Some(refund) => ok(refund),
            None => status(404, r#"{"error":{"type":"invalid_request_error","code":"resource_missing"}}"#),
        },
        None => ok(&page(&refunds, request)),
    })
    .await
}

/// The page that a request asks for.
pub(super) fn page(refunds: &[Value], request: &Seen) -> Value {
    let begin = match request.parameter("starting_after") {
        Some(after) => refunds.iter().position(|refund| refund["id"] == after).unwrap() + 1,
        None => 0,
    };
    let limit: usize = request.parameter("limit").unwrap().parse().unwrap();
    let end = (begin + limit).min(refunds.len());
    json!({"object": "list", "data": refunds[begin..end], "has_more": end < refunds.len(), "url": "/v1/refunds"})
}
