//! The one writer: it takes what is waiting, puts each item behind a savepoint of its own, and commits them together. Nobody is
//! told that it stands before COMMIT has said so.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use crate::store::StoreError;

/// Items in one commit. More would only make the first of them wait.
const GROUP_MAX: usize = 128;
const QUEUE: usize = 1024;
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

type Work<T> =
    Box<dyn for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send>;

/// An item whose result is kept until the commit is known.
trait Item: Send {
    /// Does the work inside its savepoint. `true`: keep it.
    fn run<'c>(&'c mut self, conn: &'c mut SqliteConnection) -> BoxFuture<'c, bool>;
    /// Tells the caller.
    fn answer(self: Box<Self>, fate: &Fate);
}

/// What became of a group.
enum Fate {
    /// COMMIT said yes, or there was nothing to commit.
    Stands,
    /// Certainly nothing was written: the step that failed, and why.
    NotWritten(&'static str, String),
    /// COMMIT gave no good answer, and why.
    Unknown(String),
}

struct Typed<T> {
    work: Option<Work<T>>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send> Item for Typed<T> {
    fn run<'c>(&'c mut self, conn: &'c mut SqliteConnection) -> BoxFuture<'c, bool> {
        Box::pin(async move {
            let Some(work) = self.work.take() else { return false };
            // A fault in one item must not end the writer for all.
            let result = AssertUnwindSafe(work(conn)).catch_unwind().await.unwrap_or_else(|_| {
                Err(StoreError::Failed { step: "work on a write", source: sqlx::Error::WorkerCrashed })
            });
            let keep = result.is_ok();
            self.result = Some(result);
            keep
        })
    }

    fn answer(self: Box<Self>, fate: &Fate) {
        let lost = |why: &String| sqlx::Error::Protocol(format!("the group was given up: {why}"));
        let result = match (fate, self.result) {
            (_, Some(Err(error))) => Err(error),
            (Fate::Stands, Some(result)) => result,
            (Fate::NotWritten(step, why), _) => Err(StoreError::Failed { step, source: lost(why) }),
            (Fate::Unknown(why), Some(Ok(_))) => {
                Err(StoreError::CommitUnknown { step: "commit", source: lost(why) })
            }
            (Fate::Stands | Fate::Unknown(_), None) => Err(StoreError::Closing),
        };
        // A caller that hung up doesn't need the answer; what it asked for stands all the same.
        let _ = self.reply.send(result);
    }
}

/// The handle on the writer's task.
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Item>>,
    done: tokio::sync::Mutex<Option<tokio::task::JoinHandle<()>>>,
    closing: tokio_util::sync::CancellationToken,
}

impl Writer {
    pub(super) async fn start(options: &SqliteConnectOptions) -> Result<Self, StoreError> {
        let conn = options.connect().await.map_err(StoreError::at("open the database for writing"))?;
        let (queue, items) = mpsc::channel(QUEUE);
        let closing = tokio_util::sync::CancellationToken::new();
        let task = tokio::spawn(run(conn, options.clone(), items, closing.clone()));
        Ok(Self { queue, done: tokio::sync::Mutex::new(Some(task)), closing })
    }

    /// Runs `work` in a transaction and answers after COMMIT. The work goes on if the caller hangs up.
    pub(super) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let item = Typed { work: Some(Box::new(work)), result: None, reply };
        self.queue.send(Box::new(item)).await.map_err(|_| StoreError::Closing)?;
        answer.await.map_err(|_| StoreError::Closing)?
    }

    pub(super) async fn close(&self) {
        self.closing.cancel();
        if let Some(task) = self.done.lock().await.take() {
            let _ = task.await;
        }
    }
}

async fn run(
    mut conn: SqliteConnection,
    options: SqliteConnectOptions,
    mut items: mpsc::Receiver<Box<dyn Item>>,
    closing: tokio_util::sync::CancellationToken,
) {
    let mut group: Vec<Box<dyn Item>> = Vec::with_capacity(GROUP_MAX);
    loop {
        tokio::select! {
            biased;
            // First, or a stream of writes would keep the door open for ever.
            () = closing.cancelled(), if !items.is_closed() => { items.close(); continue }
            taken = items.recv_many(&mut group, GROUP_MAX) => if taken == 0 { break },
        }
        let fate = commit_group(&mut conn, &mut group).await;
        match &fate {
            Fate::Stands => {}
            Fate::NotWritten(step, why) => {
                tracing::error!(step, why, writes = group.len(), "the database didn't write a group");
            }
            Fate::Unknown(why) => tracing::error!(
                why,
                writes = group.len(),
                "the commit gave no good answer; what it held will be read again before anything is sent"
            ),
        }
        for item in group.drain(..) {
            item.answer(&fate);
        }
        if !matches!(fate, Fate::Stands) {
            // After a failed BEGIN or COMMIT nothing is assumed about the connection.
            if let Ok(fresh) = options.connect().await {
                let _ = std::mem::replace(&mut conn, fresh).close_hard().await;
            } else {
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
        }
    }
    let _ = conn.close().await;
}

async fn commit_group(conn: &mut SqliteConnection, group: &mut [Box<dyn Item>]) -> Fate {
    // It waits for another process's lock as long as `BUSY_TIMEOUT` says.
    if let Err(error) = sqlx::query("BEGIN IMMEDIATE").execute(&mut *conn).await {
        return Fate::NotWritten("begin", error.to_string());
    }
    let mut kept = false;
    for item in group.iter_mut() {
        if let Err(error) = sqlx::query("SAVEPOINT item").execute(&mut *conn).await {
            return give_up(conn, "savepoint", &error).await;
        }
        let keep = item.run(conn).await;
        kept |= keep;
        let end = if keep { "RELEASE item" } else { "ROLLBACK TO item; RELEASE item" };
        // Fails when the database rolled everything back by itself, as it does when the disk is full.
        if let Err(error) = sqlx::query(end).execute(&mut *conn).await {
            return give_up(conn, "end of savepoint", &error).await;
        }
    }
    if !kept {
        let _ = sqlx::query("ROLLBACK").execute(&mut *conn).await;
        return Fate::Stands;
    }
    let Err(error) = sqlx::query("COMMIT").execute(&mut *conn).await else { return Fate::Stands };
    // A transaction that can still be rolled back wasn't committed. One that is gone may have reached the log, and a restart
    // may find it there.
    match sqlx::query("ROLLBACK").execute(&mut *conn).await {
        Ok(_) => Fate::NotWritten("commit", error.to_string()),
        Err(_) => Fate::Unknown(error.to_string()),
    }
}

async fn give_up(conn: &mut SqliteConnection, step: &'static str, error: &sqlx::Error) -> Fate {
    let _ = sqlx::query("ROLLBACK").execute(conn).await;
    Fate::NotWritten(step, error.to_string())
}
