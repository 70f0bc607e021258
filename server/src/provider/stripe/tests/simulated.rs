//! The adapter against the simulator, fault by fault and mode by mode: two readings of the same documentation, written apart.

use counterfoil_ledger::attempt::{AttemptEnd, Class, Why};
use counterfoil_ledger::evidence::{Doubt, EffectStatus, Unavailable, Walk};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::simulator::{NewPayment, NewRefund, Settings, Simulator, serve};

/// A simulator with the payment of order 1043: 1,580.00 TWD.
async fn simulated() -> (Simulator, Stripe) {
    let simulator = Simulator::new(Settings::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let stripe = stripe(&base_url);
    tokio::spawn(serve(listener, simulator.clone(), CancellationToken::new()));
    let payment = json!({"id": "pi_1043", "amount": "158000", "currency": "TWD"});
    simulator.add_payment(serde_json::from_value::<NewPayment>(payment).unwrap()).unwrap();
    (simulator, stripe)
}

fn fault(simulator: &Simulator, answer: &str, effect: Option<&str>) {
    let mut fault = json!({"match": {"path": "/v1/refunds"}, "answer": answer});
    if let Some(effect) = effect {
        fault["effect"] = json!(effect);
    }
    simulator.add_fault(serde_json::from_value(fault).unwrap()).unwrap();
}

fn mode(simulator: &Simulator, mode: Value) {
    simulator.set_mode(serde_json::from_value(mode).unwrap()).unwrap();
}

async fn send(stripe: &Stripe) -> AttemptEnd {
    stripe.send(&intent(), "attempt", Instant::now() + Duration::from_millis(700)).await.end
}

async fn walk(stripe: &Stripe) -> (Walk, usize) {
    let report = stripe.look_up(&intent(), &[], Timestamp::UNIX_EPOCH).await.look_up;
    (report.walk, report.effects.len())
}

#[tokio::test]
async fn a_refund_is_made_once_and_a_resend_replays_it() {
    let (simulator, stripe) = simulated().await;
    let first = send(&stripe).await;
    assert_eq!((first.class, first.why, first.replayed), (Class::Effect, Why::Accepted, false));
    let again = send(&stripe).await;
    assert_eq!((again.class, again.replayed), (Class::Effect, true));
    assert_eq!(first.effect.unwrap().external_id, again.effect.unwrap().external_id);
    assert_eq!(simulator.effects().len(), 1);
    let report = stripe.look_up(&intent(), &[], Timestamp::UNIX_EPOCH).await.look_up;
    assert_eq!((report.walk, report.effects.len(), report.others), (Walk::Complete, 1, 0));
    assert_eq!(report.effects[0].status, EffectStatus::Live);
}

#[tokio::test]
async fn each_fault_of_the_simulator_gets_its_class() {
    use Class::{Deferred, Indeterminate};
    let rows = [
        ("drop", Indeterminate, Why::ConnectionLost, false, 1),
        ("hang", Indeterminate, Why::TimedOut, false, 1),
        ("reset_before", Indeterminate, Why::ConnectionLost, false, 0),
        ("truncated", Indeterminate, Why::BodyNotUnderstood, false, 1),
        ("wrong_body", Indeterminate, Why::BodyNotUnderstood, false, 1),
        ("html", Indeterminate, Why::ServerError, false, 1),
        ("500", Indeterminate, Why::ServerError, true, 0),
        ("500_stored", Indeterminate, Why::ServerError, true, 0),
        ("429", Indeterminate, Why::RateLimitUnnamed, false, 0),
        ("429_named", Deferred, Why::RateLimitNamed, false, 0),
        ("401", Deferred, Why::Unauthorized, false, 0),
        ("409", Indeterminate, Why::InFlight, false, 0),
    ];
    for (answer, class, why, stored, effects) in rows {
        let (simulator, stripe) = simulated().await;
        fault(&simulator, answer, None);
        let end = send(&stripe).await;
        assert_eq!((end.class, end.why, end.stored_failure), (class, why, stored), "{answer}");
        assert_eq!(simulator.effects().len(), effects, "{answer}");
        assert_eq!(walk(&stripe).await, (Walk::Complete, effects), "{answer}: a look-up finds what is there");
    }
}

#[tokio::test]
async fn refusals_of_money_are_definite_and_an_already_refunded_payment_is_not() {
    let (simulator, stripe) = simulated().await;
    let by_hand = |amount: &str| -> NewRefund {
        serde_json::from_value(json!({"payment": "pi_1043", "amount": amount})).unwrap()
    };
    simulator.add_refund(by_hand("130000")).unwrap();
    let end = send(&stripe).await;
    assert_eq!((end.class, end.why), (Class::Refused, Why::DefiniteRefusal));
    let end = send(&stripe).await;
    assert_eq!((end.class, end.replayed), (Class::Refused, true), "it was kept under the key");

    let (simulator, stripe) = simulated().await;
    simulator.add_refund(by_hand("158000")).unwrap();
    let end = send(&stripe).await;
    assert_eq!((end.class, end.why), (Class::Indeterminate, Why::AlreadyDone));

    let mut elsewhere = intent();
    elsewhere.target = "pi_unknown".to_owned();
    elsewhere.key = Key::stored("shop.refund-2");
    elsewhere.request = prepared("pi_unknown", 38_000, "TWD");
    let end = stripe.send(&elsewhere, "attempt", soon()).await.end;
    assert_eq!((end.class, end.code.as_deref()), (Class::Refused, Some("resource_missing")));

    let mut other = intent();
    other.request = prepared("pi_1043", 1, "TWD");
    let end = stripe.send(&other, "attempt", soon()).await.end;
    assert_eq!((end.class, end.why), (Class::Indeterminate, Why::KeyReusedOtherParameters));
}

#[tokio::test]
async fn a_stored_500_is_replayed_and_stays_one() {
    let (simulator, stripe) = simulated().await;
    fault(&simulator, "500_stored", None);
    assert!(!send(&stripe).await.replayed);
    let again = send(&stripe).await;
    assert_eq!((again.class, again.replayed, again.stored_failure), (Class::Indeterminate, true, true));
    assert!(simulator.effects().is_empty());
}

#[tokio::test]
async fn each_mode_of_look_up_says_what_it_is_worth() {
    let cases = [
        (json!({"lookup": "complete"}), (Walk::Complete, 1)),
        (json!({"lookup": "lagging", "lag_ms": 60_000}), (Walk::Complete, 0)),
        (json!({"lookup": "capped", "cap": 1}), (Walk::Inconclusive(Doubt::PageCap), 0)),
        (json!({"lookup": "loop"}), (Walk::Inconclusive(Doubt::CursorLoop), 1)),
        (json!({"lookup": "down"}), (Walk::Unavailable(Unavailable::ServerError), 0)),
        (json!({"lookup": "none"}), (Walk::Unavailable(Unavailable::NotFound), 0)),
    ];
    for (change, expected) in cases {
        let (simulator, stripe) = simulated().await;
        assert_eq!(send(&stripe).await.class, Class::Effect);
        // Newer, and so before ours in the list.
        let other = json!({"payment": "pi_1043", "amount": "100"});
        simulator.add_refund(serde_json::from_value(other).unwrap()).unwrap();
        mode(&simulator, change.clone());
        assert_eq!(walk(&stripe).await, expected, "{change}");
    }
}

#[tokio::test]
async fn a_bounce_is_seen_by_reading_the_refund_itself() {
    let (simulator, stripe) = simulated().await;
    let id = send(&stripe).await.effect.unwrap().external_id;
    let change = json!({"status": "failed", "failure_reason": "lost_or_stolen_card"});
    simulator.move_refund(&id, serde_json::from_value(change).unwrap()).unwrap();
    let report = stripe.look_up(&intent(), &[id], Timestamp::UNIX_EPOCH).await.look_up;
    let [effect] = report.effects.try_into().unwrap();
    assert_eq!(
        (effect.status, effect.failure_reason.as_deref()),
        (EffectStatus::Failed, Some("lost_or_stolen_card"))
    );
}
