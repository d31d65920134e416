//! One change of a task at a time.
//!
//! A change is stored first and its notices are sent then. If another change of the same task came
//! between the two, its notices would leave first, and a listener would read the older state last.

use pintle_runtime::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex as Place, OwnedMutexGuard};

/// The tasks that are being changed in this process.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<String, Weak<Place<()>>>>);

/// The right to change one task; given up when dropped.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    id: &'a str,
    held: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// Waits for the turn to change a task: first come, first served.
    pub(super) async fn take<'a>(&'a self, id: &'a str) -> Turn<'a> {
        // From here on the entry is removed if the wait is given up.
        let mut turn = Turn {
            turns: self,
            id,
            held: None,
        };
        turn.held = Some(self.place(id).lock_owned().await);
        turn
    }

    fn place(&self, id: &str) -> Arc<Place<()>> {
        let mut places = self.lock();
        if let Some(place) = places.get(id).and_then(Weak::upgrade) {
            return place;
        }
        let place = Arc::default();
        places.insert(id.to_owned(), Arc::downgrade(&place));
        place
    }

    // Every change is one statement, so the contents of a poisoned lock are whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<Place<()>>>> {
        self.0.lock()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut places = self.turns.lock();
        if places
            .get(self.id)
            .is_some_and(|place| place.strong_count() == 0)
        {
            places.remove(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_is_changed_by_one_at_a_time_and_then_forgotten() {
        let turns = Turns::default();
        let first = turns.take("a").await;
        let other = turns.take("b").await;
        let mut second = Box::pin(turns.take("a"));
        let mut third = Box::pin(turns.take("a"));
        let none = std::future::ready(());
        tokio::select! {
            biased;
            _ = &mut second => panic!("the first has the turn"),
            _ = &mut third => panic!("the first has the turn"),
            () = none => {}
        }
        drop((first, other));
        drop(second);
        drop(third.await);
        assert!(turns.lock().is_empty());
    }
}
