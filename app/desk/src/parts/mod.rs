//! What more than one page is made of.

pub(crate) mod entry;
pub(crate) mod frame;
pub(crate) mod state;
pub(crate) mod table;
