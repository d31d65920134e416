//! Writes whose order a test knows, so that it can check them after the process was killed.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::bed::{Bed, text};
use crate::{Expiry, Position, Precondition, Store, StoreError};

/// Number of writes with one log. A log of this size is below every default limit.
const WRITES_OF_A_LOG: u64 = 300;

/// Numbered writes to a store, one after another: batches, additions and puts.
///
/// A process reports each acknowledged write, and is killed. Another opening of the store then checks
/// the content. All acknowledged writes are there, and the next one as a whole or not at all.
pub struct Journal {
    bed: Bed,
    name: String,
}

impl Journal {
    /// Creates a journal in a store. Each writer of a store has a name of its own.
    pub fn new(store: Arc<dyn Store>, name: &str) -> Self {
        let (bed, name) = (Bed::of(store), name.to_owned());
        Self { bed, name }
    }

    /// Writes numbers after `last`, and reports each one after its acknowledgement, until `report`
    /// breaks.
    ///
    /// # Errors
    ///
    /// The error of the first write that fails.
    pub async fn write(
        &self,
        last: u64,
        mut report: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for number in last + 1.. {
            self.write_one(number).await?;
            if report(number).is_break() {
                break;
            }
        }
        Ok(())
    }

    async fn write_one(&self, number: u64) -> Result<(), StoreError> {
        let (name, value) = (&self.name, number.to_string());
        match Kind::of(number) {
            Kind::Batch => {
                let batch = batch(number);
                let events = batch.each_ref().map(String::as_str);
                let log = self.log(number);
                self.bed.try_append_batch(&log, &events).await.map(drop)
            }
            Kind::Addition => {
                let add = self.bed.try_add(0, name, 1, Expiry::Never);
                add.await.map(drop)
            }
            Kind::Put => {
                let put = (Precondition::Any, Expiry::Never);
                let put = self.bed.try_put(0, name, &value, put.0, put.1);
                put.await.map(drop)
            }
        }
    }

    /// Checks the writes after a crash, and returns the number of the last write. It is `acknowledged`,
    /// or the number after it.
    ///
    /// # Panics
    ///
    /// If an acknowledged write is lost, or another one is half there or there twice.
    pub async fn check(&self, acknowledged: u64) -> u64 {
        let next = acknowledged + 1;
        let has_next = match Kind::of(next) {
            Kind::Batch => !self.events_of(next).await.is_empty(),
            Kind::Addition => self.sum().await > count(Kind::Addition, acknowledged),
            Kind::Put => self.value().await == Some(next),
        };
        let last = acknowledged + u64::from(has_next);
        self.check_logs(last).await;
        assert_eq!(self.sum().await, count(Kind::Addition, last), "additions");
        let put = (1..=last).rev().find(|it| Kind::of(*it) == Kind::Put);
        assert_eq!(self.value().await, put, "the last put");
        last
    }

    async fn check_logs(&self, last: u64) {
        for first in (0..=last).step_by(WRITES_OF_A_LOG as usize) {
            let of_log = first..(first + WRITES_OF_A_LOG).min(last + 1);
            let batches = of_log.filter(|it| *it > 0 && Kind::of(*it) == Kind::Batch);
            let expected: Vec<String> = batches.flat_map(batch).collect();
            assert_eq!(self.events_in(first).await, expected, "events");
        }
    }

    fn log(&self, number: u64) -> String {
        format!("{}.{}", self.name, number / WRITES_OF_A_LOG)
    }

    async fn events_in(&self, number: u64) -> Vec<String> {
        let most = WRITES_OF_A_LOG as usize;
        let log = self.log(number);
        let (events, more) = self.bed.events(&log, Position::START, 3 * most).await;
        assert!(!more, "a log has more events than were written");
        events
    }

    async fn events_of(&self, number: u64) -> Vec<String> {
        let mut events = self.events_in(number).await;
        let start = format!("{number}:");
        events.retain(|event| event.starts_with(&start));
        events
    }

    async fn sum(&self) -> u64 {
        let sum = self.bed.add(0, &self.name, 0, Expiry::Never).await;
        sum.unsigned_abs()
    }

    async fn value(&self) -> Option<u64> {
        let record = self.bed.get(0, &self.name).await?;
        Some(text(&record.value).parse().expect("only numbers were put"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Batch,
    Addition,
    Put,
}

impl Kind {
    fn of(number: u64) -> Self {
        [Self::Put, Self::Batch, Self::Addition][(number % 3) as usize]
    }
}

/// Returns how many of the first `last` writes are of a kind.
fn count(kind: Kind, last: u64) -> u64 {
    (1..=last).filter(|it| Kind::of(*it) == kind).count() as u64
}

fn batch(number: u64) -> [String; 3] {
    ["a", "b", "c"].map(|part| format!("{number}:{part}"))
}
