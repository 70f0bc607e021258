//! Changes: if nobody was faster, all of it or nothing.

use counterfoil_ledger::alarm::AlarmKind;
use std::sync::Arc;

use counterfoil::store::*;
use counterfoil_ledger::chain;
use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::entry::Entry;
use counterfoil_ledger::state::{Event, State};
use futures::future::join_all;

use crate::bench::Bench;
use crate::build::*;

crate::on_every_store!(
    a_change_moves_the_head_and_appends_its_entries,
    who_wrote_on_an_old_reading_is_told_to_read_again,
    of_many_who_write_at_once_each_entry_stands_once,
    a_change_that_needs_a_lease_is_fenced_without_it,
    evidence_is_written_whoever_holds_the_lease,
    a_lease_is_given_back_only_by_its_holder,
    a_step_left_out_leaves_who_does_what_next_alone,
    raw_answers_are_kept_once_by_digest,
    a_closed_store_says_so,
    a_commit_that_the_database_refuses_is_not_written,
);

async fn a_change_moves_the_head_and_appends_its_entries(bench: &Bench) {
    let before = refund("li_1", 6000).with_order(&bench.store).await;
    let step = Step { due_at: Some(at(11)), reason: Reason::SenderAtWork };
    let change = Change { step: Some(step.clone()), ..marked(&before, LeaseRule::NotNeeded, at(1)) };
    let after = change.after.clone();
    let Written::Done(head) = bench.store.write(change).await.unwrap() else { panic!("a conflict") };
    let read = loaded_again(&bench.store, &before).await;
    assert_eq!((&read.operation, &read.head, &read.step), (&after, &head, &step));
    assert_eq!(read.operation.facts.state, State::Submitted);
    let entries = bench.store.entries(&read.operation.id).await.unwrap();
    assert_eq!(
        entries.iter().map(|entry| entry.label.as_str()).collect::<Vec<_>>(),
        ["recorded", "attempt_started", "state"]
    );
    assert_eq!(chain::walk(&read.operation.id, &read.operation.intent_hash, &entries).unwrap(), head);
    assert_eq!(bench.store.newest().await.unwrap(), Some(at(1)));
}

async fn who_wrote_on_an_old_reading_is_told_to_read_again(bench: &Bench) {
    let before = refund("li_1", 6000).with_order(&bench.store).await;
    let first =
        change(&before, LeaseRule::NotNeeded, at(1), |draft| draft.write(Entry::CancelAsked).unwrap());
    assert!(matches!(bench.store.write(first).await.unwrap(), Written::Done(_)));
    let late = marked(&before, LeaseRule::NotNeeded, at(2));
    assert_eq!(bench.store.write(late).await.unwrap(), Written::Conflict);
    assert_eq!(bench.store.entries(&before.operation.id).await.unwrap().len(), 2);
    assert_eq!(loaded_again(&bench.store, &before).await.operation.facts.state, State::Authorized);
}

async fn of_many_who_write_at_once_each_entry_stands_once(bench: &Bench) {
    let before = refund("li_1", 6000).with_order(&bench.store).await;
    let other = bench.another_server().await;
    let writing = (0..12).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &bench.store } else { &other });
        let id = before.operation.id.clone();
        tokio::spawn(async move {
            loop {
                let loaded = store.load(&id).await.unwrap().unwrap();
                let note = change(&loaded, LeaseRule::NotNeeded, at(1), |draft| {
                    draft.write(Entry::CancelAsked).unwrap();
                });
                if matches!(store.write(note).await.unwrap(), Written::Done(_)) {
                    break;
                }
            }
        })
    });
    for writer in join_all(writing).await {
        writer.unwrap();
    }
    let read = loaded_again(&bench.store, &before).await;
    let entries = bench.store.entries(&before.operation.id).await.unwrap();
    assert_eq!((entries.len(), read.operation.facts.seq), (13, 13));
    assert_eq!(chain::walk(&before.operation.id, &read.operation.intent_hash, &entries).unwrap(), read.head);
    other.close().await;
}

async fn a_change_that_needs_a_lease_is_fenced_without_it(bench: &Bench) {
    let leased = Refund { lease: Some(("w-1".to_owned(), at(60))), ..refund("li_1", 6000) };
    let before = leased.with_order(&bench.store).await;
    for (token, now) in [("w-2", at(1)), ("w-1", at(60)), ("w-1", at(61))] {
        let fenced = marked(&before, LeaseRule::Held(token.to_owned()), now);
        assert_eq!(bench.store.write(fenced).await.unwrap(), Written::Conflict, "{token} at {now}");
    }
    let held = marked(&before, LeaseRule::Held("w-1".to_owned()), at(59));
    assert!(matches!(bench.store.write(held).await.unwrap(), Written::Done(_)));
    assert_eq!(loaded_again(&bench.store, &before).await.lease, Some(("w-1".to_owned(), at(60))), "it stays");
}

async fn evidence_is_written_whoever_holds_the_lease(bench: &Bench) {
    let leased = Refund { lease: Some(("w-1".to_owned(), at(60))), ..refund("li_1", 6000) };
    let before = leased.with_order(&bench.store).await;
    let late = marked(&before, LeaseRule::GivenBack("w-0".to_owned()), at(1));
    assert!(matches!(bench.store.write(late).await.unwrap(), Written::Done(_)));
    let read = loaded_again(&bench.store, &before).await;
    assert_eq!(read.lease, Some(("w-1".to_owned(), at(60))));
    let told = change(&read, LeaseRule::NotNeeded, at(200), |draft| draft.raise(Event::AnswerLost).unwrap());
    assert!(matches!(bench.store.write(told).await.unwrap(), Written::Done(_)));
    assert_eq!(loaded_again(&bench.store, &before).await.lease, Some(("w-1".to_owned(), at(60))));
}

async fn a_lease_is_given_back_only_by_its_holder(bench: &Bench) {
    let leased = Refund { lease: Some(("w-1".to_owned(), at(60))), ..refund("li_1", 6000) };
    let before = leased.with_order(&bench.store).await;
    let done = marked(&before, LeaseRule::GivenBack("w-1".to_owned()), at(1));
    assert!(matches!(bench.store.write(done).await.unwrap(), Written::Done(_)));
    assert_eq!(loaded_again(&bench.store, &before).await.lease, None);
}

async fn a_step_left_out_leaves_who_does_what_next_alone(bench: &Bench) {
    let before = refund("li_1", 6000).with_order(&bench.store).await;
    let note = change(&before, LeaseRule::NotNeeded, at(1), |draft| draft.write(Entry::CancelAsked).unwrap());
    bench.store.write(note).await.unwrap();
    let read = loaded_again(&bench.store, &before).await;
    assert_eq!(read.step, before.step);
    let rest = Step { due_at: None, reason: Reason::StoppedBeforeSending };
    let note = change(&read, LeaseRule::NotNeeded, at(2), |draft| draft.write(Entry::CancelAsked).unwrap());
    bench.store.write(Change { step: Some(rest.clone()), ..note }).await.unwrap();
    assert_eq!(loaded_again(&bench.store, &before).await.step, rest);
}

async fn raw_answers_are_kept_once_by_digest(bench: &Bench) {
    use sha2::{Digest as _, Sha256};
    let bytes = b"{\"id\":\"re_1\"}\0\xff".to_vec();
    let body = (hex::encode(Sha256::digest(&bytes)), bytes);
    for line in ["li_1", "li_2"] {
        let before = refund(line, 6000).with_order(&bench.store).await;
        let change = Change { bodies: vec![body.clone()], ..marked(&before, LeaseRule::NotNeeded, at(1)) };
        assert!(matches!(bench.store.write(change).await.unwrap(), Written::Done(_)));
    }
    assert!(bench.store.misfits().await.unwrap().is_empty());
    let replaced = if bench.is_sqlite() { "x'00'" } else { "'\\x00'" };
    bench.without_triggers(&format!("UPDATE bodies SET bytes = {replaced}")).await;
    let misfits = bench.store.misfits().await.unwrap();
    assert!(matches!(&misfits[..], [only] if only.contains(&body.0)), "{misfits:?}");
}

async fn a_closed_store_says_so(bench: &Bench) {
    let store = bench.another_server().await;
    store.ping().await.unwrap();
    store.close().await;
    let refused = store.chain_act(LedgerAct::TestClock { offset_s: 1 }, at(0)).await;
    assert!(matches!(refused, Err(StoreError::Closing)), "{refused:?}");
    assert!(store.ping().await.is_err());
    store.close().await;
}

/// What is checked only at COMMIT, and fails there: the one answer of COMMIT that proves that nothing stands.
async fn a_commit_that_the_database_refuses_is_not_written(bench: &Bench) {
    let sql = if bench.is_sqlite() {
        "CREATE TABLE later (name TEXT REFERENCES meta (name) DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER refuse_later AFTER INSERT ON alarms BEGIN INSERT INTO later VALUES ('nobody'); END;"
    } else {
        "CREATE FUNCTION refuse_later() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not today''; END';
         CREATE CONSTRAINT TRIGGER refuse_later AFTER INSERT ON alarms DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION refuse_later();"
    };
    bench.beside(sql).await.unwrap();
    let raised = bench.store.raise_alarm("", AlarmKind::ClockBehind, "x", at(0)).await;
    assert!(matches!(raised, Err(StoreError::Failed { step: "commit", .. })), "{raised:?}");
    assert!(bench.store.alarms().await.unwrap().is_empty());
    bench
        .beside(if bench.is_sqlite() {
            "DROP TRIGGER refuse_later"
        } else {
            "DROP TRIGGER refuse_later ON alarms"
        })
        .await
        .unwrap();
    assert!(
        bench.store.raise_alarm("", AlarmKind::ClockBehind, "x", at(0)).await.unwrap(),
        "the store goes on"
    );
}
