//! The database in trouble: cut off, silent, restarted, read-only, full. Answers come in time and are true, and no answer that got lost on
//! the way from the database makes anything happen twice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use counterfoil_tests::{Engine, Line, REFUND, Reply, Server, Setup, Shop, SmallDisk, refund_of, until};
use reqwest::Method;
use serde_json::json;

/// However ill the database is, a caller waits no longer. The product's own bound is 12 s for the record and 5 s at most for the send.
const IN_TIME: Duration = Duration::from_secs(20);
const OTHER: &str = "refund-1043-li_1";

/// An answer that came in time.
async fn in_time<T>(what: &str, answer: impl Future<Output = T>) -> T {
    let begun = Instant::now();
    let answer = answer.await;
    assert!(begun.elapsed() < IN_TIME, "{what} took {:?}", begun.elapsed());
    answer
}

/// What a ledger without its database may say of an operation that may have been sent long ago.
#[track_caller]
fn says_nothing_false(reply: &Reply) {
    reply.is_problem(503, "");
    let told = reply.body["type"].as_str().unwrap();
    assert!(
        ["urn:counterfoil:unavailable", "urn:counterfoil:recording-unknown"].contains(&told),
        "{}",
        reply.text
    );
    for lie in ["nothing was sent", "Nothing was sent", "try again"] {
        assert!(!reply.text.contains(lie), "{lie:?} stands in {}", reply.text);
    }
}

/// A shop whose one server reaches PostgreSQL through a line.
async fn on_the_line(setup: &Setup) -> (Shop, Line) {
    let mut shop = Shop::open(setup).await;
    let line = Line::to(&shop.ledger.database_address()).await;
    shop.ledger.terminate().await;
    let through = line.leads_to(&shop.ledger.database_address());
    shop.ledger.serve_through(0, &through).await;
    (shop, line)
}

async fn gone_and_back(break_it: impl Fn(&Line)) {
    let setup = Setup::new(Engine::Postgres).look_up_after("1h").account("absence_lag", "1h");
    let (shop, line) = on_the_line(&setup).await;
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund("1043", "li_2").await.is(202);
    break_it(&line);
    let repeat = in_time("a repeat", shop.ledger.refund("1043", "li_2")).await;
    says_nothing_false(&repeat);
    let new = in_time("a new one", shop.ledger.refund("1043", "li_1")).await;
    says_nothing_false(&new);
    in_time("reading", shop.ledger.get(&format!("/v1/operations/{REFUND}"))).await.is_problem(503, "");
    shop.sent_and_done(1, 1).await;
    line.mend();
    until("the database is back", async || {
        let read = shop.ledger.get(&format!("/v1/operations/{OTHER}")).await;
        if read.status == 404 { Ok(()) } else { Err(read.text) }
    })
    .await;
    shop.ledger.refund("1043", "li_1").await.is(201);
    shop.ledger.look_up(REFUND).await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(shop.provider.sends().await.len(), 2);
    shop.ledger.rests().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_cut_off_is_said_in_time_and_no_answer_is_false() {
    if Engine::Postgres.can_be_had().await {
        gone_and_back(Line::cut).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_falls_silent_is_said_in_time_and_no_answer_is_false() {
    if Engine::Postgres.can_be_had().await {
        gone_and_back(Line::fall_silent).await;
    }
}

/// The caller's token could be read, and the operation couldn't: it may have been sent long ago, as here it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_whose_operation_cannot_be_read_is_not_told_that_nothing_was_sent() {
    if !Engine::Postgres.can_be_had().await {
        return;
    }
    let setup = Setup::new(Engine::Postgres).look_up_after("1h").account("absence_lag", "1h");
    let (shop, line) = on_the_line(&setup).await;
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "unknown").await;
    line.cut_at(REFUND);
    let repeat = in_time("a repeat", shop.ledger.refund("1043", "li_2")).await;
    says_nothing_false(&repeat);
    repeat.is_problem(503, "recording-unknown");
    line.mend();
    shop.ledger.look_up(REFUND).await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// The connection breaks while the send is on its way: the result waits for the database, or the row is found without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_during_the_send_costs_no_effect_and_makes_none() {
    if !Engine::Postgres.can_be_had().await {
        return;
    }
    let (shop, line) = on_the_line(&Setup::new(Engine::Postgres)).await;
    let hang = json!({ "match": { "method": "POST" }, "effect": "applied", "answer": "hang", "after_ms": 1000, "times": 1 });
    shop.provider.fault(&hang).await;
    let api = shop.ledger.clone();
    let asking = tokio::spawn(async move { in_time("the refund", api.refund("1043", "li_2")).await });
    until("the effect", async || match shop.provider.effects().await.len() {
        1 => Ok(()),
        effects => Err(format!("{effects} effects")),
    })
    .await;
    line.cut();
    says_nothing_false(&asking.await.unwrap());
    line.mend();
    until("the end", async || {
        let read = shop.ledger.get(&format!("/v1/operations/{REFUND}")).await;
        if read.body["state"] == "confirmed" { Ok(()) } else { Err(read.text) }
    })
    .await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// H19: the mark is durable, and nobody told the sender. It sends nothing before it has read its own mark again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mark_whose_commit_was_not_answered_is_read_again_before_anything_is_sent() {
    if !Engine::Postgres.can_be_had().await {
        return;
    }
    let setup = Setup::new(Engine::Postgres)
        .account("send_timeout", "10s")
        .look_up_after("10s")
        .daemon("lease", "20s");
    let (shop, line) = on_the_line(&setup).await;
    line.lose_the_commit_of("attempt_started");
    shop.ledger.refund_at_once("1043", "li_2").await;
    line.caught_one().await;
    let mut database = shop.ledger.database().await;
    assert_eq!(
        database.facts(REFUND, "attempt_started").await,
        1,
        "the mark is there, and its sender doesn't know"
    );
    line.is_waited_for().await;
    shop.sent_and_done(0, 0).await;
    line.mend();
    let settled = shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(settled["attempts"], 1, "it recognised its own mark: {settled}");
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// The record is durable, and nobody was told: that is what the caller hears, and it is sent once all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_whose_commit_was_not_answered_may_be_recorded_and_is_sent_once() {
    if !Engine::Postgres.can_be_had().await {
        return;
    }
    let (shop, line) = on_the_line(&Setup::new(Engine::Postgres)).await;
    line.lose_the_commit_of("recorded");
    let told = in_time("the refund", shop.ledger.refund("1043", "li_2")).await;
    told.is_problem(503, "recording-unknown");
    assert_eq!((&told.body["claim"], &told.body["resend"]), (&json!("in_progress"), &json!("never")));
    assert_eq!(shop.ledger.database().await.facts(REFUND, "recorded").await, 1);
    shop.sent_and_done(0, 0).await;
    line.mend();
    let again = shop.ledger.refund("1043", "li_2").await.is(200);
    assert_eq!(again.body["replayed"], true);
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// The whole database process dies and comes back, twice, while refunds are asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_restarts_under_load_loses_nothing_and_doubles_nothing() {
    let Some(server) = Server::alone() else { return };
    let server = Arc::new(server);
    let shop = Shop::open(&Setup::new(Engine::Postgres).on_server(&server)).await;
    let lines: Vec<String> = (0..40).map(|number| format!("li_{number}")).collect();
    let priced: Vec<(&str, &str)> = lines.iter().map(|line| (line.as_str(), "100")).collect();
    shop.sells("7", "100000", "TWD", &priced).await;
    let mut recorded = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let api = shop.ledger.clone();
        let line = line.clone();
        let asking = tokio::spawn(async move { in_time("a refund", api.refund_at_once("7", &line)).await });
        if number % 15 == 10 {
            server.restart();
        }
        let reply = asking.await.unwrap();
        if reply.status != 503 {
            assert!([200, 201, 202].contains(&reply.status), "{}", reply.text);
            recorded.push(number);
        }
    }
    assert!(recorded.len() >= 20, "most of the time it runs: {recorded:?}");
    for (number, line) in lines.iter().enumerate() {
        let again = shop.ledger.refund_at_once("7", line).await;
        if recorded.contains(&number) {
            assert_eq!((again.status, &again.body["replayed"]), (200, &json!(true)), "lost: {}", again.text);
        }
    }
    for line in &lines {
        let id = format!("refund-7-{line}");
        shop.ledger.wait_for_state(&id, "confirmed").await;
        assert_eq!(shop.provider.effects_of(&id).await.len(), 1, "{id}");
    }
    shop.ledger.rests().await;
}

/// What a failover leaves behind: a standby reads and doesn't write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_database_is_read_and_what_it_cannot_record_is_not_sent() {
    let Some(server) = Server::alone() else { return };
    let server = Arc::new(server);
    let setup =
        Setup::new(Engine::Postgres).on_server(&server).look_up_after("1h").account("absence_lag", "1h");
    let shop = Shop::open(&setup).await;
    shop.provider.next_send("applied", "drop").await;
    shop.ledger.refund("1043", "li_2").await.is(202);
    server.restart_as_standby();
    until("the standby reads", async || {
        let read = shop.ledger.get(&format!("/v1/operations/{REFUND}")).await;
        if read.status == 200 { Ok(()) } else { Err(read.text) }
    })
    .await;
    in_time("a new one", shop.ledger.refund("1043", "li_1")).await.is_problem(503, "not-recorded");
    let repeat = in_time("a repeat", shop.ledger.refund("1043", "li_2")).await.is(200);
    assert_eq!((&repeat.body["state"], &repeat.body["claim"]), (&json!("unknown"), &json!("in_progress")));
    shop.ledger.get(&format!("/v1/operations/{OTHER}")).await.is(404);
    shop.sent_and_done(1, 1).await;
    server.promote();
    shop.ledger.get(&format!("/v1/operations/{OTHER}")).await.is(404);
    until("it writes again", async || {
        let reply = shop.ledger.refund("1043", "li_1").await;
        if reply.status == 201 { Ok(()) } else { Err(reply.text) }
    })
    .await;
    shop.ledger.look_up(REFUND).await;
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    assert_eq!(shop.provider.effects().await.len(), 2);
    shop.ledger.rests().await;
}

/// Orders small refunds until one isn't recorded any more, and says which. A full disk may break a transaction before its commit, which is
/// `not-recorded`, or in the commit itself, of which nobody can say that a restart won't find it.
async fn until_it_is_full(shop: &Shop) -> String {
    for number in 0..60 {
        let line = format!("li_{number}");
        let reply = in_time("a refund", shop.ledger.refund("7", &line)).await;
        match reply.status {
            201 | 202 => {}
            _ => {
                reply.is_problem(503, "");
                let told = reply.body["type"].as_str().unwrap();
                let known = ["urn:counterfoil:not-recorded", "urn:counterfoil:recording-unknown"];
                assert!(known.contains(&told), "{}", reply.text);
                return line;
            }
        }
    }
    panic!("a full disk takes sixty refunds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_said_in_time_sends_nothing_and_is_over_when_there_is_room() {
    let Some(disk) = SmallDisk::mount(8 * 1024 * 1024) else { return };
    let mut shop = Shop::open(&Setup::new(Engine::Sqlite).on_disk(disk.path())).await;
    let lines: Vec<String> = (0..60).map(|number| format!("li_{number}")).collect();
    let priced: Vec<(&str, &str)> = lines.iter().map(|line| (line.as_str(), "100")).collect();
    shop.sells("7", "100000", "TWD", &priced).await;
    shop.ledger.refund("1043", "li_2").await.is(201);
    disk.fill();
    let line = until_it_is_full(&shop).await;
    let id = format!("refund-7-{line}");
    assert!(shop.provider.effects_of(&id).await.is_empty());
    shop.ledger.get(&format!("/v1/operations/{id}")).await.is(404);
    // What is recorded can be read, and is told as it is.
    let repeat = in_time("a repeat", shop.ledger.refund("1043", "li_2")).await.is(200);
    assert_eq!((&repeat.body["state"], &repeat.body["claim"]), (&json!("confirmed"), &json!("done")));
    disk.empty();
    let again = shop.ledger.refund("7", &line).await.is(201);
    assert_eq!(again.body["replayed"], false);
    for line in &lines {
        let id = format!("refund-7-{line}");
        if shop.ledger.get(&format!("/v1/operations/{id}")).await.status == 200 {
            shop.ledger.wait_for_state(&id, "confirmed").await;
            assert_eq!(shop.provider.effects_of(&id).await.len(), 1, "{id}");
        }
    }
    shop.ledger.rests().await;
    assert!(shop.ledger.terminate().await.success());
}

/// A9: the disk fills up while the provider works.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fills_during_the_send_costs_no_effect_and_makes_none() {
    let Some(disk) = SmallDisk::mount(8 * 1024 * 1024) else { return };
    let shop = Shop::open(&Setup::new(Engine::Sqlite).on_disk(disk.path())).await;
    let hang = json!({ "match": { "method": "POST" }, "effect": "applied", "answer": "hang", "after_ms": 1000, "times": 1 });
    shop.provider.fault(&hang).await;
    let api = shop.ledger.clone();
    let body = refund_of("1043", "li_2").to_string();
    let asking = tokio::spawn(async move {
        in_time("the refund", api.call(Method::POST, "/v1/operations", &[], Some(body))).await
    });
    until("the effect", async || match shop.provider.effects().await.len() {
        1 => Ok(()),
        effects => Err(format!("{effects} effects")),
    })
    .await;
    disk.fill();
    let told = asking.await.unwrap();
    assert!([201, 202].contains(&told.status), "{}", told.text);
    assert_ne!(told.body["claim"], "not_done", "{}", told.text);
    disk.empty();
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}

/// It doesn't start on books that it can't write, and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_read_only_disk_it_does_not_start_and_says_why() {
    let Some(disk) = SmallDisk::mount(8 * 1024 * 1024) else { return };
    let mut shop = Shop::open(&Setup::new(Engine::Sqlite).on_disk(disk.path())).await;
    shop.ledger.refund("1043", "li_2").await.is(201);
    shop.ledger.terminate().await;
    disk.make_read_only();
    let serve = in_time("serve", shop.ledger.run(&["serve"])).await;
    assert_eq!(serve.code, Some(1), "{}", serve.output());
    assert!(serve.output().contains("database"), "{}", serve.output());
    disk.make_writable();
    shop.ledger.serve().await;
    shop.ledger.refund("1043", "li_2").await.is(200);
    shop.sent_and_done(1, 1).await;
    shop.ledger.rests().await;
}
