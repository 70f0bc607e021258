//! The statements that both engines share: compiled once inside each engine's module, over that engine's connection.
//!
//! Everything that differs (locks, leases, how a transaction begins and commits) is in the engine.

mod change;
mod daemon;
mod ledger;
mod list;
mod orders;
mod people;
mod proof;
mod read;
mod record;
mod restore;
mod store;

use super::engine;
use crate::store::StoreError;

use change::{reschedule, set_aside, write};
use daemon::{
    alarms, ask_look_up, clear_alarm, next_due, note_run, pause, paused, raise_alarm, resume, runs,
    take_canary, wake_account,
};
pub(super) use ledger::migrated;
use ledger::{bind, chain, chain_act, chain_head, ids_after, newest};
use list::{list, tally};
use orders::{order, payment, put_order};
use people::{add_person, add_token, person, person_name, token};
use proof::{misfits, raw};
use read::{entries, load};
use record::record;
use restore::{begin_restore, end_restore, restored_at};

type Row = engine::Row;
type Connection = engine::Connection;
type Query<'q> = sqlx::query::Query<'q, engine::Engine, <engine::Engine as sqlx::Database>::Arguments>;

/// A statement, kept prepared where the engine's connections may do that.
fn query(sql: impl sqlx::SqlSafeStr) -> Query<'static> {
    sqlx::query(sql).persistent(engine::KEEPS_STATEMENTS)
}

fn unreadable(table: &'static str, row: &str, why: impl ToString) -> StoreError {
    StoreError::Unreadable { table, row: row.to_owned(), why: why.to_string() }
}
