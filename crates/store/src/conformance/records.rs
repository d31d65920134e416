//! One record at a time.

use super::Subject;
use super::bed::{Bed, assert_conflict, at, must, text};
use crate::{Expiry, Precondition};

pub(super) async fn run(subject: &dyn Subject) {
    what_was_put_is_read(subject).await;
    a_precondition_decides(subject).await;
    a_version_never_comes_back(subject).await;
    what_is_over_is_absent(subject).await;
    one_of_many_that_are_over_is_absent(subject).await;
    a_put_replaces_the_expiry(subject).await;
    a_key_names_a_record_and_a_log(subject).await;
}

async fn what_was_put_is_read(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    assert_eq!(bed.get(0, "a").await, None);

    for value in ["", "one", "a\0ü\n"] {
        let version = bed.put(0, "a", value, Expiry::Never).await;
        let record = bed.get(0, "a").await.expect("what was put is there");
        assert_eq!(
            (text(&record.value), record.version),
            (value.to_owned(), version)
        );
        assert_eq!(record.expiry, Expiry::Never);
    }
    assert!(must("remove", bed.remove(0, "a", Precondition::Any).await));
    assert!(!must("remove", bed.remove(0, "a", Precondition::Any).await));
    assert_eq!(bed.get(0, "a").await, None);
}

async fn a_precondition_decides(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let put = |condition| bed.try_put(0, "a", "v", condition, Expiry::Never);
    let first = must("put", put(Precondition::Absent).await);

    assert_conflict(put(Precondition::Absent).await, Some(first));
    let second = must("put", put(Precondition::Version(first)).await);
    assert_conflict(put(Precondition::Version(first)).await, Some(second));
    let remove = bed.remove(0, "a", Precondition::Version(first));
    assert_conflict(remove.await, Some(second));
    let remove = bed.remove(0, "a", Precondition::Version(second));
    assert!(must("remove", remove.await));
    assert_conflict(put(Precondition::Version(second)).await, None);
    let remove = bed.remove(0, "a", Precondition::Version(second));
    assert_conflict(remove.await, None);
    assert!(!must(
        "remove",
        bed.remove(0, "a", Precondition::Absent).await
    ));
}

async fn a_version_never_comes_back(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let mut seen = Vec::new();
    for _ in 0..8 {
        for _ in 0..2 {
            let version = bed.put(0, "a", "same", Expiry::Never).await;
            assert!(!seen.contains(&version), "{version:?} was there before");
            seen.push(version);
        }
        must("remove", bed.remove(0, "a", Precondition::Any).await);
    }
}

async fn what_is_over_is_absent(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let version = bed.put(0, "a", "v", Expiry::At(at(10))).await;

    assert!(bed.get(9, "a").await.is_some());
    assert_eq!(bed.get(10, "a").await, None);
    let put = bed.try_put(10, "a", "w", Precondition::Version(version), Expiry::Never);
    assert_conflict(put.await, None);
    assert!(!must(
        "remove",
        bed.remove(10, "a", Precondition::Any).await
    ));
    let put = bed.try_put(10, "a", "w", Precondition::Absent, Expiry::Never);
    must("put", put.await);
    let record = bed.get(u64::MAX, "a").await;
    assert_eq!(record.map(|it| text(&it.value)).as_deref(), Some("w"));
}

/// Clearing away may take its time; being absent may not.
async fn one_of_many_that_are_over_is_absent(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    for number in 0..300 {
        let name = number.to_string();
        bed.put(0, &name, "", Expiry::At(at(number))).await;
    }
    let put = bed.try_put(300, "299", "", Precondition::Absent, Expiry::Never);
    must("put", put.await);
    assert!(!must(
        "remove",
        bed.remove(300, "298", Precondition::Any).await
    ));
}

async fn a_put_replaces_the_expiry(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    bed.put(0, "a", "v", Expiry::At(at(10))).await;
    bed.put(5, "a", "v", Expiry::At(at(20))).await;
    assert!(bed.get(19, "a").await.is_some());

    bed.put(6, "a", "v", Expiry::At(at(8))).await;
    assert_eq!(bed.get(8, "a").await, None);

    bed.put(9, "a", "v", Expiry::At(at(9))).await;
    assert_eq!(bed.get(9, "a").await, None);
}

async fn a_key_names_a_record_and_a_log(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    bed.put(0, "a", "record", Expiry::Never).await;
    bed.append(0, "a", "event").await;

    must("remove", bed.remove(0, "a", Precondition::Any).await);
    let (events, _) = bed.events("a", crate::Position::START, 9).await;
    assert_eq!(events, ["event"]);
}
