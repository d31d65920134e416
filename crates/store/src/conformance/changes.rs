//! Checks of change notifications.

use super::Subject;
use super::bed::{Bed, must, next};
use crate::{Expiry, Precondition};

pub(super) async fn run(subject: &dyn Subject) {
    every_kind_of_change_is_told(subject).await;
    changes_before_waiting_are_told(subject).await;
    everybody_is_told(subject).await;
    who_waits_is_woken(subject).await;
}

async fn every_kind_of_change_is_told(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let mut changes = bed.changed("a").await;

    bed.put(0, "a", "", Expiry::Never).await;
    assert_eq!(next(&mut changes).await, Some(()));
    bed.append(0, "a.b", "").await;
    assert_eq!(next(&mut changes).await, Some(()));
    must("remove", bed.remove(0, "a", Precondition::Any).await);
    assert_eq!(next(&mut changes).await, Some(()));
    bed.forget(0, "a.b").await;
    assert_eq!(next(&mut changes).await, Some(()));
}

async fn changes_before_waiting_are_told(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let mut changes = bed.changed("key").await;
    for value in ["a", "b", "c"] {
        bed.put(0, "key", value, Expiry::Never).await;
    }
    assert_eq!(next(&mut changes).await, Some(()));
}

async fn everybody_is_told(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let mut all = Vec::new();
    for start in ["key", "key.", "key.a", "key.a"] {
        all.push(bed.changed(start).await);
    }
    if subject.is_ordered() {
        all.push(bed.changed("").await);
        all.push(bed.changed("k").await);
    }
    bed.put(0, "key.a", "", Expiry::Never).await;
    for changes in &mut all {
        assert_eq!(next(changes).await, Some(()));
    }
}

async fn who_waits_is_woken(subject: &dyn Subject) {
    const ROUNDS: u64 = 50;
    let bed = Bed::make(subject).await;
    let (reader, writer) = (bed.clone(), bed.clone());
    let reading = async move {
        let mut changes = reader.changed("count").await;
        loop {
            let record = reader.get(0, "count").await;
            if record.is_some_and(|it| it.value == ROUNDS.to_string()) {
                break;
            }
            assert_eq!(next(&mut changes).await, Some(()));
        }
    };
    let writing = async move {
        for round in 1..=ROUNDS {
            writer
                .put(0, "count", &round.to_string(), Expiry::Never)
                .await;
        }
    };
    subject
        .together(vec![Box::pin(reading), Box::pin(writing)])
        .await;
}
