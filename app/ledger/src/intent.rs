//! Everything that will be sent to the provider, and nothing else: stored before the first send, the same bytes for ever.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::identity::{AccountName, Key, Marker};
use crate::money::Money;

/// What kind of thing is to happen at the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Money goes back to the customer.
    Refund,
}

/// The request as it will leave, less the credentials and the attempt's own request id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderRequest {
    pub method: String,
    /// Path and query below the account's base URL.
    pub path: String,
    pub content_type: String,
    pub body: String,
}

/// What is to be done, and the exact request that does it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    pub account: AccountName,
    pub effect: EffectKind,
    /// What it is done to: the payment.
    pub target: String,
    pub money: Money,
    pub marker: Marker,
    pub key: Key,
    pub request: ProviderRequest,
}

/// SHA-256 over the canonical JSON (RFC 8785) of an intent, in hex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentHash(String);

impl IntentHash {
    /// 64 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A hash that the store kept.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for IntentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value that has no canonical form: not reachable for our own types, but a named error instead of a panic.
#[derive(Debug, thiserror::Error)]
#[error("no canonical JSON: {0}")]
pub struct NotCanonical(#[from] serde_json::Error);

/// Canonical JSON (RFC 8785) of any value.
///
/// # Errors
/// [`NotCanonical`] for values that JSON can't hold.
pub fn canonical<T: Serialize>(value: &T) -> Result<String, NotCanonical> {
    serde_json_canonicalizer::to_string(value).map_err(NotCanonical::from)
}

impl Intent {
    /// The canonical text that is stored, and its hash.
    ///
    /// # Errors
    /// [`NotCanonical`], never for an intent that was parsed or built here.
    pub fn seal(&self) -> Result<(String, IntentHash), NotCanonical> {
        let text = canonical(self)?;
        let hash = IntentHash(hex::encode(Sha256::digest(&text)));
        Ok((text, hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent() -> Intent {
        Intent {
            account: "stripe-main".parse().unwrap(),
            effect: EffectKind::Refund,
            target: "pi_1043".to_owned(),
            money: Money::new(38_000, "TWD".parse().unwrap()).unwrap(),
            marker: Marker::stored("shop.refund-1043-li_2"),
            key: Key::stored("shop.refund-1043-li_2"),
            request: ProviderRequest {
                method: "POST".to_owned(),
                path: "/v1/refunds".to_owned(),
                content_type: "application/x-www-form-urlencoded".to_owned(),
                body: "payment_intent=pi_1043&amount=38000".to_owned(),
            },
        }
    }

    #[test]
    fn the_canonical_intent_keeps_its_golden_vector() {
        let (text, hash) = intent().seal().unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"account":"stripe-main","effect":"refund","key":"shop.refund-1043-li_2","marker":"shop.refund-1043-li_2","#,
                r#""money":{"amount":"38000","currency":"TWD"},"request":{"body":"payment_intent=pi_1043&amount=38000","#,
                r#""content_type":"application/x-www-form-urlencoded","method":"POST","path":"/v1/refunds"},"target":"pi_1043"}"#
            )
        );
        assert_eq!(hash.as_str(), hex::encode(Sha256::digest(text)));
    }

    /// C19: whatever would be sent differently hashes differently.
    #[test]
    fn every_sent_parameter_is_in_the_hash() {
        let (_, ours) = intent().seal().unwrap();
        let mut other = intent();
        other.account = "stripe-two".parse().unwrap();
        assert_ne!(other.seal().unwrap().1, ours);
        let mut other = intent();
        other.request.body.push_str("&reason=duplicate");
        assert_ne!(other.seal().unwrap().1, ours);
    }
}
