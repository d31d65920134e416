//! An engine that does not answer: operations fail in time, and work again afterwards.

use super::trial::{Trial, all_events, outcome};
use super::{Breakable, Fault};
use crate::conformance::bed::text;
use crate::{Expiry, Precondition};

/// Returns the number of writes whose outcome the store did not know.
pub(super) async fn run(subject: &dyn Breakable) -> usize {
    let trial = Trial::open(subject).await;
    trial.near.put(0, "paused", "old", Expiry::Never).await;
    trial.recover().await;
    subject.begin(Fault::Pause).await;
    let unknown = write(&trial).await;
    let read = trial.in_time(trial.far.try_get(0, "paused")).await;
    let value = outcome(read).map(|it| it.map(|record| text(&record.value)));
    assert!(
        value.is_none(),
        "nothing passes, and a read returns {value:?}"
    );
    subject.end().await;
    trial.recover().await;
    check(&trial).await;
    unknown
}

/// Writes in the pause. An acknowledgement is an error, because the engine received nothing.
async fn write(trial: &Trial<'_>) -> usize {
    let far = &trial.far;
    let put = far.try_put(0, "paused", "new", Precondition::Any, Expiry::Never);
    let put = outcome(trial.in_time(put).await).is_some();
    let append = far.try_append_batch("paused", &["a", "b"]);
    let append = outcome(trial.in_time(append).await).is_some();
    let add = far.try_add(0, "paused", 1, Expiry::Never);
    let add = outcome(trial.in_time(add).await).is_some();
    assert_eq!([put, append, add], [false; 3], "acknowledged in a pause");
    3
}

/// The requests may arrive after the pause, each at most once.
async fn check(trial: &Trial<'_>) {
    let record = trial.near.get(0, "paused").await.expect("a record");
    let value = text(&record.value);
    assert!(value == "old" || value == "new", "the value is {value}");
    let events = all_events(&trial.near, "paused").await;
    assert!(events.is_empty() || events == ["a", "b"], "{events:?}");
    let sum = trial.near.add(0, "paused", 0, Expiry::Never).await;
    assert!(sum <= 1, "one addition results in {sum}");
}
