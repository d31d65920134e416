//! Checks of logs: order, positions and dropped events.

use super::Subject;
use super::bed::{Bed, at, must};
use crate::{Expiry, Position, StoreLimits, Tail};

pub(super) async fn run(subject: &dyn Subject) {
    events_come_after_a_position(subject).await;
    a_reading_is_bounded(subject).await;
    a_position_that_is_none_is_told(subject).await;
    the_oldest_events_go_and_that_is_told(subject).await;
    a_log_is_bounded_in_bytes(subject).await;
    an_event_larger_than_a_log_is_kept_alone(subject).await;
    a_log_that_is_gone_is_told(subject).await;
    a_log_is_over_with_its_latest_event(subject).await;
}

async fn events_come_after_a_position(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    assert_eq!(bed.events("log", Position::START, 9).await, (vec![], false));

    let mut positions = vec![Position::START];
    for event in ["a", "b", "c"] {
        positions.push(bed.append(0, "log", event).await);
        bed.append(0, "other", "noise").await;
    }
    assert!(positions.is_sorted_by(|a, b| a < b), "{positions:?}");
    for (at, position) in positions.into_iter().enumerate() {
        let (events, more) = bed.events("log", position, 9).await;
        assert_eq!((events, more), (owned(&["a", "b", "c"][at..]), false));
    }
}

async fn a_reading_is_bounded(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_page_entries: 2,
        max_page_bytes: 4,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    let mut positions = vec![Position::START];
    for event in ["a", "b", "c", "four", "x", "too long"] {
        positions.push(bed.append(0, "log", event).await);
    }
    for (from, most, expected) in [
        (0, 1, &["a"][..]),
        (0, 0, &["a"]),
        (0, usize::MAX, &["a", "b"]),
        (2, usize::MAX, &["c"]),
        (3, usize::MAX, &["four"]),
        (4, usize::MAX, &["x"]),
        (5, usize::MAX, &["too long"]),
    ] {
        let (events, more) = bed.events("log", positions[from], most).await;
        assert_eq!((events, more), (owned(expected), from < 5));
    }
}

async fn a_position_that_is_none_is_told(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    bed.append(0, "log", "a").await;
    let foreign = bed.append(0, "other", "x").await;
    let last = bed.append(0, "log", "b").await;

    for position in [
        foreign,
        Position::new(last.get() + 1),
        Position::new(u64::MAX),
    ] {
        let tail = bed.read(0, "log", position, 9).await;
        assert_eq!(tail, Tail::Unknown, "after {position:?}");
    }
}

async fn the_oldest_events_go_and_that_is_told(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_log_events: 3,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    let a = bed.append(0, "log", "a").await;
    bed.append(0, "log", "b").await;
    bed.append(0, "log", "c").await;
    let (events, _) = bed.events("log", Position::START, 9).await;
    assert_eq!(events, ["a", "b", "c"], "at the limit");

    bed.append(0, "log", "d").await;
    assert_eq!(bed.read(0, "log", Position::START, 9).await, Tail::Lost);
    let (events, _) = bed.events("log", a, 9).await;
    assert_eq!(
        events,
        ["b", "c", "d"],
        "who has seen all that was dropped goes on"
    );

    bed.append(0, "log", "e").await;
    assert_eq!(bed.read(0, "log", a, 9).await, Tail::Lost);
}

async fn a_log_is_bounded_in_bytes(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_log_bytes: 6,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    let first = bed.append(0, "log", "aa").await;
    bed.append(0, "log", "bb").await;
    bed.append(0, "log", "cc").await;
    assert_eq!(bed.events("log", Position::START, 9).await.0.len(), 3);

    let second = bed.append(0, "log", "d").await;
    assert_eq!(bed.events("log", first, 9).await.0, ["bb", "cc", "d"]);
    bed.append(0, "log", "eeeee").await;
    assert_eq!(bed.events("log", second, 9).await.0, ["eeeee"]);
    assert_eq!(bed.read(0, "log", first, 9).await, Tail::Lost);
}

async fn an_event_larger_than_a_log_is_kept_alone(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_log_bytes: 4,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    let small = bed.append(0, "log", "a").await;
    let large = bed.append(0, "log", "larger").await;
    assert_eq!(bed.events("log", small, 9).await.0, ["larger"]);

    bed.append(0, "log", "b").await;
    assert_eq!(bed.events("log", large, 9).await.0, ["b"]);
}

async fn a_log_that_is_gone_is_told(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let old = bed.append(0, "log", "a").await;
    assert!(bed.forget(0, "log").await);
    assert!(!bed.forget(0, "log").await);
    assert_eq!(bed.read(0, "log", old, 9).await, Tail::Lost);
    assert_eq!(bed.events("log", Position::START, 9).await, (vec![], false));

    let new = bed.append(0, "log", "b").await;
    assert!(new > old, "{new:?} was used before");
    assert_eq!(bed.read(0, "log", old, 9).await, Tail::Lost);
    assert_eq!(bed.events("log", Position::START, 9).await.0, ["b"]);
}

async fn a_log_is_over_with_its_latest_event(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let append = |now, event, over| bed.try_append(now, "log", event, Expiry::At(at(over)));
    must("append", append(0, "a", 10).await);
    let position = must("append", append(5, "b", 20).await);

    let Tail::Events { events, .. } = bed.read(19, "log", Position::START, 9).await else {
        panic!("the log lives on with its latest event");
    };
    assert_eq!(events.len(), 2);
    assert_eq!(bed.read(20, "log", position, 9).await, Tail::Lost);
    must("append", append(20, "c", 30).await);
    let Tail::Events { events, .. } = bed.read(20, "log", Position::START, 9).await else {
        panic!("a new log begins at the start");
    };
    assert_eq!(events.len(), 1, "a log that is over does not come back");
}

fn owned(events: &[&str]) -> Vec<String> {
    events.iter().map(|&event| event.to_owned()).collect()
}
