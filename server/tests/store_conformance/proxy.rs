//! A line to the database that can be cut at a given word.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Where the line breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Nothing,
    /// The words get through, the server acts on them, and the line breaks before the answer.
    AnswerTo(&'static str),
    /// The words get through, and from then on nothing comes back.
    SilenceAfter(&'static str),
}

/// Passes bytes on until it is told to cut. Ends with the test's runtime.
pub struct Proxy {
    pub port: u16,
    cut: Arc<watch::Sender<Cut>>,
}

impl Proxy {
    pub async fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            cut: Arc::new(watch::channel(Cut::Nothing).0),
        };
        let cut = Arc::clone(&proxy.cut);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                tokio::spawn(pass(client, server, cut.subscribe()));
            }
        });
        proxy
    }

    pub fn cut(&self, cut: Cut) {
        self.cut.send_replace(cut);
    }
}

async fn pass(mut client: TcpStream, mut server: TcpStream, cut: watch::Receiver<Cut>) {
    let (mut up, mut down) = ([0; 65_536], [0; 65_536]);
    let mut silent = false;
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(n @ 1..) = read else { return };
                let spoken = |word: &str| up[..n].windows(word.len()).any(|window| window == word.as_bytes());
                let now = *cut.borrow();
                if server.write_all(&up[..n]).await.is_err() {
                    return;
                }
                match now {
                    Cut::AnswerTo(word) if spoken(word) => {
                        // The server has answered, and nobody hears it.
                        let _ = server.read(&mut down).await;
                        return;
                    }
                    Cut::SilenceAfter(word) if spoken(word) => silent = true,
                    _ => {}
                }
            }
            read = server.read(&mut down) => {
                let Ok(n @ 1..) = read else { return };
                if !silent && client.write_all(&down[..n]).await.is_err() {
                    return;
                }
            }
        }
    }
}
