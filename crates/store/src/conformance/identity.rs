//! Checks of the epoch and the time of a store.

use super::Subject;
use super::bed::Bed;
use crate::Epoch;

pub(super) async fn run(subject: &dyn Subject) {
    the_first_epoch_stays(subject).await;
    the_time_does_not_go_back(subject).await;
}

async fn the_first_epoch_stays(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let (first, second) = (Epoch::new(u128::MAX - 1), Epoch::new(2));
    assert_eq!(bed.epoch(first).await, first);
    assert_eq!(bed.epoch(second).await, first);
    let other = Bed::make(subject).await;
    assert_eq!(other.epoch(second).await, second, "each store has its own");
}

async fn the_time_does_not_go_back(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let (first, second) = (bed.time().await, bed.time().await);
    assert_eq!(first.is_some(), second.is_some());
    assert!(first <= second, "{first:?}, then {second:?}");
}
