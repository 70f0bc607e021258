//! The pages: each loads through [`crate::Desk`], then renders.

mod help;
mod operation;
mod operations;
mod order;
mod problem;

pub use help::help_states;
pub use operation::operation;
pub use operations::operations;
pub use order::order;
#[cfg(test)]
pub(crate) use order::totals_of;
pub use problem::problem;
