//! Checks that limits are enforced exactly.

use super::Subject;
use super::bed::{Bed, at, must};
use crate::{Capacity, Expiry, LimitKind, Precondition, StoreError, StoreLimits};

pub(super) async fn run(subject: &dyn Subject) {
    a_value_is_bounded(subject).await;
    watchers_are_bounded(subject).await;
    if Bed::make(subject).await.capacity() == Capacity::Exact {
        run_exact(subject).await;
    }
}

/// Checks the totals of a store that enforces them.
async fn run_exact(subject: &dyn Subject) {
    entries_are_bounded(subject).await;
    bytes_are_bounded(subject).await;
    events_count(subject).await;
    what_is_over_makes_room(subject).await;
    all_that_is_over_makes_room(subject).await;
}

/// Asserts that a limit refuses the operation.
pub(super) fn assert_refused<T>(
    result: Result<T, StoreError>,
    bound: LimitKind,
    is_retryable: bool,
) {
    let error = match result {
        Ok(_) => panic!("{bound:?} refuses nothing"),
        Err(error) => error,
    };
    let limit = error
        .limit()
        .unwrap_or_else(|| panic!("a limit was expected, not {error:?}"));
    assert_eq!((limit.bound, error.is_retryable()), (bound, is_retryable));
}

async fn a_value_is_bounded(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_value_bytes: 4,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    bed.put(0, "a", "four", Expiry::Never).await;
    bed.append(0, "a", "four").await;

    let put = bed.try_put(0, "a", "fives", Precondition::Any, Expiry::Never);
    assert_refused(put.await, LimitKind::ValueBytes, false);
    let append = bed.try_append(0, "a", "fives", Expiry::Never);
    assert_refused(append.await, LimitKind::ValueBytes, false);
    let kept = bed.get(0, "a").await.map(|record| record.value);
    assert_eq!(
        kept.as_deref(),
        Some(&b"four"[..]),
        "a refused put changes nothing"
    );
}

async fn entries_are_bounded(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_entries: 2,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    bed.put(0, "a", "", Expiry::Never).await;
    bed.append(0, "log", "").await;

    let put = bed.try_put(0, "b", "", Precondition::Any, Expiry::Never);
    assert_refused(put.await, LimitKind::Entries, true);
    let append = bed.try_append(0, "b", "", Expiry::Never);
    assert_refused(append.await, LimitKind::Entries, true);
    let add = bed.try_add(0, "b", 1, Expiry::Never);
    assert_refused(add.await, LimitKind::Entries, true);
    // Existing entries may change, and may make room.
    bed.put(0, "a", "x", Expiry::Never).await;
    bed.append(0, "log", "").await;
    must("remove", bed.remove(0, "a", Precondition::Any).await);
    bed.put(0, "b", "", Expiry::Never).await;
    assert!(bed.forget(0, "log").await);
    bed.append(0, "b", "").await;
}

/// Cost of a suite key with one letter, in bytes: `conformance/a`.
const KEY: usize = 13 + StoreLimits::ENTRY_BYTES;

async fn bytes_are_bounded(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_bytes: 2 * KEY + 10,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    let put = |name, value| bed.try_put(0, name, value, Precondition::Any, Expiry::Never);
    must("put", put("a", "12345").await);
    must("put", put("b", "12345").await);

    assert_refused(put("a", "123456").await, LimitKind::Bytes, true);
    must("put", put("a", "1234").await);
    must("put", put("b", "123456").await);
    assert_refused(put("c", "").await, LimitKind::Bytes, true);
}

async fn events_count(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_bytes: KEY + 2 * StoreLimits::ENTRY_BYTES + 2,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    bed.append(0, "a", "1").await;
    bed.append(0, "a", "2").await;
    let append = bed.try_append(0, "a", "", Expiry::Never);
    assert_refused(append.await, LimitKind::Bytes, true);

    assert!(bed.forget(0, "a").await);
    bed.append(0, "a", "3").await;
}

async fn what_is_over_makes_room(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_entries: 200,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    for number in 0..199 {
        let name = number.to_string();
        bed.put(0, &name, "", Expiry::At(at(10))).await;
    }
    let append = bed.try_append(0, "log", "", Expiry::At(at(10)));
    must("append", append.await);
    let put = bed.try_put(9, "new", "", Precondition::Any, Expiry::Never);
    assert_refused(put.await, LimitKind::Entries, true);

    for number in 0..200 {
        bed.put(10, &format!("new-{number}"), "", Expiry::Never)
            .await;
    }
}

async fn all_that_is_over_makes_room(subject: &dyn Subject) {
    let bytes = 100 * (KEY + 2);
    let limits = StoreLimits {
        max_bytes: bytes,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    for number in 0..100 {
        let name = format!("{number:03}");
        bed.put(0, &name, "", Expiry::At(at(10))).await;
    }
    let everything = "x".repeat(bytes - KEY);
    bed.put(10, "a", &everything, Expiry::Never).await;
}

async fn watchers_are_bounded(subject: &dyn Subject) {
    let limits = StoreLimits {
        max_watchers: 2,
        ..StoreLimits::default()
    };
    let bed = Bed::limited(subject, limits).await;
    let mut watches = Vec::new();
    for _ in 0..2 * subject.openings() {
        watches.push(bed.changed("a").await);
    }
    assert_refused(bed.try_changed("b").await, LimitKind::Watchers, true);

    drop(watches);
    drop(bed.changed("b").await);
}
