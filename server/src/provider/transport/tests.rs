#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Mutex;

use counterfoil_ledger::evidence::Unavailable;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;

fn reach() -> Reach {
    // The provider may be installed by another test already.
    rustls::crypto::ring::default_provider().install_default().ok();
    Reach {
        connect_timeout: Duration::from_secs(2),
        read_timeout: Duration::from_secs(2),
        read_budget: ReadBudget {
            tries: 3,
            first_wait: Duration::from_millis(1),
            longest_wait: Duration::from_secs(1),
        },
        rate_limit_per_s: 1000,
        request_id_header: "request-id",
    }
}

fn transport() -> Transport {
    Transport::new(reach()).unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

fn outgoing(base: &str) -> Outgoing {
    let mut headers = HeaderMap::new();
    headers.insert("idempotency-key", HeaderValue::from_static("shop.refund-1043-li_2"));
    Outgoing {
        method: Method::POST,
        url: format!("{base}/v1/refunds").parse().unwrap(),
        headers,
        body: "amount=38000".to_owned(),
    }
}

/// A server that hands each connection to the test.
struct Server {
    address: SocketAddr,
    connections: mpsc::UnboundedReceiver<TcpStream>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, connections) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if sender.send(stream).is_err() {
                    break;
                }
            }
        });
        Self { address, connections }
    }

    fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    async fn accept(&mut self) -> TcpStream {
        timeout_at((Instant::now() + Duration::from_secs(5)).into(), self.connections.recv())
            .await
            .unwrap()
            .unwrap()
    }
}

/// Reads a request to the end of its body.
async fn request_of(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).ends_with("amount=38000") {
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "the request was cut");
    }
    String::from_utf8(bytes).unwrap()
}

/// Exchanges one request with a server that answers with these bytes and closes.
async fn answered_with(bytes: &str) -> Exchange {
    let mut server = Server::start().await;
    let (transport, request) = (transport(), outgoing(&server.base()));
    let serve = async {
        let mut stream = server.accept().await;
        request_of(&mut stream).await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
    };
    tokio::join!(transport.exchange(request, soon()), serve).0
}

fn not_sent(exchange: Exchange) -> NotSent {
    match exchange {
        Exchange::NotSent(why) => why,
        Exchange::NoAnswer(_) | Exchange::Answered(_) => panic!("{exchange:?}"),
    }
}

fn no_answer(exchange: Exchange) -> NoAnswer {
    match exchange {
        Exchange::NoAnswer(why) => why,
        Exchange::NotSent(_) | Exchange::Answered(_) => panic!("{exchange:?}"),
    }
}

fn answer(exchange: Exchange) -> Answered {
    match exchange {
        Exchange::Answered(answered) => answered,
        Exchange::NotSent(_) | Exchange::NoAnswer(_) => panic!("{exchange:?}"),
    }
}

#[tokio::test]
async fn a_whole_answer_comes_back_and_the_request_is_as_it_was_given() {
    let mut server = Server::start().await;
    let (transport, request) = (transport(), outgoing(&server.base()));
    let serve = async {
        let mut stream = server.accept().await;
        let seen = request_of(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nRequest-Id: req_1\r\nContent-Length: 2\r\n\r\n{}")
            .await
            .unwrap();
        seen
    };
    let (exchange, seen) = tokio::join!(transport.exchange(request, soon()), serve);
    let answered = answer(exchange);
    assert_eq!((answered.status, answered.body.as_slice(), answered.whole), (200, b"{}".as_slice(), true));
    assert_eq!(answered.header("request-id"), Some("req_1"));
    let lower = seen.to_lowercase();
    assert!(seen.starts_with("POST /v1/refunds HTTP/1.1\r\n"), "{seen}");
    assert!(lower.contains("\r\ncontent-length: 12\r\n") && !lower.contains("transfer-encoding"), "{seen}");
    assert!(lower.contains("\r\nidempotency-key: shop.refund-1043-li_2\r\n"), "{seen}");
}

#[tokio::test]
async fn a_refused_connection_is_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(not_sent(transport().exchange(outgoing(&base), soon()).await), NotSent::ConnectFailed);
}

#[tokio::test]
async fn a_name_that_is_not_found_is_not_sent() {
    let request = outgoing("http://no-such-host.invalid");
    let why = not_sent(transport().exchange(request, soon()).await);
    assert_eq!(why, NotSent::ConnectFailed);
}

#[tokio::test]
async fn a_failed_tls_handshake_is_not_sent() {
    let mut server = Server::start().await;
    let request = outgoing(&format!("https://{}", server.address));
    let transport = transport();
    let serve = async {
        let mut stream = server.accept().await;
        stream.write_all(b"this is no TLS at all").await.unwrap();
        let mut seen = Vec::new();
        stream.read_to_end(&mut seen).await.ok();
        seen
    };
    let (exchange, seen) = tokio::join!(transport.exchange(request, soon()), serve);
    assert_eq!(not_sent(exchange), NotSent::ConnectFailed);
    assert!(!String::from_utf8_lossy(&seen).contains("refunds"));
}

#[tokio::test]
async fn a_connection_that_takes_too_long_is_not_sent() {
    let mut reach = reach();
    reach.connect_timeout = Duration::from_millis(50);
    let mut server = Server::start().await;
    // TCP answers, TLS never does.
    let request = outgoing(&format!("https://{}", server.address));
    let transport = Transport::new(reach).unwrap();
    let (exchange, _held) = tokio::join!(transport.exchange(request, soon()), server.accept());
    assert_eq!(not_sent(exchange), NotSent::ConnectFailed);
}

#[tokio::test]
async fn a_deadline_that_has_passed_sends_nothing_and_connects_nowhere() {
    let mut server = Server::start().await;
    let why = not_sent(transport().exchange(outgoing(&server.base()), Instant::now()).await);
    assert_eq!(why, NotSent::DeadlinePassed);
    // The next connection is the first one: this probe.
    let probe = TcpStream::connect(server.address).await.unwrap();
    let first = server.accept().await;
    assert_eq!(first.peer_addr().unwrap(), probe.local_addr().unwrap());
}

#[tokio::test]
async fn a_deadline_that_passes_while_connecting_sends_nothing() {
    let mut server = Server::start().await;
    let request = outgoing(&format!("https://{}", server.address));
    let transport = transport();
    let deadline = Instant::now() + Duration::from_millis(100);
    let (exchange, mut stream) = tokio::join!(transport.exchange(request, deadline), server.accept());
    assert_eq!(not_sent(exchange), NotSent::DeadlinePassed);
    let mut seen = Vec::new();
    stream.read_to_end(&mut seen).await.unwrap();
    assert!(!String::from_utf8_lossy(&seen).contains("refunds"), "only a TLS greeting came");
}

/// The sleeper: connected in time, and woken only after the deadline.
#[tokio::test]
async fn a_sender_that_sleeps_between_connecting_and_the_first_byte_sends_nothing() {
    let mut server = Server::start().await;
    let transport = transport();
    let gate = Arc::new(Gate::until(Instant::now()));
    let (sent, mut stream) = tokio::join!(transport.write(outgoing(&server.base()), &gate), server.accept());
    let error = chain(&sent.unwrap_err());
    assert!(error.contains("the deadline passed before the first byte"), "{error}");
    assert!(gate.shut());
    let mut seen = Vec::new();
    stream.read_to_end(&mut seen).await.ok();
    assert_eq!(seen, b"", "not one byte arrived");
}

#[tokio::test]
async fn a_write_without_a_body_to_hold_back_is_not_sent() {
    let mut request = outgoing("http://127.0.0.1:9");
    request.body = String::new();
    assert_eq!(not_sent(transport().exchange(request, soon()).await), NotSent::NotBuilt);
}

#[tokio::test]
async fn a_server_that_never_answers_times_out_with_the_outcome_open() {
    let mut server = Server::start().await;
    let (transport, request) = (transport(), outgoing(&server.base()));
    let deadline = Instant::now() + Duration::from_millis(300);
    let serve = async {
        let mut stream = server.accept().await;
        request_of(&mut stream).await;
        stream
    };
    let (exchange, _held) = tokio::join!(transport.exchange(request, deadline), serve);
    assert_eq!(no_answer(exchange), NoAnswer::TimedOut);
    assert!(Instant::now() >= deadline);
}

#[tokio::test]
async fn a_connection_that_is_lost_after_the_request_leaves_the_outcome_open() {
    let mut server = Server::start().await;
    let (transport, request) = (transport(), outgoing(&server.base()));
    let serve = async {
        let mut stream = server.accept().await;
        request_of(&mut stream).await;
        // Closing with a linger of zero resets.
        stream.set_zero_linger().unwrap();
    };
    let (exchange, ()) = tokio::join!(transport.exchange(request, soon()), serve);
    assert_eq!(no_answer(exchange), NoAnswer::ConnectionLost);
}

#[tokio::test]
async fn a_closed_connection_is_not_tried_again() {
    let mut server = Server::start().await;
    let (transport, request) = (transport(), outgoing(&server.base()));
    let serve = async {
        let mut stream = server.accept().await;
        request_of(&mut stream).await;
    };
    let (exchange, ()) = tokio::join!(transport.exchange(request, soon()), serve);
    assert_eq!(no_answer(exchange), NoAnswer::ConnectionLost);
    let probe = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(server.accept().await.peer_addr().unwrap(), probe.local_addr().unwrap());
}

#[tokio::test]
async fn a_cut_body_is_an_answer_that_is_not_whole() {
    let cut = answer(answered_with("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":\"re_1\"").await);
    assert_eq!((cut.status, cut.body.as_slice(), cut.whole), (200, b"{\"id\":\"re_1\"".as_slice(), false));
}

#[tokio::test]
async fn a_body_without_end_is_read_up_to_a_mebibyte() {
    let long = "x".repeat(WRITE_ANSWER_BYTES_MAX + 1);
    let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{long}", long.len());
    let mut server = Server::start().await;
    let (transport, request) = (transport(), outgoing(&server.base()));
    let serve = async {
        let mut stream = server.accept().await;
        request_of(&mut stream).await;
        // The reader may hang up before the end.
        stream.write_all(bytes.as_bytes()).await.ok();
    };
    let answered = answer(tokio::join!(transport.exchange(request, soon()), serve).0);
    assert!(!answered.whole && answered.body.len() <= WRITE_ANSWER_BYTES_MAX);
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    for status in [301, 302, 307, 308] {
        let bytes =
            format!("HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(answer(answered_with(&bytes).await).status, status);
    }
}

#[tokio::test]
async fn each_send_opens_its_own_connection() {
    let mut server = Server::start().await;
    let transport = transport();
    let mut peers = Vec::new();
    for _ in 0..2 {
        let request = outgoing(&server.base());
        let serve = async {
            let mut stream = server.accept().await;
            request_of(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
            stream
        };
        let (exchange, stream) = tokio::join!(transport.exchange(request, soon()), serve);
        assert_eq!(answer(exchange).status, 200);
        peers.push((stream.peer_addr().unwrap(), stream));
    }
    assert_ne!(peers[0].0, peers[1].0);
}

/// Serves these raw answers one after another, a connection each, and reads once.
async fn read_of(answers: Vec<&'static str>) -> (ReadOutcome<String>, usize) {
    let mut server = Server::start().await;
    let transport = transport();
    let question =
        Question { url: format!("{}/v1/refunds", server.base()).parse().unwrap(), headers: HeaderMap::new() };
    let asked = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&asked);
    let served = tokio::spawn(async move {
        for answer in answers {
            let mut stream = server.accept().await;
            let mut bytes = Vec::new();
            while !bytes.ends_with(b"\r\n\r\n") {
                stream.read_buf(&mut bytes).await.unwrap();
            }
            *counter.lock().unwrap() += 1;
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let understand = |body: &[u8]| (body == b"{}").then(|| "understood".to_owned());
    let outcome = transport.read(&question, soon(), understand).await;
    served.abort();
    let asked = *asked.lock().unwrap();
    (outcome, asked)
}

const GOOD: &str = "HTTP/1.1 200 OK\r\nRequest-Id: req_9\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
const DOWN: &str = "HTTP/1.1 503 Down\r\nConnection: close\r\nContent-Length: 9\r\n\r\nnot_found";

#[tokio::test]
async fn a_read_is_tried_three_times_and_says_how_often() {
    let (outcome, asked) = read_of(vec![DOWN, DOWN, GOOD]).await;
    assert_eq!(outcome.result.as_deref(), Ok("understood"));
    assert_eq!((outcome.retries, asked), (2, 3));
    assert_eq!(outcome.provider_request_id.as_deref(), Some("req_9"));
    let (outcome, asked) = read_of(vec![DOWN, DOWN, DOWN, GOOD]).await;
    assert_eq!(outcome.result, Err(Unavailable::ServerError));
    assert_eq!((outcome.retries, asked, outcome.http_status), (2, 3, Some(503)));
}

/// I15: each answer that isn't the well-formed 200 has its own name, and those that can't mend themselves aren't tried again.
#[tokio::test]
async fn a_read_that_fails_says_how() {
    use Unavailable as U;
    const HTML: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\n<html>";
    const CUT: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\n{";
    const CLOSED: &str = "";
    let status = |line: &str| -> &'static str {
        format!("HTTP/1.1 {line}\r\nConnection: close\r\nContent-Length: 9\r\n\r\nnot_found").leak()
    };
    let rows = [
        (status("401 No"), U::Unauthorized, 1),
        (status("403 No"), U::Forbidden, 1),
        (status("404 No"), U::NotFound, 1),
        (status("410 No"), U::UnexpectedStatus, 1),
        (status("302 No"), U::UnexpectedStatus, 1),
        (status("429 No"), U::RateLimited, 3),
        (status("429 No\r\nRetry-After: 60"), U::RateLimited, 1),
        (status("500 No"), U::ServerError, 3),
        (HTML, U::NotWellFormed, 3),
        (CUT, U::NotWellFormed, 3),
        (CLOSED, U::NoAnswer, 3),
    ];
    for (bytes, why, times) in rows {
        let (outcome, asked) = read_of(vec![bytes; 4]).await;
        assert_eq!((outcome.result, asked), (Err(why), times), "{bytes:?}");
    }
}

#[tokio::test]
async fn a_read_of_nobody_is_not_connected() {
    let question =
        Question { url: "http://no-such-host.invalid/".parse().unwrap(), headers: HeaderMap::new() };
    let outcome = transport().read(&question, soon(), |_| Some(())).await;
    assert_eq!((outcome.result, outcome.retries), (Err(Unavailable::NotConnected), 2));
}
