//! `counterfoil demo`: the ledger, a simulated provider, sample orders and people in one process. Plays the lost refund of order
//! 1043, says each step, then serves the desk with that history and others.
//!
//! It uses the ledger only as any program would: over HTTP, with a token.

mod cast;
mod client;
mod play;
mod scenes;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use counterfoil_ledger::identity::AccountName;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::serve::{Server, stop_signal};
use super::{Failure, print};
use crate::config::{self, Config};
use crate::simulator::{self, Simulator};
use crate::store::Clock;
use client::Client;

/// How long a demo that is told to stop waits for sends: one of them hangs on purpose.
const PATIENCE: Duration = Duration::from_secs(2);
/// The account whose provider takes its time: its send stays on its way while somebody looks.
const SLOW: &str = "stripe-jp";
const SLOW_SEND: Duration = Duration::from_secs(3600);

#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Port on 127.0.0.1; 0 takes any.
    #[arg(long, env = "COUNTERFOIL_PORT", default_value_t = 8080)]
    port: u16,
    /// Where the ledger is kept. Left out: a new directory for each run.
    #[arg(long, env = "COUNTERFOIL_DATA")]
    data: Option<PathBuf>,
}

/// `demo.json`: what a program or a person needs to use the demo.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Card {
    base_url: String,
    api_token: String,
    simulator_url: String,
    people: Vec<CardPerson>,
}

/// A demo person with the password that was made for them.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CardPerson {
    name: String,
    password: String,
    role: crate::store::Role,
}

impl Demo {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        let dir = self.data.unwrap_or_else(|| {
            std::env::temp_dir().join(format!("counterfoil-demo-{}", uuid::Uuid::new_v4().simple()))
        });
        std::fs::create_dir_all(&dir)
            .map_err(|error| Failure::Failed(format!("{}: {error}", dir.display())))?;
        let provider = TcpListener::bind("127.0.0.1:0").await.map_err(Failure::failed)?;
        let simulator_url = format!("http://{}", provider.local_addr().map_err(Failure::failed)?);
        let simulator_stops = CancellationToken::new();
        let simulated = tokio::spawn(simulator::serve(
            provider,
            Simulator::new(simulator::Settings::default()),
            simulator_stops.clone(),
        ));
        let config = configuration(&dir, self.port, &simulator_url).await?;
        let server = Server::start(config, Clock::true_time(), true, false, true).await?;
        let base_url = format!("http://{}", server.address);
        print(format_args!("counterfoil listening on {base_url}"));
        let played = async {
            let card = cast::card(server.works.store.as_ref(), &dir, &base_url, &simulator_url).await?;
            let client = Client::new(&card)?;
            play::run(&server, &client, &dir).await
        };
        let stop = stop_signal();
        let outcome = tokio::select! {
            outcome = played => outcome,
            () = stop.cancelled() => Ok(()),
        };
        if outcome.is_ok() {
            stop.cancelled().await;
        }
        server.stop(PATIENCE).await;
        simulator_stops.cancel();
        let _ = simulated.await;
        outcome.map(|()| ExitCode::SUCCESS)
    }
}

/// The demo's configuration: the file that a user would write, kept beside the ledger, so that `verify` and the others work on it.
async fn configuration(dir: &Path, port: u16, simulator_url: &str) -> Result<Config, Failure> {
    // A port that nobody listens on: what is sent there provably doesn't leave.
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(Failure::failed)?;
        format!("http://{}", listener.local_addr().map_err(Failure::failed)?)
    };
    let database = dir.join("counterfoil.db");
    let text = format!(
        r#"# Written by `counterfoil demo`.
namespace = "demo"

[server]
listen = "127.0.0.1:{port}"
database = "sqlite:{database}"
time_zone = "Asia/Taipei"

[accounts.stripe-main]
provider = "stripe"
base_url = "{simulator_url}"
secret_key = "sk_test_demo"
connect_timeout = "1s"
send_timeout = "2s"
key_window = "24h"
absence_lag = "2s"
absence_gap = "2s"

[accounts.stripe-eu]
provider = "stripe"
base_url = "{closed}"
secret_key = "sk_test_demo"
connect_timeout = "1s"
send_timeout = "2s"
key_window = "24h"

[accounts.{SLOW}]
provider = "stripe"
base_url = "{simulator_url}"
secret_key = "sk_test_demo"
connect_timeout = "1s"
send_timeout = "2s"
key_window = "24h"

[kinds.refund]
account = "stripe-main"
effect = "refund"
identity = ["order", "line_item"]
amount_from = "order"
approve_above = {{ TWD = "500000" }}

[kinds.refund_eu]
account = "stripe-eu"
effect = "refund"
identity = ["order", "line_item"]
amount_from = "order"

[kinds.refund_jp]
account = "{SLOW}"
effect = "refund"
identity = ["order", "line_item"]
amount_from = "order"

[daemon]
reconcile = "*/5 * * * * *"
look_up_after = ["3s", "3s", "3s", "10s", "1m", "10m", "1h"]
"#,
        database = database.display(),
    );
    let file = dir.join("counterfoil.toml");
    std::fs::write(&file, &text).map_err(|error| Failure::Failed(format!("{}: {error}", file.display())))?;
    let mut config = config::parse(&file.display().to_string(), &text, &|_| None).map_err(Failure::failed)?;
    let slow: AccountName = SLOW.parse().map_err(Failure::failed)?;
    if let Some(account) = config.accounts.get_mut(&slow) {
        account.policy.send_timeout = SLOW_SEND;
    }
    Ok(config)
}
