//! Which settings there are, and what they are by default.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use counterfoil_ledger::decide::Policy;
use counterfoil_ledger::identity::{AccountName, KindName, Namespace};
use counterfoil_ledger::intent::EffectKind;
use counterfoil_ledger::kind::{AmountFrom, Kind, LINE_ITEM, ORDER};
use counterfoil_ledger::money::{Currency, parse_minor};
use counterfoil_ledger::window::KeyProtects;
use jiff::tz::TimeZone;
use reqwest::Url;
use toml::de::DeTable;

use super::check::{self, AccountTimes, DaemonTimes};
use super::error::{ConfigError, Place};
use super::section::{At, Document, Section};
use super::value::{self, DatabaseUrl, Schedule};
use super::{Account, Config, Daemon, ProviderKind, Server};

const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

const fn hours(n: u64) -> Duration {
    Duration::from_secs(n * 3600)
}

/// The most look-up gaps, kinds' identity fields, and the like that make sense in one list.
const LIST_MAX: usize = 64;

/// Reads the whole file. The configuration is `None` when something without a default is missing; whether it is any good is said
/// by the errors alone.
pub(super) fn read(
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> (Option<Config>, Vec<ConfigError>) {
    let document = Document::new(text);
    let (table, syntax) = DeTable::parse_recoverable(text);
    if !syntax.is_empty() {
        for error in syntax {
            let place = error.span().map_or(Place::File, |span| Place::Line(document.line_at(span.start)));
            document.note(place, "", error.message().lines().collect::<Vec<_>>().join("; "));
        }
        return (None, document.into_errors());
    }
    let config = top(&document, Section::top(&document, table.get_ref()), environment);
    (config, document.into_errors())
}

fn top<'a>(
    document: &'a Document<'a>,
    top: Section<'a>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Option<Config> {
    let namespace = top
        .required("namespace", "the ledger's own stable name, fixed at first start")
        .and_then(|text| top.read(&text, str::parse::<Namespace>));
    let server = server(document, top.section("server"), environment);
    let (daemon, times) = daemon(document, top.section("daemon"));
    let mut accounts = BTreeMap::new();
    let mut account_names = BTreeSet::new();
    let accounts_section = top.section("accounts");
    for (name, section) in accounts_section.each::<AccountName>() {
        account_names.insert(name.value.clone());
        if let Some(account) = account(document, section, &times) {
            accounts.insert(name.value, account);
        }
    }
    let mut kinds = BTreeMap::new();
    for (name, section) in top.section("kinds").each::<KindName>() {
        if let Some(kind) = kind(document, name.value.clone(), section, &account_names) {
            kinds.insert(name.value, kind);
        }
    }
    top.finish();
    Some(Config { namespace: namespace?.value, server, accounts, kinds, daemon: daemon? })
}

fn server(
    document: &Document<'_>,
    section: Section<'_>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Server {
    let mut listen = section
        .parsed("listen", |text| {
            text.parse::<SocketAddr>().map_err(|_| "must be an address and a port, like 127.0.0.1:8080")
        })
        .map_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)), |at| at.value);
    let mut database = section
        .parsed("database", DatabaseUrl::parse)
        .map_or(DatabaseUrl::Sqlite(PathBuf::from("counterfoil.db")), |at| at.value);
    let public_url: Option<Url> = section.parsed("public_url", value::public_url).map(|at| at.value);
    let time_zone = section
        .parsed("time_zone", |name| {
            TimeZone::get(name).map_err(|_| "is not a time zone like \"Asia/Taipei\" or \"UTC\"")
        })
        .map_or(TimeZone::UTC, |at| at.value);
    section.finish();
    let note = |variable: &str, problem: &str| document.note(Place::Environment, variable, problem);
    if let Some(text) = environment("COUNTERFOIL_LISTEN") {
        match text.parse() {
            Ok(address) => listen = address,
            Err(_) => note("COUNTERFOIL_LISTEN", "must be an address and a port, like 127.0.0.1:8080"),
        }
    }
    if let Some(text) = environment("COUNTERFOIL_DATABASE") {
        match DatabaseUrl::parse(&text) {
            Ok(url) => database = url,
            Err(problem) => note("COUNTERFOIL_DATABASE", problem),
        }
    } else if let Some(path) = environment("COUNTERFOIL_DATABASE_FILE") {
        match std::fs::read_to_string(&path) {
            Ok(text) => match DatabaseUrl::parse(text.trim_end()) {
                Ok(url) => database = url,
                Err(problem) => note("COUNTERFOIL_DATABASE_FILE", problem),
            },
            Err(error) => note("COUNTERFOIL_DATABASE_FILE", &format!("can't read {path}: {error}")),
        }
    }
    Server { listen, database, public_url, time_zone }
}

fn daemon(document: &Document<'_>, section: Section<'_>) -> (Option<Daemon>, DaemonTimes) {
    let schedule = |key, default| match section.text(key) {
        Some(text) => section.read(&text, Schedule::parse).map(|at| at.value),
        None => Schedule::parse(default).ok(),
    };
    let reconcile = schedule("reconcile", "*/5 * * * * *");
    let sweep_orphans = schedule("sweep_orphans", "0 */10 * * * *");
    let times = DaemonTimes {
        look_up_after: look_up_after(document, &section),
        escalate_after: section.time("escalate_after", hours(20)),
        lease: section.time("lease", seconds(60)),
        pending_attention: section.time("pending_attention", hours(72)),
    };
    section.finish();
    let lease = times.lease.value;
    let daemon = reconcile.zip(sweep_orphans).map(|(reconcile, sweep_orphans)| Daemon {
        reconcile,
        sweep_orphans,
        lease,
    });
    (daemon, times)
}

fn look_up_after(document: &Document<'_>, section: &Section<'_>) -> At<Vec<Duration>> {
    let default = [15, 30, 120, 600, 1800, 7200, 21_600].map(seconds).to_vec();
    let Some(found) = section.texts("look_up_after") else {
        return section.default("look_up_after", default);
    };
    let gaps: Vec<Duration> = found
        .value
        .iter()
        .filter_map(|text| section.read(text, value::duration))
        .inspect(|gap| {
            if gap.value.is_zero() {
                gap.note(document, "must be longer than nothing");
            }
        })
        .map(|gap| gap.value)
        .collect();
    if found.value.is_empty() || gaps.len() > LIST_MAX {
        found.note(document, format!("must hold 1 to {LIST_MAX} gaps, the last of which repeats"));
    }
    let value = if gaps.is_empty() { default } else { gaps };
    At { value, line: found.line, key: found.key }
}

fn account(document: &Document<'_>, section: Section<'_>, daemon: &DaemonTimes) -> Option<Account> {
    let provider = section.required("provider", "stripe").and_then(|text| section.read(&text, provider));
    let base_url = match section.parsed("base_url", value::base_url) {
        Some(url) => url.value,
        None => "https://api.stripe.com".to_owned(),
    };
    if !section.has("secret_key") && !section.has("secret_key_file") {
        section.missing("secret_key_file", "must be set: the file with the account's secret key");
    }
    let secret_key = section.secret("secret_key", "secret_key_file");
    let webhook_secret = section.secret("webhook_secret", "webhook_secret_file");
    let key_protects = section
        .parsed("key_protects", |text| match text {
            "all" => Ok(KeyProtects::All),
            "success" => Ok(KeyProtects::Success),
            "none" => Ok(KeyProtects::None),
            _ => Err("must be all, success or none"),
        })
        .map_or(KeyProtects::All, |at| at.value);
    if !section.has("key_window") && key_protects != KeyProtects::None {
        section.missing(
            "key_window",
            "must be set: how long the provider promises to know an idempotency key; without it a resend could act twice",
        );
    }
    let key_window = section.time_if_set("key_window").filter(|_| key_protects != KeyProtects::None);
    let times = AccountTimes {
        connect_timeout: section.time("connect_timeout", seconds(3)),
        send_timeout: section.time("send_timeout", seconds(10)),
        key_window,
        window_margin: section.duration("window_margin", seconds(15 * 60)),
        absence_lag: section.duration("absence_lag", seconds(60)),
        absence_count: section.count("absence_count", 2, 1, 100),
        absence_gap: section.time("absence_gap", seconds(10)),
        max_resends: section.count("max_resends", 3, 0, 100),
    };
    let rate_limit_per_s = section.count("rate_limit_per_s", 25, 1, 10_000).value;
    section.finish();
    check::account(document, &times, daemon);
    Some(Account {
        provider: provider?.value,
        base_url,
        secret_key: secret_key?,
        webhook_secret,
        connect_timeout: times.connect_timeout.value,
        rate_limit_per_s,
        policy: Policy {
            send_timeout: times.send_timeout.value,
            key_window: times.key_window.map_or(Duration::ZERO, |at| at.value),
            window_margin: times.window_margin.value,
            key_protects,
            // Every provider of this version can be asked what exists.
            offers_look_up: true,
            absence_lag: times.absence_lag.value,
            absence_count: times.absence_count.value,
            absence_gap: times.absence_gap.value,
            max_resends: times.max_resends.value,
            look_up_after: daemon.look_up_after.value.clone(),
            escalate_after: daemon.escalate_after.value,
            pending_attention: daemon.pending_attention.value,
        },
    })
}

fn provider(name: &str) -> Result<ProviderKind, &'static str> {
    match name {
        "stripe" => Ok(ProviderKind::Stripe),
        "adyen" | "paypal" | "http" | "manual" => Err("is not in this version; stripe is"),
        _ => Err("is not a provider; stripe is"),
    }
}

fn kind(
    document: &Document<'_>,
    name: KindName,
    section: Section<'_>,
    accounts: &BTreeSet<AccountName>,
) -> Option<Kind> {
    let account = section.required("account", "the account that it goes through").and_then(|text| {
        section.read(&text, |name| {
            let name = name.parse::<AccountName>().map_err(|error| error.to_string())?;
            if accounts.contains(&name) { Ok(name) } else { Err(format!("there is no [accounts.{name}]")) }
        })
    });
    let effect = section.required("effect", "refund").and_then(|text| {
        section.read(&text, |text| match text {
            "refund" => Ok(EffectKind::Refund),
            _ => Err("must be refund"),
        })
    });
    let amount_from = section
        .parsed("amount_from", |text| match text {
            "order" => Ok(AmountFrom::Order),
            "caller" => Ok(AmountFrom::Caller),
            _ => Err("must be order or caller"),
        })
        .map_or(AmountFrom::Order, |at| at.value);
    let identity = identity(document, &section, amount_from);
    let mut approve_above = BTreeMap::new();
    for (code, amount) in section.section("approve_above").each_text() {
        let currency = section
            .read(&At { value: code, line: amount.line, key: amount.key.clone() }, |code| {
                code.parse::<Currency>()
            });
        // Above nothing: everything needs a person.
        let limit = section.read(&amount, |text| if text == "0" { Ok(0) } else { parse_minor(text) });
        if let Some((currency, limit)) = currency.zip(limit) {
            approve_above.insert(currency.value, limit.value);
        }
    }
    let send_within = section.time("send_within", hours(72)).value;
    section.finish();
    Some(Kind {
        name,
        account: account?.value,
        effect: effect?.value,
        identity: identity?,
        amount_from,
        approve_above,
        send_within,
    })
}

fn identity(document: &Document<'_>, section: &Section<'_>, amount_from: AmountFrom) -> Option<Vec<String>> {
    if !section.has("identity") {
        section.missing(
            "identity",
            "must be set: the fields that say which business thing it is, fixed at first use",
        );
    }
    let found = section.texts("identity")?;
    let mut fields = Vec::new();
    for field in &found.value {
        // The same pattern as a kind's name.
        if field.value.parse::<KindName>().is_err() {
            field.note(document, format!("{:?} is not a field's name: [a-z][a-z0-9_]{{0,30}}", field.value));
        } else if fields.iter().any(|earlier| earlier == field.value) {
            field.note(document, format!("names {:?} twice", field.value));
        } else {
            fields.push(field.value.to_owned());
        }
    }
    if fields.len() > LIST_MAX {
        found.note(document, format!("must name at most {LIST_MAX} fields"));
    }
    let has = |name: &str| found.value.iter().any(|field| field.value == name);
    if !has(ORDER) {
        found.note(document, format!("must name {ORDER:?}: a refund belongs to one"));
    }
    if amount_from == AmountFrom::Order && !has(LINE_ITEM) {
        found.note(document, format!("must name {LINE_ITEM:?}, because amount_from is \"order\""));
    }
    Some(fields)
}
