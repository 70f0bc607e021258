//! A simulator on a port of its own, and a caller.

use std::sync::Arc;

use counterfoil::simulator::{Effect, Seen, Settings, Simulator, serve};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) const PAYMENT: &str = "pi_earphones";

pub(crate) struct Bench {
    pub(crate) base: String,
    pub(crate) simulator: Simulator,
    pub(crate) client: Client,
    _stop: DropGuard,
}

/// An answer that arrived.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn id(&self) -> &str {
        self.body["id"].as_str().unwrap_or_else(|| panic!("no id in {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn code(&self) -> Option<&str> {
        self.body["error"]["code"].as_str()
    }

    pub(crate) fn kind(&self) -> Option<&str> {
        self.body["error"]["type"].as_str()
    }
}

/// A client that neither follows nor retries, and speaks no TLS.
pub(crate) fn client() -> Client {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .retry(reqwest::retry::never())
        .timeout(std::time::Duration::from_secs(20))
        .no_proxy()
        .build()
        .unwrap()
}

impl Bench {
    /// With the payment of order 1043 in the account: 1,580.00 TWD.
    pub(crate) async fn start() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let simulator = Simulator::new(settings);
        let stop = CancellationToken::new();
        tokio::spawn(serve(listener, simulator.clone(), stop.clone()));
        let bench = Self { base, simulator, client: client(), _stop: stop.drop_guard() };
        bench.pay(PAYMENT, 158_000, "TWD").await;
        bench
    }

    pub(crate) async fn pay(&self, id: &str, amount: i64, currency: &str) {
        let body = json!({ "id": id, "amount": amount.to_string(), "currency": currency });
        assert_eq!(self.order("payments", body).await.status, 201);
    }

    /// A call of the tester's side.
    pub(crate) async fn order(&self, what: &str, body: Value) -> Answer {
        let request = self.client.post(format!("{}/simulator/{what}", self.base)).json(&body);
        read(request.send().await.unwrap()).await
    }

    pub(crate) async fn fault(&self, fault: Value) {
        let answer = self.order("faults", fault).await;
        assert_eq!(answer.status, 204, "{}", answer.body);
    }

    pub(crate) async fn mode(&self, mode: Value) {
        let answer = self.order("mode", mode).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    pub(crate) async fn advance(&self, seconds: u32) {
        assert_eq!(self.order("clock", json!({ "advance_s": seconds })).await.status, 200);
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth("sk_test_bench")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        read(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub(crate) fn posting(&self, path: &str, form: &str) -> RequestBuilder {
        self.request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form.to_owned())
    }

    pub(crate) async fn post(&self, path: &str, form: &str) -> Answer {
        read(self.posting(path, form).send().await.unwrap()).await
    }

    pub(crate) fn refunding(&self, key: &str, amount: i64) -> RequestBuilder {
        let marker = format!("metadata[operation_id]=shop.{key}");
        self.posting("/v1/refunds", &format!("payment_intent={PAYMENT}&amount={amount}&{marker}"))
            .header("idempotency-key", format!("shop.{key}"))
    }

    /// A refund of [`PAYMENT`] under a key, with its marker.
    pub(crate) async fn refund(&self, key: &str, amount: i64) -> Answer {
        read(self.refunding(key, amount).send().await.unwrap()).await
    }

    pub(crate) async fn effects(&self) -> Vec<Effect> {
        let url = format!("{}/simulator/effects", self.base);
        self.client.get(url).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn requests(&self) -> Vec<Seen> {
        let url = format!("{}/simulator/requests", self.base);
        self.client.get(url).send().await.unwrap().json().await.unwrap()
    }

    /// Sends a refund over a bare socket and reads until the other side ends it: every byte that came, and how it ended.
    pub(crate) async fn refund_bare(&self, key: &str, amount: i64) -> (Vec<u8>, std::io::Result<()>) {
        let body = format!("payment_intent={PAYMENT}&amount={amount}&metadata%5Boperation_id%5D=shop.{key}");
        let head = format!(
            "POST /v1/refunds HTTP/1.1\r\nHost: stripe\r\nAuthorization: Bearer sk_test_bench\r\n\
             Idempotency-Key: shop.{key}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(self.base.trim_start_matches("http://")).await.unwrap();
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        let deadline = std::time::Duration::from_secs(10);
        let ended = tokio::time::timeout(deadline, stream.read_to_end(&mut bytes)).await;
        (bytes, ended.expect("the connection ends").map(|_| ()))
    }
}

pub(crate) async fn read(response: Response) -> Answer {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let text = response.text().await.unwrap();
    Answer { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
}

/// Waits until `condition` holds, ten seconds at most.
pub(crate) async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !condition().await {
        assert!(std::time::Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
