//! The chain: whatever is changed or removed behind the ledger's back, `verify` finds it and says where.
//!
//! Which tables are chained isn't written down here: every table with a `hash` column is, and a column added to one of them later is
//! covered by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use counterfoil_tests::{Database, Engine, Ledger, REFUND, Run, Setup, Shop, stories};

stories!(
    one_changed_byte_in_any_column_of_a_chained_row_is_found,
    a_removed_row_of_a_chained_table_is_found,
    a_whole_operation_that_is_removed_is_found,
    a_head_that_says_something_else_than_its_entries_is_found,
    the_ledger_itself_cannot_change_or_remove_what_it_wrote,
);

/// A stopped ledger with a history: confirmed at once, found by look-up, sent twice, refused.
async fn history(engine: Engine) -> Shop {
    let mut shop = Shop::open(&Setup::new(engine)).await;
    shop.ledger.refund("1043", "li_1").await.is(201);
    shop.provider.next_send("none", "drop").await;
    shop.ledger.refund_at_once("1043", "li_2").await.is(202);
    shop.ledger.wait_for_state(REFUND, "confirmed").await;
    shop.sells("7", "5000", "TWD", &[("li_1", "5000")]).await;
    shop.provider.foreign_refund("pi_7", "4000").await;
    shop.ledger.refund("7", "li_1").await.is(200);
    shop.ledger.rests().await;
    shop.ledger.terminate().await;
    // The last act of the ledger-wide chain is one that no operation vouches for.
    shop.ledger.token("late", &["operations:read"]).await;
    shop
}

/// A copy of the stopped ledger's database with one thing done to it.
struct Copy<'l> {
    ledger: &'l Ledger,
    address: String,
}

impl<'l> Copy<'l> {
    async fn of(ledger: &'l Ledger) -> Self {
        Self { ledger, address: ledger.copied_database().await }
    }

    /// A connection that nothing holds back: no triggers, no constraints.
    async fn open(&self) -> Database {
        let mut database = match self.address.strip_prefix("sqlite:") {
            Some(file) => Database::open(file.as_ref()).await,
            None => Database::connect(&self.address).await,
        };
        database.ignore_rules().await;
        database
    }

    async fn verify(&self) -> Run {
        let config = std::fs::read_to_string(self.ledger.config()).unwrap();
        let original = self.ledger.database_address();
        assert!(config.contains(&original), "{original} isn't in {config}");
        let copied = self.ledger.path("copy.toml");
        std::fs::write(&copied, config.replace(&original, &self.address)).unwrap();
        Ledger::run_with(&["verify"], &copied).await
    }

    /// Verifies, and fails unless a finding names `place`.
    async fn is_found(&self, what: &str, place: &str) {
        let run = self.verify().await;
        assert_eq!(run.code, Some(1), "{what} isn't found: {}", run.output());
        assert!(run.output().contains(place), "{what}: {place:?} isn't named: {}", run.output());
        assert!(!run.output().contains("panicked"), "{}", run.output());
    }
}

async fn chained_tables(database: &mut Database) -> Vec<String> {
    let mut tables = Vec::new();
    for table in database.tables().await {
        if database.columns(&table).await.contains(&"hash".to_owned()) {
            tables.push(table);
        }
    }
    assert!(tables.contains(&"entries".to_owned()), "{tables:?}");
    assert!(tables.len() >= 2, "one chain per operation and one ledger-wide: {tables:?}");
    tables
}

/// One row: the condition that finds it by its primary key, and what a finding has to name (an entry's operation, else the table).
#[derive(Clone)]
struct Place {
    table: String,
    row: String,
    named: String,
}

/// Every row of a chained table, in the order of its primary key.
async fn places(database: &mut Database, table: &str) -> Vec<Place> {
    let columns = database.key_columns(table).await;
    let condition: Vec<String> =
        columns.iter().map(|column| format!("'\"{column}\" = ' || {}", database.quoted(column))).collect();
    let order: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
    let (condition, order) = (condition.join(" || ' AND ' || "), order.join(", "));
    let rows = database.texts(&format!("SELECT {condition} FROM \"{table}\" ORDER BY {order}")).await;
    let mut places = Vec::new();
    for row in rows {
        let named = if table == "entries" {
            database.texts(&format!("SELECT operation_id FROM entries WHERE {row}")).await.remove(0)
        } else {
            table.to_owned()
        };
        places.push(Place { table: table.to_owned(), row, named });
    }
    assert!(!places.is_empty(), "{table} is empty");
    places
}

async fn one_changed_byte_in_any_column_of_a_chained_row_is_found(engine: Engine) {
    let shop = history(engine).await;
    let untouched = Copy::of(&shop.ledger).await;
    let mut database = untouched.open().await;
    let tables = chained_tables(&mut database).await;
    let mut changes: Vec<(Place, String)> = Vec::new();
    for table in &tables {
        let all = places(&mut database, table).await;
        let place = &all[all.len() / 2];
        for column in database.columns(table).await {
            let value = format!("SELECT count(\"{column}\") FROM \"{table}\" WHERE {}", place.row);
            if database.number(&value).await == 1 {
                changes.push((place.clone(), column));
            }
        }
    }
    database.close().await;
    assert_eq!(untouched.verify().await.code, Some(0), "a copy without triggers verifies");
    for (Place { table, row, named }, column) in changes {
        let copy = Copy::of(&shop.ledger).await;
        let mut database = copy.open().await;
        let value = database.changed(&table, &column).await;
        let update = format!("UPDATE \"{table}\" SET \"{column}\" = {value} WHERE {row}");
        assert_eq!(database.execute(&update).await, 1, "{update}");
        database.close().await;
        // With its operation's name changed, an entry is a stranger elsewhere and a gap here: either may be named.
        let named = if column == "operation_id" { "" } else { &named };
        copy.is_found(&format!("a change of {table}.{column} where {row}"), named).await;
    }
}

async fn a_removed_row_of_a_chained_table_is_found(engine: Engine) {
    let shop = history(engine).await;
    let mut database = Copy::of(&shop.ledger).await.open().await;
    let mut removals: Vec<Place> = Vec::new();
    for table in chained_tables(&mut database).await {
        let all = places(&mut database, &table).await;
        removals.extend([&all[0], &all[all.len() / 2], &all[all.len() - 1]].map(Clone::clone));
    }
    database.close().await;
    for Place { table, row, named } in removals {
        let copy = Copy::of(&shop.ledger).await;
        let mut database = copy.open().await;
        assert_eq!(database.execute(&format!("DELETE FROM \"{table}\" WHERE {row}")).await, 1);
        database.close().await;
        copy.is_found(&format!("the removal from {table} where {row}"), &named).await;
    }
}

async fn a_whole_operation_that_is_removed_is_found(engine: Engine) {
    let shop = history(engine).await;
    let copy = Copy::of(&shop.ledger).await;
    let mut database = copy.open().await;
    database.execute(&format!("DELETE FROM entries WHERE operation_id = '{REFUND}'")).await;
    database.execute(&format!("DELETE FROM operations WHERE id = '{REFUND}'")).await;
    database.close().await;
    copy.is_found("the removal of a whole operation", REFUND).await;
}

async fn a_head_that_says_something_else_than_its_entries_is_found(engine: Engine) {
    let shop = history(engine).await;
    // All but who does what next, which a crash may lose: due time, reason, lease, what was set aside.
    let columns = [
        "kind",
        "revision",
        "order_id",
        "account",
        "target",
        "amount",
        "currency",
        "marker",
        "intent",
        "intent_hash",
        "facts",
        "state",
        "version",
        "external_id",
        "created_at",
        "updated_at",
    ];
    for column in columns {
        let copy = Copy::of(&shop.ledger).await;
        let mut database = copy.open().await;
        let value = match column {
            "state" => "'failed'".to_owned(),
            _ => database.changed("operations", column).await,
        };
        let update = format!("UPDATE operations SET \"{column}\" = {value} WHERE id = '{REFUND}'");
        assert_eq!(database.execute(&update).await, 1);
        database.close().await;
        copy.is_found(&format!("a change of operations.{column}"), REFUND).await;
    }
}

/// Rule 15, by the database itself: the triggers refuse, whoever asks.
async fn the_ledger_itself_cannot_change_or_remove_what_it_wrote(engine: Engine) {
    let shop = history(engine).await;
    let mut database = shop.ledger.database().await;
    for table in chained_tables(&mut database).await {
        for statement in [format!("UPDATE \"{table}\" SET hash = hash"), format!("DELETE FROM \"{table}\"")] {
            let refused = database.try_execute(&statement).await;
            assert!(refused.is_err(), "{statement} was accepted");
        }
    }
    database.close().await;
    shop.ledger.verifies().await;
}
