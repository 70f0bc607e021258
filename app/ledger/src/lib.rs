//! What may happen.
