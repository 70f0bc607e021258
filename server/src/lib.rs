//! What does happen.
