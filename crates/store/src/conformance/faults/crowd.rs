//! Several writers in a fault. Acknowledged writes are there, and the others at most once.

use std::sync::Arc;

use super::trial::{Trial, all_events, outcome};
use super::{Breakable, Fault, Survival};
use crate::conformance::Part;
use crate::conformance::bed::{Bed, text};
use crate::sync::Mutex;
use crate::{Expiry, Precondition};

/// Number of writers.
const WRITERS: usize = 4;
/// Number of rounds of each writer. A round is a batch, an addition and a put.
const ROUNDS: usize = 12;

/// The writes of one round that the store acknowledged.
#[derive(Debug, Clone)]
struct Round {
    writer: usize,
    round: usize,
    has_appended: bool,
    has_added: bool,
    has_put: bool,
}

impl Round {
    fn is_acknowledged(&self) -> bool {
        self.has_appended && self.has_added && self.has_put
    }
}

/// Writers at work, and their rounds.
pub(super) struct Crowd {
    name: &'static str,
    rounds: Arc<Mutex<Vec<Round>>>,
    parts: Vec<Part>,
}

impl Crowd {
    /// Prepares writers. The names of their keys begin with `name`.
    pub(super) fn new(bed: &Bed, name: &'static str) -> Self {
        let rounds: Arc<Mutex<Vec<Round>>> = Arc::default();
        let write = |writer| -> Part {
            let (bed, rounds) = (bed.clone(), Arc::clone(&rounds));
            Box::pin(async move {
                for round in 0..ROUNDS {
                    let done = write(&bed, name, writer, round).await;
                    rounds.lock().push(done);
                }
            })
        };
        let parts = (0..WRITERS).map(write).collect();
        Self {
            name,
            rounds,
            parts,
        }
    }

    /// Runs all writers to their end.
    pub(super) fn work(&mut self, subject: &dyn Breakable) -> Part {
        subject.together(std::mem::take(&mut self.parts))
    }

    /// Checks all writes, and returns the number of rounds with an unknown outcome.
    pub(super) async fn check(&self, near: &Bed, survival: Survival) -> usize {
        let rounds = self.rounds.lock().clone();
        if survival == Survival::Everything {
            self.check_log(near, &rounds).await;
            self.check_sum(near, &rounds).await;
        }
        if survival != Survival::Nothing {
            self.check_records(near, &rounds).await;
        }
        let is_unknown = |round: &&Round| !round.is_acknowledged();
        rounds.iter().filter(is_unknown).count()
    }
}

pub(super) async fn run(subject: &dyn Breakable, fault: Fault) -> usize {
    let trial = Trial::open(subject).await;
    let mut crowd = Crowd::new(&trial.far, "crowd");
    subject.begin(fault).await;
    // Each write may wait for its limit, and all writers wait at the same time.
    let limit = subject.operation_limit() * (3 * ROUNDS as u32);
    let ended = trial.within(limit, crowd.work(subject)).await;
    assert!(ended.is_some(), "an operation does not end");
    subject.end().await;
    trial.recover().await;
    crowd.check(&trial.near, Survival::Everything).await
}

async fn write(bed: &Bed, log: &str, writer: usize, round: usize) -> Round {
    let events = [format!("{writer}:{round}:a"), format!("{writer}:{round}:b")];
    let events = events.each_ref().map(String::as_str);
    let (name, value) = (name_of(log, writer), round.to_string());
    let has_appended = outcome(bed.try_append_batch(log, &events).await).is_some();
    let has_added = outcome(bed.try_add(0, log, 1, Expiry::Never).await).is_some();
    let put = bed.try_put(0, &name, &value, Precondition::Any, Expiry::Never);
    let has_put = outcome(put.await).is_some();
    Round {
        writer,
        round,
        has_appended,
        has_added,
        has_put,
    }
}

/// The checks of each kind of write.
impl Crowd {
    /// Each batch is there once and in one piece, or was not acknowledged.
    async fn check_log(&self, near: &Bed, rounds: &[Round]) {
        let events = all_events(near, self.name).await;
        for Round {
            writer,
            round,
            has_appended,
            ..
        } in rounds
        {
            let (first, second) = (format!("{writer}:{round}:a"), format!("{writer}:{round}:b"));
            let places: Vec<usize> = (0..events.len())
                .filter(|it| events[*it] == first)
                .collect();
            assert!(places.len() <= 1, "the batch of {first} is there twice");
            assert!(
                !has_appended || places.len() == 1,
                "the acknowledged batch of {first} is lost"
            );
            let after = places.first().map(|place| events.get(place + 1));
            assert!(
                after.is_none_or(|next| next == Some(&second)),
                "the batch of {first} is not whole"
            );
            let seconds = events.iter().filter(|event| **event == second).count();
            assert_eq!(seconds, places.len(), "the batch of {first} is not whole");
        }
    }

    async fn check_sum(&self, near: &Bed, rounds: &[Round]) {
        let sum = near.add(0, self.name, 0, Expiry::Never).await;
        let least = rounds.iter().filter(|round| round.has_added).count() as i64;
        let most = rounds.len() as i64;
        assert!(
            (least..=most).contains(&sum),
            "the sum is {sum} after {least} to {most} additions"
        );
    }

    /// A record has the value of the last acknowledged round, or of a later one.
    async fn check_records(&self, near: &Bed, rounds: &[Round]) {
        for writer in 0..WRITERS {
            let own = rounds.iter().filter(|round| round.writer == writer);
            let Some(last) = own.filter(|it| it.has_put).map(|it| it.round).max() else {
                continue;
            };
            let record = near.get(0, &name_of(self.name, writer)).await;
            let value = record.map(|record| text(&record.value));
            let round = value.as_deref().and_then(|it| it.parse::<usize>().ok());
            assert!(
                round.is_some_and(|round| round >= last),
                "round {last} of writer {writer} is lost: {value:?}"
            );
        }
    }
}

fn name_of(log: &str, writer: usize) -> String {
    format!("{log}.{writer}")
}
