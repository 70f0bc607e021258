//! What the database itself refuses, whoever asks.

use counterfoil::store::*;

use crate::bench::Bench;
use crate::build::*;

crate::on_every_store!(
    history_can_be_neither_changed_nor_removed,
    what_is_execution_can_change,
    a_change_made_past_the_triggers_is_seen
);

async fn history_can_be_neither_changed_nor_removed(bench: &Bench) {
    let before = refund("li_1", 6000).with_order(&bench.store).await;
    let change = Change {
        bodies: vec![("00".to_owned(), b"x".to_vec())],
        ..marked(&before, LeaseRule::NotNeeded, at(1))
    };
    bench.store.write(change).await.unwrap();
    let mut statements = vec![
        "UPDATE entries SET body = '{}'",
        "DELETE FROM entries WHERE seq = 3",
        "UPDATE chain SET at = at + 1",
        "DELETE FROM chain",
        "UPDATE bodies SET bytes = bytes",
        "DELETE FROM operations",
        "UPDATE operations SET amount = amount + 1",
        "UPDATE operations SET intent = '{}'",
        "UPDATE operations SET id = 'other'",
        "UPDATE operations SET created_at = 0",
    ];
    if bench.is_sqlite() {
        statements.extend([
            "INSERT OR REPLACE INTO entries SELECT operation_id, seq, type, at, actor, '{}', hash FROM entries WHERE seq = 1",
            "INSERT OR REPLACE INTO chain SELECT seq, type, 0, actor, body, hash FROM chain WHERE seq = 1",
            "REPLACE INTO operations SELECT * FROM operations",
        ]);
    } else {
        statements.extend(["TRUNCATE entries", "TRUNCATE chain", "TRUNCATE operations CASCADE"]);
    }
    let entries = bench.store.entries(&before.operation.id).await.unwrap();
    for sql in statements {
        bench.beside(sql).await.expect_err(sql);
    }
    assert_eq!(bench.store.entries(&before.operation.id).await.unwrap(), entries);
    assert_eq!(bench.store.chain().await.unwrap().len(), 1);
}

async fn what_is_execution_can_change(bench: &Bench) {
    refund("li_1", 6000).with_order(&bench.store).await;
    assert_eq!(bench.beside("UPDATE operations SET due_at = NULL, lease_token = 'x'").await.unwrap(), 1);
}

async fn a_change_made_past_the_triggers_is_seen(bench: &Bench) {
    let before = refund("li_1", 6000).with_order(&bench.store).await;
    let id = &before.operation.id;
    bench.without_triggers("UPDATE entries SET body = replace(body, 'li_1', 'li_2')").await;
    let entries = bench.store.entries(id).await.unwrap();
    let broken = counterfoil_ledger::chain::walk(id, &before.operation.intent_hash, &entries).unwrap_err();
    assert_eq!(broken.seq, 1);
    let raw = bench.store.raw(id).await.unwrap().unwrap();
    assert_eq!(raw.intent_hash, before.operation.intent_hash.as_str());
    assert_eq!(raw.columns["target"].as_deref(), Some(PAYMENT));
}
