//! Due rows and who works on them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use counterfoil::store::*;
use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::entry::Entry;
use counterfoil_ledger::evidence::{LookUp, Walk};
use counterfoil_ledger::state::State;
use futures::future::join_all;

use crate::bench::Bench;
use crate::build::*;

const GAP: Duration = Duration::from_secs(5);

crate::on_every_store!(
    the_most_overdue_row_is_claimed_first,
    no_row_is_claimed_by_two_however_many_workers_there_are,
    a_lease_that_ran_out_is_claimed_again,
    only_the_holder_moves_the_due_time,
    the_next_due_time_counts_leases,
    a_look_up_is_asked_for_once_in_five_seconds_even_when_it_is_answered_in_between,
    only_what_may_still_change_is_asked_for,
    an_account_that_is_back_wakes_its_unsettled_rows,
    a_row_set_aside_is_out_of_the_work_and_in_the_list,
);

async fn due(bench: &Bench, line: &str, second: Option<u64>) -> Loaded {
    Refund { due_at: second.map(at), ..refund(line, 10) }.with_order(&bench.store).await
}

fn names(claimed: &[counterfoil_ledger::identity::OperationId]) -> Vec<&str> {
    claimed.iter().map(|id| id.as_str()).collect()
}

async fn the_most_overdue_row_is_claimed_first(bench: &Bench) {
    for (line, second) in
        [("c", Some(30)), ("a", Some(10)), ("later", Some(101)), ("b", Some(20)), ("never", None)]
    {
        due(bench, line, second).await;
    }
    let claimed = bench.store.claim_due(&account(), &claim("w-1", at(100)), 2).await.unwrap();
    assert_eq!(names(&claimed), ["refund-1043-a", "refund-1043-b"]);
    let read = bench.store.load(&claimed[0]).await.unwrap().unwrap();
    assert_eq!(read.lease, Some(("w-1".to_owned(), at(160))));
    let claimed = bench.store.claim_due(&account(), &claim("w-2", at(100)), 10).await.unwrap();
    assert_eq!(names(&claimed), ["refund-1043-c"]);
    let others = bench.store.claim_due(&"adyen".parse().unwrap(), &claim("w-2", at(100)), 10).await.unwrap();
    assert!(others.is_empty());
}

async fn no_row_is_claimed_by_two_however_many_workers_there_are(bench: &Bench) {
    for n in 0..30 {
        due(bench, &format!("li_{n}"), Some(n)).await;
    }
    let other = bench.another_server().await;
    let workers = (0..10).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &bench.store } else { &other });
        tokio::spawn(async move {
            let mut mine = Vec::new();
            loop {
                let claimed =
                    store.claim_due(&account(), &claim(&format!("w-{n}"), at(100)), 2).await.unwrap();
                assert!(claimed.len() <= 2);
                if claimed.is_empty() {
                    return mine;
                }
                mine.extend(claimed);
            }
        })
    });
    let claimed: Vec<_> = join_all(workers).await.into_iter().flat_map(Result::unwrap).collect();
    // A worker that was passed over by others' locks may have stopped early; nothing may be claimed twice.
    let distinct: BTreeSet<_> = claimed.iter().collect();
    assert_eq!(distinct.len(), claimed.len());
    let rest = bench.store.claim_due(&account(), &claim("w-last", at(100)), 100).await.unwrap();
    assert_eq!(claimed.len() + rest.len(), 30);
    other.close().await;
}

async fn a_lease_that_ran_out_is_claimed_again(bench: &Bench) {
    due(bench, "li_1", Some(10)).await;
    assert_eq!(bench.store.claim_due(&account(), &claim("dead", at(100)), 10).await.unwrap().len(), 1);
    assert!(bench.store.claim_due(&account(), &claim("w-2", at(159)), 10).await.unwrap().is_empty());
    let again = bench.store.claim_due(&account(), &claim("w-2", at(160)), 10).await.unwrap();
    assert_eq!(names(&again), ["refund-1043-li_1"]);
}

async fn only_the_holder_moves_the_due_time(bench: &Bench) {
    let row = due(bench, "li_1", Some(10)).await;
    bench.store.claim_due(&account(), &claim("w-1", at(100)), 10).await.unwrap();
    let step = Step { due_at: Some(at(500)), reason: Reason::LooksUpNext };
    bench.store.reschedule(&row.operation.id, "w-2", &step).await.unwrap();
    let read = loaded_again(&bench.store, &row).await;
    assert_eq!((&read.step, read.lease.is_some()), (&row.step, true));
    bench.store.reschedule(&row.operation.id, "w-1", &step).await.unwrap();
    let read = loaded_again(&bench.store, &row).await;
    assert_eq!((&read.step, read.lease), (&step, None));
}

async fn the_next_due_time_counts_leases(bench: &Bench) {
    assert_eq!(bench.store.next_due(at(0)).await.unwrap(), None);
    due(bench, "li_1", Some(10)).await;
    due(bench, "li_2", Some(300)).await;
    assert_eq!(bench.store.next_due(at(100)).await.unwrap(), Some(at(10)));
    bench.store.claim_due(&account(), &claim("w-1", at(100)), 1).await.unwrap();
    assert_eq!(bench.store.next_due(at(100)).await.unwrap(), Some(at(160)), "when the lease runs out");
    assert_eq!(bench.store.next_due(at(160)).await.unwrap(), Some(at(10)));
}

/// Rule 5.
async fn a_look_up_is_asked_for_once_in_five_seconds_even_when_it_is_answered_in_between(bench: &Bench) {
    let row = unknown(&bench.store, &refund("li_1", 10)).await;
    let id = row.operation.id.clone();
    assert!(bench.store.ask_look_up(&id, at(20), GAP).await.unwrap());
    for second in 20..25 {
        assert!(!bench.store.ask_look_up(&id, at(second), GAP).await.unwrap(), "at {second}");
    }
    let read = loaded_again(&bench.store, &row).await;
    assert_eq!((read.look_up_asked_at, read.step.due_at), (Some(at(20)), Some(at(20))));
    // It is looked up, which found nothing; whoever asks again within the gap is still told that it was just asked.
    assert_eq!(bench.store.claim_due(&account(), &claim("w-1", at(21)), 1).await.unwrap().len(), 1);
    let look_up = LookUp {
        started_at: at(21),
        duration_ms: 80,
        walk: Walk::Complete,
        pages: 1,
        retries: 0,
        http_status: Some(200),
        provider_request_id: None,
        effects: Vec::new(),
        others: 0,
    };
    let looked = change(&read, LeaseRule::GivenBack("w-1".to_owned()), at(21), |draft| {
        draft
            .write(Entry::LookedUp { look_up, counted: false, proves_absence: false, restored_at: None })
            .unwrap();
    });
    let looked = Change { step: Some(Step { due_at: Some(at(500)), reason: Reason::LooksUpNext }), ..looked };
    assert!(matches!(bench.store.write(looked).await.unwrap(), Written::Done(_)));
    assert_eq!(loaded_again(&bench.store, &row).await.look_up_asked_at, None, "it was answered");
    assert!(!bench.store.ask_look_up(&id, at(24), GAP).await.unwrap());
    assert_eq!(loaded_again(&bench.store, &row).await.step.due_at, Some(at(500)));
    assert!(bench.store.ask_look_up(&id, at(25), GAP).await.unwrap());
    assert_eq!(loaded_again(&bench.store, &row).await.step.due_at, Some(at(25)));
}

async fn only_what_may_still_change_is_asked_for(bench: &Bench) {
    let waiting = Refund { state: State::AwaitingApproval, due_at: None, ..refund("li_1", 10) };
    let row = waiting.with_order(&bench.store).await;
    assert!(!bench.store.ask_look_up(&row.operation.id, at(20), GAP).await.unwrap());
    assert_eq!(loaded_again(&bench.store, &row).await.step.due_at, None);
    assert!(!bench.store.ask_look_up(&refund("none", 10).id(), at(20), GAP).await.unwrap());
}

async fn an_account_that_is_back_wakes_its_unsettled_rows(bench: &Bench) {
    let mut rows = Vec::new();
    for line in ["li_1", "li_2"] {
        rows.push(unknown(&bench.store, &Refund { due_at: Some(at(900)), ..refund(line, 10) }).await);
    }
    let outbox = due(bench, "li_3", Some(900)).await;
    assert_eq!(bench.store.wake_account(&"adyen".parse().unwrap(), at(100)).await.unwrap(), 0);
    // The outbox too: after a restore what was never sent waits for a look-up as well.
    rows.push(outbox);
    assert_eq!(bench.store.wake_account(&account(), at(100)).await.unwrap(), 3);
    for row in &rows {
        assert_eq!(loaded_again(&bench.store, row).await.step.due_at, Some(at(100)));
    }
}

async fn a_row_set_aside_is_out_of_the_work_and_in_the_list(bench: &Bench) {
    let bad = due(bench, "li_1", Some(10)).await;
    let good = due(bench, "li_2", Some(20)).await;
    bench
        .beside("UPDATE operations SET facts = '{\"of\":\"tomorrow\"}' WHERE id = 'refund-1043-li_1'")
        .await
        .unwrap();
    let unread = bench.store.load(&bad.operation.id).await;
    let Err(StoreError::Unreadable { table: "operations", row, .. }) = unread else { panic!("{unread:?}") };
    assert_eq!(row, "refund-1043-li_1");
    bench.store.set_aside(&bad.operation.id, "it can't be read").await.unwrap();
    let claimed = bench.store.claim_due(&account(), &claim("w-1", at(100)), 10).await.unwrap();
    assert_eq!(names(&claimed), ["refund-1043-li_2"]);
    let listed = bench.store.list(&Filter::default(), None, 10).await.unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1].set_aside.as_deref(), Some("it can't be read"));
    let plain = &listed[1].plain;
    assert_eq!((plain.order.as_str(), plain.state.as_str(), plain.amount_minor), ("1043", "authorized", 10));
    assert!(listed[0].loaded.is_ok() && listed[1].loaded.is_err());
    let whole = loaded_again(&bench.store, &good).await;
    assert_eq!(whole.set_aside, None);
    bench.store.set_aside(&good.operation.id, "asked to").await.unwrap();
    assert_eq!(loaded_again(&bench.store, &good).await.set_aside.as_deref(), Some("asked to"));
    // What doesn't need the row goes on; raw, it can still be shown.
    assert!(bench.store.raw(&bad.operation.id).await.unwrap().unwrap().facts.contains("tomorrow"));
}
