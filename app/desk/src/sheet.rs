//! What the page of one operation shows.

use counterfoil_ledger::chain::Link;
use counterfoil_ledger::decide::{Policy, Reason};
use counterfoil_ledger::entry::Entered;
use counterfoil_ledger::evidence::EffectSeen;
use counterfoil_ledger::identity::{AccountName, OperationId};
use counterfoil_ledger::money::{Currency, ExponentTable, Money};
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::State;
use jiff::Timestamp;

/// An account's mode, as its credentials tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountMode {
    Live,
    Test,
}

/// What people need to know of a provider account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// `Stripe`.
    pub name: String,
    pub account: AccountName,
    pub mode: AccountMode,
    /// `https://api.stripe.com`.
    pub base_url: String,
    pub exponents: ExponentTable,
    /// Where the provider's own site shows an effect and what it was done to: http or https, with `{id}` where the id goes.
    pub console_effect: Option<String>,
    pub console_target: Option<String>,
}

impl Provider {
    /// `380.00 TWD`.
    pub fn display(&self, money: Money) -> String {
        self.exponents.display(money)
    }

    /// Minor units with their currency, negative sums and 0 too.
    pub fn display_minor(&self, minor: i64, currency: Currency) -> String {
        format!("{} {currency}", self.exponents.decimal(minor, currency))
    }

    /// The provider's page for an effect.
    pub fn effect_url(&self, external_id: &str) -> Option<String> {
        console_url(self.console_effect.as_deref()?, external_id)
    }

    /// The provider's page for a payment.
    pub fn target_url(&self, target: &str) -> Option<String> {
        console_url(self.console_target.as_deref()?, target)
    }
}

/// Puts an id, percent-encoded, into a template. Only http and https are ever linked.
fn console_url(template: &str, id: &str) -> Option<String> {
    let web = template.starts_with("https://") || template.starts_with("http://");
    let encoded = percent_encoding::utf8_percent_encode(id, percent_encoding::NON_ALPHANUMERIC).to_string();
    // `_`, `-` and `.` are common in ids and safe in a path; `.` and `..` alone are not.
    let id = match id {
        "." | ".." => encoded,
        _ => encoded.replace("%5F", "_").replace("%2D", "-").replace("%2E", "."),
    };
    web.then(|| template.replace("{id}", &id))
}

/// An entry with its link in the operation's chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedEntry {
    pub entered: Entered,
    pub hash: Link,
}

/// What the machine does next, as the last decision said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextStep {
    pub reason: Reason,
    /// `None`: nothing by itself any more.
    pub due_at: Option<Timestamp>,
}

/// An effect on the payment, ours or not, as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentEffect {
    pub effect: EffectSeen,
    /// The operation that claims it; `None`: nobody's.
    pub holder: Option<OperationId>,
    pub seen_at: Timestamp,
}

/// How another operation is related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The same business thing, another revision.
    Revision,
    /// It looks like the same thing written another way.
    Twin,
}

/// Another operation that a person should see beside this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    pub operation: OperationId,
    pub state: State,
    /// `failed` after it had been `confirmed`.
    pub bounced: bool,
    pub relation: Relation,
}

/// Everything about one operation.
#[derive(Debug, Clone)]
pub struct OperationSheet {
    pub operation: Operation,
    /// All of them, in order.
    pub entries: Vec<ChainedEntry>,
    pub step: NextStep,
    /// The limits in force.
    pub policy: Policy,
    pub provider: Provider,
    /// Every effect that was seen on the payment.
    pub effects: Vec<PaymentEffect>,
    pub related: Vec<Related>,
    /// The name of the person who owned the token that asked first; `None`: not to be found any more.
    pub owner_name: Option<String>,
    /// The restore from a backup that is in force.
    pub restored_at: Option<Timestamp>,
    /// The sweep set it aside: the error, fit to be shown.
    pub set_aside: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K12: a link is http or https, whatever stands in the configuration or comes from outside.
    #[test]
    fn a_console_link_is_a_web_address_and_the_id_cannot_leave_its_place() {
        let link = |template, id| console_url(template, id);
        assert_eq!(link("https://x.example/p/{id}", "re_1-a.b").unwrap(), "https://x.example/p/re_1-a.b");
        assert_eq!(
            link("https://x.example/p/{id}", "../a?b#c\"<").unwrap(),
            "https://x.example/p/..%2Fa%3Fb%23c%22%3C"
        );
        assert_eq!(link("https://x.example/p/{id}", "..").unwrap(), "https://x.example/p/%2E%2E");
        assert_eq!(link("javascript:alert({id})", "1"), None);
        assert_eq!(link(" https://x.example/{id}", "1"), None);
    }
}
