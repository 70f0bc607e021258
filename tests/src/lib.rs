//! What the whole-program tests stand on: the real binary, started as a process and reached over real sockets.
//!
//! Here: how a ledger and a simulator are configured, started, killed and asked ([`Setup`], [`Ledger`], [`Simulator`]), what stands between
//! them when a test wants an answer that the simulator can't give ([`Proxy`]) or a database that goes away ([`Line`], [`SmallDisk`]), and SQL on the ledger's database ([`Database`]). Not here: any
//! expectation about the product (those are in `tests/*.rs`), and nothing of the `counterfoil` crate: a test sees what a caller sees.
//!
//! Nothing waits by a bare sleep: [`until`] asks for a condition until it holds or [`PATIENCE`] is over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod api;
mod binary;
mod database;
mod disk;
mod ledger;
mod line;
mod order;
mod postgres;
mod process;
mod proxy;
mod reply;
mod setup;
mod shop;
mod simulator;
mod wait;

pub use api::Api;
pub use binary::binary;
pub use database::Database;
pub use disk::SmallDisk;
pub use ledger::{Ledger, Run};
pub use line::Line;
pub use order::{line, money, order, refund_of};
pub use postgres::{Server, connected, skipped};
pub use process::Program;
pub use proxy::{Proxy, Scripted};
pub use reply::Reply;
pub use setup::{Engine, Setup};
pub use shop::{REFUND, Shop};
pub use simulator::{Request, Simulator};
pub use wait::{PATIENCE, until};

/// Makes one test of each story for each database: `async fn story(engine: Engine)` becomes `sqlite::story` and `postgres::story`.
#[macro_export]
macro_rules! stories {
    ($($name:ident),+ $(,)?) => {
        $crate::stories_on!(sqlite Sqlite ($($name)+));
        $crate::stories_on!(postgres Postgres ($($name)+));
    };
}

/// Stories about races: on each database, and on two servers that share one, `two_servers::story`.
#[macro_export]
macro_rules! races {
    ($($name:ident),+ $(,)?) => {
        $crate::stories!($($name),+);
        $crate::stories_on!(two_servers TwoServers ($($name)+));
    };
}

/// One test of each story in one place.
#[macro_export]
macro_rules! stories_on {
    ($module:ident $engine:ident ($($name:ident)+)) => {
        mod $module {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let engine = $crate::Engine::$engine;
                    if engine.can_be_had().await {
                        Box::pin(super::$name(engine)).await;
                    }
                }
            )+
        }
    };
}
