//! The pages: each loads through [`crate::Desk`], then renders.

mod help;
pub(crate) mod operation;
mod operations;
mod order;
mod problem;

pub use help::help_states;
pub use operation::operation;
pub use operations::operations;
pub use order::order;
pub use problem::problem;
