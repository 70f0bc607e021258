//! Money in whole minor units, and how many of them make one unit: a table per provider and use, never ISO 4217 alone.
//!
//! An amount that is refused here is refused before anything is recorded. Nothing is rounded, ever.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why an amount or a currency is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("must be a whole number of minor units as a string of digits, like \"38000\"")]
    NotMinorUnits,
    #[error("must be at least 1 minor unit")]
    NotPositive,
    #[error("must be at most 9223372036854775807 minor units")]
    TooLarge,
    #[error("must be an active ISO 4217 code in capitals, like \"TWD\"")]
    Currency,
    #[error("must be a multiple of {multiple_of} minor units: {rule}")]
    Granularity { multiple_of: i64, rule: &'static str },
}

/// An ISO 4217 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    /// The code in capitals.
    pub fn code(&self) -> &str {
        // Only capitals A–Z ever get in.
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl TryFrom<String> for Currency {
    type Error = MoneyError;
    fn try_from(text: String) -> Result<Self, MoneyError> {
        text.parse()
    }
}

impl std::str::FromStr for Currency {
    type Err = MoneyError;
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let bytes: [u8; 3] = text.as_bytes().try_into().map_err(|_| MoneyError::Currency)?;
        let known =
            text.bytes().all(|b| b.is_ascii_uppercase()) && iso_currency::Currency::from_code(text).is_some();
        if known { Ok(Self(bytes)) } else { Err(MoneyError::Currency) }
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.code().to_owned()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A positive amount in minor units. In JSON the amount is a string, because 2^53 + 1 isn't a number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "MoneyText", into = "MoneyText")]
pub struct Money {
    minor: i64,
    currency: Currency,
}

impl Money {
    /// # Errors
    /// [`MoneyError::NotPositive`] below one minor unit.
    pub fn new(minor: i64, currency: Currency) -> Result<Self, MoneyError> {
        if minor < 1 { Err(MoneyError::NotPositive) } else { Ok(Self { minor, currency }) }
    }

    /// Minor units, at least 1.
    pub fn minor(&self) -> i64 {
        self.minor
    }

    /// The currency.
    pub fn currency(&self) -> Currency {
        self.currency
    }
}

/// Parses minor units: digits only. `1e3`, `25.00`, `5,00`, `-500`, `+5` and ` 5` are refused, and so is a JSON number.
///
/// # Errors
/// Says which rule the text breaks.
pub fn parse_minor(text: &str) -> Result<i64, MoneyError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(MoneyError::NotMinorUnits);
    }
    if digits.len() != text.len() || digits.bytes().all(|b| b == b'0') {
        return Err(MoneyError::NotPositive);
    }
    if digits.starts_with('0') {
        return Err(MoneyError::NotMinorUnits);
    }
    digits.parse().map_err(|_| MoneyError::TooLarge)
}

/// Minor units as text in stored JSON: canonical JSON counts in doubles, and 2^53 + 1 isn't one.
pub mod minor_text {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the number as text.
    ///
    /// # Errors
    /// What the serializer says.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub fn serialize<S: Serializer>(minor: &i64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(minor)
    }

    /// Reads it back.
    ///
    /// # Errors
    /// When the text isn't a whole number within 64 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MoneyText {
    amount: String,
    currency: String,
}

impl TryFrom<MoneyText> for Money {
    type Error = MoneyError;
    fn try_from(text: MoneyText) -> Result<Self, MoneyError> {
        Money::new(parse_minor(&text.amount)?, text.currency.parse()?)
    }
}

impl From<Money> for MoneyText {
    fn from(money: Money) -> Self {
        Self { amount: money.minor.to_string(), currency: money.currency.code().to_owned() }
    }
}

/// What the money is for: one provider may round one and not the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Refund,
    Payout,
}

/// How a provider counts one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exponent {
    /// Digits after the point.
    pub digits: u8,
    /// Amounts must be a multiple of this many minor units.
    pub multiple_of: i64,
    rule: &'static str,
}

/// Whose table counts: a provider's own wins over ISO 4217.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExponentTable {
    /// `providers.md` §1, as of 2026-11-30.
    Stripe,
}

impl ExponentTable {
    /// The exponent of a currency for a use.
    ///
    /// Stripe: zero-decimal list \[third party\]; ISK and UGX count hundredths whose last two digits are 00, the special rule wins
    /// over the zero list \[mirror\]; BHD JOD KWD OMR TND count thousandths whose last digit is 0, refunds included \[third party\];
    /// HUF and TWD are ordinary but for payouts \[mirror\].
    pub fn exponent(self, currency: Currency, used_for: Use) -> Exponent {
        let Self::Stripe = self;
        let plain = |digits| Exponent { digits, multiple_of: 1, rule: "" };
        match currency.code() {
            "ISK" | "UGX" => Exponent {
                digits: 2,
                multiple_of: 100,
                rule: "Stripe counts hundredths of this currency, and the last two digits must be 00",
            },
            "BHD" | "JOD" | "KWD" | "OMR" | "TND" => Exponent {
                digits: 3,
                multiple_of: 10,
                rule: "Stripe counts thousandths of this currency, and the last digit must be 0",
            },
            "HUF" | "TWD" if used_for == Use::Payout => Exponent {
                digits: 2,
                multiple_of: 100,
                rule: "Stripe pays this currency out in whole units only",
            },
            "BIF" | "CLP" | "DJF" | "GNF" | "JPY" | "KMF" | "KRW" | "MGA" | "PYG" | "RWF" | "VND" | "VUV"
            | "XAF" | "XOF" | "XPF" => plain(0),
            _ => plain(2),
        }
    }

    /// Checks an amount against the table.
    ///
    /// # Errors
    /// [`MoneyError::Granularity`] with the rule in words.
    pub fn check(self, money: Money, used_for: Use) -> Result<(), MoneyError> {
        let exponent = self.exponent(money.currency, used_for);
        if money.minor % exponent.multiple_of == 0 {
            Ok(())
        } else {
            Err(MoneyError::Granularity { multiple_of: exponent.multiple_of, rule: exponent.rule })
        }
    }

    /// `380.00 TWD`, `9899 JPY`, `92.000 KWD`.
    pub fn display(self, money: Money) -> String {
        format!("{} {}", self.decimal(money.minor, money.currency), money.currency)
    }

    /// Minor units as a decimal number of units, exact, negative sums too.
    pub fn decimal(self, minor: i64, currency: Currency) -> String {
        let digits = usize::from(self.exponent(currency, Use::Refund).digits);
        let sign = if minor < 0 { "-" } else { "" };
        let mut text = format!("{:0>width$}", minor.unsigned_abs(), width = digits + 1);
        if digits > 0 {
            text.insert(text.len() - digits, '.');
        }
        format!("{sign}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(minor: i64, code: &str) -> Money {
        Money::new(minor, code.parse().unwrap()).unwrap()
    }

    fn shown(minor: i64, code: &str) -> String {
        ExponentTable::Stripe.display(money(minor, code))
    }

    /// F1 F2 F4 F14 and the special currencies.
    #[test]
    fn amounts_are_shown_with_the_providers_exponent() {
        assert_eq!(shown(38_000, "TWD"), "380.00 TWD");
        assert_eq!(shown(9899, "JPY"), "9899 JPY");
        assert_eq!(shown(92_000, "KWD"), "92.000 KWD");
        assert_eq!(shown(150_000, "UGX"), "1500.00 UGX");
        assert_eq!(shown(500, "ISK"), "5.00 ISK");
        assert_eq!(shown(500, "MGA"), "500 MGA");
        assert_eq!(shown(150_050, "HUF"), "1500.50 HUF");
        assert_eq!(shown(5, "EUR"), "0.05 EUR");
        assert_eq!(shown(9_007_199_254_740_993, "TWD"), "90071992547409.93 TWD");
        assert_eq!(ExponentTable::Stripe.decimal(-2500, "EUR".parse().unwrap()), "-25.00");
    }

    /// F4 F6: the last digits that a provider doesn't take are refused before anything is recorded.
    #[test]
    fn amounts_that_the_provider_cannot_count_are_refused() {
        let stripe = ExponentTable::Stripe;
        assert_eq!(stripe.check(money(18_600, "KWD"), Use::Refund), Ok(()));
        assert!(matches!(
            stripe.check(money(18_605, "KWD"), Use::Refund),
            Err(MoneyError::Granularity { multiple_of: 10, .. })
        ));
        assert!(matches!(
            stripe.check(money(150_050, "UGX"), Use::Refund),
            Err(MoneyError::Granularity { multiple_of: 100, .. })
        ));
        assert!(stripe.check(money(150_050, "ISK"), Use::Refund).is_err());
        assert_eq!(stripe.check(money(80_045, "TWD"), Use::Refund), Ok(()));
        assert!(stripe.check(money(80_045, "TWD"), Use::Payout).is_err());
    }

    /// F3 F13 J6: only whole minor units as text.
    #[test]
    fn amounts_that_are_not_whole_minor_units_are_refused() {
        for bad in ["", "abc", "1e3", "5,00", "25.00", "+5", " 5", "5 ", "007", "٣", "0x10", "NaN"] {
            assert_eq!(parse_minor(bad), Err(MoneyError::NotMinorUnits), "{bad:?}");
        }
        for bad in ["0", "-500", "-0", "00"] {
            assert_eq!(parse_minor(bad), Err(MoneyError::NotPositive), "{bad:?}");
        }
        assert_eq!(parse_minor("9223372036854775807"), Ok(i64::MAX));
        assert_eq!(parse_minor("9223372036854775808"), Err(MoneyError::TooLarge));
        assert_eq!(parse_minor("1"), Ok(1));
    }

    #[test]
    fn money_in_json_is_a_string_and_a_number_is_refused() {
        let json = r#"{"amount":"9007199254740993","currency":"TWD"}"#;
        let parsed: Money = serde_json::from_str(json).unwrap();
        assert_eq!(parsed.minor(), 9_007_199_254_740_993);
        assert_eq!(serde_json::to_string(&parsed).unwrap(), json);
        for bad in [
            r#"{"amount":38000,"currency":"TWD"}"#,
            r#"{"amount":"1","currency":"twd"}"#,
            r#"{"amount":"1","currency":"XYZ"}"#,
        ] {
            serde_json::from_str::<Money>(bad).unwrap_err();
        }
    }
}
