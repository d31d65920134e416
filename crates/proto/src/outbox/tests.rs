use super::*;
use crate::io::{AnswerStatus, Frame, Lane, RequestKey};

fn notice(policy: DropPolicy, text: &str) -> Transmit {
    Transmit {
        lane: Lane::Session,
        kind: TransmitKind::Notice(policy),
        frame: Frame::whole(text.into()),
    }
}

fn answer(of: u64) -> Transmit {
    Transmit {
        lane: Lane::Reply(RequestKey(of)),
        kind: TransmitKind::Answer(AnswerStatus::Result),
        frame: Frame::whole(b"a".to_vec()),
    }
}

fn texts(outbox: &mut Outbox) -> Vec<String> {
    std::iter::from_fn(|| outbox.pop())
        .map(|transmit| String::from_utf8(transmit.frame.to_vec()).expect("text"))
        .collect()
}

fn tight() -> Limits {
    Limits {
        max_queued_notices: 2,
        ..Limits::default()
    }
}

// hardening: H-201
#[test]
fn a_full_queue_keeps_the_latest_progress_and_the_latest_logs() {
    let mut outbox = Outbox::default();
    let key = RequestKey(1);
    for text in ["p1", "p2", "p3"] {
        outbox.push(notice(DropPolicy::KeepLatest(key), text), &tight());
    }
    assert_eq!(texts(&mut outbox), ["p2", "p3"]);
    for text in ["l1", "l2", "l3"] {
        outbox.push(notice(DropPolicy::DropOldest, text), &tight());
    }
    assert_eq!(texts(&mut outbox), ["l2", "l3"]);
    assert_eq!(outbox.dropped(), 2);
}

fn narrow() -> Limits {
    Limits {
        max_queued_notice_bytes: 100,
        ..Limits::default()
    }
}

// hardening: H-201
#[test]
fn a_queue_holds_its_bytes_and_no_more() {
    let mut outbox = Outbox::default();
    let log = |size| notice(DropPolicy::DropOldest, &"l".repeat(size));
    for _ in 0..10 {
        assert!(!outbox.is_full(&narrow()));
        outbox.push(log(10), &narrow());
    }
    assert_eq!(
        (outbox.len(), outbox.bytes(), outbox.dropped()),
        (10, 100, 0)
    );
    outbox.push(log(10), &narrow());
    assert_eq!(
        (outbox.len(), outbox.bytes(), outbox.dropped()),
        (10, 100, 1)
    );
    // A large one takes the place of as many small ones as it must, not of one.
    for _ in 0..50 {
        outbox.push(log(90), &narrow());
        assert!(outbox.bytes() < 100 + 90, "{}", outbox.bytes());
    }
    outbox.push(notice(DropPolicy::Merge(1), &"c".repeat(50)), &narrow());
    assert!(outbox.bytes() < 100 + 90, "{}", outbox.bytes());
    assert!(texts(&mut outbox).contains(&"c".repeat(50)));
}

fn push_notice(outbox: &mut Outbox, of: u64, text: &str, limits: &Limits) {
    let policy = DropPolicy::KeepLatest(RequestKey(of));
    outbox.push_notice(Lane::Session, policy, limits, |out| {
        out.extend_from_slice(text.as_bytes());
    });
}

#[test]
fn framed_notices_leave_in_order_with_other_messages() {
    let mut outbox = Outbox::framed(Framing::Line);
    let limits = Limits::default();
    for text in ["l1", "l2"] {
        push_notice(&mut outbox, 1, text, &limits);
    }
    push_notice(&mut outbox, 2, "l3", &limits);
    outbox.push(notice(DropPolicy::DropOldest, "m1"), &limits);
    for text in ["l4", "l5", "l6"] {
        push_notice(&mut outbox, 1, text, &limits);
    }
    assert_eq!((outbox.len(), outbox.bytes()), (7, 14));
    let next_framed = |outbox: &mut Outbox, max_bytes| {
        let framed = outbox.pop_framed(max_bytes);
        framed.map(|framed| String::from_utf8(framed.as_bytes().to_vec()).expect("text"))
    };
    assert_eq!(next_framed(&mut outbox, 99).as_deref(), Some("l1\nl2\n"));
    assert_eq!(next_framed(&mut outbox, 99).as_deref(), Some("l3\n"));
    assert_eq!(next_framed(&mut outbox, 99), None);
    assert_eq!(
        outbox.pop().map(|message| message.frame.to_vec()),
        Some(b"m1".to_vec())
    );
    assert_eq!(next_framed(&mut outbox, 5).as_deref(), Some("l4\n"));
    assert_eq!((outbox.len(), outbox.bytes()), (2, 4));
    assert_eq!(texts(&mut outbox), ["l5", "l6"]);
    assert_eq!((outbox.len(), outbox.bytes(), outbox.dropped()), (0, 0, 0));
    assert!(outbox.is_empty());
}

#[test]
fn notices_at_the_head_leave_together_up_to_a_size() {
    let mut outbox = Outbox::framed(Framing::Line);
    let limits = Limits::default();
    push_notice(&mut outbox, 1, "r1", &limits);
    push_notice(&mut outbox, 1, "r2", &limits);
    outbox.push(notice(DropPolicy::DropOldest, "m3"), &limits);
    push_notice(&mut outbox, 1, "r4", &limits);
    outbox.push(answer(1), &limits);
    push_notice(&mut outbox, 1, "r5", &limits);
    let drain = |outbox: &mut Outbox, max_bytes| {
        let mut drained = Vec::new();
        outbox.drain_notices(max_bytes, |parts| drained.push(parts.concat()));
        drained
    };
    assert_eq!(drain(&mut outbox, 3), [b"r1"]);
    assert!(outbox.has_notice(2) && !outbox.has_notice(1));
    assert_eq!(drain(&mut outbox, 5), [b"r2", b"m3"]);
    assert_eq!(drain(&mut outbox, 99), [b"r4"]);
    assert_eq!((outbox.len(), outbox.bytes()), (2, 3));
    assert!(!outbox.has_notice(99), "the answer is first");
    assert!(drain(&mut outbox, 99).is_empty());
    assert_eq!(texts(&mut outbox), ["a", "r5"]);
    assert_eq!((outbox.len(), outbox.bytes(), outbox.dropped()), (0, 0, 0));
}

// hardening: H-201
#[test]
fn a_full_queue_drops_the_oldest_framed_notice_of_a_request() {
    let mut outbox = Outbox::framed(Framing::Line);
    for (of, text) in [(1, "a"), (2, "b1"), (2, "b2")] {
        push_notice(&mut outbox, of, text, &Limits::default());
    }
    let limits = Limits {
        max_queued_notices: 3,
        ..Limits::default()
    };
    push_notice(&mut outbox, 2, "b3", &limits);
    push_notice(&mut outbox, 1, "c", &limits);
    push_notice(&mut outbox, 3, "no room", &limits);
    assert_eq!((outbox.len(), outbox.bytes(), outbox.dropped()), (3, 5, 3));
    assert_eq!(texts(&mut outbox), ["b2", "b3", "c"]);
}

#[test]
fn discarded_framed_notices_are_not_counted() {
    let mut outbox = Outbox::framed(Framing::Line);
    for of in [1, 1, 2] {
        push_notice(&mut outbox, of, "line", &Limits::default());
    }
    let kind = TransmitKind::Notice(DropPolicy::KeepLatest(RequestKey(1)));
    assert!(outbox.discard(|_, of| of == kind));
    assert!(!outbox.discard(|_, of| of == kind));
    assert_eq!((outbox.len(), outbox.bytes()), (1, 4));
}

#[test]
fn a_notice_larger_than_a_message_may_be_is_dropped() {
    let limits = Limits {
        max_outgoing_bytes: 10,
        ..Limits::default()
    };
    let mut outbox = Outbox::framed(Framing::Event);
    for size in [10, 11] {
        outbox.push(notice(DropPolicy::DropOldest, &"l".repeat(size)), &limits);
        push_notice(&mut outbox, 1, &"l".repeat(size), &limits);
    }
    assert_eq!((outbox.bytes(), outbox.dropped()), (20, 2));
}

// hardening: H-201
#[test]
fn progress_that_grows_does_not_grow_the_queue() {
    let mut outbox = Outbox::default();
    let progress = |of, size| notice(DropPolicy::KeepLatest(RequestKey(of)), &"p".repeat(size));
    for of in 0..10 {
        outbox.push(progress(of, 10), &narrow());
    }
    for of in 0..10 {
        outbox.push(progress(of, 90), &narrow());
        assert!(outbox.bytes() < 100 + 90, "{}", outbox.bytes());
    }
    // As long as before is no more than before.
    let before = outbox.dropped();
    outbox.push(progress(5, 10), &narrow());
    assert_eq!(outbox.dropped(), before + 1);
    assert!(outbox.bytes() < 100 + 90, "{}", outbox.bytes());
}

// hardening: H-201
#[test]
fn an_answer_is_never_dropped() {
    let mut outbox = Outbox::default();
    for at in 0..10 {
        outbox.push(answer(at), &tight());
    }
    assert_eq!(outbox.len(), 10);
}

#[test]
fn a_notice_that_may_be_refused_is_when_the_queue_is_full() {
    let mut outbox = Outbox::default();
    for text in ["n1", "n2", "n3"] {
        outbox.push(notice(DropPolicy::RefuseNew, text), &tight());
    }
    assert_eq!(outbox.dropped(), 1);
    assert_eq!(texts(&mut outbox), ["n1", "n2"]);
}

#[test]
fn the_same_change_is_queued_once() {
    let mut outbox = Outbox::default();
    for _ in 0..3 {
        outbox.push(notice(DropPolicy::Merge(1), "tools"), &Limits::default());
    }
    outbox.push(notice(DropPolicy::Merge(2), "prompts"), &Limits::default());
    assert_eq!(texts(&mut outbox), ["tools", "prompts"]);
}
