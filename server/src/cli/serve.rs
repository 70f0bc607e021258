//! `counterfoil serve`: API, desk and daemon until told to stop, then a drain.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{ConfigFile, Failure, print, setup, store_failure};
use crate::config::Config;
use crate::http::{self, Installation, Shared};
use crate::store::Clock;
use crate::work::Works;
use crate::work::schedule::Bell;

/// What a drain waits for beyond the longest send.
const DRAIN_MARGIN: Duration = Duration::from_secs(2);
/// No drain takes longer: what is left is found `submitted`.
const DRAIN_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    file: ConfigFile,
    /// Listen here instead of where the file says.
    #[arg(long, env = "COUNTERFOIL_LISTEN")]
    listen: Option<SocketAddr>,
    /// Start only if the schema is this version's already.
    #[arg(long, env = "COUNTERFOIL_NO_MIGRATE")]
    no_migrate: bool,
    /// A file with whole seconds that are added to the database's time, read again each time. Loopback only; for tests.
    #[arg(long, env = "COUNTERFOIL_TEST_CLOCK")]
    test_clock: Option<PathBuf>,
    /// This database was just put back from a backup. Nothing is sent for the first time without proof that it wasn't sent before,
    /// until a person ends that with `counterfoil restore end`. Give it once: each start with it begins anew.
    #[arg(long, env = "COUNTERFOIL_AFTER_RESTORE")]
    after_restore: bool,
}

impl Serve {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        let mut config = setup::load(&self.file)?;
        if let Some(listen) = self.listen {
            config.server.listen = listen;
        }
        if self.test_clock.is_some() && !config.server.listen.ip().is_loopback() {
            return Err(Failure::Usage("a test clock is for loopback only".to_owned()));
        }
        let clock = self.test_clock.map_or_else(Clock::true_time, Clock::moved_by);
        let server = Server::start(config, clock, !self.no_migrate, self.after_restore, false).await?;
        print(format_args!("counterfoil listening on http://{}", server.address));
        stop_signal().cancelled().await;
        tracing::info!("told to stop: no new sends; those on their way get their time");
        let longest = server.works.accounts.values().map(|account| account.policy.send_timeout).max();
        server.stop((longest.unwrap_or_default() + DRAIN_MARGIN).min(DRAIN_MAX)).await;
        Ok(ExitCode::SUCCESS)
    }
}

/// A running ledger.
pub(super) struct Server {
    pub(super) works: Arc<Works>,
    pub(super) address: SocketAddr,
    bell: Bell,
    daemon: tokio::task::JoinHandle<()>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
    closing: CancellationToken,
}

impl Server {
    pub(super) async fn start(
        config: Config,
        clock: Clock,
        migrate: bool,
        after_restore: bool,
        demo: bool,
    ) -> Result<Self, Failure> {
        let store = setup::open(&config, clock.clone(), migrate).await?;
        let works = setup::works(&config, store, clock)?;
        if after_restore {
            works.begin_restore().await.map_err(Failure::failed)?;
        }
        if let Some(at) = works.store.restored_at().await.map_err(|error| store_failure(&error))? {
            tracing::warn!(restored_at = %at, "restored from a backup: nothing is sent for the first time without proof");
        }
        let listener = TcpListener::bind(config.server.listen)
            .await
            .map_err(|error| Failure::Failed(format!("can't listen on {}: {error}", config.server.listen)))?;
        let address = listener.local_addr().map_err(Failure::failed)?;
        let shared = Shared {
            works: Arc::clone(&works),
            installation: Arc::new(Installation {
                zone: config.server.time_zone.clone(),
                demo,
                reconcile: config.daemon.reconcile.clone(),
                accounts: setup::faces(&config),
                desk: address.ip().is_loopback(),
            }),
            limits: Arc::default(),
        };
        let closing = CancellationToken::new();
        let closed = closing.clone();
        let serving = tokio::spawn(async move {
            axum::serve(listener, http::router(shared)).with_graceful_shutdown(closed.cancelled_owned()).await
        });
        let bell = Bell::start(&config.daemon.reconcile).await.map_err(Failure::failed)?;
        let daemon = tokio::spawn(Arc::clone(&works).run(bell.rings.clone()));
        Ok(Self { works, address, bell, daemon, serving, closing })
    }

    /// No new sends; those on their way get their time; then the store closes.
    pub(super) async fn stop(self, patience: Duration) {
        self.works.stopping.cancel();
        self.works.due.notify_one();
        self.closing.cancel();
        self.bell.stop().await;
        let _ = self.daemon.await;
        self.works.tasks.close();
        if tokio::time::timeout(patience, self.works.tasks.wait()).await.is_err() {
            tracing::warn!("a send outlived its time; its row is found submitted");
        }
        self.serving.abort();
        self.works.store.close().await;
    }
}

/// Cancelled by SIGTERM or SIGINT.
pub(super) fn stop_signal() -> CancellationToken {
    let token = CancellationToken::new();
    let stop = token.clone();
    tokio::spawn(async move {
        let interrupt = tokio::signal::ctrl_c();
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            if let Ok(mut terminate) = signal(SignalKind::terminate()) {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
                stop.cancel();
                return;
            }
        }
        #[cfg(not(unix))]
        let _ = interrupt.await;
        stop.cancel();
    });
    token
}
