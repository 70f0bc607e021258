//! The one writer: it takes what is waiting, puts each item behind a savepoint of its own, and commits them together. Nobody is
//! told that it stands before COMMIT has said so.

use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use crate::store::StoreError;

/// Items in one commit. More would only make the first of them wait.
const GROUP_MAX: usize = 128;
const QUEUE: usize = 1024;
/// How long the writer waits for another process's lock before it gives a group up.
const BEGIN_TRIES: u32 = 3;

type Work<T> =
    Box<dyn for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send>;

/// An item whose result is kept until the commit is known.
trait Item: Send {
    /// Does the work inside its savepoint. `true`: keep it.
    fn run<'c>(&'c mut self, conn: &'c mut SqliteConnection) -> BoxFuture<'c, bool>;
    /// Tells the caller.
    fn answer(self: Box<Self>, fate: Fate);
}

enum Fate {
    /// COMMIT said yes, or there was nothing to commit.
    Stands,
    /// The group never came to COMMIT.
    NotWritten(&'static str),
    /// COMMIT gave no good answer.
    Unknown,
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
            let result = work(conn).await;
            let keep = result.is_ok();
            self.result = Some(result);
            keep
        })
    }

    fn answer(self: Box<Self>, fate: Fate) {
        let lost = |step| sqlx::Error::Protocol(format!("the group was given up: {step}"));
        let result = match (fate, self.result) {
            (_, Some(Err(error))) => Err(error),
            (Fate::Stands, Some(result)) => result,
            (Fate::Unknown, Some(Ok(_))) => {
                Err(StoreError::CommitUnknown { step: "commit", source: lost("commit") })
            }
            (Fate::NotWritten(step), _) => Err(StoreError::Failed { step, source: lost(step) }),
            (Fate::Stands | Fate::Unknown, None) => Err(StoreError::Closing),
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
            taken = items.recv_many(&mut group, GROUP_MAX) => if taken == 0 { break },
            () = closing.cancelled(), if !items.is_closed() => { items.close(); continue }
        }
        let fate = commit_group(&mut conn, &mut group).await;
        let broken = !matches!(fate, Ok(()));
        for item in group.drain(..) {
            item.answer(match &fate {
                Ok(()) => Fate::Stands,
                Err(GroupError::NotWritten(step)) => Fate::NotWritten(step),
                Err(GroupError::Unknown) => Fate::Unknown,
            });
        }
        if broken {
            // After a failed BEGIN or COMMIT nothing is assumed about the connection.
            if let Ok(fresh) = options.connect().await {
                let _ = std::mem::replace(&mut conn, fresh).close_hard().await;
            } else {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
    let _ = conn.close().await;
}

enum GroupError {
    NotWritten(&'static str),
    Unknown,
}

async fn commit_group(conn: &mut SqliteConnection, group: &mut [Box<dyn Item>]) -> Result<(), GroupError> {
    let mut tries = 0;
    while let Err(error) = sqlx::query("BEGIN IMMEDIATE").execute(&mut *conn).await {
        tries += 1;
        if tries == BEGIN_TRIES {
            tracing::error!(error = %error, "the database didn't let us begin to write; nothing was written");
            return Err(GroupError::NotWritten("begin"));
        }
    }
    let mut kept = false;
    for item in group.iter_mut() {
        if sqlx::query("SAVEPOINT item").execute(&mut *conn).await.is_err() {
            let _ = sqlx::query("ROLLBACK").execute(&mut *conn).await;
            return Err(GroupError::NotWritten("savepoint"));
        }
        let keep = item.run(conn).await;
        kept |= keep;
        let end = if keep { "RELEASE item" } else { "ROLLBACK TO item; RELEASE item" };
        if sqlx::query(end).execute(&mut *conn).await.is_err() {
            let _ = sqlx::query("ROLLBACK").execute(&mut *conn).await;
            return Err(GroupError::NotWritten("end of savepoint"));
        }
    }
    if !kept {
        let _ = sqlx::query("ROLLBACK").execute(&mut *conn).await;
        return Ok(());
    }
    match sqlx::query("COMMIT").execute(&mut *conn).await {
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::error!(error = %error, "the commit gave no good answer; what it held will be read again before anything is sent");
            let _ = sqlx::query("ROLLBACK").execute(&mut *conn).await;
            Err(GroupError::Unknown)
        }
    }
}
