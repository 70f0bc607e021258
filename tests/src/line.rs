//! The line between a ledger and its PostgreSQL, which breaks when a test wants it to, and at the word that it names.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::until;

/// What the line does with what is said on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passes {
    Everything,
    /// Every connection is closed, a new one as soon as it is there.
    Nothing,
    /// Connections stand, and not a byte goes either way.
    Silence,
    /// Everything, until this word is said: it doesn't get through, and then nothing does.
    AllBefore(&'static str),
    /// Everything, until a transaction that said this word is committed: the commit gets through, its answer doesn't.
    AllButTheCommitOf {
        word: &'static str,
        held: bool,
    },
}

struct Shared {
    target: u16,
    passes: watch::Sender<Passes>,
    /// How many answers were caught.
    caught: AtomicUsize,
    /// Grows with every connection that has something to say in the silence.
    waiting: AtomicUsize,
    released: watch::Sender<bool>,
}

/// A relay on loopback.
pub struct Line {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Line {
    /// A line to the PostgreSQL of this address.
    pub async fn to(database: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shared = Arc::new(Shared {
            target: port(database).parse().unwrap(),
            passes: watch::channel(Passes::Everything).0,
            caught: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            released: watch::channel(false).0,
        });
        let address = listener.local_addr().unwrap();
        let served = Arc::clone(&shared);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let shared = Arc::clone(&served);
                // A connection that breaks is what this is about.
                tokio::spawn(async move { pass(&shared, client).await.ok() });
            }
        });
        Self { address, shared, accepting }
    }

    /// The same database by way of this line.
    pub fn leads_to(&self, database: &str) -> String {
        database.replace(&format!(":{}/", port(database)), &format!(":{}/", self.address.port()))
    }

    /// Breaks every connection, and every new one.
    pub fn cut(&self) {
        self.shared.passes.send_replace(Passes::Nothing);
    }

    /// Breaks every connection as soon as somebody says `word`, which isn't heard any more.
    pub fn cut_at(&self, word: &'static str) {
        self.shared.passes.send_replace(Passes::AllBefore(word));
    }

    /// From now on nothing is heard, and nothing is said to be broken.
    pub fn fall_silent(&self) {
        self.shared.passes.send_replace(Passes::Silence);
    }

    /// Everything goes through again.
    pub fn mend(&self) {
        self.shared.passes.send_replace(Passes::Everything);
    }

    /// The next transaction that says `word` commits, its answer is lost with its connection, and then there is silence.
    pub fn lose_the_commit_of(&self, word: &'static str) {
        self.shared.passes.send_replace(Passes::AllButTheCommitOf { word, held: false });
    }

    /// The next transaction that says `word` commits, and its answer waits for [`release`](Self::release).
    pub fn hold_the_commit_of(&self, word: &'static str) {
        self.shared.passes.send_replace(Passes::AllButTheCommitOf { word, held: true });
    }

    /// Lets a held answer go.
    pub fn release(&self) {
        self.shared.released.send_replace(true);
    }

    /// Waits until an answer was lost or is held.
    pub async fn caught_one(&self) {
        until("a commit on the line", async || match self.shared.caught.load(Ordering::Relaxed) {
            0 => Err("none".to_owned()),
            _ => Ok(()),
        })
        .await;
    }

    /// Waits until somebody wants to be heard in the silence.
    pub async fn is_waited_for(&self) {
        until("a connection in the silence", async || match self.shared.waiting.load(Ordering::Relaxed) {
            0 => Err("none".to_owned()),
            _ => Ok(()),
        })
        .await;
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn port(database: &str) -> &str {
    let (_, host) = database.rsplit_once('@').unwrap();
    host.split_once('/').unwrap().0.split_once(':').unwrap().1
}

async fn pass(shared: &Shared, mut client: TcpStream) -> std::io::Result<()> {
    let mut passes = shared.passes.subscribe();
    let mut counted = false;
    loop {
        match *passes.borrow_and_update() {
            Passes::Nothing => return Ok(()),
            Passes::Silence => {}
            Passes::Everything | Passes::AllBefore(_) | Passes::AllButTheCommitOf { .. } => break,
        }
        if !std::mem::replace(&mut counted, true) {
            shared.waiting.fetch_add(1, Ordering::Relaxed);
        }
        if passes.changed().await.is_err() {
            return Ok(());
        }
    }
    let mut server = TcpStream::connect(("127.0.0.1", shared.target)).await?;
    let (mut up, mut down) = (vec![0; 65_536], vec![0; 65_536]);
    let mut said = false;
    loop {
        let now = *passes.borrow_and_update();
        if now == Passes::Nothing {
            return Ok(());
        }
        if now == Passes::Silence {
            tokio::select! {
                _ = passes.changed() => {}
                ready = client.readable(), if !counted => {
                    ready?;
                    counted = true;
                    shared.waiting.fetch_add(1, Ordering::Relaxed);
                }
            }
            continue;
        }
        tokio::select! {
            changed = passes.changed() => if changed.is_err() { return Ok(()) },
            read = client.read(&mut up) => {
                let n = read?;
                if let Passes::AllBefore(word) = now && holds(&up[..n], word) {
                    shared.passes.send_replace(Passes::Nothing);
                    return Ok(());
                }
                server.write_all(&up[..n]).await?;
                if n == 0 {
                    return Ok(());
                }
                let Passes::AllButTheCommitOf { word, held } = now else { continue };
                said |= holds(&up[..n], word);
                if said && holds(&up[..n], "COMMIT") {
                    let n = server.read(&mut down).await?;
                    shared.passes.send_replace(if held { Passes::Everything } else { Passes::Silence });
                    shared.caught.fetch_add(1, Ordering::Relaxed);
                    if !held {
                        return Ok(());
                    }
                    let mut released = shared.released.subscribe();
                    let _ = released.wait_for(|released| *released).await;
                    client.write_all(&down[..n]).await?;
                    said = false;
                }
            }
            read = server.read(&mut down) => {
                let n = read?;
                if n == 0 {
                    return Ok(());
                }
                client.write_all(&down[..n]).await?;
            }
        }
    }
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}
