//! When there is no such page, or it couldn't be loaded: which of these, and that no outcome follows from it.

use leptos::prelude::*;

use crate::i18n::{Arg, Message};
use crate::parts::frame::{Here, page};
use crate::{DeskError, Page, PageError, Viewer};

/// The page for an error. What the store said is for the log, never for the page.
pub fn problem(error: &PageError, viewer: &Viewer) -> Page {
    let (title, says) = match error {
        PageError::NotFound => (Message::ProblemNotFound, Message::ProblemNotFoundSays),
        PageError::NotAllowed => (Message::ProblemNotAllowed, Message::ProblemNotAllowedSays),
        PageError::BadAddress => (Message::ProblemBadAddress, Message::ProblemBadAddressSays),
        PageError::CouldNotLoad(DeskError::SetAside { id, why }) => (
            Message::ProblemCouldNotLoad,
            Message::ProblemSetAsideSays { id: Arg::ident(id.as_str()), why: Arg::ident(why) },
        ),
        PageError::CouldNotLoad(DeskError::Store(_) | DeskError::Cursor) => {
            (Message::ProblemCouldNotLoad, Message::ProblemCouldNotLoadSays)
        }
    };
    page(viewer, error.status(), &title, Here::Elsewhere, |voice| {
        let (heading, says) = (voice.say(&title), voice.say(&says));
        let (href, back) = (viewer.href("/operations", &[]), voice.plain(&Message::BackToOperations));
        view! { <h1>{heading}</h1><p>{says}</p><p><a href=href>{back}</a></p> }.into_any()
    })
}
