//! A watch outlives its connection: a reconnect wakes it, because a change may have been missed.

use std::task::{Context, Poll, Waker};

use super::trial::Trial;
use super::{Breakable, Fault};
use crate::conformance::bed::text;
use crate::{Changes, Expiry};

/// Number of faults in a row.
const ROUNDS: usize = 3;

pub(super) async fn run(subject: &dyn Breakable) -> usize {
    let trial = Trial::open(subject).await;
    let mut changes = trial.far.changed("watched").await;
    for round in 0..ROUNDS {
        drain(&mut changes);
        subject.begin(Fault::Away).await;
        trial
            .near
            .put(0, "watched", &round.to_string(), Expiry::Never)
            .await;
        subject.end().await;
        wait_for(&trial, &mut changes, "a change in a fault").await;
        trial.recover().await;
        a_later_change_wakes(&trial, &mut changes, round).await;
    }
    0
}

/// A watch outlives a restart of the engine.
pub(super) async fn run_restart(subject: &dyn Breakable) {
    let trial = Trial::open(subject).await;
    let mut changes = trial.far.changed("watched").await;
    subject.begin(Fault::Restart).await;
    subject.end().await;
    trial.recover().await;
    trial.recover_near().await;
    a_later_change_wakes(&trial, &mut changes, 0).await;
}

/// Wake-ups may be late, so the watcher reads after each, until it has read the value.
async fn a_later_change_wakes(trial: &Trial<'_>, changes: &mut Changes, round: usize) {
    drain(changes);
    let expected = format!("later {round}");
    trial.near.put(0, "watched", &expected, Expiry::Never).await;
    loop {
        wait_for(trial, changes, "a change after a fault").await;
        let far = &trial.far;
        let record = trial.again(|| far.try_get(0, "watched")).await;
        if record.is_some_and(|record| text(&record.value) == expected) {
            return;
        }
    }
}

async fn wait_for(trial: &Trial<'_>, changes: &mut Changes, what: &str) {
    let limit = trial.subject.recovery_limit();
    let woken = trial.within(limit, changes.next()).await;
    assert_eq!(woken, Some(Some(())), "{what} wakes the watcher");
}

/// Takes the reports that wait.
fn drain(changes: &mut Changes) {
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(())) = changes.poll_next(&mut cx) {}
}
