//! Turns to ask a question: a question is sent to one session at a time.

use pintle_runtime::sync::{Mutex, MutexGuard};
use std::collections::HashSet;
use std::sync::Arc;

/// A question: the id of its task, and its key.
type Question = (String, String);

/// The questions that some session is being asked.
#[derive(Debug, Default)]
pub(super) struct Deliveries(Mutex<HashSet<Question>>);

impl Deliveries {
    /// Takes the turn to ask a question; `None` while another session is asked.
    pub(super) fn begin(self: &Arc<Self>, id: &str, key: &str) -> Option<Delivery> {
        let question = (id.to_owned(), key.to_owned());
        let is_first = self.lock().insert(question.clone());
        is_first.then(|| Delivery {
            deliveries: Arc::clone(self),
            question,
        })
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, HashSet<Question>> {
        self.0.lock()
    }
}

/// The turn to ask a question; dropping it ends the turn.
#[derive(Debug)]
pub(super) struct Delivery {
    deliveries: Arc<Deliveries>,
    question: Question,
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.deliveries.lock().remove(&self.question);
    }
}
