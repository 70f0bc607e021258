//! Pauses, alarms, runs, people and tokens.

use counterfoil::store::*;
use counterfoil_ledger::alarm::AlarmKind;

use crate::bench::Bench;
use crate::build::*;

crate::on_every_store!(
    a_canary_goes_out_after_a_minute_and_then_half_as_often_each_time_down_to_hourly,
    one_of_many_takes_the_canary,
    resuming_wakes_what_waited,
    an_alarm_is_raised_once_while_it_is_open,
    the_last_run_of_each_job_is_kept,
    a_name_is_taken_once_and_people_and_tokens_stand_in_the_chain,
    time_is_the_databases_and_never_stands_still,
);

async fn a_canary_goes_out_after_a_minute_and_then_half_as_often_each_time_down_to_hourly(bench: &Bench) {
    let store = &bench.store;
    assert_eq!(store.paused(&account()).await.unwrap(), None);
    store.pause(&account(), "digest", at(0)).await.unwrap();
    // Paused is paused: the second 401 changes nothing.
    store.pause(&account(), "other", at(50)).await.unwrap();
    let pause = Pause { paused_at: at(0), canary_at: at(60), secret_digest: "digest".to_owned() };
    assert_eq!(store.paused(&account()).await.unwrap(), Some(pause));
    assert!(!store.take_canary(&account(), at(59)).await.unwrap());
    let mut now = 60;
    for gap in [120, 240, 480, 960, 1920, 3600, 3600, 3600] {
        assert!(store.take_canary(&account(), at(now)).await.unwrap());
        assert!(!store.take_canary(&account(), at(now)).await.unwrap());
        assert_eq!(store.paused(&account()).await.unwrap().unwrap().canary_at, at(now + gap));
        now += gap;
    }
}

async fn one_of_many_takes_the_canary(bench: &Bench) {
    bench.store.pause(&account(), "digest", at(0)).await.unwrap();
    let other = bench.another_server().await;
    let stores = [&bench.store, &other, &bench.store, &other, &bench.store, &other];
    let name = account();
    let taken = futures::future::join_all(stores.map(|store| store.take_canary(&name, at(60)))).await;
    assert_eq!(taken.into_iter().filter(|taken| *taken.as_ref().unwrap()).count(), 1);
    other.close().await;
}

async fn resuming_wakes_what_waited(bench: &Bench) {
    let waiting = Refund { due_at: Some(at(900)), ..refund("li_1", 10) }.with_order(&bench.store).await;
    bench.store.resume(&account(), at(50)).await.unwrap();
    assert_eq!(loaded_again(&bench.store, &waiting).await.step.due_at, Some(at(900)), "nothing was paused");
    bench.store.pause(&account(), "digest", at(60)).await.unwrap();
    bench.store.resume(&account(), at(100)).await.unwrap();
    assert_eq!(bench.store.paused(&account()).await.unwrap(), None);
    assert_eq!(loaded_again(&bench.store, &waiting).await.step.due_at, Some(at(100)));
}

async fn an_alarm_is_raised_once_while_it_is_open(bench: &Bench) {
    let store = &bench.store;
    let raise = |second| store.raise_alarm("stripe-main", AlarmKind::WritesUnauthorized, "401", at(second));
    assert!(raise(0).await.unwrap());
    assert!(!raise(1).await.unwrap());
    assert!(store.raise_alarm("", AlarmKind::ClockBehind, "10 min", at(2)).await.unwrap());
    let open = store.alarms().await.unwrap();
    assert_eq!(
        open.iter().map(|alarm| alarm.kind).collect::<Vec<_>>(),
        [AlarmKind::WritesUnauthorized, AlarmKind::ClockBehind]
    );
    assert_eq!(
        (open[0].account.as_str(), open[0].detail.as_str(), open[0].raised_at),
        ("stripe-main", "401", at(0))
    );
    store.clear_alarm("stripe-main", AlarmKind::WritesUnauthorized, at(3)).await.unwrap();
    assert_eq!(store.alarms().await.unwrap().len(), 1);
    assert!(raise(4).await.unwrap());
}

async fn the_last_run_of_each_job_is_kept(bench: &Bench) {
    let mut run = Run { job: "reconcile".to_owned(), started_at: at(0), finished_at: None, found: 0 };
    bench.store.note_run(&run).await.unwrap();
    run = Run { finished_at: Some(at(2)), found: 7, ..run };
    bench.store.note_run(&run).await.unwrap();
    assert_eq!(bench.store.runs().await.unwrap(), [run]);
}

async fn a_name_is_taken_once_and_people_and_tokens_stand_in_the_chain(bench: &Bench) {
    let store = &bench.store;
    let person = Person {
        id: "p-1".to_owned(),
        name: "mei".to_owned(),
        role: Role::Reviewer,
        password_hash: "$argon2id$…".to_owned(),
    };
    assert!(store.add_person(person.clone(), at(0)).await.unwrap());
    assert!(!store.add_person(Person { id: "p-2".to_owned(), ..person.clone() }, at(1)).await.unwrap());
    let read = store.person("mei").await.unwrap().unwrap();
    assert_eq!(
        (read.id.as_str(), read.role, read.password_hash.as_str()),
        ("p-1", Role::Reviewer, "$argon2id$…")
    );
    assert!(store.person("Mei").await.unwrap().is_none());
    let token = Token {
        name: "agent".to_owned(),
        owner: "p-1".to_owned(),
        scopes: vec!["operations:read".to_owned()],
    };
    assert!(store.add_token(token.clone(), "hash-1", at(2)).await.unwrap());
    assert!(!store.add_token(token.clone(), "hash-2", at(3)).await.unwrap());
    assert_eq!(store.token("hash-1").await.unwrap(), Some(token.clone()));
    assert_eq!(store.token("hash-2").await.unwrap(), None);
    let ownerless = Token { name: "nobody's".to_owned(), owner: "p-9".to_owned(), ..token };
    assert!(matches!(store.add_token(ownerless, "hash-3", at(4)).await, Err(StoreError::Failed { .. })));
    let acts = store.chain().await.unwrap();
    assert_eq!(
        acts.iter().map(|act| act.label.as_str()).collect::<Vec<_>>(),
        ["person_added", "token_added"]
    );
    assert!(acts.iter().all(|act| !act.body.contains("argon2id") && !act.body.contains("hash-1")));
}

async fn time_is_the_databases_and_never_stands_still(bench: &Bench) {
    let first = bench.store.now().await.unwrap();
    let second = bench.store.now().await.unwrap();
    assert!(second > first, "{first} {second}");
    assert_eq!(first.as_nanosecond() % 1000, 0, "whole microseconds");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "-600\n").unwrap();
    let moved = open(&bench.database.url(), Clock::moved_by(file.path().to_owned()), false).await.unwrap();
    let behind = first.duration_since(moved.now().await.unwrap());
    assert!((590..=600).contains(&behind.as_secs()), "{behind}");
    moved.close().await;
}
