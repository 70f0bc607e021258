//! What only PostgreSQL goes through: roles, connections that break, answers that get lost, a server that restarts.

use counterfoil_ledger::alarm::AlarmKind;
use std::time::{Duration, Instant};

use counterfoil::config::DatabaseUrl;
use counterfoil::store::*;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use crate::bench::{Bench, Database};
use crate::build::*;
use crate::proxy::{Cut, Proxy};
use crate::server::{Server, connected};

fn direct(bench: &Bench) -> &str {
    let Database::Postgres { direct, .. } = &bench.database else { panic!("not PostgreSQL") };
    direct
}

/// The address of the same database for another role or port.
fn at_address(url: &str, user: &str, port: Option<u16>) -> DatabaseUrl {
    let (_, host) = url.split_once('@').unwrap();
    let (host, database) = host.split_once('/').unwrap();
    let host = port.map_or_else(|| host.to_owned(), |port| format!("127.0.0.1:{port}"));
    DatabaseUrl::Postgres(format!("postgres://{user}:pw@{host}/{database}").into())
}

const WORDS: [&str; 8] = [
    "UPDATE entries SET body = '{}'",
    "DELETE FROM entries",
    "TRUNCATE chain",
    "UPDATE chain SET at = 0",
    "DELETE FROM operations",
    "UPDATE operations SET amount = 1",
    "DELETE FROM orders",
    "UPDATE meta SET value = 'x'",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_role_that_serves_can_do_its_work_and_cannot_change_history() {
    let Some(bench) = Bench::postgres().await else { return };
    let role = format!("app_{}", uuid::Uuid::new_v4().simple());
    bench
        .beside(&format!("CREATE ROLE {role} LOGIN PASSWORD 'pw'; SELECT counterfoil_grant('{role}')"))
        .await
        .unwrap();
    let store = open(&at_address(direct(&bench), &role, None), Clock::true_time(), false).await.unwrap();

    store
        .bind(&"shop".parse().unwrap(), &[("refund".parse().unwrap(), vec!["order".to_owned()])], at(0))
        .await
        .unwrap();
    let row = unknown(&store, &refund("li_1", 10)).await;
    assert_eq!(store.claim_due(&account(), &claim("w-1", at(100)), 1).await.unwrap().len(), 1);
    store.set_aside(&row.operation.id, "x").await.unwrap();
    store.ask_look_up(&row.operation.id, at(100), Duration::from_secs(5)).await.unwrap();
    store.put_order(order(ORDER, "pi_1043", 500), at(1)).await.unwrap();
    let person = Person {
        id: "p".to_owned(),
        name: "mei".to_owned(),
        role: Role::Viewer,
        password_hash: "x".to_owned(),
    };
    assert!(store.add_person(person, at(0)).await.unwrap());
    store.pause(&account(), "x", at(0)).await.unwrap();
    assert!(store.take_canary(&account(), at(60)).await.unwrap());
    store.resume(&account(), at(61)).await.unwrap();
    store.raise_alarm("", AlarmKind::ClockBehind, "x", at(0)).await.unwrap();
    store.clear_alarm("", AlarmKind::ClockBehind, at(1)).await.unwrap();
    let run = Run { job: "x".to_owned(), started_at: at(0), finished_at: None, found: 0 };
    store.note_run(&run).await.unwrap();
    store.note_run(&run).await.unwrap();
    let effects = vec![effect("re_1", None, 10, counterfoil_ledger::evidence::EffectStatus::Live)];
    for second in [200, 201] {
        let fresh = loaded_again(&store, &row).await;
        let note = change(&fresh, LeaseRule::NotNeeded, at(second), |draft| {
            draft.write(counterfoil_ledger::entry::Entry::CancelAsked).unwrap();
        });
        let bodies = vec![("00".to_owned(), vec![1])];
        let written = store.write(Change { effects: effects.clone(), bodies, ..note }).await.unwrap();
        assert!(matches!(written, Written::Done(_)));
    }

    let DatabaseUrl::Postgres(url) = at_address(direct(&bench), &role, None) else {
        panic!("not PostgreSQL")
    };
    use secrecy::ExposeSecret as _;
    let mut conn = PgConnection::connect(url.expose_secret()).await.unwrap();
    for sql in WORDS.into_iter().chain([
        "CREATE TABLE mine ()",
        "DROP TRIGGER chain_no_update ON chain",
        "SELECT counterfoil_grant('postgres')",
    ]) {
        let refused = conn.execute(AssertSqlSafe(sql)).await.expect_err(sql);
        let code =
            refused.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
        assert_eq!(code, "42501", "{sql}: no right, whatever the triggers say; {refused}");
    }
    store.close().await;
    bench.store.close().await;
}

/// With one role for everything, it has taken the rights from itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_serves_has_no_right_to_change_history_either() {
    let Some(server) = Server::shared().await else { return };
    let address = server.fresh_database().await;
    let role = format!("owner_{}", uuid::Uuid::new_v4().simple());
    let mut admin = connected(&address).await;
    admin
        .execute(AssertSqlSafe(format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'pw'; ALTER SCHEMA public OWNER TO {role}"
        )))
        .await
        .unwrap();
    let url = at_address(&address, &role, None);
    let store = open(&url, Clock::true_time(), true).await.unwrap();
    unknown(&store, &refund("li_1", 10)).await;
    let DatabaseUrl::Postgres(secret) = &url else { panic!("not PostgreSQL") };
    use secrecy::ExposeSecret as _;
    let mut conn = PgConnection::connect(secret.expose_secret()).await.unwrap();
    for sql in &WORDS[..5] {
        let refused = conn.execute(AssertSqlSafe(*sql)).await.expect_err(sql);
        let code =
            refused.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
        assert_eq!(code, "42501", "{sql}: {refused}");
    }
    // Migrating again is no work and no harm.
    open(&url, Clock::true_time(), true).await.unwrap().close().await;
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_migrate_at_once_all_come_up() {
    let Some(server) = Server::shared().await else { return };
    let url = DatabaseUrl::Postgres(server.fresh_database().await.into());
    let opening = (0..4).map(|_| {
        let url = url.clone();
        tokio::spawn(async move { open(&url, Clock::true_time(), true).await.unwrap() })
    });
    for store in futures::future::join_all(opening).await {
        store.unwrap().close().await;
    }
}

/// The answer to COMMIT is lost on the way back: it says that it doesn't know, and a second look finds it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_to_commit_is_called_unknown_and_is_found_when_read_again() {
    let Some(bench) = Bench::postgres().await else { return };
    let Some(server) = Server::shared().await else { return };
    let proxy = Proxy::before(server.port()).await;
    let store = open(&at_address(direct(&bench), "postgres", Some(proxy.port)), Clock::true_time(), false)
        .await
        .unwrap();
    store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();

    let asked = refund("li_1", 6000);
    proxy.cut(Cut::AnswerTo("COMMIT\0"));
    let lost = store.record(asked.place(), asked.judge()).await;
    assert!(matches!(lost, Err(StoreError::CommitUnknown { .. })), "{lost:?}");
    proxy.cut(Cut::Nothing);
    assert!(store.load(&asked.id()).await.unwrap().is_some(), "it stands");
    let again = store.record(asked.place(), asked.judge()).await.unwrap();
    assert!(matches!(again, Recorded::Existing(_)), "{again:?}");

    // Before COMMIT left, there is no doubt.
    let other = refund("li_2", 4000);
    proxy.cut(Cut::AnswerTo("INSERT INTO operations"));
    let lost = store.record(other.place(), other.judge()).await;
    assert!(matches!(lost, Err(StoreError::Failed { .. })), "{lost:?}");
    proxy.cut(Cut::Nothing);
    assert!(store.load(&other.id()).await.unwrap().is_none(), "it doesn't");
    other.record(&store).await;
    store.close().await;
    bench.store.close().await;
}

/// COMMIT is on its way when the line goes dark: nobody waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_goes_dark_is_answered_in_time() {
    let Some(bench) = Bench::postgres().await else { return };
    let Some(server) = Server::shared().await else { return };
    let proxy = Proxy::before(server.port()).await;
    let store = open(&at_address(direct(&bench), "postgres", Some(proxy.port)), Clock::true_time(), false)
        .await
        .unwrap();
    proxy.cut(Cut::SilenceAfter("COMMIT\0"));
    let begun = Instant::now();
    let lost = store.chain_act(LedgerAct::TestClock { offset_s: 1 }, at(0)).await;
    assert!(matches!(lost, Err(StoreError::CommitUnknown { .. })), "{lost:?}");
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    proxy.cut(Cut::Nothing);
    assert_eq!(store.chain().await.unwrap().len(), 1);
    store.close().await;
    bench.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_were_cut_are_replaced_before_anything_is_lost() {
    let Some(bench) = Bench::postgres().await else { return };
    bench.store.put_order(order(ORDER, PAYMENT, 1_000_000), at(0)).await.unwrap();
    for round in 0..3 {
        // Fill the pool, then cut every connection in it.
        let asking = (0..8).map(|n| {
            let store = bench.store.clone();
            tokio::spawn(async move { refund(&format!("li_{round}_{n}"), 10).record(&store).await })
        });
        for recorded in futures::future::join_all(asking).await {
            recorded.unwrap();
        }
        bench
            .beside("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
            .await
            .unwrap();
        bench.store.now().await.unwrap();
        bench.store.ping().await.unwrap();
        refund(&format!("li_{round}_after"), 10).record(&bench.store).await;
    }
    assert_eq!(bench.store.list(&Filter::default(), None, 100).await.unwrap().len(), 27);
    bench.store.close().await;
}

/// Somebody holds the payment's row: the others hear in time that nothing was written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_nobody_gives_back_ends_in_not_written() {
    let Some(bench) = Bench::postgres().await else { return };
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let mut other = connected(direct(&bench)).await;
    other.execute("BEGIN").await.unwrap();
    other.execute("SELECT * FROM payments FOR UPDATE").await.unwrap();
    let asked = refund("li_1", 6000);
    let begun = Instant::now();
    let refused = bench.store.record(asked.place(), asked.judge()).await;
    assert!(matches!(refused, Err(StoreError::Failed { step: "lock the payment", .. })), "{refused:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    other.execute("ROLLBACK").await.unwrap();
    asked.record(&bench.store).await;
    bench.store.close().await;
}

/// Two that take the same locks in another order: one is run again, and both are written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_is_run_again() {
    let Some(bench) = Bench::postgres().await else { return };
    bench.store.put_order(order("a", "pi_a", 100), at(0)).await.unwrap();
    bench.store.put_order(order("b", "pi_b", 100), at(0)).await.unwrap();
    for round in 0..20 {
        let (there, back) = if round % 2 == 0 { ("pi_b", "pi_a") } else { ("pi_a", "pi_b") };
        let other = bench.store.clone();
        let (one, two) = tokio::join!(
            bench.store.put_order(order("a", there, 100), at(1)),
            other.put_order(order("b", back, 100), at(1))
        );
        assert_eq!((one.unwrap(), two.unwrap()), (OrderPut::Replaced, OrderPut::Replaced));
    }
    bench.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_transaction_outlives_it_in_the_session() {
    let Some(bench) = Bench::pgbouncer().await else { return };
    unknown(&bench.store, &refund("li_1", 10)).await;
    let Database::Postgres { url, .. } = &bench.database else { panic!("not PostgreSQL") };
    let mut pooled = connected(url).await;
    for _ in 0..8 {
        for (setting, fresh) in
            [("lock_timeout", "0"), ("statement_timeout", "0"), ("synchronous_commit", "off")]
        {
            let sql = format!("SELECT 1 / (current_setting('{setting}') = '{fresh}')::int");
            pooled.execute(AssertSqlSafe(sql)).await.unwrap_or_else(|error| panic!("{setting}: {error}"));
        }
        pooled
            .execute("SELECT 1 / (count(*) = 0)::int FROM pg_prepared_statements")
            .await
            .expect("no named statement");
    }
    let leaked = "SELECT 1 / (count(*) = 0)::int FROM pg_locks WHERE locktype = 'advisory' AND database =
        (SELECT oid FROM pg_database WHERE datname = current_database())";
    bench.store.close().await;
    bench.beside(leaked).await.expect("no lock is left");
}

/// A commit is on disk when it is answered, also where the server's default is to answer before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_waits_for_the_disk_whatever_the_default_is() {
    let Some(bench) = Bench::postgres().await else { return };
    bench
        .beside(
            "CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
                 IF current_setting(''synchronous_commit'') <> ''on'' THEN RAISE EXCEPTION ''it would be lost''; END IF;
                 RETURN NEW; END';
             CREATE TRIGGER look BEFORE INSERT ON chain FOR EACH ROW EXECUTE FUNCTION look()",
        )
        .await
        .unwrap();
    bench.store.chain_act(LedgerAct::TestClock { offset_s: 1 }, at(0)).await.unwrap();
    bench.store.close().await;
}

/// The server goes down in the middle of everything and comes up again: no answer is late, none is false, and the work goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_restarts_is_survived_and_every_answer_was_true() {
    let Some(server) = Server::alone() else { return };
    let url = server.fresh_database().await;
    let store = open(&DatabaseUrl::Postgres(url.into()), Clock::true_time(), true).await.unwrap();
    store.put_order(order(ORDER, PAYMENT, 1_000_000), at(0)).await.unwrap();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let asking: Vec<_> = (0..4)
        .map(|worker| {
            let (store, stopped) = (store.clone(), stopped.clone());
            tokio::spawn(async move {
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                let mut n = 0;
                while !*stopped.borrow() {
                    n += 1;
                    let asked = refund(&format!("li_{worker}_{n}"), 10);
                    let begun = Instant::now();
                    match store.record(asked.place(), asked.judge()).await {
                        Ok(Recorded::New(_)) => yes.push(asked.id()),
                        Ok(other) => panic!("{other:?}"),
                        Err(StoreError::Failed { .. }) => no.push(asked.id()),
                        Err(StoreError::CommitUnknown { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
                }
                (yes, no)
            })
        })
        .collect();
    for _ in 0..2 {
        let before = store.ids_after(0, 10_000).await.unwrap().len();
        let give_up_at = Instant::now() + Duration::from_secs(20);
        while store.ids_after(0, 10_000).await.unwrap().len() < before + 8 {
            assert!(Instant::now() < give_up_at, "nothing is recorded");
        }
        server.restart();
    }
    stop.send(true).unwrap();
    for worker in futures::future::join_all(asking).await {
        let (yes, no) = worker.unwrap();
        assert!(!yes.is_empty());
        for id in yes {
            assert!(store.load(&id).await.unwrap().is_some(), "{id} was recorded");
        }
        for id in no {
            assert!(store.load(&id).await.unwrap().is_none(), "{id} was not recorded");
        }
    }
    refund("after", 10).record(&store).await;
    store.close().await;
}
