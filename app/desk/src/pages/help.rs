//! `/help/states`: the glossary of states, headings, classes and words.

use counterfoil_ledger::attempt::Class;
use counterfoil_ledger::state::State;
use leptos::prelude::*;

use crate::i18n::{Message, Voice, of};
use crate::parts::frame::{Here, page};
use crate::parts::state::badge;
use crate::{Page, Viewer};

/// The glossary.
pub fn help_states(viewer: &Viewer) -> Page {
    page(viewer, 200, &Message::HelpTitle, Here::Help, |voice| {
        let sections = [
            (Message::HelpStates, states(voice)),
            (Message::HelpHeadings, words(voice, headings())),
            (Message::HelpClasses, words(voice, classes())),
            (Message::HelpWords, words(voice, glossary())),
        ]
        .map(|(title, list)| {
            let title = voice.say(&title);
            view! { <section><h2>{title}</h2><dl class="glossary">{list}</dl></section> }
        });
        let title = voice.say(&Message::HelpTitle);
        view! { <h1>{title}</h1>{sections.collect_view()} }.into_any()
    })
}

fn states(voice: &Voice) -> AnyView {
    let bounced = (State::Failed, true);
    State::ALL
        .map(|state| (state, false))
        .into_iter()
        .chain([bounced])
        .map(|(state, bounced)| {
            let (word, means) = (badge(voice, state, bounced), voice.say(&of::state_means(state, bounced)));
            view! { <div><dt>{word}</dt><dd>{means}</dd></div> }
        })
        .collect_view()
        .into_any()
}

fn words(voice: &Voice, words: Vec<(Message, Message)>) -> AnyView {
    words
        .into_iter()
        .map(|(word, means)| {
            let (word, means) = (voice.say(&word), voice.say(&means));
            view! { <div><dt>{word}</dt><dd>{means}</dd></div> }
        })
        .collect_view()
        .into_any()
}

fn headings() -> Vec<(Message, Message)> {
    vec![
        (Message::Known, Message::HelpKnown),
        (Message::NotKnown, Message::HelpNotKnown),
        (Message::NextByItself, Message::HelpNext),
        (Message::You, Message::HelpYou),
        (Message::NotAllowed, Message::HelpNotAllowed),
    ]
}

fn classes() -> Vec<(Message, Message)> {
    [Class::NotSent, Class::Deferred, Class::Refused, Class::Effect, Class::Indeterminate]
        .map(of::class_means)
        .to_vec()
}

fn glossary() -> Vec<(Message, Message)> {
    vec![
        (Message::WordOperationId, Message::WordOperationIdMeans),
        (Message::WordRevision, Message::WordRevisionMeans),
        (Message::WordKey, Message::WordKeyMeans),
        (Message::WordWindow, Message::WordWindowMeans),
        (Message::WordMarker, Message::WordMarkerMeans),
        (Message::WordEvidence, Message::WordEvidenceMeans),
        (Message::WordAbsent, Message::WordAbsentMeans),
        (Message::WordInconclusive, Message::WordInconclusiveMeans),
        (Message::WordUnavailable, Message::WordUnavailableMeans),
        (Message::WordWorstCase, Message::WordWorstCaseMeans),
        (Message::WordOrphan, Message::WordOrphanMeans),
        (Message::WordTwin, Message::WordTwinMeans),
        (Message::WordChain, Message::WordChainMeans),
    ]
}
