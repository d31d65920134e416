//! Each operation in a fault, once: it happened as a whole, or not at all.

use super::trial::{Trial, all_events};
use super::{Breakable, Fault};
use crate::conformance::bed::text;
use crate::{Expiry, Page, Position, Precondition, Record, StoreError, Tail, Version};

/// Returns the number of operations whose outcome the store did not know.
pub(super) async fn run(subject: &dyn Breakable, fault: Fault) -> usize {
    let trial = Trial::open(subject).await;
    let epoch = trial.epoch().await;
    a_put_is_whole(&trial, fault).await;
    a_put_of_a_version_is_whole(&trial, fault).await;
    a_removal_is_whole(&trial, fault).await;
    a_batch_is_never_half(&trial, fault).await;
    a_batch_at_a_tail_is_never_half(&trial, fault).await;
    an_addition_counts_once(&trial, fault).await;
    a_log_is_forgotten_whole(&trial, fault).await;
    let unknown = trial.unknown();
    reads_are_correct(&trial, fault).await;
    assert_eq!(trial.epoch().await, epoch, "{fault:?} changes no epoch");
    unknown
}

type Written = Result<Version, StoreError>;

/// Checks a put of the value `new`, which replaces `old`.
async fn check_put(
    trial: &Trial<'_>,
    fault: Fault,
    name: &str,
    old: Option<&str>,
    put: impl Future<Output = Written> + Send,
) {
    let written = trial.during(fault, put).await;
    trial.recover().await;
    let found = trial.near.get(0, name).await;
    let value = found.as_ref().map(|record| text(&record.value));
    match written {
        Some(version) => assert_eq!(
            (value.as_deref(), found.map(|record| record.version)),
            (Some("new"), Some(version)),
            "{fault:?}: an acknowledged put is lost"
        ),
        None => assert!(
            value.as_deref() == old || value.as_deref() == Some("new"),
            "{fault:?}: a put leaves {value:?}"
        ),
    }
}

async fn a_put_is_whole(trial: &Trial<'_>, fault: Fault) {
    for (name, condition) in [("any", Precondition::Any), ("absent", Precondition::Absent)] {
        let put = trial.far.try_put(0, name, "new", condition, Expiry::Never);
        check_put(trial, fault, name, None, put).await;
    }
}

/// A store that repeats a put of unknown outcome meets its own version, and returns a conflict.
async fn a_put_of_a_version_is_whole(trial: &Trial<'_>, fault: Fault) {
    let name = "version";
    let version = trial.near.put(0, name, "old", Expiry::Never).await;
    let condition = Precondition::Version(version);
    let put = trial.far.try_put(0, name, "new", condition, Expiry::Never);
    check_put(trial, fault, name, Some("old"), put).await;
}

async fn a_removal_is_whole(trial: &Trial<'_>, fault: Fault) {
    let version = trial.near.put(0, "removed", "old", Expiry::Never).await;
    for condition in [Precondition::Version(version), Precondition::Any] {
        let before = trial.near.get(0, "removed").await;
        let remove = trial.far.remove(0, "removed", condition);
        let removed = trial.during(fault, remove).await;
        trial.recover().await;
        let after = trial.near.get(0, "removed").await;
        check_removal(removed, before.as_ref(), after.as_ref());
        trial.near.put(0, "removed", "old", Expiry::Never).await;
    }
}

fn check_removal(removed: Option<bool>, before: Option<&Record>, after: Option<&Record>) {
    match removed {
        Some(was_present) => {
            assert!(was_present, "the record existed, so the removal removed it");
            assert_eq!(after, None, "an acknowledged removal is lost");
        }
        None => assert!(after.is_none() || after == before, "found {after:?}"),
    }
}

const BATCH: [&str; 3] = ["1", "2", "3"];

/// Checks the batch at the end of a log that began with `before`.
async fn check_batch(trial: &Trial<'_>, log: &str, before: &[&str], appended: Option<Position>) {
    trial.recover().await;
    let events = all_events(&trial.near, log).await;
    let (head, batch) = events.split_at(before.len().min(events.len()));
    assert_eq!(head, before, "acknowledged events are lost");
    match appended {
        Some(last) => {
            assert_eq!(batch, BATCH, "an acknowledged batch occurs once");
            let next = trial.near.events(log, last, 9).await.0;
            assert!(next.is_empty(), "the position is the one of the last event");
        }
        None => assert!(
            batch.is_empty() || batch == BATCH,
            "a batch is there once or not at all, and not as {batch:?}"
        ),
    }
}

async fn a_batch_is_never_half(trial: &Trial<'_>, fault: Fault) {
    trial.near.append(0, "batch", "0").await;
    let append = trial.far.try_append_batch("batch", &BATCH);
    let appended = trial.during(fault, append).await;
    check_batch(trial, "batch", &["0"], appended).await;
}

/// A store that repeats an append of unknown outcome finds that the log has moved.
async fn a_batch_at_a_tail_is_never_half(trial: &Trial<'_>, fault: Fault) {
    let append = trial.far.append_at("first", &BATCH, Position::START);
    let appended = trial.during(fault, append).await;
    check_batch(trial, "first", &[], appended).await;

    let tail = trial.near.append(0, "next", "0").await;
    let append = trial.far.append_at("next", &BATCH, tail);
    let appended = trial.during(fault, append).await;
    check_batch(trial, "next", &["0"], appended).await;
}

async fn an_addition_counts_once(trial: &Trial<'_>, fault: Fault) {
    trial.near.add(0, "sum", 3, Expiry::Never).await;
    let add = trial.far.try_add(0, "sum", 5, Expiry::Never);
    let added = trial.during(fault, add).await;
    trial.recover().await;
    let sum = trial.near.add(0, "sum", 0, Expiry::Never).await;
    match added {
        Some(returned) => assert_eq!((returned, sum), (8, 8), "{fault:?}"),
        None => assert!(sum == 3 || sum == 8, "{fault:?}: the sum is {sum}"),
    }
}

async fn a_log_is_forgotten_whole(trial: &Trial<'_>, fault: Fault) {
    for event in BATCH {
        trial.near.append(0, "forgotten", event).await;
    }
    let (store, log) = (trial.far_store(), trial.far.key("forgotten"));
    let forgotten = trial.during(fault, store.forget(crate::StoreTime::default(), &log));
    let forgotten = forgotten.await;
    trial.recover().await;
    let events = all_events(&trial.near, "forgotten").await;
    match forgotten {
        Some(was_present) => assert!(was_present && events.is_empty(), "{fault:?}: {events:?}"),
        None => assert!(
            events.is_empty() || events == BATCH,
            "{fault:?}: {events:?}"
        ),
    }
}

async fn reads_are_correct(trial: &Trial<'_>, fault: Fault) {
    trial.near.put(0, "read.1", "value", Expiry::Never).await;
    trial.near.append(0, "read.1", "event").await;

    let record = trial.during(fault, trial.far.try_get(0, "read.1")).await;
    let value = record.map(|it| it.map(|record| text(&record.value)));
    assert!(value.is_none() || value == Some(Some("value".to_owned())));
    trial.recover().await;

    let list = trial.far.try_list(0, "read.", Page::first(9));
    let listing = trial.during(fault, list).await;
    assert!(listing.is_none_or(|it| trial.far.names(&it) == ["read.1"]));
    trial.recover().await;

    let read = trial.far.try_read(0, "read.1", Position::START, 9);
    match trial.during(fault, read).await {
        Some(Tail::Events { events, .. }) => assert_eq!(events[0].value, "event"),
        Some(tail) => panic!("{fault:?}: {tail:?}"),
        None => {}
    }
    trial.recover().await;
}
