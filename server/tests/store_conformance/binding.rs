//! A database belongs to one ledger.

use counterfoil::store::*;
use counterfoil_ledger::identity::KindName;

use crate::bench::Bench;
use crate::build::*;

crate::on_every_store!(
    a_ledger_is_bound_once_and_found_again,
    another_namespace_is_refused,
    another_identity_schema_is_refused_and_new_kinds_are_welcome,
    of_two_servers_that_bind_at_once_one_writes_it,
    a_database_of_another_version_is_refused,
);

fn kind(name: &str, fields: &[&str]) -> (KindName, Vec<String>) {
    (name.parse().unwrap(), fields.iter().map(|field| (*field).to_owned()).collect())
}

fn refund_kind() -> (KindName, Vec<String>) {
    kind("refund", &["order", "line_item"])
}

async fn labels(bench: &Bench) -> Vec<String> {
    bench.store.chain().await.unwrap().into_iter().map(|act| act.label).collect()
}

async fn a_ledger_is_bound_once_and_found_again(bench: &Bench) {
    for second in 0..3 {
        bench.store.bind(&"shop".parse().unwrap(), &[refund_kind()], at(second)).await.unwrap();
    }
    assert_eq!(labels(bench).await, ["namespace_fixed", "kind_fixed"]);
}

async fn another_namespace_is_refused(bench: &Bench) {
    bench.store.bind(&"shop".parse().unwrap(), &[], at(0)).await.unwrap();
    let refused = bench.store.bind(&"shopstaging".parse().unwrap(), &[refund_kind()], at(1)).await;
    let Err(StoreError::OtherLedger(why)) = refused else { panic!("{refused:?}") };
    assert!(why.contains("shop") && why.contains("shopstaging"), "{why}");
    assert_eq!(labels(bench).await, ["namespace_fixed"], "nothing else was written");
}

async fn another_identity_schema_is_refused_and_new_kinds_are_welcome(bench: &Bench) {
    let shop = "shop".parse().unwrap();
    bench.store.bind(&shop, &[refund_kind()], at(0)).await.unwrap();
    for other in [kind("refund", &["line_item", "order"]), kind("refund", &["order"])] {
        let refused = bench.store.bind(&shop, &[kind("payout", &["order"]), other], at(1)).await;
        assert!(matches!(refused, Err(StoreError::OtherLedger(_))), "{refused:?}");
    }
    bench.store.bind(&shop, &[refund_kind(), kind("payout", &["order"])], at(2)).await.unwrap();
    assert_eq!(labels(bench).await, ["namespace_fixed", "kind_fixed", "kind_fixed"]);
}

async fn of_two_servers_that_bind_at_once_one_writes_it(bench: &Bench) {
    let other = bench.another_server().await;
    let (shop, kinds) = ("shop".parse().unwrap(), [refund_kind()]);
    let (one, two) = tokio::join!(bench.store.bind(&shop, &kinds, at(0)), other.bind(&shop, &kinds, at(0)));
    one.unwrap();
    two.unwrap();
    assert_eq!(labels(bench).await, ["namespace_fixed", "kind_fixed"]);
    other.close().await;
}

async fn a_database_of_another_version_is_refused(bench: &Bench) {
    let url = bench.database.url();
    let again = || open(&url, Clock::true_time(), false);
    bench.beside("INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'tomorrow', TRUE, '', 0)").await.unwrap();
    let refused = again().await.err();
    assert!(matches!(&refused, Some(StoreError::OtherLedger(why)) if why.contains("9999")), "{refused:?}");
    bench.beside("DELETE FROM _sqlx_migrations").await.unwrap();
    let refused = again().await.err();
    assert!(
        matches!(&refused, Some(StoreError::OtherLedger(why)) if why.contains("counterfoil migrate")),
        "{refused:?}"
    );
}
