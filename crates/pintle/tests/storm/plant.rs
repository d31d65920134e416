//! Bugs that a storm must find.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A bug of the replicas, or of the code between them and a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plant {
    /// Every fourth answer to a question is accepted, and reaches no replica.
    DroppedAnswer,
    /// Every eighth response to a call is sent to the next client.
    OtherSession,
    /// The first replica does not read that a session has ended.
    ForgottenEnd,
}

/// Every fourth answer is dropped.
const DROPPED: usize = 4;

/// The answers of [`Plant::DroppedAnswer`].
#[derive(Default)]
pub(super) struct Dropped(AtomicUsize);

impl Dropped {
    /// Returns true for every fourth answer.
    pub(super) fn drops(&self, plant: Option<Plant>) -> bool {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        plant == Some(Plant::DroppedAnswer) && count.is_multiple_of(DROPPED)
    }
}

/// Every eighth response goes to the next client.
const SWAPPED: usize = 8;

/// The responses of [`Plant::OtherSession`].
#[derive(Default)]
pub(super) struct Swapped(Mutex<(usize, Option<Value>)>);

impl Swapped {
    /// Exchanges a response for that of another client, once in [`SWAPPED`].
    pub(super) fn pass(&self, plant: Option<Plant>, response: Value) -> Option<Value> {
        if plant != Some(Plant::OtherSession) {
            return Some(response);
        }
        let (count, kept) = &mut *self.0.lock().expect("no panic");
        *count += 1;
        match kept.take() {
            Some(other) => Some(other),
            None if count.is_multiple_of(SWAPPED) => {
                *kept = Some(response);
                None
            }
            None => Some(response),
        }
    }
}
