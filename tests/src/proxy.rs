//! What stands between a ledger and a provider: answers that the provider can't give, a door that shuts, and what was asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::{Request, until};

/// What happens to requests of one method, instead of going through.
#[derive(Clone, Debug)]
pub enum Scripted {
    /// This status, content type and body; the simulator never sees the request.
    Answer(u16, &'static str, &'static str),
    /// The door shuts before the simulator's answer goes back: the next connection is refused.
    ShutTheDoor,
    /// The next request is passed on, and the connection breaks before its answer goes back; then everything goes through.
    LoseTheAnswer,
    /// The connection breaks before the next request is passed on; then everything goes through.
    LoseTheRequest,
}

struct Shared {
    address: SocketAddr,
    target: String,
    script: Mutex<Option<(&'static str, Scripted)>>,
    seen: Mutex<Vec<Request>>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

/// A relay on loopback, one connection per request.
pub struct Proxy {
    shared: Arc<Shared>,
}

impl Proxy {
    /// Relays to `target`, a provider's URL.
    pub async fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shared = Arc::new(Shared {
            address: listener.local_addr().unwrap(),
            target: target.trim_start_matches("http://").to_owned(),
            script: Mutex::new(None),
            seen: Mutex::new(Vec::new()),
            accepting: Mutex::new(None),
        });
        accept(Arc::clone(&shared), listener);
        Self { shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.shared.address)
    }

    /// From now on requests of `method` meet `scripted`.
    pub fn script(&self, method: &'static str, scripted: Scripted) {
        *self.shared.script.lock().unwrap() = Some((method, scripted));
    }

    /// From now on everything goes through.
    pub fn relay_all(&self) {
        *self.shared.script.lock().unwrap() = None;
    }

    /// The sends that came this far, passed on or not.
    pub fn sends(&self) -> Vec<Request> {
        let mut seen = self.shared.seen.lock().unwrap().clone();
        seen.retain(|request| request.method == "POST" && request.path == "/v1/refunds");
        seen
    }

    /// Whether connections are accepted.
    pub fn is_open(&self) -> bool {
        self.shared.accepting.lock().unwrap().is_some()
    }

    /// Shuts the door: connections are refused.
    pub async fn shut(&self) {
        shut(&self.shared).await;
    }

    /// Opens the door again, on the same port.
    pub async fn open(&self) {
        let listener = until("the proxy's port", async || {
            TcpListener::bind(self.shared.address).await.map_err(|error| error.to_string())
        })
        .await;
        accept(Arc::clone(&self.shared), listener);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(accepting) = self.shared.accepting.lock().unwrap().take() {
            accepting.abort();
        }
    }
}

fn accept(shared: Arc<Shared>, listener: TcpListener) {
    let served = Arc::clone(&shared);
    let accepting = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let shared = Arc::clone(&served);
            // A connection that breaks is the peer's affair, and what some tests are about.
            tokio::spawn(async move { serve(&shared, stream).await.ok() });
        }
    });
    *shared.accepting.lock().unwrap() = Some(accepting);
}

async fn shut(shared: &Shared) {
    let accepting = shared.accepting.lock().unwrap().take();
    if let Some(accepting) = accepting {
        accepting.abort();
        // The listener is closed when the task is gone, not when it is told to go.
        let _ = accepting.await;
    }
}

async fn serve(shared: &Shared, mut client: TcpStream) -> std::io::Result<()> {
    let Some((head, body)) = read_request(&mut client).await? else { return Ok(()) };
    shared.seen.lock().unwrap().push(request(&head, &body));
    let scripted = {
        let mut script = shared.script.lock().unwrap();
        let scripted = script.clone().filter(|(method, _)| head.starts_with(&format!("{method} /v1/")));
        if matches!(scripted, Some((_, Scripted::LoseTheAnswer | Scripted::LoseTheRequest))) {
            *script = None;
        }
        scripted
    };
    if let Some((_, Scripted::LoseTheRequest)) = scripted {
        return Ok(());
    }
    if let Some((_, Scripted::Answer(status, kind, text))) = scripted {
        let answer = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        client.write_all(answer.as_bytes()).await?;
        return client.shutdown().await;
    }
    let answer = relay(shared, &head, &body).await?;
    if let Some((_, Scripted::LoseTheAnswer)) = scripted {
        return Ok(());
    }
    if let Some((_, Scripted::ShutTheDoor)) = scripted {
        shut(shared).await;
    }
    client.write_all(&answer).await?;
    client.shutdown().await
}

fn request(head: &str, body: &[u8]) -> Request {
    let mut first = head.lines().next().unwrap_or_default().split(' ').map(str::to_owned);
    let header = |name: &str| {
        let mut headers = head.lines().filter_map(|line| line.split_once(':'));
        let found = headers.find(|(named, _)| named.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim().to_owned())
    };
    Request {
        method: first.next().unwrap_or_default(),
        path: first.next().unwrap_or_default(),
        key: header("idempotency-key"),
        request_id: header("x-client-request-id"),
        body: String::from_utf8_lossy(body).into_owned(),
    }
}

/// Passes one request on and returns the whole answer, as bytes.
async fn relay(shared: &Shared, head: &str, body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut lines = head.lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let mut passed = lines.next().unwrap_or_default().to_owned();
    for line in lines.filter(|line| !line.is_empty()) {
        passed.push_str("\r\n");
        passed.push_str(line);
    }
    passed.push_str("\r\nconnection: close\r\n\r\n");
    let mut simulator = TcpStream::connect(&shared.target).await?;
    simulator.write_all(passed.as_bytes()).await?;
    simulator.write_all(body).await?;
    let mut answer = Vec::new();
    simulator.read_to_end(&mut answer).await?;
    Ok(answer)
}

/// The head (with its empty line) and the body, or nothing when the client went away first.
async fn read_request(client: &mut TcpStream) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    let head_ends = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if client.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_ends]).into_owned();
    let length = head.lines().filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok()).flatten()
    });
    let mut body = bytes.split_off(head_ends);
    while body.len() < length.unwrap_or_default() {
        if client.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some((head, body)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Api;

    /// Answers every connection with `ok`.
    async fn target() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Ok(Some((head, body))) = read_request(&mut stream).await else { continue };
                let text = format!("{} {}", head.lines().next().unwrap_or_default(), body.len());
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}",
                    text.len()
                );
                stream.write_all(answer.as_bytes()).await.ok();
            }
        });
        url
    }

    #[tokio::test]
    async fn it_relays_scripts_and_shuts() {
        let proxy = Proxy::start(&target().await).await;
        let api = Api::new(proxy.url(), None);
        let body = "x".repeat(100_000);
        let relayed = api.call(reqwest::Method::POST, "/v1/refunds", &[], Some(body)).await;
        assert_eq!(relayed.text, "POST /v1/refunds HTTP/1.1 100000");

        proxy.script("GET", Scripted::Answer(403, "text/plain", "no"));
        let scripted = api.get("/v1/refunds").await;
        assert_eq!((scripted.status, scripted.text.as_str()), (403, "no"));
        assert_eq!(api.call(reqwest::Method::POST, "/v1/refunds", &[], None).await.status, 200);

        proxy.script("GET", Scripted::ShutTheDoor);
        assert_eq!(api.get("/v1/refunds").await.status, 200);
        assert!(!proxy.is_open());
        let refused = api.try_call(reqwest::Method::GET, "/v1/refunds", &[], None).await;
        assert!(refused.unwrap_err().is_connect());
        proxy.relay_all();
        proxy.open().await;
        assert_eq!(api.get("/v1/refunds").await.status, 200);

        for lost in [Scripted::LoseTheAnswer, Scripted::LoseTheRequest] {
            proxy.script("POST", lost);
            let keyed = [("idempotency-key", "k-1")];
            let broken =
                api.try_call(reqwest::Method::POST, "/v1/refunds", &keyed, Some("a=1".to_owned())).await;
            assert!(!broken.unwrap_err().is_connect());
            assert_eq!(api.call(reqwest::Method::POST, "/v1/refunds", &[], None).await.status, 200);
        }
        let keyed = proxy.sends().into_iter().filter(|request| request.key.as_deref() == Some("k-1"));
        assert_eq!(keyed.map(|request| request.body).collect::<Vec<_>>(), ["a=1", "a=1"]);
    }
}
