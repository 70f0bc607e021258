//! Lists page by page, and what is counted.

use std::time::Duration;

use counterfoil::store::*;
use counterfoil_ledger::state::State;
use counterfoil_ledger::window::later;

use crate::bench::Bench;
use crate::build::*;

crate::on_every_store!(
    every_filter_lets_through_what_it_says,
    pages_neither_repeat_nor_leave_out,
    the_window_that_closes_soonest_comes_first,
    what_is_open_is_counted,
    a_row_of_another_version_hides_no_other_count,
    a_row_as_it_stands_fits_its_entries_while_others_write,
);

fn limits(second: u64) -> Limits {
    Limits {
        now: at(second),
        window_until: later(at(second), Duration::from_secs(86_400)),
        pending_since: at(0),
    }
}

async fn ids(bench: &Bench, filter: &Filter) -> Vec<String> {
    let listed = bench.store.list(filter, None, 100).await.unwrap();
    listed.into_iter().map(|row| row.id.as_str().trim_start_matches("refund-").to_owned()).collect()
}

async fn every_filter_lets_through_what_it_says(bench: &Bench) {
    refund("a", 10).with_order(&bench.store).await;
    Refund { order: "1044".to_owned(), now: at(50), state: State::AwaitingApproval, ..refund("b", 10) }
        .with_order(&bench.store)
        .await;
    unknown(&bench.store, &Refund { now: at(100), ..refund("c", 10) }).await;
    let all = Filter::default();
    assert_eq!(ids(bench, &all).await, ["1043-c", "1044-b", "1043-a"], "newest first");
    assert_eq!(
        ids(bench, &Filter { states: vec![State::Unknown, State::Authorized], ..all.clone() }).await,
        ["1043-c", "1043-a"]
    );
    assert_eq!(ids(bench, &Filter { order: Some("1044".to_owned()), ..all.clone() }).await, ["1044-b"]);
    assert_eq!(ids(bench, &Filter { kind: Some("payout".to_owned()), ..all.clone() }).await, [""; 0]);
    assert_eq!(
        ids(bench, &Filter { account: Some("stripe-main".to_owned()), from: Some(at(50)), ..all.clone() })
            .await,
        ["1043-c", "1044-b"]
    );
    assert_eq!(ids(bench, &Filter { before: Some(at(50)), ..all.clone() }).await, ["1043-a"]);
    assert_eq!(ids(bench, &Filter { external_id: Some("re_1".to_owned()), ..all.clone() }).await, [""; 0]);
    assert_eq!(
        ids(bench, &Filter { view: View::Attention(limits(100)), ..all.clone() }).await,
        ["1043-c", "1044-b"]
    );
    assert_eq!(ids(bench, &Filter { view: View::WindowClosing(limits(100)), ..all }).await, ["1043-c"]);
}

async fn pages_neither_repeat_nor_leave_out(bench: &Bench) {
    for n in 0..7 {
        unknown(&bench.store, &Refund { order: format!("o{n}"), ..refund("li", 10) }).await;
        refund(&format!("li_{n}"), 10).with_order(&bench.store).await;
    }
    for urgent_as_of in [None, Some(at(20))] {
        let filter = Filter { urgent_as_of, ..Filter::default() };
        let whole: Vec<_> =
            bench.store.list(&filter, None, 100).await.unwrap().into_iter().map(|row| row.id).collect();
        assert_eq!(whole.len(), 14);
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = bench.store.list(&filter, after, 3).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.place);
            paged.extend(page.into_iter().map(|row| row.id));
        }
        assert_eq!(paged, whole);
    }
    let mut walked = Vec::new();
    let mut after = 0;
    loop {
        let page = bench.store.ids_after(after, 4).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        after = *last;
        walked.extend(page.into_iter().map(|(_, id)| id));
    }
    assert_eq!(walked.len(), 14);
}

async fn the_window_that_closes_soonest_comes_first(bench: &Bench) {
    refund("a", 10).with_order(&bench.store).await;
    for line in ["b", "c"] {
        unknown(&bench.store, &refund(line, 10)).await;
    }
    // c was marked before b.
    bench
        .beside("UPDATE operations SET window_closes_at = window_closes_at - 1 WHERE id = 'refund-1043-c'")
        .await
        .unwrap();
    let urgent = Filter { urgent_as_of: Some(at(20)), ..Filter::default() };
    assert_eq!(ids(bench, &urgent).await, ["1043-c", "1043-b", "1043-a"]);
    // A window that has closed is urgent no more: the rest goes by age.
    let late = Filter { urgent_as_of: Some(at(200_000)), ..Filter::default() };
    assert_eq!(ids(bench, &late).await, ["1043-a", "1043-b", "1043-c"]);
}

async fn what_is_open_is_counted(bench: &Bench) {
    let empty = bench.store.tally(limits(20)).await.unwrap();
    assert_eq!(empty, Tally { ledger_is_empty: true, ..Tally::default() });
    refund("a", 10).with_order(&bench.store).await;
    Refund { state: State::AwaitingApproval, ..refund("b", 10) }.with_order(&bench.store).await;
    unknown(&bench.store, &refund("c", 10)).await;
    let tally = bench.store.tally(limits(20)).await.unwrap();
    let open: Vec<_> = tally.open.iter().map(|(state, n)| (*state, *n)).collect();
    assert_eq!(open, [(State::AwaitingApproval, 1), (State::Authorized, 1), (State::Unknown, 1)]);
    assert_eq!((tally.attention, tally.window_closing, tally.pending_too_long), (2, 1, 0));
    assert!(!tally.ledger_is_empty);
}

async fn a_row_of_another_version_hides_no_other_count(bench: &Bench) {
    refund("a", 10).with_order(&bench.store).await;
    let bad = refund("b", 10).with_order(&bench.store).await;
    bench.beside("UPDATE operations SET state = 'disputed' WHERE id = 'refund-1043-b'").await.unwrap();
    bench.store.set_aside(&bad.operation.id, "disputed?").await.unwrap();
    let tally = bench.store.tally(limits(20)).await.unwrap();
    assert_eq!(tally.open.get(&State::Authorized), Some(&1));
    assert_eq!(tally.attention, 1);
}

/// Or `verify` would find a break that isn't there.
async fn a_row_as_it_stands_fits_its_entries_while_others_write(bench: &Bench) {
    let before = refund("a", 10).with_order(&bench.store).await;
    let (store, id) = (bench.store.clone(), before.operation.id.clone());
    let writing = tokio::spawn(async move {
        for second in 1..40 {
            let loaded = store.load(&id).await.unwrap().unwrap();
            let note = change(&loaded, LeaseRule::NotNeeded, at(second), |draft| {
                draft.write(counterfoil_ledger::entry::Entry::CancelAsked).unwrap();
            });
            assert!(matches!(store.write(note).await.unwrap(), Written::Done(_)));
        }
    });
    while !writing.is_finished() {
        let raw = bench.store.raw(&before.operation.id).await.unwrap().unwrap();
        let entries = raw.entries.unwrap();
        assert_eq!(entries.last().unwrap().hash, raw.head);
        assert_eq!(raw.columns["seq"].as_deref(), Some(entries.len().to_string().as_str()));
    }
    writing.await.unwrap();
}
