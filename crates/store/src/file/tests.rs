use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use super::*;
use crate::key::Namespace;

/// Longer than a poll takes that does not wait for the disk.
const LONGEST: Duration = Duration::from_secs(20);

const NOW: StoreTime = StoreTime::from_millis(0);

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let name = format!("pintle-file-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A directory that remains does not make another test fail.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Polls each write once, and reports whether it waits.
fn poll_writes(store: &FileStore, reports: &Sender<bool>) {
    let key = Key::new(&Namespace::fixed("tests"), "a").expect("a key");
    let mut cx = Context::from_waker(Waker::noop());
    let value = Bytes::from("x");
    let mut put = store.put(NOW, &key, value.clone(), Precondition::Any, Expiry::Never);
    let _ = reports.send(put.as_mut().poll(&mut cx).is_pending());
    let mut removal = store.remove(NOW, &key, Precondition::Any);
    let _ = reports.send(removal.as_mut().poll(&mut cx).is_pending());
    let (events, tail, retention) = ([value], ExpectedTail::Any, Retention::default());
    let mut append = store.append(NOW, &key, &events, tail, retention, Expiry::Never);
    let _ = reports.send(append.as_mut().poll(&mut cx).is_pending());
    let mut deletion = store.forget(NOW, &key);
    let _ = reports.send(deletion.as_mut().poll(&mut cx).is_pending());
    let mut addition = store.add(NOW, &key, 1, Expiry::Never);
    let _ = reports.send(addition.as_mut().poll(&mut cx).is_pending());
    let mut epoch = store.epoch(Epoch::new(1));
    let _ = reports.send(epoch.as_mut().poll(&mut cx).is_pending());
}

#[test]
fn a_write_does_not_hold_the_thread_that_polls_it() {
    let directory = Directory::new("held");
    let store = FileStore::open(&directory.0, StoreLimits::default()).expect("opens");
    let store = Arc::new(store);
    let disk = store.local.hold_writes();
    let (reports, reported) = channel();
    let polled = Arc::clone(&store);
    let polling = thread::spawn(move || poll_writes(&polled, &reports));
    let waits: Vec<_> = (0..6).map(|_| reported.recv_timeout(LONGEST)).collect();
    drop(disk);
    polling.join().expect("no panic");
    assert_eq!(waits, [Ok(true); 6]);
}
