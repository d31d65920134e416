//! A writer that reads its log after an append of unknown outcome. It appends each event once.

use super::trial::{Trial, all_events};
use super::{Breakable, Fault};
use crate::conformance::bed::text;
use crate::{Position, StoreError, Tail};

/// Number of events.
const EVENTS: usize = 40;

pub(super) async fn run(subject: &dyn Breakable, fault: Fault) {
    let trial = Trial::open(subject).await;
    let mut tail = Position::START;
    subject.begin(fault).await;
    for number in 0..EVENTS {
        tail = append_once(&trial, tail, &number.to_string()).await;
    }
    subject.end().await;
    trial.recover().await;
    let expected: Vec<String> = (0..EVENTS).map(|number| number.to_string()).collect();
    assert_eq!(all_events(&trial.near, "patient").await, expected);
}

/// Appends at the tail, and reads after it when the outcome is not known.
async fn append_once(trial: &Trial<'_>, tail: Position, event: &str) -> Position {
    loop {
        let events = [event];
        let append = trial.far.append_at("patient", &events, tail);
        match trial.in_time(append).await {
            Ok(position) => return position,
            // A request of an earlier try may arrive late.
            Err(StoreError::Backend(_) | StoreError::Moved { .. }) => {}
            Err(error) => panic!("append: {error:?}"),
        }
        let read = || trial.far.try_read(0, "patient", tail, 9);
        let Tail::Events { events, .. } = trial.again(read).await else {
            panic!("the events after {tail:?} are lost");
        };
        if let Some(found) = events.first() {
            assert_eq!(text(&found.value), event, "another event follows");
            return found.position;
        }
    }
}
