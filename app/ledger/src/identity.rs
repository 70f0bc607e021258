//! Who an operation is: names computed from *what is to be done*, never random, never from the call.
//!
//! Here live the namespace, the kind's name, the Operation ID, the marker and the key, with the rules for the values that go
//! into them. What a kind means is in [`crate::kind`].

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use unicode_normalization::is_nfc;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The longest Operation ID, in bytes.
pub const OPERATION_ID_BYTES_MAX: usize = 255;
/// The longest identity value, in bytes of UTF-8.
pub const IDENTITY_VALUE_BYTES_MAX: usize = 64;
/// The highest revision of one business thing.
pub const REVISION_MAX: u8 = 99;

/// Why a name or an identity value is refused. The text is meant for the caller; it never repeats the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    #[error("must be 1 to {IDENTITY_VALUE_BYTES_MAX} bytes of UTF-8, and has {0}")]
    Length(usize),
    #[error(
        "must not begin or end with white space; it is never trimmed, because an identifier is compared byte for byte"
    )]
    OuterSpace,
    #[error("must be NFC text; this is another Unicode form of text that looks the same")]
    NotNfc,
    #[error("must not hold control, zero-width, bidirectional or invisible characters (found U+{0:04X})")]
    Invisible(u32),
    #[error("must not be `.` or `..`")]
    Dots,
    #[error("must match {0}")]
    Pattern(&'static str),
    #[error("makes an Operation ID of {0} bytes; the most is {OPERATION_ID_BYTES_MAX}")]
    IdTooLong(usize),
    #[error("must be a whole number from 1 to {REVISION_MAX}")]
    Revision,
}

/// Names of the form `[a-z][a-z0-9…]{0,n}`, each its own type so that one can't stand for another.
macro_rules! pattern_name {
    ($(#[$doc:meta])* $name:ident, $pattern:literal, max $max:literal, also $also:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdentityError;
            fn try_from(text: String) -> Result<Self, IdentityError> {
                let good = text.len() <= $max
                    && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
                    && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || $also.contains(&b));
                if good { Ok(Self(text)) } else { Err(IdentityError::Pattern($pattern)) }
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdentityError;
            fn from_str(text: &str) -> Result<Self, IdentityError> {
                Self::try_from(text.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

pattern_name! {
    /// The ledger's own stable name (`shop`, `shop-staging` is not one: no hyphen), fixed at first start.
    /// Two ledgers that share a provider account never meet, because every key and marker begins with it.
    Namespace, "[a-z][a-z0-9]{0,15}", max 16, also b""
}
pattern_name! {
    /// What sort of effect: `refund`, `create_ticket`.
    KindName, "[a-z][a-z0-9_]{0,30}", max 31, also b"_"
}
pattern_name! {
    /// A provider account as the configuration names it: `stripe-main`.
    AccountName, "[a-z][a-z0-9_-]{0,30}", max 31, also b"_-"
}

/// One value of an identity: opaque text, compared byte for byte. `1043` and `01043` are two orders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IdentityValue(String);

impl IdentityValue {
    /// The value as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for IdentityValue {
    type Error = IdentityError;
    fn try_from(text: String) -> Result<Self, IdentityError> {
        if text.is_empty() || text.len() > IDENTITY_VALUE_BYTES_MAX {
            return Err(IdentityError::Length(text.len()));
        }
        if let Some(bad) = text.chars().find(|c| is_invisible(*c)) {
            return Err(IdentityError::Invisible(bad.into()));
        }
        if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
            return Err(IdentityError::OuterSpace);
        }
        if text == "." || text == ".." {
            return Err(IdentityError::Dots);
        }
        if !is_nfc(&text) {
            return Err(IdentityError::NotNfc);
        }
        Ok(Self(text))
    }
}

impl From<IdentityValue> for String {
    fn from(value: IdentityValue) -> Self {
        value.0
    }
}

impl fmt::Display for IdentityValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Control, format (zero-width and bidirectional among them), line and paragraph separators, and the letters and marks that
/// Unicode lists as default-ignorable: what a person can't see, a person can't check.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    ) || matches!(u32::from(c),
        0x034F | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x3164 | 0xFE00..=0xFE0F | 0xFFA0 | 0xE0000..=0xE0FFF)
}

/// The same business thing legitimately done again: 1 is the first, 2 to 99 are revisions with their own authorisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Revision(u8);

impl Revision {
    /// The first time.
    pub const FIRST: Self = Self(1);

    /// The number, 1 to 99.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The revision before this one, if there is one.
    pub fn previous(self) -> Option<Self> {
        (self.0 > 1).then(|| Self(self.0 - 1))
    }
}

impl TryFrom<u8> for Revision {
    type Error = IdentityError;
    fn try_from(number: u8) -> Result<Self, IdentityError> {
        if (1..=REVISION_MAX).contains(&number) { Ok(Self(number)) } else { Err(IdentityError::Revision) }
    }
}

impl From<Revision> for u8 {
    fn from(revision: Revision) -> Self {
        revision.0
    }
}

/// Text that was computed here or read back from our own store; there is no other way to make one.
macro_rules! computed_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// A name that the store kept or a caller asks for; whether it exists is the store's to say.
            pub fn stored(text: impl Into<String>) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

computed_name! {
    /// `{kind}-{value}-{value}…`, and `-r{n}` from revision 2. Whoever asks again computes the same one.
    OperationId
}
computed_name! {
    /// Namespace and Operation ID as written into the provider's metadata, so that the effect can be found again.
    Marker
}
computed_name! {
    /// The idempotency key sent to the provider: stored with the intent, the same for ever.
    Key
}

impl OperationId {
    /// Computes the ID. Bytes outside `[A-Za-z0-9_.]` become `~xx`, so `-` never stands inside a value.
    ///
    /// # Errors
    /// [`IdentityError::IdTooLong`] when the result passes 255 bytes.
    pub fn compute(
        kind: &KindName,
        values: &[IdentityValue],
        revision: Revision,
    ) -> Result<Self, IdentityError> {
        let mut id = kind.as_str().to_owned();
        for value in values {
            id.push('-');
            for byte in value.as_str().bytes() {
                if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' {
                    id.push(char::from(byte));
                } else {
                    id.push('~');
                    id.push_str(&hex::encode([byte]));
                }
            }
        }
        if revision > Revision::FIRST {
            id.push_str(&format!("-r{}", revision.number()));
        }
        if id.len() > OPERATION_ID_BYTES_MAX {
            return Err(IdentityError::IdTooLong(id.len()));
        }
        Ok(Self(id))
    }
}

impl Marker {
    /// `{namespace}.{Operation ID}`.
    pub fn compute(namespace: &Namespace, id: &OperationId) -> Self {
        Self(format!("{namespace}.{id}"))
    }
}

/// How an account's keys are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyRule {
    /// The marker itself where it fits into this many bytes, else hashed.
    Readable { bytes_max: usize },
    /// `cf_` and 40 hex digits: 43 characters of `[a-z0-9_]`, good everywhere.
    Hashed,
}

impl Key {
    /// Computes the key of an operation under an account's rule.
    pub fn compute(rule: KeyRule, namespace: &Namespace, id: &OperationId) -> Self {
        let marker = Marker::compute(namespace, id);
        match rule {
            KeyRule::Readable { bytes_max } if marker.as_str().len() <= bytes_max => Self(marker.0),
            KeyRule::Readable { .. } | KeyRule::Hashed => {
                let mut hash = Sha256::new();
                hash.update(namespace.as_str());
                hash.update([0]);
                hash.update(id.as_str());
                let digits = hex::encode(hash.finalize());
                Self(format!("cf_{}", &digits[..40]))
            }
        }
    }
}

/// Whether two identities of one kind could be the same thing written twice: other case, other zeros in front, another Unicode
/// form, or a suffix put behind (`S-7`, `S-7-retry`). Two lines `li_1` and `li_2`, or `li_1` and `li_10`, are not alike.
/// Identical identities are not twins: they are one operation.
pub fn look_alike(ours: &[IdentityValue], theirs: &[IdentityValue]) -> bool {
    ours != theirs
        && ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(a, b)| value_looks_alike(a.as_str(), b.as_str()))
}

fn value_looks_alike(a: &str, b: &str) -> bool {
    let (a, b) = (folded(a), folded(b));
    let suffixed = |short: &str, long: &str| {
        long.strip_prefix(short)
            .is_some_and(|rest| rest.starts_with(['-', '_', '.', ' ', '#', '/', ':', '(']))
    };
    a == b || suffixed(&a, &b) || suffixed(&b, &a)
}

/// Compatibility form, lower case, without the zeros that stand in front of a number.
fn folded(value: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    let lower: String = value.nfkc().flat_map(char::to_lowercase).collect();
    let mut out = String::with_capacity(lower.len());
    let mut previous_digit = false;
    let mut rest = lower.chars().peekable();
    while let Some(c) = rest.next() {
        let leading_zero = c == '0' && !previous_digit && rest.peek().is_some_and(char::is_ascii_digit);
        if !leading_zero {
            out.push(c);
            previous_digit = c.is_ascii_digit();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(texts: &[&str]) -> Vec<IdentityValue> {
        texts.iter().map(|t| IdentityValue::try_from((*t).to_owned()).unwrap()).collect()
    }

    fn id(kind: &str, texts: &[&str], revision: u8) -> String {
        let revision = Revision::try_from(revision).unwrap();
        OperationId::compute(&kind.parse().unwrap(), &values(texts), revision).unwrap().to_string()
    }

    fn refused(text: &str) -> IdentityError {
        IdentityValue::try_from(text.to_owned()).unwrap_err()
    }

    /// Golden vectors: other programs compute these too, so they never change.
    #[test]
    fn ids_markers_and_keys_keep_their_golden_vectors() {
        assert_eq!(id("refund", &["1043", "li_2"], 1), "refund-1043-li_2");
        assert_eq!(id("refund", &["1043", "li_2"], 2), "refund-1043-li_2-r2");
        assert_eq!(id("refund", &["A/7 b", "訂.1"], 1), "refund-A~2f7~20b-~e8~a8~82.1");
        let shop: Namespace = "shop".parse().unwrap();
        let id = OperationId::stored("refund-1043-li_2");
        assert_eq!(Marker::compute(&shop, &id).as_str(), "shop.refund-1043-li_2");
        assert_eq!(
            Key::compute(KeyRule::Readable { bytes_max: 255 }, &shop, &id).as_str(),
            "shop.refund-1043-li_2"
        );
        let hashed = Key::compute(KeyRule::Hashed, &shop, &id);
        // SHA-256 of "shop\0refund-1043-li_2", computed with sha256sum.
        assert_eq!(hashed.as_str(), "cf_5f2b66d13d5842d00c3374fbc4728280b962f00d");
        assert_eq!(Key::compute(KeyRule::Readable { bytes_max: 20 }, &shop, &id), hashed);
        assert_eq!(hashed.as_str().len(), 43);
    }

    /// C1 C3: segments can't be confused with what stands inside a value.
    #[test]
    fn values_that_hold_the_separator_make_different_ids() {
        assert_ne!(id("refund", &["1-2", "3"], 1), id("refund", &["1", "2-3"], 1));
        assert_ne!(id("refund", &["foo", "bar_baz"], 1), id("refund", &["foo_bar", "baz"], 1));
        assert_ne!(id("refund", &["a:", "b"], 1), id("refund", &["a", ":b"], 1));
        assert_ne!(id("refund", &["1043-r2"], 1), id("refund", &["1043"], 2));
        assert_ne!(id("refund", &["~2d"], 1), id("refund", &["-"], 1));
    }

    /// C5 C9 C14 C24: what a person can't see or tell apart is refused, never mended.
    #[test]
    fn values_that_mislead_the_eye_are_refused() {
        assert_eq!(refused(""), IdentityError::Length(0));
        assert_eq!(refused(&"x".repeat(65)), IdentityError::Length(65));
        assert_eq!(refused("A1 "), IdentityError::OuterSpace);
        assert_eq!(refused("bo\u{302}h"), IdentityError::NotNfc);
        assert_eq!(refused("."), IdentityError::Dots);
        assert_eq!(refused(".."), IdentityError::Dots);
        for hidden in [
            "10\u{202E}43",
            "10\u{200B}43",
            "a\0b",
            "a\tb",
            "a\u{FEFF}b",
            "a\u{2028}b",
            "a\u{3164}b",
            "a\u{FE0F}",
        ] {
            assert!(matches!(refused(hidden), IdentityError::Invisible(_)), "{hidden:?}");
        }
        values(&["bôh", "-", "01043", "訂單 7", "...", "LI_2"]);
    }

    #[test]
    fn names_keep_their_patterns() {
        for good in ["shop", "a", "abcdefghijklmnop"] {
            good.parse::<Namespace>().unwrap();
        }
        for bad in ["", "Shop", "1shop", "shop-staging", "abcdefghijklmnopq", "shop_1"] {
            bad.parse::<Namespace>().unwrap_err();
        }
        "create_ticket".parse::<KindName>().unwrap();
        "create-ticket".parse::<KindName>().unwrap_err();
        assert!(Revision::try_from(0).is_err() && Revision::try_from(100).is_err());
    }

    #[test]
    fn an_id_over_255_bytes_is_refused() {
        let long = IdentityValue::try_from("é".repeat(32)).unwrap();
        let error = OperationId::compute(&"refund".parse().unwrap(), &[long.clone(), long], Revision::FIRST)
            .unwrap_err();
        assert!(matches!(error, IdentityError::IdTooLong(392)), "{error:?}");
    }

    /// C7 C9 J6 against A7.
    #[test]
    fn look_alikes_are_seen_and_neighbours_are_not() {
        let alike = |a: &[&str], b: &[&str]| look_alike(&values(a), &values(b));
        assert!(alike(&["1043", "li_2"], &["01043", "li_2"]));
        assert!(alike(&["1043", "li_2"], &["1043", "LI_2"]));
        assert!(alike(&["S-7"], &["S-7-retry"]));
        assert!(alike(&["ﬁ1"], &["fi1"]));
        assert!(!alike(&["1043", "li_2"], &["1043", "li_2"]));
        assert!(!alike(&["1043", "li_1"], &["1043", "li_2"]));
        assert!(!alike(&["1043", "li_1"], &["1043", "li_10"]));
        assert!(!alike(&["act-7"], &["act-8"]));
        assert!(!alike(&["100"], &["10"]));
    }
}
