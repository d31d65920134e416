//! Checks of appends: batches, the expected tail, and the retention.

use super::Subject;
use super::bed::{Bed, Log, assert_moved, at, must, text};
use super::limits::assert_refused;
use crate::{ExpectedTail, Expiry, LimitKind, Position, Retention, StoreLimits, Tail};

pub(super) async fn run(subject: &dyn Subject) {
    a_batch_is_appended_in_order(subject).await;
    an_append_at_another_tail_changes_nothing(subject).await;
    a_log_that_is_gone_has_no_tail(subject).await;
    an_empty_batch_sets_the_expiry(subject).await;
    an_empty_batch_creates_no_log(subject).await;
    a_retention_drops_the_oldest_events(subject).await;
    a_batch_is_bounded(subject).await;
}

async fn a_batch_is_appended_in_order(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let first = must(
        "append",
        bed.append_at("log", &["a", "b"], Position::START).await,
    );
    let second = must(
        "append",
        bed.append_at("log", &["c", "d", "e"], first).await,
    );
    assert!(second > first);

    let (events, _) = bed.events("log", Position::START, 9).await;
    assert_eq!(events, ["a", "b", "c", "d", "e"]);
    assert_eq!(bed.events("log", first, 9).await.0, ["c", "d", "e"]);
    assert!(bed.events("log", second, 9).await.0.is_empty());
}

async fn an_append_at_another_tail_changes_nothing(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let first = must(
        "append",
        bed.append_at("log", &["a"], Position::START).await,
    );
    let second = must("append", bed.append_at("log", &["b"], first).await);

    assert_moved(bed.append_at("log", &["x"], first).await, second);
    assert_moved(bed.append_at("log", &[], first).await, second);
    assert_moved(bed.append_at("log", &["x"], Position::START).await, second);
    let (events, _) = bed.events("log", Position::START, 9).await;
    assert_eq!(events, ["a", "b"]);
    must("append", bed.append_at("log", &["c"], second).await);
}

async fn a_log_that_is_gone_has_no_tail(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let log = Log {
        name: "log",
        expiry: Expiry::At(at(10)),
    };
    let append = |now, tail| bed.try_append_all(now, log, &["a"], tail, Retention::default());
    let tail = must("append", append(0, ExpectedTail::Any).await);

    let tail = must("append", append(9, ExpectedTail::At(tail)).await);
    let stale = append(10, ExpectedTail::At(tail)).await;
    assert_moved(stale, Position::START);

    let other = must(
        "append",
        bed.append_at("other", &["a"], Position::START).await,
    );
    assert!(bed.forget(10, "other").await);
    let stale = bed.append_at("other", &["b"], other).await;
    assert_moved(stale, Position::START);
    must(
        "append",
        bed.append_at("other", &["b"], Position::START).await,
    );
}

async fn an_empty_batch_sets_the_expiry(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let log = |over| Log {
        name: "log",
        expiry: Expiry::At(at(over)),
    };
    let (any, all) = (ExpectedTail::Any, Retention::default());
    let tail = bed.try_append_all(0, log(10), &["a"], any, all).await;
    let tail = must("append", tail);

    let renewed = bed.try_append_all(5, log(20), &[], ExpectedTail::At(tail), all);
    assert_eq!(must("append", renewed.await), tail);
    let expected = Tail::Events {
        events: vec![],
        more: false,
    };
    assert_eq!(bed.read(19, "log", tail, 9).await, expected);
    assert_eq!(bed.read(20, "log", tail, 9).await, Tail::Lost);
}

async fn an_empty_batch_creates_no_log(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let tail = bed.append_at("log", &[], Position::START).await;
    assert_eq!(must("append", tail), Position::START);
    assert!(!bed.forget(0, "log").await, "the log does not exist");
}

/// A row: the retention, the events before the append, the batch, and how many are dropped.
type Row<'r> = (usize, usize, &'r [&'r str], &'r [&'r str], usize);

async fn a_retention_drops_the_oldest_events(subject: &dyn Subject) {
    const MAX: usize = usize::MAX;
    let rows: [Row<'_>; 8] = [
        (2, MAX, &["a", "b"], &["c"], 1),
        (3, MAX, &["a", "b"], &["c"], 0),
        (9, MAX, &["a", "b", "c"], &["d", "e"], 1),
        (9, 3, &["a", "bb"], &["c"], 1),
        (9, 1, &["a"], &["bb", "cc"], 2),
        (0, 0, &["a"], &["b"], 1),
        (1, MAX, &["a"], &["b", "c", "d"], 3),
        (1, MAX, &["a", "b"], &[], 1),
    ];
    let limits = StoreLimits {
        max_log_events: 4,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    for (number, row) in rows.iter().enumerate() {
        check_retention(&bed, &number.to_string(), row).await;
    }
}

async fn check_retention(
    bed: &Bed,
    name: &str,
    &(max_events, max_bytes, old, batch, dropped): &Row<'_>,
) {
    let mut positions = vec![Position::START];
    for event in old {
        positions.push(bed.append(0, name, event).await);
    }
    let retention = Retention {
        max_events,
        max_bytes,
    };
    let log = Log::unlimited(name);
    let append = bed.try_append_all(0, log, batch, ExpectedTail::Any, retention);
    let last = must("append", append.await);

    let all: Vec<&str> = old.iter().chain(batch.iter()).copied().collect();
    for (seen, position) in positions.into_iter().enumerate() {
        match bed.read(0, name, position, 9).await {
            Tail::Events { events, .. } => {
                let values: Vec<_> = events.iter().map(|event| text(&event.value)).collect();
                assert_eq!(values, all[seen..]);
                assert!(seen >= dropped, "log {name}: a gap after {seen} events");
            }
            tail => assert!(tail == Tail::Lost && seen < dropped, "log {name}: {tail:?}"),
        }
    }
    let next = must("append", bed.append_at(name, &["z"], last).await);
    assert!(next > last);
    assert_eq!(bed.events(name, last, 9).await.0, ["z"]);
}

async fn a_batch_is_bounded(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_batch_events: 2,
        max_value_bytes: 4,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    let tail = must(
        "append",
        bed.append_at("log", &["12", "34"], Position::START).await,
    );

    let many = bed.append_at("log", &["1", "2", "3"], tail).await;
    assert_refused(many, LimitKind::BatchEvents, false);
    let large = bed.append_at("log", &["12", "345"], tail).await;
    assert_refused(large, LimitKind::ValueBytes, false);
    assert_eq!(bed.events("log", tail, 9).await.0, [""; 0], "all or none");
    must("append", bed.append_at("log", &["5"], tail).await);
}
