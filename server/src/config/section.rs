//! Reading one table of the file: every value with its line, every mistake noted, none of them the end.

use std::cell::RefCell;
use std::fmt::Display;
use std::time::Duration;

use secrecy::SecretString;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Place};
use super::value;

/// The text being read, and what was found wrong so far.
pub(super) struct Document<'a> {
    text: &'a str,
    errors: RefCell<Vec<ConfigError>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, errors: RefCell::new(Vec::new()) }
    }

    /// The line, from 1, in which a byte stands.
    pub(super) fn line_at(&self, byte: usize) -> usize {
        self.text.bytes().take(byte).filter(|b| *b == b'\n').count() + 1
    }

    pub(super) fn note(&self, place: Place, key: impl Into<String>, problem: impl Display) {
        let error = ConfigError { place, key: key.into(), problem: problem.to_string() };
        self.errors.borrow_mut().push(error);
    }

    pub(super) fn into_errors(self) -> Vec<ConfigError> {
        self.errors.into_inner()
    }
}

/// A value and where it stands; a default stands where its table begins.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) line: usize,
    /// The whole name of the setting.
    pub(super) key: String,
}

impl<T> At<T> {
    /// Notes what is wrong with it.
    pub(super) fn note(&self, document: &Document<'_>, problem: impl Display) {
        document.note(Place::Line(self.line), self.key.clone(), problem);
    }

    fn with<U>(&self, value: U) -> At<U> {
        At { value, line: self.line, key: self.key.clone() }
    }
}

/// One table. Whatever isn't asked for by the time of [`Section::finish`] is an unknown setting.
pub(super) struct Section<'a> {
    document: &'a Document<'a>,
    /// `accounts.stripe-main`; empty at the top.
    name: String,
    line: usize,
    /// `None`: the table isn't there, and everything is as by default.
    table: Option<&'a DeTable<'a>>,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Section<'a> {
    pub(super) fn top(document: &'a Document<'a>, table: &'a DeTable<'a>) -> Self {
        Self { document, name: String::new(), line: 1, table: Some(table), known: RefCell::default() }
    }

    fn key(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    /// A value as if it stood at the table's head.
    pub(super) fn default<T>(&self, key: &str, value: T) -> At<T> {
        At { value, line: self.line, key: self.key(key) }
    }

    /// Notes that something must be set.
    pub(super) fn missing(&self, key: &str, problem: impl Display) {
        self.default(key, ()).note(self.document, problem);
    }

    fn get(&self, key: &'static str) -> Option<At<&'a DeValue<'a>>> {
        self.known.borrow_mut().push(key);
        let (name, value) = self.table?.get_key_value(key)?;
        let line = self.document.line_at(name.span().start);
        Some(At { value: value.get_ref(), line, key: self.key(key) })
    }

    /// Whether the setting stands in the file.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(key))
    }

    /// A text.
    pub(super) fn text(&self, key: &'static str) -> Option<At<&'a str>> {
        let found = self.get(key)?;
        match found.value {
            DeValue::String(text) => Some(found.with(text.as_ref())),
            other => {
                found.note(self.document, format!("must be a text in quotes, not {}", article(other)));
                None
            }
        }
    }

    /// A text that must be there.
    pub(super) fn required(&self, key: &'static str, what: &str) -> Option<At<&'a str>> {
        if !self.has(key) {
            self.missing(key, format!("must be set: {what}"));
        }
        self.text(key)
    }

    /// A text, read by `read`.
    pub(super) fn parsed<T, E: Display>(
        &self,
        key: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<At<T>> {
        let text = self.text(key)?;
        self.read(&text, read)
    }

    /// Reads a text, and notes why it can't.
    pub(super) fn read<T, E: Display>(
        &self,
        text: &At<&str>,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<At<T>> {
        match read(text.value) {
            Ok(value) => Some(text.with(value)),
            Err(problem) => {
                text.note(self.document, problem);
                None
            }
        }
    }

    /// A length of time: `15m`, `72h`, `500ms`, `3d`.
    pub(super) fn duration(&self, key: &'static str, default: Duration) -> At<Duration> {
        self.parsed(key, value::duration).unwrap_or_else(|| self.default(key, default))
    }

    /// A length of time above zero.
    pub(super) fn time(&self, key: &'static str, default: Duration) -> At<Duration> {
        self.time_if_set(key).unwrap_or_else(|| self.default(key, default))
    }

    /// A length of time above zero that has no default.
    pub(super) fn time_if_set(&self, key: &'static str) -> Option<At<Duration>> {
        let found = self.parsed(key, value::duration)?;
        if found.value.is_zero() {
            found.note(self.document, "must be longer than nothing");
            return None;
        }
        Some(found)
    }

    /// A whole number within bounds.
    pub(super) fn count(&self, key: &'static str, default: u32, least: u32, most: u32) -> At<u32> {
        let Some(found) = self.get(key) else { return self.default(key, default) };
        let number = match found.value {
            DeValue::Integer(digits) => u32::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => found.with(number),
            None => {
                found.note(self.document, format!("must be a whole number from {least} to {most}"));
                found.with(default)
            }
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self, key: &'static str) -> Option<At<Vec<At<&'a str>>>> {
        let found = self.get(key)?;
        let DeValue::Array(items) = found.value else {
            found.note(self.document, format!("must be a list of texts, not {}", article(found.value)));
            return None;
        };
        let mut texts = Vec::new();
        for item in items.iter() {
            let line = self.document.line_at(item.span().start);
            let at = At { value: item.get_ref(), line, key: found.key.clone() };
            match at.value {
                DeValue::String(text) => texts.push(at.with(text.as_ref())),
                other => at.note(self.document, format!("must hold texts only, not {}", article(other))),
            }
        }
        Some(found.with(texts))
    }

    /// The table of that name; an absent one reads as empty.
    pub(super) fn section(&self, key: &'static str) -> Section<'a> {
        let found = self.get(key);
        let line = found.as_ref().map_or(self.line, |found| found.line);
        let table = found.and_then(|found| match found.value {
            DeValue::Table(table) => Some(table),
            other => {
                found.note(self.document, format!("must be a table, not {}", article(other)));
                None
            }
        });
        Section { document: self.document, name: self.key(key), line, table, known: RefCell::default() }
    }

    /// Every table in this one, by a name that the engineer chose.
    pub(super) fn each<T: std::str::FromStr<Err: Display>>(&self) -> Vec<(At<T>, Section<'a>)> {
        let mut found = Vec::new();
        for (name, item) in self.table.into_iter().flatten() {
            let at = At {
                value: name.get_ref().as_ref(),
                line: self.document.line_at(name.span().start),
                key: self.key(name.get_ref()),
            };
            let DeValue::Table(table) = item.get_ref() else {
                at.note(self.document, format!("must be a table, not {}", article(item.get_ref())));
                continue;
            };
            let section = Section {
                document: self.document,
                name: at.key.clone(),
                line: at.line,
                table: Some(table),
                known: RefCell::default(),
            };
            if let Some(name) = self.read(&at, |name| name.parse::<T>()) {
                found.push((name, section));
            }
        }
        found
    }

    /// Every text in this table, by a name that the engineer chose.
    pub(super) fn each_text(&self) -> Vec<(&'a str, At<&'a str>)> {
        let mut found = Vec::new();
        for (name, item) in self.table.into_iter().flatten() {
            let line = self.document.line_at(name.span().start);
            let at = At { value: item.get_ref(), line, key: self.key(name.get_ref()) };
            match at.value {
                DeValue::String(text) => found.push((name.get_ref().as_ref(), at.with(text.as_ref()))),
                other => at.note(self.document, format!("must be a text in quotes, not {}", article(other))),
            }
        }
        found
    }

    /// A secret, from the file itself or from a file of its own.
    pub(super) fn secret(&self, key: &'static str, file_key: &'static str) -> Option<SecretString> {
        let (inline, file) = (self.text(key), self.text(file_key));
        match (inline, file) {
            (Some(_), Some(file)) => {
                file.note(self.document, format!("can't stand beside {key}; one of them is the secret"));
                None
            }
            (Some(inline), None) => self.read(&inline, value::secret).map(|at| at.value),
            (None, Some(file)) => self.read(&file, value::secret_file).map(|at| at.value),
            (None, None) => None,
        }
    }

    /// Notes every setting that nobody asked for.
    pub(super) fn finish(self) {
        let known = self.known.borrow();
        for (name, _) in self.table.into_iter().flatten() {
            let name: &Spanned<_> = name;
            if !known.contains(&name.get_ref().as_ref()) {
                let line = self.document.line_at(name.span().start);
                let problem = format!("is not a setting; here stand {}", known.join(", "));
                self.document.note(Place::Line(line), self.key(name.get_ref()), problem);
            }
        }
    }
}

fn article(value: &DeValue<'_>) -> String {
    let kind = value.type_str();
    if kind.starts_with(['a', 'i']) { format!("an {kind}") } else { format!("a {kind}") }
}
