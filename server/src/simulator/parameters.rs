//! Form parameters with brackets (`metadata[operation_id]`, `created[gte]`), from a body or a query.
//!
//! Names stay flat, as they were written; nothing here knows an endpoint.

use std::collections::BTreeMap;

use super::wire::Refusal;

/// The parameters of one request, by name; of a name given twice the last counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// Decodes `a=b&c[d]=e`.
    ///
    /// # Errors
    /// 400 if the text isn't a form.
    pub(super) fn decode(text: &[u8]) -> Result<Self, Refusal> {
        let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(text)
            .map_err(|error| Refusal::invalid(format!("The parameters can't be read: {error}")))?;
        Ok(Self(pairs.into_iter().collect()))
    }

    /// A parameter's text.
    ///
    /// # Errors
    /// 400 `parameter_invalid_empty` if it was given without a value.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name).map(String::as_str) {
            Some("") => Err(Refusal::invalid(format!("'{name}' is empty"))
                .code("parameter_invalid_empty")
                .param(name)),
            other => Ok(other),
        }
    }

    /// A parameter's text, without complaint.
    pub(super) fn peek(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter that is a plain decimal integer.
    ///
    /// # Errors
    /// 400 `parameter_invalid_integer` for anything else, `1e3` and `1.0` included.
    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| plain).map(Some).ok_or_else(|| {
            Refusal::invalid(format!("'{name}' isn't an integer: {text}"))
                .code("parameter_invalid_integer")
                .param(name)
        })
    }

    /// A parameter that is an integer of at least 1.
    ///
    /// # Errors
    /// As [`Parameters::integer`], and 400 for 0 and less.
    pub(super) fn positive(&self, name: &str) -> Result<Option<i64>, Refusal> {
        match self.integer(name)? {
            Some(number) if number < 1 => Err(Refusal::invalid(format!("'{name}' must be at least 1"))
                .code("parameter_invalid_integer")
                .param(name)),
            other => Ok(other),
        }
    }

    /// The `metadata[…]` parameters. Bounds as documented by Stripe: 50 entries, names of 40, values of 500 characters.
    ///
    /// # Errors
    /// 400 if a bound is passed.
    pub(super) fn metadata(&self) -> Result<BTreeMap<String, String>, Refusal> {
        let mut entries = BTreeMap::new();
        for (name, value) in &self.0 {
            let Some(key) = name.strip_prefix("metadata[").and_then(|rest| rest.strip_suffix(']')) else {
                continue;
            };
            if key.chars().count() > 40 || value.chars().count() > 500 {
                return Err(Refusal::invalid("A metadata name or value is too long").param(name));
            }
            entries.insert(key.to_owned(), value.clone());
        }
        if entries.len() > 50 {
            return Err(Refusal::invalid("There are more than 50 metadata entries").param("metadata"));
        }
        Ok(entries)
    }

    /// Refuses every parameter whose name before the first bracket isn't among `known`.
    ///
    /// # Errors
    /// 400 `parameter_unknown`, naming it.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Refusal> {
        for name in self.0.keys() {
            let root = name.split('[').next().unwrap_or(name);
            if !known.contains(&root) {
                return Err(Refusal::invalid(format!("'{name}' isn't a parameter of this endpoint"))
                    .code("parameter_unknown")
                    .param(name));
            }
        }
        Ok(())
    }
}

/// 400 `parameter_missing`.
pub(super) fn missing(name: &str) -> Refusal {
    Refusal::invalid(format!("'{name}' is missing")).code("parameter_missing").param(name)
}
