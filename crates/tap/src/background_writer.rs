//! A writer on a thread of its own, which its users never wait for.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Writes lines on a thread of its own. Lines without room are lost and counted.
#[derive(Debug)]
pub(crate) struct BackgroundWriter {
    lines: SyncSender<String>,
    ended: Receiver<()>,
    lost: u64,
}

impl BackgroundWriter {
    pub(crate) fn start(mut to: impl Write + Send + 'static, max_lines: usize) -> Self {
        let (lines, to_write) = sync_channel::<String>(max_lines);
        let (end, ended) = sync_channel(1);
        std::thread::spawn(move || {
            for line in to_write {
                // A failure to show cannot be shown.
                if to
                    .write_all(line.as_bytes())
                    .and_then(|()| to.flush())
                    .is_err()
                {
                    break;
                }
            }
            drop(end);
        });
        Self {
            lines,
            ended,
            lost: 0,
        }
    }

    /// Writes text that ends with a line end. Before it, `lost` states the number of lost texts.
    pub(crate) fn write(&mut self, text: String, lost: impl FnOnce(u64) -> String) {
        if text.is_empty() {
            return;
        }
        if self.lost > 0 && self.lines.try_send(lost(self.lost)).is_ok() {
            self.lost = 0;
        }
        if let Err(TrySendError::Full(_)) = self.lines.try_send(text) {
            self.lost += 1;
        }
    }

    /// Waits until everything is written, for at most `timeout`.
    pub(crate) fn close(self, timeout: Duration) {
        drop(self.lines);
        // The error is the end of the thread, or the end of the time.
        let _ = self.ended.recv_timeout(timeout);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc::Sender;

    use super::*;

    /// Writes a text only after the test has received the one before.
    struct Slow(Sender<String>, Receiver<()>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let _ = self.0.send(text);
            let _ = self.1.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_beyond_the_limit_are_lost_and_their_number_is_written() {
        let (sent, written) = std::sync::mpsc::channel();
        let (permits, permit) = std::sync::mpsc::channel();
        let mut writer = BackgroundWriter::start(Slow(sent, permit), 2);
        let lost = |lost| format!("{lost} lost\n");
        writer.write("1\n".to_owned(), lost);
        assert_eq!(
            written.recv().as_deref(),
            Ok("1\n"),
            "the thread has taken it"
        );
        for line in ["2\n", "3\n", "4\n", "5\n"] {
            writer.write(line.to_owned(), lost);
        }
        permits.send(()).expect("the thread runs");
        assert_eq!(written.recv().as_deref(), Ok("2\n"));
        permits.send(()).expect("the thread runs");
        assert_eq!(written.recv().as_deref(), Ok("3\n"));
        writer.write("6\n".to_owned(), lost);
        for expected in ["2 lost\n", "6\n"] {
            permits.send(()).expect("the thread runs");
            assert_eq!(written.recv().as_deref(), Ok(expected));
        }
    }
}
