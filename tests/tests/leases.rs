//! Leases and clocks: who sends, when somebody else might. A second worker may look up, and never sends behind the first.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use counterfoil_tests::{Api, Engine, Line, REFUND, Setup, Shop, stories, stories_on, until};
use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

stories!(
    a_success_that_comes_after_the_lease_was_lost_still_counts_and_nothing_is_sent_again,
    a_row_that_waits_for_its_turn_past_its_lease_is_sent_once,
    a_process_that_stands_still_between_mark_and_first_byte_sends_nothing_when_it_goes_on,
);

stories_on!(two_servers TwoServers (
    a_success_that_comes_after_the_lease_was_lost_still_counts_and_nothing_is_sent_again
    a_row_that_waits_for_its_turn_past_its_lease_is_sent_once
));

/// Asks in the background and forgets the answer.
fn asks(api: Api) -> JoinHandle<()> {
    tokio::spawn(async move {
        let body = counterfoil_tests::refund_of("1043", "li_2").to_string();
        let wait = [("prefer", "wait=0")];
        api.try_call(reqwest::Method::POST, "/v1/operations", &wait, Some(body)).await.ok();
    })
}

async fn sent(shop: &Shop, count: usize) {
    until(&format!("{count} sends"), async || match shop.provider.sends().await.len() {
        sends if sends == count => Ok(()),
        sends => Err(format!("{sends} sends")),
    })
    .await;
}

/// H7: the sender has its answer and can't write it; its lease runs out, another worker takes the row and finds out nothing.
async fn a_success_that_comes_after_the_lease_was_lost_still_counts_and_nothing_is_sent_again(
    engine: Engine,
) {
    let shop = Shop::open(&Setup::new(engine).account("absence_lag", "1h")).await;
    shop.provider.mode(&json!({ "lookup": "lagging", "lag_ms": 3_600_000 })).await;
    let mut database = shop.ledger.database().await;
    database.refuse_facts("attempt_ended").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    sent(&shop, 1).await;
    let holder = format!("SELECT COALESCE(lease_token, 'nobody') FROM operations WHERE id = '{REFUND}'");
    let first = database.texts(&holder).await.remove(0);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    until("another holder", async || {
        let now = database.texts(&holder).await.remove(0);
        if now == first { Err(now) } else { Ok(()) }
    })
    .await;
    assert_eq!(database.facts(REFUND, "attempt_ended").await, 0);
    database.accept_facts().await;
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(shop.ledger.classes(REFUND).await, ["effect"], "the late answer is evidence");
    assert_eq!(settled["attempts"], 1);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// H5: one send a second, leases of four; the rows at the end of the queue have lost theirs when it is their turn.
async fn a_row_that_waits_for_its_turn_past_its_lease_is_sent_once(engine: Engine) {
    let shop = Shop::open(&Setup::new(engine).account("rate_limit_per_s", 1)).await;
    let lines: Vec<String> = (0..10).map(|number| format!("li_{number}")).collect();
    let priced: Vec<(&str, &str)> = lines.iter().map(|line| (line.as_str(), "100")).collect();
    shop.sells("7", "100000", "TWD", &priced).await;
    for line in &lines {
        shop.ledger.refund_at_once("7", line).await.is(202);
    }
    for line in &lines {
        let id = format!("refund-7-{line}");
        let settled = shop.ledger.wait_for_state(&id, "confirmed").await;
        assert_eq!(settled["attempts"], 1, "{settled}");
        assert_eq!(shop.provider.effects_of(&id).await.len(), 1, "{id}");
    }
    assert_eq!(shop.provider.sends().await.len(), lines.len());
    let late = "SELECT count(*) FROM operations o JOIN entries e ON e.operation_id = o.id \
                WHERE e.type = 'attempt_started' AND e.at > o.created_at + 4000000";
    let alone = engine.servers() == 1;
    assert!(!alone || shop.ledger.database().await.number(late).await > 0, "nothing waited past its lease");
    shop.ledger.rests().await;
}

/// A door before the simulator where nobody gets in, and connecting takes for ever, until it is opened.
struct Door {
    address: SocketAddr,
    listener: Option<TcpListener>,
    queue: Vec<TcpStream>,
    through: Arc<AtomicUsize>,
}

impl Door {
    /// Its queue of one is full.
    async fn shut() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(waiting) =
            tokio::time::timeout(Duration::from_millis(300), TcpStream::connect(address)).await
        {
            queue.push(waiting.unwrap());
            assert!(queue.len() < 10, "the queue never fills");
        }
        Self { address, listener: Some(listener), queue, through: Arc::default() }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on everybody gets to the simulator, who waited too.
    fn open(&mut self, simulator: &str) {
        self.queue.clear();
        let listener = self.listener.take().unwrap();
        let target = simulator.trim_start_matches("http://").to_owned();
        let through = Arc::clone(&self.through);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (target, through) = (target.clone(), Arc::clone(&through));
                tokio::spawn(async move {
                    through.fetch_add(1, Ordering::Relaxed);
                    let mut server = TcpStream::connect(&target).await.unwrap();
                    copy_bidirectional(&mut client, &mut server).await.ok();
                });
            }
        });
    }
}

/// SIGSTOP while the connection is being made, SIGCONT when it stands and the deadline is over.
async fn a_process_that_stands_still_between_mark_and_first_byte_sends_nothing_when_it_goes_on(
    engine: Engine,
) {
    let setup = Setup::new(engine)
        .account("connect_timeout", "6s")
        .account("send_timeout", "6s")
        .look_up_after("6s")
        .daemon("lease", "8s");
    let mut shop = Shop::open(&setup).await;
    let mut door = Door::shut().await;
    shop.ledger.send_to(&door.url()).await;
    let asking = asks(shop.ledger.clone());
    let mut database = shop.ledger.database().await;
    until("the mark", async || match database.facts(REFUND, "attempt_started").await {
        1 => Ok(()),
        marks => Err(format!("{marks} marks")),
    })
    .await;
    let marked = Instant::now();
    shop.ledger.server(0).stand_still().await;
    let fillers = door.queue.len();
    door.open(shop.provider.url());
    until("the connection, past the deadline", async || {
        let through = door.through.load(Ordering::Relaxed);
        let late = marked.elapsed() > Duration::from_secs(7);
        if through > fillers && late { Ok(()) } else { Err(format!("{through} connections")) }
    })
    .await;
    shop.sent_and_done(0, 0).await;
    shop.ledger.server(0).go_on();
    asking.await.unwrap();
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    let attempts = shop.ledger.attempts(REFUND).await;
    assert_eq!(attempts[0]["end"]["class"], "not_sent", "{attempts:#?}");
    let sends = shop.provider.sends().await;
    assert_eq!(sends.len(), 1, "{sends:#?}");
    assert_ne!(
        sends[0].request_id.as_deref(),
        attempts[0]["client_request_id"].as_str(),
        "the late one left"
    );
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// Two servers on one PostgreSQL, the first of them by way of a line.
async fn two_servers(setup: &Setup) -> (Shop, Line) {
    let mut shop = Shop::open(setup).await;
    let line = Line::to(&shop.ledger.database_address()).await;
    shop.ledger.terminate().await;
    let through = line.leads_to(&shop.ledger.database_address());
    shop.ledger.serve_through(0, &through).await;
    shop.ledger.serve_one(1).await;
    (shop, line)
}

/// SIGSTOP exactly between mark and send, while the other server takes over; then SIGCONT.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stands_still_after_its_mark_sends_nothing_behind_the_one_that_took_over() {
    if !Engine::TwoServers.can_be_had().await {
        return;
    }
    let (shop, line) = two_servers(&Setup::new(Engine::TwoServers)).await;
    line.hold_the_commit_of("attempt_started");
    let asking = asks(shop.ledger.of_server(0));
    line.caught_one().await;
    shop.ledger.server(0).stand_still().await;
    line.release();
    let mut database = shop.ledger.database().await;
    assert_eq!(database.facts(REFUND, "attempt_started").await, 1, "marked");
    shop.sent_and_done(0, 0).await;
    let other = shop.ledger.of_server(1);
    other.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.server(0).go_on();
    let first = until("the end of the first attempt", async || {
        let first = other.attempts(REFUND).await.remove(0);
        if first["end"].is_object() { Ok(first) } else { Err(first.to_string()) }
    })
    .await;
    asking.await.unwrap();
    assert_eq!(first["end"]["class"], "not_sent", "{first}");
    let sends = shop.provider.sends().await;
    assert_ne!(sends[0].request_id.as_deref(), first["client_request_id"].as_str(), "the sleeper sent");
    shop.sent_and_done(1, 1).await;
    assert_eq!(other.operation(REFUND).await["state"], "confirmed");
    shop.ledger.rests().await;
}

/// H7: SIGSTOP while the answer is on its way; the other server finds the effect. What the first one hears when it goes on changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stands_still_after_its_send_hears_a_late_answer_and_changes_nothing() {
    if !Engine::TwoServers.can_be_had().await {
        return;
    }
    let shop = Shop::open(&Setup::new(Engine::TwoServers)).await;
    let hang = json!({ "match": { "method": "POST" }, "effect": "applied", "answer": "hang", "after_ms": 1000, "times": 1 });
    shop.provider.fault(&hang).await;
    let asking = asks(shop.ledger.of_server(0));
    sent(&shop, 1).await;
    shop.ledger.server(0).stand_still().await;
    let other = shop.ledger.of_server(1);
    other.wait_for_state(REFUND, "confirmed").await;
    shop.ledger.server(0).go_on();
    until("the end of the attempt", async || match other.classes(REFUND).await.len() {
        1 => Ok(()),
        ends => Err(format!("{ends} ends")),
    })
    .await;
    asking.await.unwrap();
    assert_eq!(other.operation(REFUND).await["state"], "confirmed");
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// H8: the servers' own clocks are ten minutes off, and nothing notices: every time is the database's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_databases_clock_counts_and_not_the_servers() {
    const TEN_MINUTES_US: i64 = 600_000_000;
    if !Engine::TwoServers.can_be_had().await {
        return;
    }
    let mut shop = Shop::open(&Setup::new(Engine::TwoServers)).await;
    shop.ledger.terminate().await;
    let mut database = shop.ledger.database().await;
    let address = shop.ledger.database_address();
    let name = address.rsplit_once('/').unwrap().1;
    database
        .execute(&format!(
            "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS \
                 'SELECT pg_catalog.clock_timestamp() + interval ''10 minutes'''; \
             ALTER DATABASE {name} SET search_path = public, pg_catalog"
        ))
        .await;
    let own = "SELECT CAST(EXTRACT(EPOCH FROM pg_catalog.clock_timestamp()) * 1000000 AS BIGINT)";
    let ahead = database.number(own).await + TEN_MINUTES_US;
    shop.ledger.serve().await;
    shop.provider.next_send("applied", "hang").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    sent(&shop, 1).await;
    let [lease, due, closes] = ["lease_until", "due_at", "window_closes_at"]
        .map(|column| format!("SELECT {column} FROM operations WHERE id = '{REFUND}'"));
    let (lease, due) = (database.number(&lease).await, database.number(&due).await);
    let marked = database
        .number(&format!(
            "SELECT at FROM entries WHERE operation_id = '{REFUND}' AND type = 'attempt_started'"
        ))
        .await;
    assert!((0..10_000_000).contains(&(marked - ahead)), "marked {marked}, the database's time was {ahead}");
    assert!((1..=4_000_000).contains(&(lease - marked)), "lease until {lease}, marked {marked}");
    assert_eq!(due - marked, 2_000_000, "due {due}, marked {marked}");
    assert_eq!(database.number(&closes).await - marked, 24 * 3_600_000_000);
    // At the pace of the database's clock, not ten minutes early or late.
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    let early = format!("SELECT count(*) FROM entries WHERE operation_id = '{REFUND}' AND at < {ahead}");
    assert_eq!(database.number(&early).await, 0);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}
