//! **What people see.** Counterfoil's pages, rendered on the server with Leptos over ledger types.
//!
//! A page is a plain async function: it loads what it shows through the one trait [`Desk`], then renders it and is done. Nothing
//! here knows SQL, HTTP or configuration; nothing is hydrated, and no script or style stands inside a page.

mod daemon;
mod desk;
mod evidence;
mod filter;
mod headings;
mod i18n;
mod list;
mod order;
mod page;
mod pages;
mod parts;
mod sheet;
#[cfg(test)]
mod tests;
mod viewer;

pub use daemon::{Alarm, DaemonSheet, Run};
pub use desk::{Desk, DeskError};
pub use filter::{Filter, ListView, OperationsQuery, QueryField, QueryProblem};
pub use list::{Choices, Counts, OperationRow, OperationRows};
pub use order::{OrderLine, OrderOperation, OrderSheet};
pub use page::{Page, PageError};
pub use pages::{help_states, operation, operations, order, problem};
pub use sheet::{
    AccountMode, ChainedEntry, NextStep, OperationSheet, PaymentEffect, Provider, Related, Relation,
};
pub use viewer::{Lang, Mode, Viewer};
