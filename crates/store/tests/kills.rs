//! A process with a file store is killed while it writes.

use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use pintle_store::conformance::Journal;
use pintle_store::{FileStore, Store, StoreLimits};

use crate::support::Directory;
use crate::support::threads::wait;

/// Has the directory of the store, in the environment of the other process.
const DIRECTORY: &str = "PINTLE_STORE_TEST_DIRECTORY";
/// Has the number of the last write, in the environment of the other process.
const LAST: &str = "PINTLE_STORE_TEST_LAST";
/// Precedes the number of each acknowledged write.
const MARK: &str = "acknowledged ";

fn journal(directory: &Path) -> Journal {
    let store = FileStore::open(directory, StoreLimits::default()).expect("opens");
    let store: Arc<dyn Store> = Arc::new(store);
    Journal::new(store, "writer")
}

/// The part of the other process. [`write_until_killed`] starts it.
#[test]
#[ignore = "another test starts it in a process of its own"]
fn the_writer() {
    let directory = std::env::var_os(DIRECTORY).expect("a directory");
    let last = std::env::var(LAST).expect("a number");
    let report = |number: u64| {
        let text = format!("\n{MARK}{number}\n");
        // Not a macro for printing, because the test harness would hold the text.
        std::io::stdout()
            .write_all(text.as_bytes())
            .expect("writes");
        ControlFlow::Continue(())
    };
    let written = wait(journal(directory.as_ref()).write(last.parse().expect("a number"), report));
    written.expect("writes until the process is killed");
}

/// Starts a process that writes after `last`, kills it after `most` writes, and returns the number of its
/// last acknowledged write.
fn write_until_killed(directory: &Path, last: u64, most: usize) -> u64 {
    let program = std::env::current_exe().expect("the path of this program");
    let mut writer = Command::new(program)
        .args(["--exact", "kills::the_writer", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(LAST, last.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let lines = BufReader::new(writer.stdout.take().expect("a pipe")).lines();
    let numbers = lines.filter_map(|line| line.expect("text").strip_prefix(MARK)?.parse().ok());
    let mut acknowledged = last;
    for (count, number) in numbers.enumerate() {
        acknowledged = number;
        if count + 1 == most {
            writer.kill().expect("kills");
        }
    }
    writer.wait().expect("ends");
    assert!(
        acknowledged >= last + most as u64,
        "the process ended early"
    );
    acknowledged
}

// hardening: H-187, H-193
#[test]
fn a_killed_process_loses_no_acknowledged_write() {
    let directory = Directory::new();
    let mut last = 0;
    for most in [1, 2, 3, 50, 7] {
        let acknowledged = write_until_killed(&directory, last, most);
        last = wait(journal(&directory).check(acknowledged));
    }
    assert!(last >= 63);
}
