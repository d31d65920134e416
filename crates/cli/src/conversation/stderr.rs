//! `--verbose`: the standard error of a server process, line by line.

use std::sync::Arc;

use pintle::process::Command;
use pintle::runtime::sync::Mutex;

use crate::live::Live;
use crate::text;

/// Maximum length of a line, in bytes. A longer line is shown in pieces.
const LINE_BYTES: usize = 16 * 1024;

/// Shows the standard error of the program at once, made safe to print.
pub(super) fn shown(command: Command, live: &Arc<Live>) -> Command {
    let (lines, live) = (Mutex::new(Lines::default()), Arc::clone(live));
    command.on_stderr(move |bytes| {
        let mut lines = lines.lock();
        for line in lines.feed(bytes) {
            live.note(&text::line(&line));
            live.pass_stderr(&line);
        }
    })
}

/// Records that the program wrote to standard error, for a hint after a failure.
pub(super) fn hidden(command: Command, live: &Arc<Live>) -> Command {
    let (lines, live) = (Mutex::new(Lines::default()), Arc::clone(live));
    command.on_stderr(move |bytes| {
        live.hide();
        for line in lines.lock().feed(bytes) {
            live.pass_stderr(&line);
        }
    })
}

/// Joins pieces of any size to lines.
#[derive(Debug, Default)]
struct Lines(Vec<u8>);

impl Lines {
    /// Adds a piece, and returns the lines that it completes.
    fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut whole = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' => whole.push(self.take()),
                byte => self.0.push(*byte),
            }
            if self.0.len() >= LINE_BYTES {
                whole.push(self.take());
            }
        }
        whole
    }

    fn take(&mut self) -> String {
        let line = String::from_utf8_lossy(&self.0)
            .trim_end_matches('\r')
            .to_owned();
        self.0.clear();
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() {
        let mut lines = Lines::default();
        assert_eq!(lines.feed(b"one\r\ntw"), ["one"]);
        assert_eq!(lines.feed(b"o\n\nthree"), ["two", ""]);
        assert_eq!(lines.feed(b"\n"), ["three"]);
    }

    #[test]
    fn a_line_without_an_end_is_shown_in_pieces() {
        let mut lines = Lines::default();
        assert_eq!(lines.feed(&[b'x'; LINE_BYTES - 1]), [""; 0]);
        assert_eq!(lines.feed(b"xy").first().map(String::len), Some(LINE_BYTES));
        assert_eq!(lines.feed(b"\n"), ["y"]);
    }
}
