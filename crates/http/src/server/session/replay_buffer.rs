//! What has left on the streams of a session, kept for clients that come back.
//!
//! A message gets its place on a stream when it leaves, not when it is made: what is merged or
//! dropped while it waits leaves no gap. Whoever comes back says which message was the last, and
//! gets everything after it, or is told that this is not possible: never a part.

use std::collections::VecDeque;
use std::time::Instant;

use pintle_proto::RequestKey;

use super::bounds::Replay;
use crate::rules::event_id::EventId;
use crate::server::events::OutgoingMessage;

/// The streams of a session that can be come back to, by age.
#[derive(Debug, Default)]
pub(super) struct ReplayBuffer {
    trails: Vec<ReplayStream>,
    tag: u32,
    opened: u64,
    /// What is kept in all.
    kept: Tally,
}

/// What a stream is for. Closed: there is nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The reply to this request.
    Reply(RequestKey),
    /// What the server says unasked.
    Unasked,
    /// Nothing any more: nobody wanted the reply.
    Silence,
}

/// One stream.
#[derive(Debug)]
struct ReplayStream {
    stream: u64,
    source: Source,
    /// How many messages have left so far.
    position: u64,
    /// The last of them.
    events: VecDeque<OutgoingMessage>,
    tally: Tally,
    /// Since when it waits for a client to come back, with nothing more to come of itself.
    left: Option<Instant>,
}

/// How much is kept; a stream counts as one message.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    events: usize,
    bytes: usize,
}

impl ReplayBuffer {
    /// Nothing yet; events are told from those of other sessions by `tag`.
    pub(super) fn new(tag: u32) -> Self {
        Self {
            tag,
            ..Self::default()
        }
    }

    /// Opens a stream, and gives its number.
    pub(super) fn open(&mut self, source: Source, bounds: &Replay) -> u64 {
        self.opened += 1;
        let trail = ReplayStream {
            stream: self.opened,
            source,
            position: 0,
            events: VecDeque::new(),
            tally: Tally {
                events: 1,
                bytes: 0,
            },
            left: None,
        };
        self.kept.events += 1;
        if self.trails.capacity() == 0 {
            // Most sessions have one stream at a time, or none.
            self.trails.reserve_exact(1);
        }
        self.trails.push(trail);
        self.make_room(self.opened, bounds);
        self.opened
    }

    /// The name of the place before the first message of a stream.
    pub(super) fn beginning(&self, stream: u64) -> EventId {
        self.name(stream, 0)
    }

    /// Gives a message its place on a stream, and keeps it.
    pub(super) fn say(
        &mut self,
        stream: u64,
        mut said: OutgoingMessage,
        bounds: &Replay,
    ) -> OutgoingMessage {
        said.frame = said.frame.into_shared();
        let position = self.change(stream, |trail| {
            trail.position += 1;
            trail.position
        });
        said.id = position.map(|position| self.name(stream, position));
        let kept = said.clone();
        self.change(stream, |trail| trail.keep(kept, bounds));
        self.make_room(stream, bounds);
        said
    }

    /// Notes that a stream waits from now on for whoever comes back.
    pub(super) fn leave(&mut self, stream: u64, now: Instant) {
        self.change(stream, |trail| trail.left = Some(now));
    }

    /// Keeps of a stream only that it has ended without an answer, because nobody wanted it any
    /// more: whoever comes back learns that there is nothing.
    pub(super) fn silence(&mut self, stream: u64, now: Instant) {
        self.change(stream, |trail| {
            while !trail.events.is_empty() {
                trail.drop_oldest();
            }
            trail.source = Source::Silence;
            trail.left = Some(now);
        });
    }

    /// Forgets a stream: nobody can come back to it.
    pub(super) fn forget(&mut self, stream: u64) {
        if let Some(at) = self.position_of(stream) {
            self.remove(at);
        }
    }

    /// Forgets the streams that nobody came back to in time.
    pub(super) fn expire(&mut self, now: Instant, bounds: &Replay) {
        let expired = |trail: &ReplayStream| trail.is_expired(now, bounds);
        while let Some(at) = self.trails.iter().position(expired) {
            self.remove(at);
        }
    }

    /// What has left on a stream after an event, for whoever comes back to it; none if the event
    /// is unknown, of another session, or too long ago.
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
        self.change(after.stream, |trail| trail.resume(after.position))?
    }

    fn name(&self, stream: u64, position: u64) -> EventId {
        EventId {
            tag: self.tag,
            stream,
            position,
        }
    }

    /// Stays within the bounds of the session: what has ended goes first, oldest first, then the
    /// beginnings of what goes on. The stream that speaks keeps its newest message at least.
    fn make_room(&mut self, speaking: u64, bounds: &Replay) {
        while self.is_over(bounds) {
            let ended = |trail: &ReplayStream| trail.stream != speaking && trail.left.is_some();
            let long =
                |trail: &ReplayStream| trail.events.len() > usize::from(trail.stream == speaking);
            if let Some(at) = self.trails.iter().position(ended) {
                self.remove(at);
            } else if let Some(stream) = self
                .trails
                .iter()
                .find(|trail| long(trail))
                .map(|trail| trail.stream)
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
        let trail = self.trails.remove(at);
        self.kept.subtract(trail.tally);
    }

    /// Changes a stream, if it is known, and counts anew what is kept.
    fn change<T>(&mut self, stream: u64, act: impl FnOnce(&mut ReplayStream) -> T) -> Option<T> {
        let at = self.position_of(stream)?;
        let trail = self.trails.get_mut(at)?;
        self.kept.subtract(trail.tally);
        let given = act(trail);
        self.kept.add(trail.tally);
        Some(given)
    }

    // Numbers grow and trails are appended, so the list is sorted.
    fn position_of(&self, stream: u64) -> Option<usize> {
        self.trails
            .binary_search_by_key(&stream, |trail| trail.stream)
            .ok()
    }
}

impl ReplayStream {
    /// Keeps a message, and lets the oldest go where there are too many.
    fn keep(&mut self, said: OutgoingMessage, bounds: &Replay) {
        self.tally.add(Tally::of(&said));
        self.events.push_back(said);
        while self.events.len() > 1
            && (self.events.len() > bounds.events || self.tally.bytes > bounds.bytes)
        {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(dropped) = self.events.pop_front() {
            self.tally.subtract(Tally::of(&dropped));
        }
    }

    fn is_expired(&self, now: Instant, bounds: &Replay) -> bool {
        self.left
            .is_some_and(|left| now.duration_since(left) >= bounds.time)
    }

    /// Everything after a position, if that is known.
    fn resume(&mut self, position: u64) -> Option<(Source, VecDeque<OutgoingMessage>)> {
        let missed = usize::try_from(self.position.checked_sub(position)?).ok()?;
        if self.source == Source::Silence {
            return Some((self.source, VecDeque::new()));
        }
        let from = self.events.len().checked_sub(missed)?;
        if self.source == Source::Unasked {
            self.left = None;
        }
        Some((self.source, self.events.range(from..).cloned().collect()))
    }
}

impl Tally {
    fn of(said: &OutgoingMessage) -> Self {
        Self {
            events: 1,
            bytes: said.frame.len(),
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
mod tests {
    use pintle_proto::Frame;

    use super::*;

    const BOUNDS: Replay = Replay {
        events: 3,
        bytes: 10,
        events_of_session: 8,
        bytes_of_session: 20,
        time: std::time::Duration::from_secs(600),
    };

    fn said(length: usize) -> OutgoingMessage {
        OutgoingMessage {
            frame: Frame::whole(vec![b'x'; length]),
            verdict: None,
            id: None,
        }
    }

    fn say(trails: &mut ReplayBuffer, stream: u64, length: usize) -> u64 {
        let said = trails.say(stream, said(length), &BOUNDS);
        said.id.expect("a name").position
    }

    /// How many messages follow an event.
    fn follow(trails: &mut ReplayBuffer, stream: u64, position: u64) -> Option<usize> {
        let after = trails.name(stream, position);
        let (_, missed) = trails.resume(after, Instant::now(), &BOUNDS)?;
        Some(missed.len())
    }

    // hardening: H-188
    #[test]
    fn a_stream_keeps_its_newest_messages() {
        let mut trails = ReplayBuffer::new(7);
        let stream = trails.open(Source::Unasked, &BOUNDS);
        for position in 1..=3 {
            assert_eq!(say(&mut trails, stream, 1), position);
        }
        assert_eq!(follow(&mut trails, stream, 0), Some(3), "at the limit");
        say(&mut trails, stream, 1);
        assert_eq!(follow(&mut trails, stream, 0), None, "and one past it");
        assert_eq!(follow(&mut trails, stream, 1), Some(3));
        assert_eq!(follow(&mut trails, stream, 5), None, "nothing was said yet");
    }

    // hardening: H-190
    #[test]
    fn a_message_larger_than_the_bounds_is_kept_alone() {
        let mut trails = ReplayBuffer::new(7);
        let (old, stream) = (
            trails.open(Source::Unasked, &BOUNDS),
            trails.open(Source::Unasked, &BOUNDS),
        );
        say(&mut trails, old, 10);
        trails.leave(old, Instant::now());
        say(&mut trails, stream, 10);
        assert_eq!(follow(&mut trails, old, 0), Some(1), "at the limit");
        trails.leave(old, Instant::now());
        say(&mut trails, stream, 100);
        assert_eq!(follow(&mut trails, stream, 1), Some(1));
        assert_eq!(follow(&mut trails, stream, 0), None);
        assert_eq!(follow(&mut trails, old, 0), None);
        assert_eq!((trails.kept.events, trails.kept.bytes), (2, 100));
    }

    // hardening: H-188
    #[test]
    fn a_session_forgets_the_oldest_stream_that_has_ended_first() {
        let mut trails = ReplayBuffer::new(7);
        let streams: Vec<u64> = (0..4)
            .map(|_| trails.open(Source::Unasked, &BOUNDS))
            .collect();
        for stream in &streams {
            say(&mut trails, *stream, 1);
        }
        for stream in &streams[1..3] {
            trails.leave(*stream, Instant::now());
        }
        say(&mut trails, streams[3], 1);
        let known: Vec<_> = trails.trails.iter().map(|trail| trail.stream).collect();
        assert_eq!(known, [streams[0], streams[2], streams[3]]);
        assert_eq!((trails.kept.events, trails.kept.bytes), (7, 4));
    }

    #[test]
    fn streams_that_go_on_lose_their_beginnings_when_there_is_nothing_else_to_lose() {
        let mut trails = ReplayBuffer::new(7);
        for _ in 0..4 {
            let stream = trails.open(Source::Unasked, &BOUNDS);
            say(&mut trails, stream, 1);
            say(&mut trails, stream, 1);
        }
        assert_eq!(trails.kept.events, 8);
        assert_eq!(follow(&mut trails, 1, 0), None);
        assert_eq!(follow(&mut trails, 1, 2), Some(0), "it still goes on");
        assert_eq!(follow(&mut trails, 4, 0), Some(2));
    }

    #[test]
    fn a_stream_is_forgotten_when_its_time_has_come() {
        let mut trails = ReplayBuffer::new(7);
        let stream = trails.open(Source::Unasked, &BOUNDS);
        let now = Instant::now();
        trails.leave(stream, now);
        let after = trails.beginning(stream);
        trails.expire(
            now + BOUNDS.time - std::time::Duration::from_millis(1),
            &BOUNDS,
        );
        assert_eq!(trails.trails.len(), 1);
        assert!(trails.resume(after, now + BOUNDS.time, &BOUNDS).is_none());
        assert_eq!((trails.kept.events, trails.kept.bytes), (0, 0));
    }
}
