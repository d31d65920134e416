//! Reads a line that the user types, until the read is cancelled.
//!
//! A call that is cancelled during a question must not leave a reader behind. That reader would
//! consume the next typed line, which belongs to another command or program.

#[cfg(unix)]
use std::io::{PipeReader, PipeWriter};

/// Maximum length of a typed line, in bytes. The terminal itself cuts off longer lines.
const LINE_BYTES: usize = 1024 * 1024;

/// Guard of a reader. Dropping it ends a pending read.
#[derive(Debug, Default)]
pub(crate) struct ReadGuard {
    #[cfg(unix)]
    _open: Option<PipeWriter>,
}

/// Reader of typed lines.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// A pipe that ends with the guard. Without it, a read ends with the line.
    #[cfg(unix)]
    guard: Option<PipeReader>,
}

/// Returns a reader and its guard. If the system has no pipe, a read ends only with the line.
pub(crate) fn reader() -> (Reader, ReadGuard) {
    #[cfg(unix)]
    if let Ok((guard, open)) = std::io::pipe() {
        let (guard, _open) = (Some(guard), Some(open));
        return (Reader { guard }, ReadGuard { _open });
    }
    (Reader::default(), ReadGuard::default())
}

#[cfg(unix)]
impl Reader {
    /// Returns the next line without its end; `None` at the end of input, or after the guard's
    /// drop.
    pub(crate) fn line(&self) -> Option<String> {
        let mut line = Vec::new();
        let mut piece = [0; 4096];
        while line.len() < LINE_BYTES && !line.ends_with(b"\n") {
            if !self.is_typed() {
                return None;
            }
            // A terminal returns at most one line per read, so no later line is consumed.
            match rustix::io::read(std::io::stdin(), &mut piece) {
                Ok(0) if line.is_empty() => return None,
                Ok(0) => break,
                Ok(length) => line.extend_from_slice(piece.get(..length)?),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        Some(typed(&line))
    }

    /// Waits until input is available (true), or the guard is dropped (false).
    fn is_typed(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};

        let Some(guard) = &self.guard else {
            return true;
        };
        let input = std::io::stdin();
        loop {
            let mut watched = [
                PollFd::new(guard, PollFlags::empty()),
                PollFd::new(&input, PollFlags::IN),
            ];
            match poll(&mut watched, None) {
                Ok(_) => return watched.first().is_some_and(|end| end.revents().is_empty()),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}

#[cfg(not(unix))]
impl Reader {
    /// Returns the next line without its end; `None` at the end of input.
    pub(crate) fn line(&self) -> Option<String> {
        use std::io::{BufRead as _, Read as _};

        let mut line = Vec::new();
        let mut input = std::io::stdin().lock().take(LINE_BYTES as u64);
        match input.read_until(b'\n', &mut line) {
            Ok(1..) => Some(typed(&line)),
            Ok(0) | Err(_) => None,
        }
    }
}

/// Returns a typed line as text, without its line end.
fn typed(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    line.trim_end_matches(['\n', '\r']).to_owned()
}
