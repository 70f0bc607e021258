//! What a page function hands back.

use crate::DeskError;

/// A whole document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The HTTP status to answer with.
    pub status: u16,
    pub title: String,
    pub html: String,
}

/// Why there is no such page. [`crate::problem`] makes one of it.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("not found")]
    NotFound,
    #[error("not allowed")]
    NotAllowed,
    /// Something in the URL can't be used.
    #[error("the address can't be used")]
    BadAddress,
    #[error("could not load")]
    CouldNotLoad(#[source] DeskError),
}

impl PageError {
    /// The HTTP status to answer with.
    pub fn status(&self) -> u16 {
        match self {
            Self::NotFound => 404,
            Self::NotAllowed => 403,
            Self::BadAddress => 400,
            Self::CouldNotLoad(_) => 500,
        }
    }
}

impl From<DeskError> for PageError {
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::Cursor => Self::BadAddress,
            DeskError::Store(_) | DeskError::SetAside { .. } => Self::CouldNotLoad(error),
        }
    }
}
