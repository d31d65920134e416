//! The messages that left on the streams of a session, stored for clients that resume.
//!
//! A message gets its event id when it leaves, so merged and dropped messages leave no gap. A client
//! that resumes names the last event it received. It gets every later message, or an error if one is
//! no longer stored.

mod stored;

use std::collections::VecDeque;
use std::time::Instant;

use pintle_proto::{Outbox, RequestKey};

use super::bounds::Replay;
use super::journal::{Journal, Released};
use crate::rules::event_id::EventId;
use crate::server::events::{EventWriter, OutgoingMessage, WORTH_WAITING};
use stored::Stored;

/// The streams of a session that clients can resume, oldest first.
#[derive(Debug, Default)]
pub(super) struct ReplayBuffer {
    streams: Vec<ReplayStream>,
    tag: u32,
    opened: u64,
    /// The size of all stored messages.
    kept: Tally,
}

/// The purpose of a stream. Closed: no other purpose exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The reply to this request.
    Reply(RequestKey),
    /// The messages that belong to no request.
    Unsolicited,
    /// Nothing: the request was cancelled.
    Cancelled,
}

#[derive(Debug)]
struct ReplayStream {
    stream: u64,
    source: Source,
    /// Number of messages that have left.
    position: u64,
    /// The newest of these messages.
    events: VecDeque<Stored>,
    tally: Tally,
    /// When the stream ended or lost its reader; it only waits for a client to resume it.
    left: Option<Instant>,
    /// Its log, if other replicas can resume it.
    journal: Option<Box<Journal>>,
}

/// The size of stored messages; a stream counts as one message.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    events: usize,
    bytes: usize,
}

impl ReplayBuffer {
    /// Creates an empty buffer. `tag` distinguishes its events from those of other sessions.
    pub(super) fn new(tag: u32) -> Self {
        Self {
            tag,
            ..Self::default()
        }
    }

    /// Opens a stream and returns its number.
    pub(super) fn open(&mut self, source: Source, bounds: &Replay) -> u64 {
        self.opened += 1;
        let entry = ReplayStream {
            stream: self.opened,
            source,
            position: 0,
            events: VecDeque::new(),
            tally: Tally {
                events: 1,
                bytes: 0,
            },
            left: None,
            journal: None,
        };
        self.kept.events += 1;
        if self.streams.capacity() == 0 {
            // Reserve for one, because most sessions have at most one stream at a time.
            self.streams.reserve_exact(1);
        }
        self.streams.push(entry);
        self.make_room(self.opened, bounds);
        self.opened
    }

    pub(super) fn tag(&self) -> u32 {
        self.tag
    }

    /// Gives a stream its log.
    pub(super) fn set_journal(&mut self, stream: u64, journal: Journal) {
        self.change(stream, |entry| entry.journal = Some(Box::new(journal)));
    }

    /// Returns the log of a stream, if it has one.
    pub(super) fn released(&self, stream: u64) -> Option<Released> {
        let entry = self.streams.get(self.position_of(stream)?)?;
        Some(entry.journal.as_ref()?.released())
    }

    /// Returns the purpose of a stream with a log, and the number of its last message. `None` in place of the number if
    /// the log is not complete.
    pub(super) fn shared(&self, stream: u64) -> Option<(Source, Option<u64>)> {
        let entry = self.streams.get(self.position_of(stream)?)?;
        let journal = entry.journal.as_ref()?;
        let last = journal.is_resumable().then_some(entry.position);
        Some((entry.source, last))
    }

    /// Ends the log of a stream. The stream `next` continues it at another replica.
    pub(super) fn move_to(&mut self, stream: u64, next: &str, now: Instant) {
        self.change(stream, |entry| {
            entry.left = Some(now);
            entry.end(next);
        });
    }

    /// Returns true if a stream continues at another replica, or has ended there.
    pub(super) fn is_moved(&self, stream: u64) -> bool {
        let entry = self.position_of(stream).and_then(|at| self.streams.get(at));
        entry.is_some_and(ReplayStream::is_moved)
    }

    /// The event id before the first message of a stream.
    pub(super) fn beginning(&self, stream: u64) -> EventId {
        self.name(stream, 0)
    }

    /// The priming event of a stream.
    pub(super) fn primer(&self, stream: u64, bounds: &Replay) -> OutgoingMessage {
        OutgoingMessage::priming(self.beginning(stream), bounds.retry)
    }

    /// Gives a message its event id and stores a copy.
    pub(super) fn record(
        &mut self,
        stream: u64,
        mut message: OutgoingMessage,
        bounds: &Replay,
    ) -> OutgoingMessage {
        message.frame = message.frame.into_shared();
        let position = self.change(stream, |entry| {
            entry.position += 1;
            entry.position
        });
        message.id = position.map(|position| self.name(stream, position));
        let kept = message.clone();
        self.change(stream, |entry| {
            if let Some(journal) = &entry.journal {
                journal.push(entry.position, &kept.frame, kept.verdict.is_some());
            }
            entry.keep(Stored::message(kept), bounds);
        });
        self.make_room(stream, bounds);
        message
    }

    /// Writes the notices at the head of a queue as events with their event ids, and stores each. They leave together.
    /// `None` if the stream is unknown: then `notices` is not changed. The stream has no log.
    pub(super) fn record_events(
        &mut self,
        stream: u64,
        notices: &mut Outbox,
        bounds: &Replay,
    ) -> Option<OutgoingMessage> {
        let tag = self.tag;
        let events = self.change(stream, |entry| entry.write_events(tag, notices, bounds))?;
        self.make_room(stream, bounds);
        Some(events)
    }

    /// Starts the time in which a client can resume a stream.
    pub(super) fn leave(&mut self, stream: u64, now: Instant) {
        self.change(stream, |entry| {
            entry.left = Some(now);
            if matches!(entry.source, Source::Reply(_)) {
                entry.end("");
            }
        });
    }

    /// Drops the messages of a stream whose request was cancelled. A client that resumes it finds it
    /// empty.
    pub(super) fn cancel(&mut self, stream: u64, now: Instant) {
        self.change(stream, |entry| {
            while !entry.events.is_empty() {
                entry.drop_oldest();
            }
            entry.source = Source::Cancelled;
            entry.left = Some(now);
            entry.end("");
        });
    }

    /// Drops a stream; no client can resume it.
    pub(super) fn forget(&mut self, stream: u64) {
        if let Some(at) = self.position_of(stream) {
            self.remove(at);
        }
    }

    /// Drops the streams that no client resumed in time.
    pub(super) fn expire(&mut self, now: Instant, bounds: &Replay) {
        let expired = |entry: &ReplayStream| entry.is_expired(now, bounds);
        while let Some(at) = self.streams.iter().position(expired) {
            self.remove(at);
        }
    }

    /// Returns the messages that left on a stream after an event. Returns `None` if the event is
    /// unknown, belongs to another session, or is too old.
    pub(super) fn resume(
        &mut self,
        after: EventId,
        now: Instant,
        bounds: &Replay,
    ) -> Option<(Source, VecDeque<OutgoingMessage>)> {
        self.expire(now, bounds);
        if after.tag != self.tag {
            return None;
        }
        self.change(after.stream, |entry| entry.resume(after.position))?
    }

    fn name(&self, stream: u64, position: u64) -> EventId {
        EventId {
            tag: self.tag,
            stream,
            position,
        }
    }

    /// Enforces the limits of the session. Ended streams are dropped first, the oldest before others;
    /// then the oldest messages of open streams. The stream `speaking` retains its newest message.
    fn make_room(&mut self, speaking: u64, bounds: &Replay) {
        while self.is_over(bounds) {
            let ended = |entry: &ReplayStream| entry.stream != speaking && entry.left.is_some();
            let long =
                |entry: &ReplayStream| entry.stored() > usize::from(entry.stream == speaking);
            if let Some(at) = self.streams.iter().position(ended) {
                self.remove(at);
            } else if let Some(stream) = self
                .streams
                .iter()
                .find(|entry| long(entry))
                .map(|entry| entry.stream)
            {
                self.change(stream, ReplayStream::drop_oldest);
            } else {
                return;
            }
        }
    }

    fn is_over(&self, bounds: &Replay) -> bool {
        self.kept.events > bounds.events_of_session || self.kept.bytes > bounds.bytes_of_session
    }

    fn remove(&mut self, at: usize) {
        let entry = self.streams.remove(at);
        self.kept.subtract(entry.tally);
    }

    /// Changes a stream, if it exists, and updates the total size.
    fn change<T>(&mut self, stream: u64, act: impl FnOnce(&mut ReplayStream) -> T) -> Option<T> {
        let at = self.position_of(stream)?;
        let entry = self.streams.get_mut(at)?;
        self.kept.subtract(entry.tally);
        let given = act(entry);
        self.kept.add(entry.tally);
        Some(given)
    }

    // The list is sorted, because numbers grow and new streams are appended.
    fn position_of(&self, stream: u64) -> Option<usize> {
        self.streams
            .binary_search_by_key(&stream, |entry| entry.stream)
            .ok()
    }
}

impl ReplayStream {
    /// Number of stored messages.
    fn stored(&self) -> usize {
        self.tally.events - 1
    }

    /// Stores messages and drops the oldest ones beyond the limits.
    fn keep(&mut self, messages: Stored, bounds: &Replay) {
        self.tally.add(Tally::of(&messages));
        self.events.push_back(messages);
        while self.stored() > 1
            && (self.stored() > bounds.events || self.tally.bytes > bounds.bytes)
        {
            self.drop_oldest();
        }
    }

    /// Writes notices in one buffer, and stores where each one ends.
    fn write_events(&mut self, tag: u32, notices: &mut Outbox, bounds: &Replay) -> OutgoingMessage {
        let mut writer = EventWriter::new(self.id(tag, 0), notices);
        let mut ends = Vec::with_capacity(notices.len());
        notices.drain_notices(WORTH_WAITING, |notice| {
            self.position += 1;
            ends.push(writer.write(self.position, notice));
        });
        let last = self.id(tag, self.position);
        let events = OutgoingMessage::events(writer.buffer.into(), last);
        self.keep(Stored::events(events.clone(), ends), bounds);
        events
    }

    fn id(&self, tag: u32, position: u64) -> EventId {
        EventId {
            tag,
            stream: self.stream,
            position,
        }
    }

    fn is_moved(&self) -> bool {
        let journal = self.journal.as_ref();
        journal.is_some_and(|journal| {
            journal.is_taken_over() || (self.source == Source::Unsolicited && journal.is_complete())
        })
    }

    /// Ends the log. Does nothing after the last message.
    fn end(&mut self, next: &str) {
        if let Some(journal) = &self.journal {
            journal.end(self.position + 1, next);
        }
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.events.front_mut() else {
            return;
        };
        let (events, bytes) = (1, oldest.drop_first());
        self.tally.subtract(Tally { events, bytes });
        if oldest.len() == 0 {
            self.events.pop_front();
        }
    }

    fn is_expired(&self, now: Instant, bounds: &Replay) -> bool {
        self.left
            .is_some_and(|left| now.duration_since(left) >= bounds.time)
    }

    /// Returns the messages after a position, if all of them are still stored.
    fn resume(&mut self, position: u64) -> Option<(Source, VecDeque<OutgoingMessage>)> {
        let missed = usize::try_from(self.position.checked_sub(position)?).ok()?;
        if self.source == Source::Cancelled {
            return Some((self.source, VecDeque::new()));
        }
        let mut known = self.stored().checked_sub(missed)?;
        if self.source == Source::Unsolicited {
            self.left = None;
        }
        let missed = self.events.iter().filter_map(|messages| {
            let skipped = known.min(messages.len());
            known -= skipped;
            messages.after(skipped)
        });
        Some((self.source, missed.collect()))
    }
}

impl Tally {
    fn of(messages: &Stored) -> Self {
        Self {
            events: messages.len(),
            bytes: messages.bytes(),
        }
    }

    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.bytes += other.bytes;
    }

    fn subtract(&mut self, other: Self) {
        self.events -= other.events;
        self.bytes -= other.bytes;
    }
}

#[cfg(test)]
mod tests;
