//! Reading a line that somebody types, for as long as somebody waits for it.
//!
//! A call that was given up in the middle of a question must not leave a reader behind: it would
//! swallow what is typed next, which is meant for somebody else.

#[cfg(unix)]
use std::io::{PipeReader, PipeWriter};

/// How long a line may be that is typed, in bytes: longer ones are cut off by the terminal itself.
const LINE_BYTES: usize = 1024 * 1024;

/// Whoever waits for a line. Dropped, it ends the reading.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    #[cfg(unix)]
    _open: Option<PipeWriter>,
}

/// What reads the terminal.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Ends when nobody waits; without it, reading ends with the line.
    #[cfg(unix)]
    waiting: Option<PipeReader>,
}

/// A reader, and who waits for it. Where the system gives no pipe, the reader reads to the end of
/// its line.
pub(crate) fn reader() -> (Reader, Waiting) {
    #[cfg(unix)]
    if let Ok((waiting, open)) = std::io::pipe() {
        let (waiting, _open) = (Some(waiting), Some(open));
        return (Reader { waiting }, Waiting { _open });
    }
    (Reader::default(), Waiting::default())
}

#[cfg(unix)]
impl Reader {
    /// The next line without its end; none at the end of input, or if nobody waits any more.
    pub(crate) fn line(&self) -> Option<String> {
        let mut line = Vec::new();
        let mut piece = [0; 4096];
        while line.len() < LINE_BYTES && !line.ends_with(b"\n") {
            if !self.is_typed() {
                return None;
            }
            // A terminal gives no more than one line at a time, so nothing is read that is for others.
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

    /// Waits until there is something to read, or nobody to read it for.
    fn is_typed(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};

        let Some(waiting) = &self.waiting else {
            return true;
        };
        let input = std::io::stdin();
        loop {
            let mut watched = [
                PollFd::new(waiting, PollFlags::empty()),
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
    /// The next line without its end; none at the end of input.
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

/// What was typed, without the end of the line.
fn typed(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    line.trim_end_matches(['\n', '\r']).to_owned()
}
