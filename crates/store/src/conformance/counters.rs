//! Checks of counters.

use super::Subject;
use super::bed::{Bed, at};
use super::limits::assert_refused;
use crate::{Expiry, LimitKind, Position, Precondition};

pub(super) async fn run(subject: &dyn Subject) {
    a_counter_begins_at_zero(subject).await;
    a_counter_ends_with_its_first_expiry(subject).await;
    a_counter_is_independent_of_its_record_and_log(subject).await;
    a_sum_beyond_64_bits_changes_nothing(subject).await;
}

async fn a_counter_begins_at_zero(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    for (amount, sum) in [(0, 0), (5, 5), (-7, -2), (0, -2), (12, 10)] {
        assert_eq!(bed.add(0, "count", amount, Expiry::Never).await, sum);
    }
    assert_eq!(bed.add(0, "other", 1, Expiry::Never).await, 1);
}

async fn a_counter_ends_with_its_first_expiry(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    bed.add(0, "count", 3, Expiry::At(at(10))).await;
    assert_eq!(bed.add(9, "count", 1, Expiry::Never).await, 4);
    assert_eq!(bed.add(10, "count", 1, Expiry::At(at(20))).await, 1);
    assert_eq!(bed.add(19, "count", 1, Expiry::At(at(30))).await, 2);
    assert_eq!(bed.add(20, "count", 1, Expiry::Never).await, 1);
}

async fn a_counter_is_independent_of_its_record_and_log(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    bed.put(0, "a", "record", Expiry::Never).await;
    bed.append(0, "a", "event").await;
    bed.add(0, "a", 1, Expiry::Never).await;
    let removed = bed.remove(0, "a", Precondition::Any).await;
    assert!(removed.expect("removes"));
    assert!(bed.forget(0, "a").await);

    assert_eq!(bed.add(0, "a", 1, Expiry::Never).await, 2);
    assert!(bed.get(0, "a").await.is_none());
    assert!(bed.events("a", Position::START, 9).await.0.is_empty());
}

async fn a_sum_beyond_64_bits_changes_nothing(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    for (edge, beyond) in [(i64::MAX, 1), (i64::MIN, -1)] {
        let name = edge.to_string();
        bed.add(0, &name, edge, Expiry::Never).await;
        let refused = bed.try_add(0, &name, beyond, Expiry::Never).await;
        assert_refused(refused, LimitKind::Counter, false);
        assert_eq!(bed.add(0, &name, 0, Expiry::Never).await, edge);
    }
}
