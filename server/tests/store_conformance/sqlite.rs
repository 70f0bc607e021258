//! What only the embedded store goes through: one writer for all, a file, a disk.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use counterfoil::config::DatabaseUrl;
use counterfoil::store::*;
use futures::future::join_all;
use sqlx::{Connection as _, Executor as _, SqliteConnection};

use crate::bench::{Bench, Database};
use crate::build::*;
use crate::server::skipped;

fn file(bench: &Bench) -> &Path {
    let Database::Sqlite { file, .. } = &bench.database else { panic!("not SQLite") };
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_item_that_fails_takes_no_other_with_it() {
    let bench = Bench::sqlite().await.unwrap();
    bench.store.put_order(order(ORDER, PAYMENT, 1_000_000), at(0)).await.unwrap();
    let asking = (0..40).map(|n| {
        let (store, asked) = (Arc::clone(&bench.store), refund(&format!("li_{n}"), 10));
        let inner = asked.judge();
        let judge: Judge = match n % 4 {
            0 => Arc::new(|_| panic!("a fault in the judge")),
            1 => Arc::new(|_| Err(Refusal::Fault("no".to_owned()))),
            _ => inner,
        };
        tokio::spawn(async move {
            if n % 4 == 2 {
                // The database itself refuses: there is no such person.
                let token = Token { name: format!("t-{n}"), owner: "nobody".to_owned(), scopes: Vec::new() };
                return (n, store.add_token(token, &format!("h-{n}"), at(0)).await.map(|_| ()));
            }
            (n, store.record(asked.place(), judge).await.map(|_| ()))
        })
    });
    for answer in join_all(asking).await {
        let (n, result) = answer.unwrap();
        match n % 4 {
            0 | 2 => assert!(matches!(result, Err(StoreError::Failed { .. })), "{n}: {result:?}"),
            _ => assert!(result.is_ok(), "{n}: {result:?}"),
        }
    }
    let recorded = bench.store.list(&Filter::default(), None, 100).await.unwrap();
    assert_eq!(recorded.len(), 10);
    assert_eq!(bench.store.chain().await.unwrap().len(), 10, "what failed left nothing in the chain");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_answered_before_it_can_be_read_from_beside() {
    let bench = Bench::sqlite().await.unwrap();
    bench.store.put_order(order(ORDER, PAYMENT, 1_000_000), at(0)).await.unwrap();
    let other = bench.another_server().await;
    for n in 0..20 {
        let asked = refund(&format!("li_{n}"), 10);
        asked.record(&bench.store).await;
        assert!(other.load(&asked.id()).await.unwrap().is_some());
    }
    other.close().await;
}

/// The writer's lock is somebody else's: the caller hears within bounded time that nothing was written, and it is true.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_locked_by_another_process_is_not_written_within_bounded_time() {
    let bench = Bench::sqlite().await.unwrap();
    let mut other =
        SqliteConnection::connect_with(&sqlx::sqlite::SqliteConnectOptions::new().filename(file(&bench)))
            .await
            .unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let begun = Instant::now();
    let written = bench.store.chain_act(LedgerAct::TestClock { offset_s: 1 }, at(0)).await;
    assert!(matches!(written, Err(StoreError::Failed { step: "begin", .. })), "{written:?}");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    // Reading goes on meanwhile.
    bench.store.ping().await.unwrap();
    assert!(bench.store.chain().await.unwrap().is_empty());
    other.execute("ROLLBACK").await.unwrap();
    bench.store.chain_act(LedgerAct::TestClock { offset_s: 1 }, at(0)).await.unwrap();
    assert_eq!(bench.store.chain().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_ends_under_a_stream_of_writes_and_loses_none_that_was_answered() {
    let bench = Bench::sqlite().await.unwrap();
    let stream = (0..16).map(|_| {
        let store = Arc::clone(&bench.store);
        tokio::spawn(async move {
            let mut done = 0;
            loop {
                match store.chain_act(LedgerAct::TestClock { offset_s: 1 }, at(0)).await {
                    Ok(()) => done += 1,
                    Err(StoreError::Closing) => return done,
                    Err(error) => panic!("{error}"),
                }
            }
        })
    });
    let stream: Vec<_> = stream.collect();
    while bench.store.chain().await.unwrap().len() < 20 {
        tokio::task::yield_now().await;
    }
    tokio::time::timeout(Duration::from_secs(20), bench.store.close()).await.expect("closing ends");
    let answered: usize = join_all(stream).await.into_iter().map(Result::unwrap).sum();
    let again = bench.another_server().await;
    assert_eq!(again.chain().await.unwrap().len(), answered);
    again.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_cannot_be_written_says_not_written() {
    let bench = Bench::sqlite().await.unwrap();
    // Every page is taken: the file may not grow, whoever writes. What SQLite rolls back by itself takes the group with it.
    bench.store.close().await;
    let Some(disk) = SmallDisk::mount(&bench) else { return };
    std::fs::copy(file(&bench), disk.path().join("counterfoil.db")).unwrap();
    let url = DatabaseUrl::Sqlite(disk.path().join("counterfoil.db"));
    let store = open(&url, Clock::true_time(), false).await.unwrap();
    store.put_order(order(ORDER, PAYMENT, 1_000_000), at(0)).await.unwrap();
    let (mut written, mut refused, mut unknown) = (0, 0, 0);
    disk.fill();
    for n in 0..60 {
        let asked = refund(&format!("li_{n}"), 10);
        match store.record(asked.place(), asked.judge()).await {
            Ok(Recorded::New(_)) => written += 1,
            Ok(other) => panic!("{other:?}"),
            Err(StoreError::CommitUnknown { .. }) => unknown += 1,
            Err(StoreError::Failed { .. }) => {
                refused += 1;
                let there = store.load(&asked.id()).await;
                assert!(matches!(there, Ok(None) | Err(_)), "said not written, and it is there");
            }
            Err(error) => panic!("{error}"),
        }
        if refused + unknown > 3 {
            break;
        }
    }
    assert!(refused + unknown > 0, "the disk never filled up: {written} written");
    disk.make_room();
    let after = refund("after", 10);
    after.record(&store).await;
    let recorded = store.list(&Filter::default(), None, 1000).await.unwrap().len();
    assert!((written + 1..=written + 1 + unknown).contains(&recorded), "{written} {unknown} {recorded}");
    assert_eq!(store.chain().await.unwrap().len(), recorded);
    store.close().await;
}

/// A file system of one megabyte. Needs the right to mount.
struct SmallDisk {
    directory: tempfile::TempDir,
}

impl SmallDisk {
    fn mount(_: &Bench) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(directory.path())
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            return skipped("no right to mount a small disk");
        }
        Some(Self { directory })
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Leaves less room than a few commits need.
    fn fill(&self) {
        use std::io::Write as _;
        let mut filler = std::fs::File::create(self.path().join("filler")).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
        let full = filler.metadata().unwrap().len();
        filler.set_len(full.saturating_sub(80 * 1024)).unwrap();
    }

    fn make_room(&self) {
        std::fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}
