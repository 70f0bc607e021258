//! Orders, and the payments that they may share.

use std::sync::Arc;

use counterfoil::store::*;
use futures::future::join_all;

use crate::bench::Bench;
use crate::build::*;

crate::on_every_store!(
    an_order_is_new_once_and_then_replaced,
    orders_share_a_payment_and_what_was_captured,
    the_payment_of_an_order_stays_while_its_operations_hold_money,
    a_payment_keeps_its_currency,
    captured_may_fall_below_what_is_held,
    an_order_never_moves_away_from_under_a_recording,
    of_two_currencies_at_once_one_wins,
);

async fn an_order_is_new_once_and_then_replaced(bench: &Bench) {
    let store = &bench.store;
    assert_eq!(store.order(ORDER).await.unwrap(), None);
    let first = order(ORDER, PAYMENT, 10_000);
    assert_eq!(store.put_order(first.clone(), at(0)).await.unwrap(), OrderPut::New);
    assert_eq!(store.order(ORDER).await.unwrap(), Some(first.clone()));
    let second = OrderSnapshot { customer: None, captured_minor: 9_000, updated_at: at(7), ..first };
    assert_eq!(store.put_order(second.clone(), at(7)).await.unwrap(), OrderPut::Replaced);
    assert_eq!(store.order(ORDER).await.unwrap(), Some(second));
}

async fn orders_share_a_payment_and_what_was_captured(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    bench.store.put_order(order("1044", PAYMENT, 12_000), at(1)).await.unwrap();
    assert_eq!(bench.store.order(ORDER).await.unwrap().unwrap().captured_minor, 12_000);
    assert!(bench.store.payment(&account(), "pi_none").await.unwrap().is_none());
    assert!(bench.store.payment(&"adyen".parse().unwrap(), PAYMENT).await.unwrap().is_none());
}

async fn the_payment_of_an_order_stays_while_its_operations_hold_money(bench: &Bench) {
    let store = &bench.store;
    store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    store.put_order(order("1044", PAYMENT, 10_000), at(0)).await.unwrap();
    let held = refund("li_1", 6000);
    held.record(store).await;
    let put = store.put_order(order(ORDER, "pi_other", 10_000), at(1)).await.unwrap();
    let OrderPut::PaymentHeld(holders) = put else { panic!("{put:?}") };
    assert_eq!(
        holders.iter().map(|holder| (&holder.operation, holder.minor)).collect::<Vec<_>>(),
        [(&held.id(), 6000)]
    );
    assert!(store.payment(&account(), "pi_other").await.unwrap().is_none(), "nothing was written");
    // The neighbour on the same payment holds nothing, so it may go.
    assert_eq!(store.put_order(order("1044", "pi_other", 10_000), at(1)).await.unwrap(), OrderPut::Replaced);
}

async fn a_payment_keeps_its_currency(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let other =
        OrderSnapshot { currency: "EUR".parse().unwrap(), captured_minor: 1, ..order("1044", PAYMENT, 1) };
    assert_eq!(bench.store.put_order(other, at(1)).await.unwrap(), OrderPut::OtherCurrency(twd()));
    assert!(bench.store.order("1044").await.unwrap().is_none());
    assert_eq!(bench.store.order(ORDER).await.unwrap().unwrap().captured_minor, 10_000);
}

async fn captured_may_fall_below_what_is_held(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    refund("li_1", 6000).record(&bench.store).await;
    assert_eq!(bench.store.put_order(order(ORDER, PAYMENT, 5_000), at(1)).await.unwrap(), OrderPut::Replaced);
    let sheet = bench.store.payment(&account(), PAYMENT).await.unwrap().unwrap();
    assert_eq!((sheet.captured_minor, sheet.holders[0].minor), (5_000, 6_000));
    let next = refund("li_2", 1);
    let refused = bench.store.record(next.place(), next.judge()).await.unwrap();
    assert!(matches!(refused, Recorded::Refused(Refusal::Exceeds { .. })), "{refused:?}");
}

/// Whichever comes first: what is recorded is on the payment that the order has then.
async fn an_order_never_moves_away_from_under_a_recording(bench: &Bench) {
    let other = bench.another_server().await;
    for round in 0..10 {
        let name = format!("order-{round}");
        bench.store.put_order(order(&name, &format!("pi_a{round}"), 10_000), at(0)).await.unwrap();
        let asked = Refund { order: name.clone(), ..refund("li_1", 6000) };
        let recording = {
            let (store, asked) = (Arc::clone(&bench.store), asked.clone());
            tokio::spawn(async move { store.record(asked.place(), asked.judge()).await.unwrap() })
        };
        let moving = {
            let (store, moved) = (Arc::clone(&other), order(&name, &format!("pi_b{round}"), 10_000));
            tokio::spawn(async move { store.put_order(moved, at(1)).await.unwrap() })
        };
        let Recorded::New(new) = recording.await.unwrap() else { panic!("not recorded") };
        let put = moving.await.unwrap();
        let now = bench.store.order(&name).await.unwrap().unwrap();
        assert_eq!(new.operation.intent.target, now.payment, "{put:?}");
        assert_eq!(matches!(put, OrderPut::PaymentHeld(_)), now.payment.starts_with("pi_a"), "{put:?}");
    }
    other.close().await;
}

async fn of_two_currencies_at_once_one_wins(bench: &Bench) {
    let other = bench.another_server().await;
    for round in 0..10 {
        let putting = ["TWD", "EUR"].map(|code| {
            let store = Arc::clone(if code == "TWD" { &bench.store } else { &other });
            let payment = format!("pi_{round}");
            let order = OrderSnapshot {
                currency: code.parse().unwrap(),
                ..order(&format!("{code}-{round}"), &payment, 100)
            };
            tokio::spawn(async move { store.put_order(order, at(0)).await.unwrap() })
        });
        let puts: Vec<_> = join_all(putting).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(puts.iter().filter(|put| **put == OrderPut::New).count(), 1, "{puts:?}");
        assert_eq!(
            puts.iter().filter(|put| matches!(put, OrderPut::OtherCurrency(_))).count(),
            1,
            "{puts:?}"
        );
    }
    other.close().await;
}
