//! The filters: a GET form, so that a filtered list is an address that can be sent to a colleague.

use counterfoil_ledger::state::State;
use leptos::prelude::*;

use crate::i18n::{Arg, Message, Voice, of};
use crate::{Choices, OperationsQuery, QueryField, QueryProblem, Viewer};

pub(super) fn filters(
    viewer: &Viewer,
    voice: &Voice,
    query: &OperationsQuery,
    problems: &[QueryProblem],
    choices: &Choices,
) -> AnyView {
    let mut kept = viewer.carried();
    kept.push(("view".to_owned(), query.view.clone()));
    kept.retain(|(_, value)| !value.is_empty());
    let kept: Vec<_> = kept
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
        .collect();
    let states =
        State::ALL.map(|state| (state.label().to_owned(), voice.plain(&of::state(state, false)))).to_vec();
    let same = |text: &str| (text.to_owned(), text.to_owned());
    let kinds = choices.kinds.iter().map(|kind| same(kind.as_str())).collect();
    let accounts = choices.accounts.iter().map(|account| same(account.as_str())).collect();
    let (label, apply) = (voice.plain(&Message::FiltersLabel), voice.plain(&Message::FilterApply));
    let form = Form { voice, problems };
    let clear = query.narrows().then(|| {
        let view: Vec<_> = query.pairs().into_iter().filter(|(key, _)| *key == "view").collect();
        let (href, word) = (viewer.href("/operations", &view), voice.plain(&Message::FilterClear));
        view! { <a href=href>{word}</a> }
    });
    let unusable_view = form.problem(QueryField::View);
    view! {
        <form class="filters" role="search" method="get" action="/operations" aria-label=label>
            {kept}
            {form.select("state", Message::FilterState, QueryField::State, states, &query.state)}
            {form.select("kind", Message::FilterKind, QueryField::Kind, kinds, &query.kind)}
            {form.select("account", Message::FilterAccount, QueryField::Account, accounts, &query.account)}
            {form.text("order", Message::FilterOrder, &query.order)}
            {form.text("external_id", Message::FilterExternalId, &query.external_id)}
            {form.day("from", Message::FilterFrom, QueryField::From, &query.from)}
            {form.day("to", Message::FilterTo, QueryField::To, &query.to)}
            <p class="actions"><button type="submit">{apply}</button>{clear}</p>
            {unusable_view}
        </form>
    }
    .into_any()
}

struct Form<'a> {
    voice: &'a Voice,
    problems: &'a [QueryProblem],
}

impl Form<'_> {
    /// What is wrong with a field's value, if anything is.
    fn problem(&self, field: QueryField) -> Option<AnyView> {
        self.problems.iter().find(|problem| problem.field == field).map(|problem| {
            let text = self.voice.say(&Message::FilterUnusable { value: Arg::ident(&problem.value) });
            let id = format!("unusable-{field:?}");
            view! { <span class="unusable" id=id>{text}</span> }.into_any()
        })
    }

    fn described(&self, field: QueryField) -> Option<String> {
        let found = self.problems.iter().any(|problem| problem.field == field);
        found.then(|| format!("unusable-{field:?}"))
    }

    fn select(
        &self,
        name: &'static str,
        label: Message,
        field: QueryField,
        options: Vec<(String, String)>,
        chosen: &str,
    ) -> AnyView {
        let (label, any) = (self.voice.plain(&label), self.voice.plain(&Message::FilterAny));
        let options: Vec<_> = options
            .into_iter()
            .map(|(value, word)| {
                let selected = value == chosen;
                // A name from the configuration is the same in every language.
                let translate = (field != QueryField::State).then_some("no");
                view! { <option value=value selected=selected translate=translate>{word}</option> }
            })
            .collect();
        view! {
            <label>
                <span>{label}</span>
                <select name=name aria-describedby=self.described(field)>
                    <option value="">{any}</option>
                    {options}
                </select>
                {self.problem(field)}
            </label>
        }
        .into_any()
    }

    fn text(&self, name: &'static str, label: Message, value: &str) -> AnyView {
        let (label, value) = (self.voice.plain(&label), value.to_owned());
        view! {
            <label>
                <span>{label}</span>
                <input type="text" name=name value=value autocomplete="off" spellcheck="false" translate="no" />
            </label>
        }
        .into_any()
    }

    fn day(&self, name: &'static str, label: Message, field: QueryField, value: &str) -> AnyView {
        let (label, value) = (self.voice.plain(&label), value.to_owned());
        view! {
            <label>
                <span>{label}</span>
                <input type="date" name=name value=value aria-describedby=self.described(field) />
                {self.problem(field)}
            </label>
        }
        .into_any()
    }
}
