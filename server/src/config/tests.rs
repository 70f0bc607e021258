#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::PathBuf;

use counterfoil_ledger::window::KeyProtects;
use secrecy::ExposeSecret;

use super::*;

/// The example of `api.md`, with the secrets where a test can put them.
const EXAMPLE: &str = r#"namespace = "shop"                         # [a-z][a-z0-9]{0,15}; fixed at first start

[server]
listen = "127.0.0.1:8080"
database = "sqlite:counterfoil.db"         # or postgres://…
public_url = "https://counterfoil.example"
time_zone = "Asia/Taipei"

[accounts.stripe-main]
provider = "stripe"                        # stripe | adyen | paypal | http | manual
base_url = "https://api.stripe.com"
secret_key_file = "{stripe}"
webhook_secret_file = "{webhook}"
connect_timeout = "3s"
send_timeout = "10s"                       # whole exchange
key_window = "24h"
window_margin = "15m"
key_protects = "all"                       # all | success | none
absence_lag = "60s"                        # after mark + send_timeout
absence_count = 2                          # complete empty walks, absence_gap apart
absence_gap = "10s"
max_resends = 3
rate_limit_per_s = 25

[kinds.refund]                             # [a-z][a-z0-9_]{0,30}
account = "stripe-main"
effect = "refund"                          # money outward
identity = ["order", "line_item"]          # fixed; stored at first use
amount_from = "order"                      # or "caller"
approve_above = { TWD = "500000" }         # minor units; all refunds of the order in 30 days together
send_within = "72h"

[daemon]
reconcile = "*/5 * * * * *"                # cron with seconds: the bell; due times are in the table
sweep_orphans = "0 */10 * * * *"
look_up_after = ["15s", "30s", "2m", "10m", "30m", "2h", "6h"]   # gaps, the first from the attempt's end (no end: mark + send_timeout); the last
                                           # repeats; each attempt restarts it; after the first counted walk the next is due in absence_gap
escalate_after = "20h"                     # of unknown, or at the window's end if that comes first; not for pending
lease = "60s"
pending_attention = "3d"
"#;

/// A directory of its own with two secrets, and the example that points at them.
struct Files {
    directory: PathBuf,
    text: String,
}

impl Files {
    fn new() -> Self {
        let directory = std::env::temp_dir().join(format!("counterfoil-config-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("stripe"), "sk_test_SECRETKEY\n").unwrap();
        std::fs::write(directory.join("webhook"), "whsec_SECRETHOOK").unwrap();
        std::fs::write(directory.join("empty"), "\n").unwrap();
        let at = |name: &str| directory.join(name).display().to_string();
        let text = EXAMPLE.replace("{stripe}", &at("stripe")).replace("{webhook}", &at("webhook"));
        Self { directory, text }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).unwrap();
    }
}

fn nothing(_: &str) -> Option<String> {
    None
}

fn parsed(text: &str) -> Result<Config, ConfigErrors> {
    parse("counterfoil.toml", text, &nothing)
}

const MINIMAL: &str = r#"
namespace = "shop"
[accounts.stripe-main]
provider = "stripe"
secret_key = "sk_test_1"
key_window = "24h"
[kinds.refund]
account = "stripe-main"
effect = "refund"
identity = ["order", "line_item"]
"#;

#[test]
fn the_example_of_the_interface_loads_with_its_values() {
    let files = Files::new();
    let path = files.directory.join("counterfoil.toml");
    std::fs::write(&path, &files.text).unwrap();
    let config = load(&path).unwrap();
    assert_eq!(config.namespace.as_str(), "shop");
    assert_eq!(config.server.public_url.unwrap().as_str(), "https://counterfoil.example/");
    assert_eq!(config.server.time_zone.iana_name(), Some("Asia/Taipei"));
    let account = &config.accounts[&"stripe-main".parse().unwrap()];
    assert_eq!(account.secret_key.expose_secret(), "sk_test_SECRETKEY");
    assert_eq!(account.webhook_secret.as_ref().unwrap().expose_secret(), "whsec_SECRETHOOK");
    let kind = &config.kinds[&"refund".parse().unwrap()];
    assert_eq!(kind.approve_above, BTreeMap::from([("TWD".parse().unwrap(), 500_000)]));
    assert_eq!(kind.identity, ["order", "line_item"]);
    assert_eq!(config.daemon.reconcile.as_str(), "*/5 * * * * *");
}

#[test]
fn what_is_left_out_is_as_the_example_says() {
    let files = Files::new();
    let (long, short) = (parsed(&files.text).unwrap(), parsed(MINIMAL).unwrap());
    let name = "stripe-main".parse().unwrap();
    let (long_account, short_account) = (&long.accounts[&name], &short.accounts[&name]);
    assert_eq!(short_account.policy, long_account.policy);
    assert_eq!(short_account.base_url, long_account.base_url);
    assert_eq!(short_account.rate_limit_per_s, long_account.rate_limit_per_s);
    assert_eq!(short_account.connect_timeout, long_account.connect_timeout);
    assert_eq!(short_account.policy.key_protects, KeyProtects::All);
    assert_eq!(short_account.policy.pending_attention, Duration::from_secs(3 * 24 * 3600));
    let refund = "refund".parse().unwrap();
    assert_eq!(short.kinds[&refund].send_within, Duration::from_secs(72 * 3600));
    assert_eq!(short.kinds[&refund].amount_from, long.kinds[&refund].amount_from);
    assert_eq!(short.daemon.reconcile, long.daemon.reconcile);
    assert_eq!(short.daemon.sweep_orphans, long.daemon.sweep_orphans);
    assert_eq!(short.daemon.lease, long.daemon.lease);
    assert_eq!(short.server.listen, long.server.listen);
    assert_eq!(short.server.time_zone, TimeZone::UTC);
    assert_eq!(short.server.database.to_string(), "sqlite:counterfoil.db");
}

#[test]
fn secrets_show_in_no_debug_form_and_no_error() {
    let files = Files::new();
    let postgres = files.text.replace("sqlite:counterfoil.db", "postgres://me:SECRETPASS@db/x");
    let shown = format!("{:?}", parsed(&postgres).unwrap());
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(!parsed(&postgres).unwrap().server.database.to_string().contains("SECRET"));
    let bad = MINIMAL
        .replace("sk_test_1", "sk SECRETKEY")
        .replace("namespace", "server = { database = \"postgres://me:SECRETPASS@:x\" }\nnamespace");
    let errors = parsed(&bad).unwrap_err();
    assert_eq!(errors.errors().len(), 2, "{errors}");
    assert!(!format!("{errors}{errors:?}").contains("SECRET"), "{errors}");
}

#[test]
fn the_environment_wins_over_the_file() {
    let set = |variable: &str| match variable {
        "COUNTERFOIL_LISTEN" => Some("[::1]:9000".to_owned()),
        "COUNTERFOIL_DATABASE" => Some("sqlite:/var/lib/counterfoil.db".to_owned()),
        _ => None,
    };
    let config = parse("counterfoil.toml", MINIMAL, &set).unwrap();
    assert_eq!(config.server.listen, "[::1]:9000".parse().unwrap());
    assert_eq!(config.server.database.to_string(), "sqlite:/var/lib/counterfoil.db");
    let wrong = |variable: &str| (variable == "COUNTERFOIL_LISTEN").then(|| "9000".to_owned());
    let errors = parse("counterfoil.toml", MINIMAL, &wrong).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "environment: COUNTERFOIL_LISTEN: must be an address and a port, like 127.0.0.1:8080"
    );
}

/// One row per mistake: what is replaced in the example by what, the line that is named, the setting, and words of the problem.
#[test]
fn every_mistake_names_its_line_and_its_setting() {
    let files = Files::new();
    let empty = format!("secret_key_file = \"{}\"", files.directory.join("empty").display());
    let stripe = format!("secret_key_file = \"{}\"", files.directory.join("stripe").display());
    const A: &str = "accounts.stripe-main";
    let account = |key: &str| format!("{A}.{key}");
    let of = |section: &str, key: &str| format!("{section}.{key}");
    #[rustfmt::skip]
    let rows: Vec<(&str, &str, usize, String, &str)> = vec![
        ("namespace = \"shop\"", "", 1, "namespace".into(), "must be set"),
        ("\"shop\"", "\"Shop-1\"", 1, "namespace".into(), "must match [a-z][a-z0-9]{0,15}"),
        ("\"shop\"", "7", 1, "namespace".into(), "must be a text in quotes, not an integer"),
        ("\"shop\"", "\"shop\"\ntypo = 1", 2, "typo".into(), "is not a setting"),
        ("\"shop\"", "\"shop\"\nnamespace = \"shop\"", 2, String::new(), "duplicate key"),
        ("\"shop\"", "\"shop", 1, String::new(), "invalid basic string"),
        ("127.0.0.1:8080", "localhost", 4, of("server", "listen"), "an address and a port"),
        ("sqlite:counterfoil.db", "mysql://x", 5, of("server", "database"), "sqlite:FILE or postgres://"),
        ("sqlite:counterfoil.db", "sqlite::memory:", 5, of("server", "database"), "forgets what it sent"),
        ("https://counterfoil.example", "ftp://x", 6, of("server", "public_url"), "http or https"),
        ("Asia/Taipei", "Asia/Taipeh", 7, of("server", "time_zone"), "is not a time zone"),
        ("listen =", "lisent =", 4, of("server", "lisent"), "is not a setting; here stand listen, database"),
        ("accounts.stripe-main]", "accounts.Stripe]", 9, of("accounts", "Stripe"), "must match"),
        ("provider = \"stripe\"", "", 9, account("provider"), "must be set"),
        ("provider = \"stripe\"", "provider = \"adyen\"", 10, account("provider"), "is not in this version"),
        ("provider = \"stripe\"", "provider = \"strip\"", 10, account("provider"), "is not a provider"),
        ("https://api.stripe.com", "http://api.stripe.com", 11, account("base_url"), "must be https"),
        ("https://api.stripe.com", "https://u:p@api.stripe.com", 11, account("base_url"), "a user or a password"),
        ("https://api.stripe.com", "api.stripe.com", 11, account("base_url"), "is not a URL"),
        (&stripe, "", 9, account("secret_key_file"), "must be set"),
        (&stripe, &empty, 12, account("secret_key_file"), "is empty"),
        (&stripe, "secret_key_file = \"/nowhere/stripe\"", 12, account("secret_key_file"), "can't read /nowhere/stripe"),
        (&stripe, "secret_key = \"\"", 12, account("secret_key"), "is empty"),
        ("connect_timeout = \"3s\"", "secret_key = \"x\"", 12, account("secret_key_file"), "can't stand beside secret_key"),
        ("connect_timeout = \"3s\"", "connect_timeout = \"11s\"", 14, account("connect_timeout"), "is longer than send_timeout"),
        ("connect_timeout = \"3s\"", "connect_timeout = 3", 14, account("connect_timeout"), "must be a text in quotes"),
        ("connect_timeout = \"3s\"", "connect_timeout = \"3\"", 14, account("connect_timeout"), "a length of time like"),
        ("connect_timeout = \"3s\"", "connect_timeout = \"-3s\"", 14, account("connect_timeout"), "can't be negative"),
        ("connect_timeout = \"3s\"", "connect_timeout = \"0s\"", 14, account("connect_timeout"), "longer than nothing"),
        ("send_timeout = \"10s\"", "send_timeout = \"16s\"", 15, account("send_timeout"), "first gap of look_up_after"),
        ("lease = \"60s\"", "lease = \"9s\"", 15, account("send_timeout"), "is longer than the daemon's lease"),
        ("key_window = \"24h\"", "", 9, account("key_window"), "must be set"),
        ("key_window = \"24h\"", "key_window = \"30d\"", 16, account("key_window"), "longer than the 24h"),
        ("key_window = \"24h\"", "key_window = \"20m\"", 16, account("key_window"), "is too short for max_resends = 3"),
        ("window_margin = \"15m\"", "window_margin = \"24h\"", 17, account("window_margin"), "leaves nothing of key_window"),
        ("window_margin = \"15m\"", "window_margin = \"9s\"", 17, account("window_margin"), "is shorter than send_timeout"),
        ("key_protects = \"all\"", "key_protects = \"some\"", 18, account("key_protects"), "all, success or none"),
        ("absence_count = 2", "absence_count = 0", 20, account("absence_count"), "a whole number from 1 to 100"),
        ("absence_count = 2", "absence_count = \"2\"", 20, account("absence_count"), "a whole number from 1 to 100"),
        ("max_resends = 3", "max_resends = -1", 22, account("max_resends"), "a whole number from 0 to 100"),
        ("rate_limit_per_s = 25", "rate_limit_per_s = 0", 23, account("rate_limit_per_s"), "a whole number from 1"),
        ("kinds.refund", "kinds.Re-fund", 25, of("kinds", "Re-fund"), "must match"),
        ("account = \"stripe-main\"", "account = \"stripe-two\"", 26, of("kinds.refund", "account"), "no [accounts.stripe-two]"),
        ("effect = \"refund\"", "effect = \"payout\"", 27, of("kinds.refund", "effect"), "must be refund"),
        ("effect = \"refund\"", "", 25, of("kinds.refund", "effect"), "must be set"),
        ("identity = [\"order\", \"line_item\"]", "", 25, of("kinds.refund", "identity"), "must be set"),
        ("[\"order\", \"line_item\"]", "[\"line_item\"]", 28, of("kinds.refund", "identity"), "must name \"order\""),
        ("[\"order\", \"line_item\"]", "[\"order\"]", 28, of("kinds.refund", "identity"), "must name \"line_item\""),
        ("[\"order\", \"line_item\"]", "[\"order\", \"line_item\", \"order\"]", 28, of("kinds.refund", "identity"), "names \"order\" twice"),
        ("[\"order\", \"line_item\"]", "[\"order\", \"line_item\",\n\"A-B\"]", 29, of("kinds.refund", "identity"), "is not a field's name"),
        ("amount_from = \"order\"", "amount_from = \"model\"", 29, of("kinds.refund", "amount_from"), "order or caller"),
        ("{ TWD = \"500000\" }", "{ twd = \"500000\" }", 30, of("kinds.refund.approve_above", "twd"), "ISO 4217"),
        ("{ TWD = \"500000\" }", "{ TWD = 500000 }", 30, of("kinds.refund.approve_above", "TWD"), "must be a text in quotes"),
        ("{ TWD = \"500000\" }", "{ TWD = \"5e5\" }", 30, of("kinds.refund.approve_above", "TWD"), "minor units"),
        ("send_within = \"72h\"", "send_within = \"3 months\"", 31, of("kinds.refund", "send_within"), "a length of time like"),
        ("reconcile = \"*/5 * * * * *\"", "reconcile = \"* * * * *\"", 34, of("daemon", "reconcile"), "six fields"),
        ("reconcile = \"*/5 * * * * *\"", "reconcile = \"0 0 0 30 2 *\"", 34, of("daemon", "reconcile"), "never fires"),
        ("sweep_orphans = \"0 */10 * * * *\"", "sweep_orphans = \"0 0 0 1 1 * 2020\"", 35, of("daemon", "sweep_orphans"), "six fields"),
        ("[\"15s\", \"30s\", \"2m\", \"10m\", \"30m\", \"2h\", \"6h\"]", "[]", 36, of("daemon", "look_up_after"), "must hold 1 to"),
        ("\"30s\", \"2m\"", "\"0s\", \"2m\"", 36, of("daemon", "look_up_after"), "longer than nothing"),
        ("escalate_after = \"20h\"", "escalate_after = \"400d\"", 38, of("daemon", "escalate_after"), "longer than 366 days"),
        ("lease = \"60s\"", "lease = \"0s\"", 39, of("daemon", "lease"), "longer than nothing"),
    ];
    for (good, bad, line, key, problem) in rows {
        assert!(files.text.contains(good), "{good:?} stands in the example");
        let text = files.text.replacen(good, bad, 1);
        let errors = parsed(&text).expect_err(bad);
        let found = errors.errors().iter().any(|error| {
            error.place == Place::Line(line) && error.key == key && error.problem.contains(problem)
        });
        assert!(found, "{bad:?}: line {line}, {key:?}, {problem:?} expected, and it says:\n{errors}");
    }
}

#[test]
fn an_error_reads_as_one_line_with_file_line_and_setting() {
    let text = MINIMAL.replace("key_window = \"24h\"", "key_window = \"soon\"");
    assert_eq!(
        parsed(&text).unwrap_err().to_string(),
        "counterfoil.toml:6: accounts.stripe-main.key_window: must be a length of time like \"500ms\", \"15m\", \"72h\" or \"3d\""
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "namespace = \"X\"\nxs = 1\n[server]\nlisten = 1\n[accounts.a]\nprovider = \"stripe\"\n[kinds.k]\naccount = \"b\"\n";
    let lines: Vec<usize> = parsed(text)
        .unwrap_err()
        .errors()
        .iter()
        .map(|error| match error.place {
            Place::Line(line) => line,
            Place::File | Place::Environment => 0,
        })
        .collect();
    assert_eq!(lines, [1, 2, 4, 5, 5, 7, 7, 8], "no secret and no window, no effect and no identity");
}

/// A15 B24: a window that isn't said can't protect; where there is no key, none is needed.
#[test]
fn a_window_is_needed_unless_there_is_no_key() {
    let text = MINIMAL.replace("key_window = \"24h\"", "key_protects = \"none\"");
    let config = parsed(&text).unwrap();
    let policy = &config.accounts[&"stripe-main".parse().unwrap()].policy;
    assert_eq!((policy.key_protects, policy.key_window), (KeyProtects::None, Duration::ZERO));
}

/// A15: three proofs of absence at 185 s each: look-ups 25, 55 and 175 s after the mark, counted from 70 s on, and one more 10 s
/// later.
#[test]
fn the_resend_horizon_is_the_time_that_so_many_proofs_take() {
    let window =
        |length: &str| MINIMAL.replace("key_window = \"24h\"", &format!("key_window = \"{length}\""));
    parsed(&window("24m 15s")).unwrap();
    let errors = parsed(&window("24m 14s")).unwrap_err().to_string();
    assert!(errors.contains("takes up to 9m 15s") && errors.contains("leaves 9m 14s"), "{errors}");
}

#[test]
fn a_file_that_is_not_there_is_an_error_and_not_a_default() {
    let errors = load(Path::new("/nowhere/counterfoil.toml")).unwrap_err().to_string();
    assert!(errors.starts_with("/nowhere/counterfoil.toml: can't be read: "), "{errors}");
}
