//! Bugs that a storm must find.

use std::sync::Mutex;

use serde_json::Value;

/// A bug of the replicas, or of the code between them and a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plant {
    /// The store loses every fourth answer that a replica passes to the others.
    DroppedAnswer,
    /// Every eighth response to a call is sent to the next client.
    OtherSession,
    /// The first replica does not read that a session has ended.
    ForgottenEnd,
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
