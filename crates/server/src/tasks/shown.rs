//! The newest state of each task that this replica has shown.
//!
//! A store may answer two reads in another order than it made them. Another replica may change a task
//! while a write of this one is on its way. So a state that is older than a shown one is read again.

use pintle_runtime::sync::Mutex;
use std::collections::{HashMap, VecDeque};

use super::record::TaskRecord;

/// Numbers of the newest states that clients were shown, by id of the task.
#[derive(Debug, Default)]
pub(super) struct ShownStates(Mutex<States>);

#[derive(Debug, Default)]
struct States {
    number_by_id: HashMap<String, u64>,
    /// The ids in the order of their first state, so that the oldest is dropped first.
    ids: VecDeque<String>,
}

impl ShownStates {
    /// Notes that a state is shown, unless a newer one was; returns false then. Beyond `most` tasks,
    /// the state of the oldest one is dropped.
    pub(super) fn show(&self, record: &TaskRecord, most: usize) -> bool {
        let mut states = self.0.lock();
        if let Some(number) = states.number_by_id.get_mut(&record.id) {
            let is_newest = *number <= record.number();
            *number = record.number().max(*number);
            return is_newest;
        }
        states.add(record, most);
        true
    }
}

impl States {
    fn add(&mut self, record: &TaskRecord, most: usize) {
        while self.ids.len() >= most.max(1)
            && let Some(oldest) = self.ids.pop_front()
        {
            self.number_by_id.remove(&oldest);
        }
        self.ids.push_back(record.id.clone());
        self.number_by_id.insert(record.id.clone(), record.number());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::record::tests::{at, record};

    #[test]
    fn an_older_state_is_not_shown_after_a_newer_one() {
        let (shown, older) = (ShownStates::default(), record("a"));
        let mut newer = older.clone();
        newer.count_change(at(1));
        assert!(shown.show(&older, 10) && shown.show(&newer, 10));
        assert!(!shown.show(&older, 10), "the newer one was shown");
        assert!(shown.show(&newer, 10), "again");
    }

    #[test]
    fn the_states_of_the_oldest_tasks_are_dropped_at_the_limit() {
        let shown = ShownStates::default();
        for id in ["a", "b", "c"] {
            assert!(shown.show(&record(id), 2));
        }
        let states = shown.0.lock();
        assert_eq!(states.ids, ["b", "c"]);
        assert_eq!(states.number_by_id.len(), 2);
    }
}
