//! The sockets: accepting, and cutting a connection in the middle of an exchange.
//!
//! Connections are run here and not by `axum::serve`, because a lost answer is the simulator's trade: a handler must be able to
//! end its connection without a byte, after half a body, or with a reset.

use std::{io, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::{Simulator, router, webhook};

/// Pause after the listener couldn't accept, which happens when descriptors run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How a connection ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Close,
    Reset,
}

/// The handler's hold on its connection.
#[derive(Clone, Debug)]
pub(super) struct Knife(Arc<watch::Sender<Option<Cut>>>);

impl Knife {
    /// Ends the connection once what has been written is flushed.
    pub(super) fn cut(&self, how: Cut) {
        self.0.send_replace(Some(how));
    }
}

/// Serves the simulator on `listener` until `shutdown`, and delivers its webhooks and late effects meanwhile. Then every
/// connection is cut at once, as if the provider had died; what the simulator remembers stays, and it can be served again.
///
/// # Errors
/// If the webhooks' HTTP client can't be built.
pub async fn serve(
    listener: TcpListener,
    simulator: Simulator,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let router = router(simulator.clone());
    let mut connections = JoinSet::new();
    let letters = webhook::deliver(simulator.clone(), webhook::client()?);
    let mut background = pin!(futures::future::join(simulator.run_late(), letters));
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            ((), ()) = &mut background => return Ok(()),
            Some(_ended) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(attend(stream, router.clone()));
                }
                Err(problem) => {
                    tracing::warn!(%problem, "the simulator can't accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
}

/// Runs one connection to its end.
async fn attend(stream: TcpStream, router: Router) {
    let (sender, mut cut) = watch::channel(None);
    let knife = Knife(Arc::new(sender));
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(knife.clone());
        let mut router = router.clone();
        Box::pin(async move { router.call(request).await })
    });
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let how = tokio::select! {
        // First the connection, so that what was handed to it is flushed before it is cut.
        biased;
        ended = &mut connection => {
            if let Err(problem) = ended {
                tracing::debug!(%problem, "a connection to the simulator broke");
            }
            return;
        }
        changed = cut.wait_for(Option::is_some) => changed.ok().and_then(|how| *how),
    };
    if how == Some(Cut::Reset) {
        let stream = connection.into_parts().io.into_inner();
        if let Err(problem) = stream.set_zero_linger() {
            tracing::warn!(%problem, "the simulator can't reset a connection");
        }
    }
}
