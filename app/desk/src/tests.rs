//! Tests of whole pages, over operations that the ledger itself brought into their states.

mod fixture;
mod gallery;
mod headings;
mod pages;
