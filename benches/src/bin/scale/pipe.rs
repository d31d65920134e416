//! Load over standard input and output: requests in flight on one pipe.

use std::collections::HashMap;
use std::io::BufRead;
use std::os::fd::OwnedFd;
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};

use pintle_bench::process::Result;

use crate::answer::{Checks, id_of};
use crate::row::{FIRST_ID, INITIALIZE, INITIALIZED, Row};

/// Bytes that one read asks for at least.
const READ_BYTES: usize = 64 << 10;

/// A conversation on standard input and output.
pub(crate) struct Pipe {
    input: Sender,
    output: Receiver,
    row: Row,
    request: (String, String),
    next_id: u64,
    /// When each open request was sent, by its id.
    sent: HashMap<u64, Instant>,
    checks: Checks,
    unsent: Vec<u8>,
    lines: Lines,
}

/// Received bytes, out of which lines are taken.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// The end of the bytes that were searched for the end of this line.
    searched: usize,
}

impl Pipe {
    /// Performs the handshake.
    pub(crate) async fn open(row: Row, input: ChildStdin, output: ChildStdout) -> Result<Self> {
        let mut pipe = Self {
            input: Sender::from_owned_fd(OwnedFd::from(input))?,
            output: Receiver::from_owned_fd(OwnedFd::from(output))?,
            row,
            request: row.request(),
            next_id: FIRST_ID,
            sent: HashMap::new(),
            checks: Checks::new(row),
            unsent: format!("{INITIALIZE}\n").into_bytes(),
            lines: Lines::default(),
        };
        pipe.send().await?;
        while pipe.lines.next().is_none() {
            pipe.receive().await?;
        }
        pipe.unsent = format!("{INITIALIZED}\n").into_bytes();
        pipe.send().await?;
        Ok(pipe)
    }

    /// Sends requests until `end`, at least one for each lane. Returns the latency of each.
    pub(crate) async fn run(&mut self, end: Instant) -> Result<Vec<Duration>> {
        let mut times = Vec::new();
        for _ in 0..self.row.lanes {
            self.add_request();
        }
        while !self.sent.is_empty() {
            // All requests that follow the answers of one read are sent together.
            self.send().await?;
            self.receive().await?;
            while let Some(answer) = self.lines.next() {
                let id = id_of(answer).unwrap_or_default();
                let sent = self.sent.remove(&id);
                let sent = sent.ok_or_else(|| format!("an answer to {id}, which is not open"))?;
                times.push(sent.elapsed());
                self.checks.check(id, answer)?;
                if Instant::now() < end {
                    self.add_request();
                }
            }
        }
        Ok(times)
    }

    fn add_request(&mut self) {
        let (before, after) = &self.request;
        let line = format!("{before}{}{after}\n", self.next_id);
        self.unsent.extend_from_slice(line.as_bytes());
        self.sent.insert(self.next_id, Instant::now());
        self.next_id += 1;
    }

    async fn send(&mut self) -> Result<()> {
        self.input.write_all(&self.unsent).await?;
        self.unsent.clear();
        Ok(())
    }

    async fn receive(&mut self) -> Result<()> {
        match self.output.read_buf(self.lines.room()).await? {
            0 => Err("the server has ended".into()),
            _ => Ok(()),
        }
    }
}

impl Lines {
    /// Drops the lines that were taken, and returns the buffer with room for one read.
    fn room(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.reserve(READ_BYTES);
        &mut self.bytes
    }

    /// Takes the next line, if it is complete.
    fn next(&mut self) -> Option<&[u8]> {
        // The reader searches for the end faster than an iterator does.
        let mut rest = &self.bytes[self.searched..];
        self.searched += rest.skip_until(b'\n').ok()?;
        let line = &self.bytes[self.start..self.searched];
        if line.last() != Some(&b'\n') {
            return None;
        }
        self.start = self.searched;
        Some(line)
    }
}
