//! A new operation: once, within what is left, with its links.

use std::sync::Arc;

use counterfoil::store::*;
use counterfoil_ledger::chain;
use counterfoil_ledger::state::State;
use futures::future::join_all;

use crate::bench::Bench;
use crate::build::*;

crate::on_every_store!(
    what_is_recorded_is_read_back_the_same,
    asking_again_finds_it_and_judges_nothing,
    a_refusal_records_nothing,
    of_many_who_ask_at_once_one_records_and_the_others_find_it,
    a_payment_is_never_given_out_twice_however_many_ask_at_once,
    refunds_of_two_orders_on_one_payment_count_together,
    a_revision_sees_the_one_before,
    every_recording_is_linked_into_the_ledgers_chain,
    many_recordings_at_once_leave_one_chain,
    the_work_goes_on_when_the_caller_hangs_up,
);

async fn what_is_recorded_is_read_back_the_same(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let asked = Refund { lease: Some(("w-1".to_owned(), at(60))), ..refund("li_1", 6000) };
    let new = asked.record(&bench.store).await;
    let read = bench.store.load(&asked.id()).await.unwrap().unwrap();
    assert_eq!(read.operation, new.operation);
    assert_eq!((read.ordinal, &read.head, &read.step), (new.ordinal, &new.head, &new.step));
    assert_eq!(read.lease, Some(("w-1".to_owned(), at(60))));
    assert_eq!(read.operation.facts.created_at, at(0));
    assert_eq!(read.look_up_asked_at, None);
    let entries = bench.store.entries(&asked.id()).await.unwrap();
    let head = chain::walk(&asked.id(), &read.operation.intent_hash, &entries).unwrap();
    assert_eq!(head, read.head);
    assert!(bench.store.load(&refund("li_2", 1).id()).await.unwrap().is_none());
}

async fn asking_again_finds_it_and_judges_nothing(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let asked = refund("li_1", 6000);
    let new = asked.record(&bench.store).await;
    let never: Judge = Arc::new(|_| panic!("what is there isn't judged"));
    let Recorded::Existing(found) = bench.store.record(asked.place(), never).await.unwrap() else {
        panic!("not found");
    };
    assert_eq!(found.operation, new.operation);
}

async fn a_refusal_records_nothing(bench: &Bench) {
    let asked = refund("li_1", 6000);
    let refused = bench.store.record(asked.place(), asked.judge()).await.unwrap();
    assert!(matches!(refused, Recorded::Refused(Refusal::Field { .. })), "{refused:?}");
    bench.store.put_order(order(ORDER, PAYMENT, 5_999), at(0)).await.unwrap();
    let refused = bench.store.record(asked.place(), asked.judge()).await.unwrap();
    let Recorded::Refused(Refusal::Exceeds { exceeds, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((exceeds.asked_minor, exceeds.left_minor), (6000, 5999));
    assert!(bench.store.load(&asked.id()).await.unwrap().is_none());
    assert!(bench.store.chain().await.unwrap().is_empty());
}

async fn of_many_who_ask_at_once_one_records_and_the_others_find_it(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let other = bench.another_server().await;
    let asked = refund("li_1", 6000);
    let asking = (0..16).map(|n| {
        let (store, asked) = (Arc::clone(if n % 2 == 0 { &bench.store } else { &other }), asked.clone());
        tokio::spawn(async move { store.record(asked.place(), asked.judge()).await.unwrap() })
    });
    let answers: Vec<Recorded> = join_all(asking).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Recorded::New(_))).count(), 1);
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Recorded::Existing(_))).count(), 15);
    assert_eq!(bench.store.entries(&asked.id()).await.unwrap().len(), 1);
    other.close().await;
}

/// G1: 6000 and 6000 on 10000, many times over and from two servers.
async fn a_payment_is_never_given_out_twice_however_many_ask_at_once(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let other = bench.another_server().await;
    let asking = (0..24).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &bench.store } else { &other });
        let asked = refund(&format!("li_{n}"), 6000);
        tokio::spawn(async move { store.record(asked.place(), asked.judge()).await.unwrap() })
    });
    let mut new = 0;
    for answer in join_all(asking).await {
        match answer.unwrap() {
            Recorded::New(_) => new += 1,
            Recorded::Refused(Refusal::Exceeds { exceeds, .. }) => {
                assert_eq!((exceeds.left_minor, exceeds.holders.len()), (4000, 1));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(new, 1);
    let sheet = bench.store.payment(&account(), PAYMENT).await.unwrap().unwrap();
    assert_eq!(sheet.holders.iter().map(|holder| holder.minor).sum::<i64>(), 6000);
    other.close().await;
}

async fn refunds_of_two_orders_on_one_payment_count_together(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    bench.store.put_order(order("1044", PAYMENT, 10_000), at(0)).await.unwrap();
    let other = bench.another_server().await;
    let asking = (0..8).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &bench.store } else { &other });
        let orders = if n % 2 == 0 { ORDER } else { "1044" };
        let asked = Refund { order: orders.to_owned(), ..refund(&format!("li_{n}"), 4000) };
        tokio::spawn(async move { store.record(asked.place(), asked.judge()).await.unwrap() })
    });
    let answers = join_all(asking).await;
    let new = answers.iter().filter(|answer| matches!(answer, Ok(Recorded::New(_)))).count();
    assert_eq!(new, 2, "two times 4000 fit into 10000");
    other.close().await;
}

async fn a_revision_sees_the_one_before(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let first = refund("li_1", 1000);
    first.record(&bench.store).await;
    refund("li_2", 1000).record(&bench.store).await;
    // The order was paid anew: the first revision is on another payment, and still a neighbour.
    let second = Refund { revision: 2, state: State::AwaitingApproval, ..first.clone() };
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (judge, saw) = (second.judge(), Arc::clone(&seen));
    let looking: Judge = Arc::new(move |around| {
        *saw.lock().unwrap() = around.neighbours.clone();
        judge(around)
    });
    let recorded = bench.store.record(second.place(), looking).await.unwrap();
    assert!(matches!(recorded, Recorded::New(_)), "{recorded:?}");
    let seen = seen.lock().unwrap();
    let near: Vec<_> =
        seen.iter().map(|near| (near.id.as_str(), near.revision.number(), near.holds_minor)).collect();
    assert_eq!(near, [("refund-1043-li_1", 1, 1000), ("refund-1043-li_2", 1, 1000)]);
    assert_eq!(seen[0].identity.iter().map(|value| value.as_str()).collect::<Vec<_>>(), ["1043", "li_1"]);
    assert_eq!((seen[0].base_id.clone(), seen[0].created_at), (first.id(), at(0)));
}

/// What `verify` does with the ledger's own chain.
fn holds(acts: &[RawAct]) -> bool {
    let mut before = String::new();
    acts.iter().zip(1..).all(|(act, seq)| {
        let follows = act.seq == seq && act.link(&before) == act.hash;
        before.clone_from(&act.hash);
        follows
    })
}

async fn every_recording_is_linked_into_the_ledgers_chain(bench: &Bench) {
    bench.store.bind(&"shop".parse().unwrap(), &[], at(0)).await.unwrap();
    let new = refund("li_1", 6000).with_order(&bench.store).await;
    bench.store.chain_act(LedgerAct::TestClock { offset_s: 5 }, at(9)).await.unwrap();
    let acts = bench.store.chain().await.unwrap();
    let labels: Vec<_> = acts.iter().map(|act| act.label.as_str()).collect();
    assert_eq!(labels, ["namespace_fixed", "operation_recorded", "test_clock"]);
    assert!(acts[1].body.contains(new.operation.intent_hash.as_str()));
    assert!(holds(&acts));
    let mut touched = acts.clone();
    touched[1].at += 1;
    assert!(!holds(&touched));
}

async fn many_recordings_at_once_leave_one_chain(bench: &Bench) {
    let other = bench.another_server().await;
    let asking = (0..20).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &bench.store } else { &other });
        let asked = Refund { order: format!("order-{n}"), ..refund("li_1", 10) };
        tokio::spawn(async move { asked.with_order(&store).await })
    });
    for recorded in join_all(asking).await {
        recorded.unwrap();
    }
    let acts = bench.store.chain().await.unwrap();
    assert_eq!(acts.len(), 20);
    assert!(holds(&acts));
    other.close().await;
}

async fn the_work_goes_on_when_the_caller_hangs_up(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let asked = refund("li_1", 6000);
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let begun = std::sync::Mutex::new(Some(begun));
    let inner = asked.judge();
    let judge: Judge = Arc::new(move |around| {
        if let Some(begun) = begun.lock().unwrap().take() {
            begun.send(()).unwrap();
        }
        inner(around)
    });
    let store = Arc::clone(&bench.store);
    let place = asked.place();
    let caller = tokio::spawn(async move { store.record(place, judge).await });
    has_begun.await.unwrap();
    caller.abort();
    // Closing finishes what came; another server sees it.
    bench.store.close().await;
    let other = bench.another_server().await;
    assert!(other.load(&asked.id()).await.unwrap().is_some());
    other.close().await;
}
