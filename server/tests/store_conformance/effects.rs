//! What money is out on a payment, and whose it is.

use counterfoil::store::*;
use counterfoil_ledger::entry::Entry;
use counterfoil_ledger::evidence::{EffectSeen, EffectStatus};
use counterfoil_ledger::identity::OperationId;

use crate::bench::Bench;
use crate::build::*;

crate::on_every_store!(
    an_effect_belongs_to_the_operation_whose_marker_it_bears,
    foreign_effects_count_as_spent_until_they_fail,
    many_who_see_the_same_effects_at_once_all_write_them,
);

async fn see(bench: &Bench, before: &Loaded, second: u64, effects: Vec<EffectSeen>) {
    let fresh = loaded_again(&bench.store, before).await;
    let note =
        change(&fresh, LeaseRule::NotNeeded, at(second), |draft| draft.write(Entry::CancelAsked).unwrap());
    assert!(matches!(bench.store.write(Change { effects, ..note }).await.unwrap(), Written::Done(_)));
}

async fn an_effect_belongs_to_the_operation_whose_marker_it_bears(bench: &Bench) {
    let (one, two) = (refund("li_1", 6000), refund("li_2", 500));
    let before = one.with_order(&bench.store).await;
    two.with_order(&bench.store).await;
    let seen = vec![
        effect("re_1", Some(&one.marker()), 6000, EffectStatus::Live),
        effect("re_2", Some(&two.marker()), 500, EffectStatus::Pending),
        effect("re_3", Some("shop.refund-1043-gone"), 700, EffectStatus::Live),
        effect("re_4", None, 6000, EffectStatus::Live),
    ];
    see(bench, &before, 5, seen).await;
    let sheet = bench.store.payment(&account(), PAYMENT).await.unwrap().unwrap();
    let owners: Vec<_> = sheet.effects.iter().map(|effect| effect.operation.clone()).collect();
    assert_eq!(owners, [Some(one.id()), Some(two.id()), None::<OperationId>, None]);
    assert_eq!(sheet.effects[1].status, EffectStatus::Pending);
    assert_eq!((sheet.effects[0].created_at, sheet.effects[0].last_seen_at), (Some(at(2)), at(5)));
    assert_eq!(sheet.foreign_minor(), 6700);
    see(bench, &before, 9, vec![effect("re_2", Some(&two.marker()), 500, EffectStatus::Live)]).await;
    let sheet = bench.store.payment(&account(), PAYMENT).await.unwrap().unwrap();
    assert_eq!((sheet.effects[1].status, sheet.effects[1].last_seen_at), (EffectStatus::Live, at(9)));
    assert_eq!(sheet.effects.len(), 4);
}

async fn foreign_effects_count_as_spent_until_they_fail(bench: &Bench) {
    bench.store.put_order(order(ORDER, PAYMENT, 10_000), at(0)).await.unwrap();
    let before = refund("li_1", 6000).record(&bench.store).await;
    see(bench, &before, 5, vec![effect("re_9", None, 3000, EffectStatus::Live)]).await;
    let next = refund("li_2", 2000);
    let refused = bench.store.record(next.place(), next.judge()).await.unwrap();
    let Recorded::Refused(Refusal::Exceeds { exceeds, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((exceeds.left_minor, exceeds.foreign_minor, exceeds.holders.len()), (1000, 3000, 1));
    see(bench, &before, 6, vec![effect("re_9", None, 3000, EffectStatus::Failed)]).await;
    next.record(&bench.store).await;
}

async fn many_who_see_the_same_effects_at_once_all_write_them(bench: &Bench) {
    let mut seen: Vec<_> = (0..8).map(|n| effect(&format!("re_{n}"), None, 10, EffectStatus::Live)).collect();
    let mut writes = Vec::new();
    for n in 0..8 {
        let before = refund(&format!("li_{n}"), 10).with_order(&bench.store).await;
        let note =
            change(&before, LeaseRule::NotNeeded, at(1), |draft| draft.write(Entry::CancelAsked).unwrap());
        seen.rotate_left(3);
        let (store, effects) = (bench.store.clone(), seen.clone());
        writes.push(tokio::spawn(async move { store.write(Change { effects, ..note }).await.unwrap() }));
    }
    for write in writes {
        assert!(matches!(write.await.unwrap(), Written::Done(_)));
    }
    let sheet = bench.store.payment(&account(), PAYMENT).await.unwrap().unwrap();
    assert_eq!((sheet.effects.len(), sheet.foreign_minor()), (8, 80));
}
