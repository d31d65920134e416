//! Tests of the messages that are stored for clients that resume.

use pintle_proto::Frame;

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

/// Number of messages after an event.
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

fn bytes(message: &OutgoingMessage) -> Vec<u8> {
    assert!(message.is_framed && message.verdict.is_none());
    message.frame.to_vec()
}

// spec: 2025-11-25 TRANS-RESUME-05, TRANS-RESUME-07
#[test]
fn notices_that_leave_together_have_an_event_id_each() {
    let mut buffer = ReplayBuffer::new(7);
    let stream = buffer.open(Source::Unsolicited, &WIDE);
    buffer.record(stream, message(1), &WIDE);
    let notices = ["a", "b"].map(|text| Frame::whole(text.into()));
    let sent = buffer.record_events(stream, notices.into_iter(), 200, &WIDE);
    let sent = bytes(&sent.expect("a stream"));
    let event = |position: u64, text: &str| {
        let id = buffer.name(stream, position);
        format!("id: {id}\nevent: message\ndata: {text}\n\n").into_bytes()
    };
    assert_eq!(sent, [event(2, "a"), event(3, "b")].concat());
    let after = buffer.name(stream, 2);
    let expected = event(3, "b");
    let (_, missed) = buffer.resume(after, Instant::now(), &WIDE).expect("stored");
    assert_eq!(missed.iter().map(bytes).collect::<Vec<_>>(), [expected]);
    assert_eq!(missed[0].id, Some(buffer.name(stream, 3)));
}

// hardening: H-188
#[test]
fn notices_that_leave_together_keep_the_limits() {
    let mut buffer = ReplayBuffer::new(7);
    let stream = buffer.open(Source::Unsolicited, &WIDE);
    let notices = (0..5).map(|_| Frame::whole(vec![b'x'; 10]));
    buffer
        .record_events(stream, notices, 0, &WIDE)
        .expect("a stream");
    assert_eq!(follow(&mut buffer, stream, 2), Some(3), "at the limit");
    assert_eq!(follow(&mut buffer, stream, 1), None, "and one past it");
    assert_eq!(buffer.kept.events, 4);
    let stored: usize = buffer.streams[0]
        .events
        .iter()
        .map(|event| event.frame.len())
        .sum();
    assert_eq!(buffer.kept.bytes, stored);
}

#[test]
fn notices_of_an_unknown_stream_stay_where_they_are() {
    let mut buffer = ReplayBuffer::new(7);
    let mut notices = std::iter::once(Frame::whole(vec![b'x']));
    let events = buffer.record_events(1, notices.by_ref(), 100, &BOUNDS);
    assert!(events.is_none());
    assert!(notices.next().is_some(), "it leaves without an event id");
}
