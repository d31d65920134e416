//! The thread that writes the lines.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::queue::{Batch, Queue};

/// The pause after a failed write, such as on a full disk.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Failed writes after which a log that closes gives up.
const MAX_CLOSING_FAILURES: u32 = 10;

/// Starts the thread. It ends when the log is closed and its lines are written.
pub(crate) fn start(queue: Arc<Queue>, writer: impl Write + Send + 'static, interval: Duration) {
    thread::spawn(move || run(&queue, writer, interval));
}

fn run(queue: &Queue, mut writer: impl Write, interval: Duration) {
    while let Some(batch) = queue.take() {
        if !write(queue, &mut writer, &batch, RETRY_DELAY) {
            return;
        }
        queue.finish(batch);
        queue.pause(interval);
    }
}

/// Writes a batch, and repeats a failed write. So a line is never torn, and lines are lost only if the queue is full.
/// Returns false if the log was closed before.
fn write(queue: &Queue, writer: &mut impl Write, batch: &Batch, retry_delay: Duration) -> bool {
    let (mut rest, mut failures, mut closing_failures) = (&batch.bytes[..], 0, 0);
    loop {
        match step(writer, &mut rest) {
            Ok(is_done) if is_done => return true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                if failures == 0 {
                    tracing::warn!(%error, "the audit log cannot be written; it is tried again");
                }
                failures += 1;
                closing_failures += u32::from(queue.count_failure());
                if closing_failures > MAX_CLOSING_FAILURES {
                    queue.give_up();
                }
                if queue.pause_for_retry(retry_delay) {
                    return false;
                }
            }
        }
    }
}

/// Writes a part of the rest, then flushes. Returns true after the flush.
fn step(writer: &mut impl Write, rest: &mut &[u8]) -> io::Result<bool> {
    if rest.is_empty() {
        return writer.flush().map(|()| true);
    }
    match writer.write(rest)? {
        0 => Err(ErrorKind::WriteZero.into()),
        count => {
            *rest = &rest[count..];
            Ok(false)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk without room.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_that_closes_gives_up_after_ten_failures() {
        let queue = Queue::new(8);
        queue.push(b"a\n", false);
        queue.begin_close();
        let batch = queue.take().expect("a line");
        assert!(!write(&queue, &mut Full, &batch, Duration::ZERO));
        let counts = queue.counts();
        assert_eq!(counts.failures, u64::from(MAX_CLOSING_FAILURES) + 1);
        assert_eq!((counts.written, counts.lost), (0, 1));
    }
}
