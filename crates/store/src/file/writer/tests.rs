use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::*;
use crate::key::{Key, Namespace};
use crate::local::CommitError;
use crate::record::{Expiry, Precondition};
use crate::store_time::StoreTime;
use crate::table::{Change, Table};
use crate::version::Version;

/// A disk that takes until the test lets it go on.
struct SlowDisk {
    begun: Sender<()>,
    go_on: Receiver<()>,
}

impl Journal for SlowDisk {
    fn commit(&mut self, _: &Table, _: &Change) -> Result<(), CommitError> {
        self.begun.send(()).expect("the test waits");
        // The test may end without letting it go on.
        let _ = self.go_on.recv();
        Ok(())
    }
}

struct Bench {
    /// Dropped before the writer, which waits for the write at work.
    go_on: Sender<()>,
    begun: Receiver<()>,
    local: Arc<LocalStore<SlowDisk>>,
    writer: Writer<SlowDisk>,
}

fn bench(limits: &StoreLimits) -> Bench {
    let ((begun_to, begun), (go_on, go_on_from)) = (channel(), channel());
    let disk = SlowDisk {
        begun: begun_to,
        go_on: go_on_from,
    };
    let table = Table::new(limits.clone());
    let local = Arc::new(LocalStore::new(table, disk, limits));
    let writer = Writer::start(Arc::clone(&local), limits).expect("a thread");
    Bench {
        local,
        writer,
        begun,
        go_on,
    }
}

fn key(name: &str) -> Key {
    Key::new(&Namespace::fixed("a"), name).expect("a key")
}

const NOW: StoreTime = StoreTime::from_millis(0);

impl Bench {
    fn put(&self, name: &str, bytes: usize) -> impl Future<Output = Result<Version, StoreError>> {
        let (key, value) = (key(name), Bytes::from(vec![0; bytes]));
        self.writer.run(bytes, move |local| {
            local.put(NOW, &key, &value, Precondition::Any, Expiry::Never)
        })
    }

    fn has(&self, name: &str) -> bool {
        self.local.get(NOW, &key(name)).is_some()
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_slow_disk_holds_neither_writers_nor_readers() {
    let bench = bench(&StoreLimits::default());
    let mut write = pin!(bench.put("x", 1));
    assert!(poll(write.as_mut()).is_pending());
    bench.begun.recv().expect("the disk has begun");
    assert!(!bench.has("x"), "a reader does not wait");
    assert!(poll(write.as_mut()).is_pending());

    bench.go_on.send(()).expect("the disk waits");
    let written = loop {
        if let Poll::Ready(written) = poll(write.as_mut()) {
            break written;
        }
        std::thread::yield_now();
    };
    assert!(written.is_ok() && bench.has("x"));
}

#[test]
fn so_many_writes_wait_for_a_slow_disk() {
    let mut limits = StoreLimits::default();
    (limits.max_queued_writes, limits.max_queued_bytes) = (2, 10);
    for (sizes, most) in [([1, 1, 1], 2), ([20, 1, 1], 1), ([4, 7, 6], 2)] {
        let bench = bench(&limits);
        let mut at_work = pin!(bench.put("x", 1));
        assert!(poll(at_work.as_mut()).is_pending());
        bench.begun.recv().expect("the disk has begun");

        let mut queued: Vec<_> = sizes
            .iter()
            .map(|size| Box::pin(bench.put("y", *size)))
            .collect();
        let polled = queued.iter_mut().map(|write| poll(write.as_mut()));
        let polled: Vec<_> = polled.collect();
        let waiting = polled.iter().filter(|polled| polled.is_pending()).count();
        assert_eq!(waiting, most, "{sizes:?}");
        let refused = polled.into_iter().filter_map(|polled| match polled {
            Poll::Ready(refused) => refused.err(),
            Poll::Pending => None,
        });
        let refused: Vec<_> = refused.collect();
        assert!(refused.iter().all(StoreError::is_retryable), "{refused:?}");
    }
}

#[test]
fn a_write_that_panics_fails_alone() {
    let limits = StoreLimits::default();
    let bench = bench(&limits);
    bench.go_on.send(()).expect("the disk waits");
    let mut broken = pin!(bench.writer.run::<()>(0, |_| panic!("a write panics")));
    while poll(broken.as_mut()).is_pending() {
        std::thread::yield_now();
    }
    let mut next = pin!(bench.put("x", 1));
    while poll(next.as_mut()).is_pending() {
        std::thread::yield_now();
    }
    assert!(bench.has("x"));
}
