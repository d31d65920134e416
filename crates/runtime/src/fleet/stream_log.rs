//! The log of a stream: its replica appends each event before it sends it, and another replica reads on.
//!
//! One replica writes a log, and each append names the tail that the writer knows. A replica that resumes the stream of
//! a replica that is gone appends the end, with the same compare. So a stream has one end, and presence only decides
//! when a replica tries.
//!
//! `writing` and `reading` are the machines without I/O. Their tests check all interleavings of a take-over.

mod event;
mod reading;
#[cfg(all(test, not(shuttle)))]
mod tests;
mod writing;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_store::{Changes, Key, Position, Prefix, Retention, StoreError, Tail};
use tokio::time::timeout;

use super::replica_id::ReplicaId;
use super::shared::Shared;
use reading::Reading;
use writing::{WriteStep, Writing};

pub use event::StreamEvent;

/// Maximum number of events of one reading or one append.
const MAX_EVENTS: usize = 256;
/// An append is repeated so often before the writer counts the store as away.
const MAX_ATTEMPTS: usize = 3;

/// The log of one stream: see [`Fleet::stream_log`](super::Fleet::stream_log).
#[derive(Clone)]
pub struct StreamLog {
    shared: Arc<Shared>,
    key: Key,
}

/// The only writer of a log, from its beginning.
pub struct StreamWriter {
    log: StreamLog,
    writing: Writing,
    retention: Retention,
    ttl: Duration,
}

/// The result of an append.
// Closed: a writer must know what to do with its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The log has the events.
    Done,
    /// The store does not answer, so the log may have them or not. The writer repeats the append later.
    Away,
    /// Another replica has ended the stream.
    TakenOver,
    /// The log is gone, so no other replica can resume the stream.
    Gone,
}

/// A reader of the log of another replica, for a client that resumes.
pub struct StreamReader {
    log: StreamLog,
    reading: Reading,
    writer: ReplicaId,
    request: Option<Box<str>>,
    /// The events that the client lacks.
    missed: VecDeque<StreamEvent>,
    /// The number of the last event of the writer.
    last: u64,
    is_taken_over: bool,
    /// The last event, if the stream has ended.
    end: Option<StreamEvent>,
    changes: Option<Changes>,
}

impl StreamLog {
    pub(super) fn new(shared: Arc<Shared>, key: Key) -> Self {
        Self { shared, key }
    }

    /// Begins the log. It has at most so many events and bytes, and expires `ttl` after the last append.
    pub fn writer(self, max_events: usize, max_bytes: usize, ttl: Duration) -> StreamWriter {
        StreamWriter {
            writing: Writing::new(self.shared.replica),
            log: self,
            retention: Retention {
                max_events,
                max_bytes,
            },
            ttl,
        }
    }

    /// Reads the log for a client that has received the events up to this number. `None` if there is no such log, or
    /// if an event that the client lacks is not in the log. One operation of the store, or more for a long log.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    pub async fn reader(self, after: u64) -> Result<Option<StreamReader>, StoreError> {
        let mut reading = Reading::after(after);
        let Some(events) = self.read_all(&mut reading).await? else {
            return Ok(None);
        };
        let Some(first) = events.first() else {
            return Ok(None);
        };
        let mut reader = StreamReader {
            writer: first.0.writer,
            request: first.0.request.clone(),
            log: self,
            reading,
            missed: VecDeque::new(),
            last: 0,
            is_taken_over: false,
            end: None,
            changes: None,
        };
        reader.add(events);
        Ok(Some(reader))
    }

    /// Reads the rest of the log: each event, and whether the client lacks it. `None` if events are missing.
    async fn read_all(
        &self,
        reading: &mut Reading,
    ) -> Result<Option<Vec<(StreamEvent, bool)>>, StoreError> {
        let mut all = Vec::new();
        loop {
            let operations = self.shared.operations();
            let tail = operations.read(&self.key, reading.tail(), MAX_EVENTS);
            let Some((events, more)) = decode(tail.await?) else {
                return Ok(None);
            };
            for (position, event) in events {
                match reading.read(position, &event) {
                    Ok(is_new) => all.push((event, is_new)),
                    Err(reading::GapError) => return Ok(None),
                }
            }
            if !more {
                return Ok(Some(all));
            }
        }
    }
}

impl StreamWriter {
    /// Returns the number of the next event to append.
    pub fn next(&self) -> u64 {
        self.writing.next()
    }

    /// Appends events with numbers from [`Self::next`] on. One operation of the store if it succeeds. Otherwise the
    /// writer reads what the log has, and repeats the append.
    pub async fn append(&mut self, events: &[StreamEvent]) -> Written {
        let first = self.writing.next();
        let texts: Vec<Bytes> = events.iter().map(StreamEvent::encode).collect();
        let mut failures = 0;
        loop {
            let ended = match self.writing.step() {
                None => Some(Written::Gone),
                Some(WriteStep::Read(tail)) => self.read_back(tail).await,
                Some(WriteStep::Append(tail, next)) => {
                    let done = usize::try_from(next - first).unwrap_or(usize::MAX);
                    let rest = texts.get(done..).unwrap_or_default();
                    match rest {
                        [] => Some(Written::Done),
                        _ if failures == MAX_ATTEMPTS => Some(Written::Away),
                        rest => {
                            let part = &rest[..rest.len().min(MAX_EVENTS)];
                            failures += usize::from(!self.try_append(tail, part).await);
                            None
                        }
                    }
                }
            };
            if let Some(ended) = ended {
                return ended;
            }
        }
    }

    /// Returns false if the append failed.
    async fn try_append(&mut self, tail: Position, events: &[Bytes]) -> bool {
        let operations = self.log.shared.operations();
        let appended = operations.append_at(tail, &self.log.key, events, self.retention, self.ttl);
        match appended.await {
            Ok(tail) => {
                self.writing.appended(events.len() as u64, tail);
                true
            }
            Err(error) => {
                match error.is_conflict() || error.is_retryable() {
                    true => self.writing.doubt(),
                    // The store does not accept such events, so the log cannot be complete.
                    false => self.writing.end(),
                }
                false
            }
        }
    }

    async fn read_back(&mut self, tail: Position) -> Option<Written> {
        let operations = self.log.shared.operations();
        let found = match operations.read(&self.log.key, tail, MAX_EVENTS).await {
            Ok(found) => found,
            Err(_) => return Some(Written::Away),
        };
        let Some((events, _)) = decode(found) else {
            self.writing.end();
            return Some(Written::Gone);
        };
        let events = events.iter().map(|(position, event)| (*position, event));
        self.writing.read(events);
        self.writing.step().is_none().then_some(Written::TakenOver)
    }

    /// Removes the log, so that no other replica resumes the stream. Returns false if the store does not answer. One
    /// operation of the store.
    pub async fn abandon(&mut self) -> bool {
        self.writing.end();
        let operations = self.log.shared.operations();
        operations.forget(&self.log.key).await.is_ok()
    }

    /// Renews the expiry of the log. One operation of the store if the last one succeeded.
    pub async fn renew(&mut self) -> Written {
        for _ in 0..MAX_ATTEMPTS {
            let ended = match self.writing.step() {
                None => Some(Written::Gone),
                Some(WriteStep::Read(tail)) => self.read_back(tail).await,
                Some(WriteStep::Append(_, 0)) => Some(Written::Done),
                Some(WriteStep::Append(tail, _)) => {
                    let is_renewed = self.try_append(tail, &[]).await;
                    is_renewed.then_some(Written::Done)
                }
            };
            if let Some(ended) = ended {
                return ended;
            }
        }
        Written::Away
    }
}

impl StreamReader {
    /// Returns the replica that wrote the first event.
    pub fn writer(&self) -> ReplicaId {
        self.writer
    }

    /// Returns the id of the request that the stream answers, as JSON.
    pub fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }

    /// Returns the last event of the stream, if the log has it.
    pub fn last_event(&self) -> Option<&StreamEvent> {
        self.end.as_ref()
    }

    /// Returns true if another replica than the writer has ended the stream.
    pub fn is_taken_over(&self) -> bool {
        self.is_taken_over
    }

    /// Returns the number of the last event of the writer that the log has.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Removes and returns the next event that the client lacks.
    pub fn take(&mut self) -> Option<StreamEvent> {
        self.missed.pop_front()
    }

    /// Waits until the log may have changed, at most [`FleetOptions::poll_interval`](super::FleetOptions::poll_interval),
    /// then reads. Returns false if events are missing, because the log is gone or dropped them.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails; the next call waits before it reads.
    pub async fn read_on(&mut self) -> Result<bool, StoreError> {
        self.wait().await;
        self.read_now().await
    }

    /// Ends the stream, because its writer is gone. If the log has more events meanwhile, the reader has these instead.
    /// Returns false as [`Self::read_on`].
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails; the end may be in the log.
    pub async fn end(&mut self, message: Bytes, ttl: Duration) -> Result<bool, StoreError> {
        let end = StreamEvent {
            writer: self.log.shared.replica,
            number: StreamEvent::TAKEN_OVER,
            request: self.request.clone(),
            is_last: true,
            message,
        };
        let (events, retention) = ([end.encode()], Retention::default());
        let (operations, tail) = (self.log.shared.operations(), self.reading.tail());
        let appended = operations.append_at(tail, &self.log.key, &events, retention, ttl);
        match appended.await {
            // The end, or what another writer has appended before.
            Ok(_) | Err(StoreError::Moved { .. }) => self.read_now().await,
            Err(error) => Err(error),
        }
    }

    async fn read_now(&mut self) -> Result<bool, StoreError> {
        let Some(events) = self.log.read_all(&mut self.reading).await? else {
            return Ok(false);
        };
        self.add(events);
        Ok(true)
    }

    fn add(&mut self, events: Vec<(StreamEvent, bool)>) {
        for (event, is_new) in events {
            match event.number {
                StreamEvent::TAKEN_OVER => self.is_taken_over = true,
                number => self.last = number,
            }
            if event.is_last {
                self.end = Some(event.clone());
            }
            if is_new {
                self.missed.push_back(event);
            }
        }
    }

    async fn wait(&mut self) {
        let shared = &self.log.shared;
        if self.changes.is_none() {
            let prefix = Prefix::from(self.log.key.clone());
            self.changes = shared.operations().watch(&prefix).await.ok();
            if self.changes.is_some() {
                // Events from before the watch are read at once.
                return;
            }
        }
        let pause = shared.options.poll_interval;
        let woken = match &mut self.changes {
            Some(changes) => timeout(pause, changes.next()).await.ok(),
            None => {
                tokio::time::sleep(pause).await;
                None
            }
        };
        if let Some(None) = woken {
            self.changes = None;
        }
    }
}

/// Returns the events of a reading, and whether there are more. `None` if events are missing or not readable.
fn decode(tail: Tail) -> Option<(Vec<(Position, StreamEvent)>, bool)> {
    let Tail::Events { events, more } = tail else {
        return None;
    };
    let decoded = events
        .iter()
        .map(|event| Some((event.position, StreamEvent::decode(&event.value)?)));
    Some((decoded.collect::<Option<_>>()?, more))
}

impl fmt::Debug for StreamLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamLog").field(&self.key).finish()
    }
}

impl fmt::Debug for StreamWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamWriter").field(&self.writing).finish()
    }
}

impl fmt::Debug for StreamReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamReader").field(&self.reading).finish()
    }
}
