//! Tests of the messages that are stored for clients that resume.

use pintle_proto::frame::Framing;
use pintle_proto::{DropPolicy, Frame, Lane, Limits};

use super::*;

const BOUNDS: Replay = Replay {
    events: 3,
    bytes: 10,
    events_of_session: 8,
    bytes_of_session: 20,
    time: std::time::Duration::from_secs(600),
    retry: std::time::Duration::from_secs(3),
};

fn message(length: usize) -> OutgoingMessage {
    OutgoingMessage {
        frame: Frame::whole(vec![b'x'; length]),
        is_framed: false,
        verdict: None,
        id: None,
    }
}

fn record(buffer: &mut ReplayBuffer, stream: u64, length: usize) -> u64 {
    let message = buffer.record(stream, message(length), &BOUNDS);
    message.id.expect("a name").position
}

/// Number of pieces after an event.
fn follow(buffer: &mut ReplayBuffer, stream: u64, position: u64) -> Option<usize> {
    let after = buffer.name(stream, position);
    let (_, missed) = buffer.resume(after, Instant::now(), &BOUNDS)?;
    Some(missed.len())
}

// hardening: H-188
#[test]
fn a_stream_stores_its_newest_messages() {
    let mut buffer = ReplayBuffer::new(7);
    let stream = buffer.open(Source::Unsolicited, &BOUNDS);
    for position in 1..=3 {
        assert_eq!(record(&mut buffer, stream, 1), position);
    }
    assert_eq!(follow(&mut buffer, stream, 0), Some(3), "at the limit");
    record(&mut buffer, stream, 1);
    assert_eq!(follow(&mut buffer, stream, 0), None, "and one past it");
    assert_eq!(follow(&mut buffer, stream, 1), Some(3));
    assert_eq!(
        follow(&mut buffer, stream, 5),
        None,
        "no such message has left yet"
    );
}

// hardening: H-190
#[test]
fn a_message_larger_than_the_bounds_is_kept_alone() {
    let mut buffer = ReplayBuffer::new(7);
    let (old, stream) = (
        buffer.open(Source::Unsolicited, &BOUNDS),
        buffer.open(Source::Unsolicited, &BOUNDS),
    );
    record(&mut buffer, old, 10);
    buffer.leave(old, Instant::now());
    record(&mut buffer, stream, 10);
    assert_eq!(follow(&mut buffer, old, 0), Some(1), "at the limit");
    buffer.leave(old, Instant::now());
    record(&mut buffer, stream, 100);
    assert_eq!(follow(&mut buffer, stream, 1), Some(1));
    assert_eq!(follow(&mut buffer, stream, 0), None);
    assert_eq!(follow(&mut buffer, old, 0), None);
    assert_eq!((buffer.kept.events, buffer.kept.bytes), (2, 100));
}

// hardening: H-188
#[test]
fn a_session_drops_its_oldest_ended_stream_first() {
    let mut buffer = ReplayBuffer::new(7);
    let streams: Vec<u64> = (0..4)
        .map(|_| buffer.open(Source::Unsolicited, &BOUNDS))
        .collect();
    for stream in &streams {
        record(&mut buffer, *stream, 1);
    }
    for stream in &streams[1..3] {
        buffer.leave(*stream, Instant::now());
    }
    record(&mut buffer, streams[3], 1);
    let kept: Vec<_> = buffer.streams.iter().map(|entry| entry.stream).collect();
    assert_eq!(kept, [streams[0], streams[2], streams[3]]);
    assert_eq!((buffer.kept.events, buffer.kept.bytes), (7, 4));
}

#[test]
fn a_stream_that_has_moved_is_dropped_as_an_ended_one() {
    let mut buffer = ReplayBuffer::new(7);
    for moved in 1..=100 {
        let stream = buffer.open(Source::Unsolicited, &BOUNDS);
        assert_eq!(stream, moved);
        buffer.move_to(stream, "00000008-1-0", Instant::now());
    }
    assert_eq!(buffer.streams.len(), BOUNDS.events_of_session);
    buffer.expire(Instant::now() + BOUNDS.time, &BOUNDS);
    assert_eq!(buffer.streams.len(), 0);
}

#[test]
fn open_streams_drop_their_oldest_messages_if_no_stream_has_ended() {
    let mut buffer = ReplayBuffer::new(7);
    for _ in 0..4 {
        let stream = buffer.open(Source::Unsolicited, &BOUNDS);
        record(&mut buffer, stream, 1);
        record(&mut buffer, stream, 1);
    }
    assert_eq!(buffer.kept.events, 8);
    assert_eq!(follow(&mut buffer, 1, 0), None);
    assert_eq!(
        follow(&mut buffer, 1, 2),
        Some(0),
        "the stream is still open"
    );
    assert_eq!(follow(&mut buffer, 4, 0), Some(2));
}

#[test]
fn a_stream_is_dropped_after_its_ttl() {
    let mut buffer = ReplayBuffer::new(7);
    let stream = buffer.open(Source::Unsolicited, &BOUNDS);
    let now = Instant::now();
    buffer.leave(stream, now);
    let after = buffer.beginning(stream);
    buffer.expire(
        now + BOUNDS.time - std::time::Duration::from_millis(1),
        &BOUNDS,
    );
    assert_eq!(buffer.streams.len(), 1);
    assert!(buffer.resume(after, now + BOUNDS.time, &BOUNDS).is_none());
    assert_eq!((buffer.kept.events, buffer.kept.bytes), (0, 0));
}

/// Limits of bytes that events do not reach.
const WIDE: Replay = Replay {
    bytes: 1_000,
    bytes_of_session: 1_000,
    ..BOUNDS
};

/// Notices that wait for their reader.
fn waiting(texts: &[&str]) -> Outbox {
    let mut outbox = Outbox::framed(Framing::Line);
    let policy = DropPolicy::KeepLatest(RequestKey::NONE);
    for text in texts {
        outbox.push_notice(Lane::Session, policy, &Limits::default(), |out| {
            out.extend_from_slice(text.as_bytes());
        });
    }
    outbox
}

fn text(message: &OutgoingMessage) -> String {
    assert!(message.is_framed && message.verdict.is_none());
    String::from_utf8(message.frame.to_vec()).expect("text")
}

fn event(id: EventId, text: &str) -> String {
    format!("id: {id}\nevent: message\ndata: {text}\n\n")
}

// spec: 2025-11-25 TRANS-RESUME-05, TRANS-RESUME-07
#[test]
fn a_client_resumes_between_notices_that_left_together() {
    let mut buffer = ReplayBuffer::new(7);
    let stream = buffer.open(Source::Unsolicited, &WIDE);
    buffer.record(stream, message(1), &WIDE);
    let sent = buffer.record_events(stream, &mut waiting(&["a", "b"]), &WIDE);
    let events = [(2, "a"), (3, "b")].map(|(at, text)| event(buffer.name(stream, at), text));
    assert_eq!(text(&sent.expect("a stream")), events.concat());
    for (position, missed) in [(1, events.concat()), (2, events[1].clone())] {
        let after = buffer.name(stream, position);
        let (_, sent) = buffer.resume(after, Instant::now(), &WIDE).expect("stored");
        assert_eq!(sent.iter().map(text).collect::<String>(), missed);
        assert_eq!(sent[0].id, Some(buffer.name(stream, 3)));
    }
    assert_eq!(follow(&mut buffer, stream, 3), Some(0));
    assert_eq!(
        follow(&mut buffer, stream, 0),
        Some(2),
        "a message and a piece"
    );
}

// hardening: H-188
#[test]
fn notices_that_leave_together_keep_the_limits() {
    let mut buffer = ReplayBuffer::new(7);
    let stream = buffer.open(Source::Unsolicited, &WIDE);
    let mut notices = waiting(&["1", "2", "3", "4", "5"]);
    let sent = buffer.record_events(stream, &mut notices, &WIDE);
    let bytes = sent.expect("a stream").frame.len() / 5 * 3;
    assert_eq!(follow(&mut buffer, stream, 1), None, "one past the limit");
    assert_eq!((buffer.kept.events, buffer.kept.bytes), (4, bytes));
    let after = buffer.name(stream, 2);
    let (_, missed) = buffer.resume(after, Instant::now(), &WIDE).expect("stored");
    let stored =
        [(3, "3"), (4, "4"), (5, "5")].map(|(at, text)| event(buffer.name(stream, at), text));
    assert_eq!(missed.iter().map(text).collect::<String>(), stored.concat());
    for _ in 0..3 {
        buffer.record(stream, message(1), &WIDE);
        assert_eq!(buffer.kept.events, 4, "the oldest is dropped");
    }
    assert_eq!((buffer.kept.bytes, buffer.streams[0].events.len()), (3, 3));
}

#[test]
fn notices_of_an_unknown_stream_stay_where_they_are() {
    let mut buffer = ReplayBuffer::new(7);
    let mut notices = waiting(&["a"]);
    let events = buffer.record_events(1, &mut notices, &BOUNDS);
    assert!(events.is_none());
    assert_eq!(notices.len(), 1, "it leaves without an event id");
}
