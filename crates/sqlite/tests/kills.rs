//! Another process is killed or paused while it writes to the database.
#![cfg(unix)]

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pintle_sqlite::SqliteStore;
use pintle_store::conformance::Journal;
use pintle_store::{Expiry, Precondition, Store, StoreError, Version};
use rusqlite::{Connection, TransactionBehavior};
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::{JoinSet, spawn_blocking};

use crate::support::{Directory, NOW, key, open};

/// Has the path of the database, in the environment of the other process.
const DATABASE: &str = "PINTLE_SQLITE_TEST_DATABASE";
/// Has the number of the last write, in the environment of the other process.
const LAST: &str = "PINTLE_SQLITE_TEST_LAST";
/// Precedes each report of the other process.
const MARK: &str = "report ";
/// Longest time of an operation: the wait for a lock, and a margin for a busy machine.
const LIMIT: Duration = Duration::from_secs(15);

/// Another process, which is killed with its value.
struct Other {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Other {
    /// Starts this program again, to run one ignored test.
    fn start(test: &str, directory: &Directory, last: u64) -> Self {
        let program = std::env::current_exe().expect("the path of this program");
        let mut child = Command::new(program)
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(DATABASE, directory.database())
            .env(LAST, last.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    /// Returns the next report. `None` means that the process has ended.
    fn report(&mut self) -> Option<u64> {
        self.lines
            .by_ref()
            .find_map(|line| line.expect("text").strip_prefix(MARK)?.parse().ok())
    }

    /// Kills the process after `most` reports, and returns the number of all its reports.
    fn kill_after(mut self, most: u64) -> u64 {
        for _ in 0..most {
            self.report().expect("the process writes");
        }
        self.child.kill().expect("kills");
        most + std::iter::from_fn(|| self.report()).count() as u64
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("sends a signal");
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // The process may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn report(number: u64) {
    let text = format!("\n{MARK}{number}\n");
    // Not a macro for printing, because the test harness would hold the text.
    let mut output = std::io::stdout();
    output.write_all(text.as_bytes()).expect("writes");
}

fn database() -> OsString {
    std::env::var_os(DATABASE).expect("the path of the database")
}

fn journal(path: &Path, name: &str) -> Journal {
    let store: Arc<dyn Store> = Arc::new(open(path));
    Journal::new(store, name)
}

/// Writes until its process is killed. [`Other::start`] runs it.
#[tokio::test]
#[ignore = "another test starts it in a process of its own"]
async fn the_writer() {
    let last = std::env::var(LAST).expect("a number");
    let journal = journal(database().as_ref(), "other");
    let report = |number| {
        report(number);
        ControlFlow::Continue(())
    };
    let written = journal.write(last.parse().expect("a number"), report);
    written.await.expect("writes until the process is killed");
}

/// Holds the write lock, after half of a change, until its input ends. [`Other::start`] runs it.
#[test]
#[ignore = "another test starts it in a process of its own"]
fn the_holder() {
    let mut connection = Connection::open(database()).expect("opens");
    let held = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let held = held.expect("locks");
    let half = "INSERT INTO records (key, value, version) VALUES ('tests/half', x'00', 1)";
    held.execute(half, []).expect("inserts");
    report(1);
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).expect("reads");
}

// hardening: H-187, H-193
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_loses_no_acknowledged_write() {
    let directory = Directory::new();
    let own = journal(&directory.database(), "own");
    let (mut last, mut own_last) = (0, 0);
    for most in [1, 2, 3, 50, 7] {
        let other = Other::start("kills::the_writer", &directory, last);
        let killed = spawn_blocking(move || other.kill_after(most));
        let end = own_last + 20;
        let until = |number| match number < end {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        own.write(own_last, until).await.expect("writes");
        own_last = own.check(end).await;
        let acknowledged = last + killed.await.expect("kills");
        let left = journal(&directory.database(), "other");
        last = left.check(acknowledged).await;
    }
    assert!(last >= 63 && own_last == 100, "{last}, {own_last}");
}

async fn put(store: &SqliteStore, name: &str) -> Result<Version, StoreError> {
    let (key, value) = (key(name), "value".into());
    let put = store.put(NOW, &key, value, Precondition::Any, Expiry::Never);
    put.await
}

// hardening: H-187
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lock_of_a_killed_process_ends() {
    let directory = Directory::new();
    let store = Arc::new(open(&directory.database()));
    let mut other = Other::start("kills::the_holder", &directory, 0);
    assert_eq!(other.report(), Some(1));
    let waiting = Arc::clone(&store);
    let write = tokio::spawn(async move { put(&waiting, "a").await });
    drop(other);
    let written = tokio::time::timeout(LIMIT, write).await.expect("in time");
    written.expect("no panic").expect("puts");
    let half = store.get(NOW, &key("half")).await.expect("gets");
    assert_eq!(half, None, "half of a change is there");
}

// hardening: H-187, H-194
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_fail_in_time_while_a_paused_process_holds_the_lock() {
    let directory = Directory::new();
    let store = Arc::new(open(&directory.database()));
    put(&store, "a").await.expect("puts");
    let mut other = Other::start("kills::the_holder", &directory, 0);
    assert_eq!(other.report(), Some(1));
    other.send(Signal::STOP);

    let start = Instant::now();
    let mut writes = JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&store);
        writes.spawn(async move { put(&store, &format!("b.{number}")).await });
    }
    let record = store
        .get(NOW, &key("a"))
        .await
        .expect("a read does not wait");
    assert_eq!(record.expect("a record").value, "value");
    for written in writes.join_all().await {
        let error = written.expect_err("the database is locked");
        assert!(error.is_retryable(), "{error:?}");
    }
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());

    other.send(Signal::CONT);
    drop(other.child.stdin.take());
    assert_eq!(other.report(), None);
    put(&store, "a").await.expect("puts");
}
