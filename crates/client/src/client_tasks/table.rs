//! The stored client tasks, oldest first.

use std::time::SystemTime;

use pintle_model::{Error, ErrorCode, Task, TaskStatus, Timestamp};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Outcome;

/// The tasks of one conversation.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<StoredTask>,
    /// Number of tasks so far: the place of the next one in lists.
    count: u64,
    /// Total size of the stored outcomes, in bytes.
    bytes: usize,
}

/// One client task, with its outcome once it has ended.
pub(super) struct StoredTask {
    pub(super) place: u64,
    pub(super) task: Task,
    pub(super) outcome: Option<Outcome>,
    /// Aborts the task that runs until the client task is removed.
    pub(super) life: Option<AbortHandle>,
    ended: watch::Sender<bool>,
}

impl StoredTask {
    pub(super) fn new(task: Task) -> Self {
        Self {
            place: 0,
            task,
            outcome: None,
            life: None,
            ended: watch::Sender::new(false),
        }
    }

    /// Resolves when the task has ended; fails when it is removed.
    pub(super) fn end(&self) -> watch::Receiver<bool> {
        self.ended.subscribe()
    }
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn insert(&mut self, mut row: StoredTask) {
        self.count += 1;
        row.place = self.count;
        self.rows.push(row);
    }

    pub(super) fn get(&self, id: &str) -> Option<&StoredTask> {
        self.rows.iter().find(|row| row.task.task_id == id)
    }

    /// The tasks behind a place.
    pub(super) fn after(&self, place: u64) -> impl Iterator<Item = &StoredTask> {
        self.rows.iter().filter(move |row| row.place > place)
    }

    /// Returns the outcome if it fits the size limit; otherwise an error.
    pub(super) fn fitted(&self, outcome: Outcome, most: usize) -> Outcome {
        let size = size_of(&outcome);
        if outcome.is_err() || self.bytes.saturating_add(size) <= most {
            return outcome;
        }
        tracing::warn!(bytes = size, most, "there is no room for an answer");
        let message = "the answer is too large to be kept until it is asked for";
        Err(Error::new(ErrorCode::INTERNAL_ERROR, message))
    }

    /// Ends a task unless it has ended. Returns it in that case.
    pub(super) fn end(
        &mut self,
        id: &str,
        status: TaskStatus,
        message: Option<String>,
        outcome: Option<Outcome>,
    ) -> Option<Task> {
        let row = self.rows.iter_mut().find(|row| row.task.task_id == id)?;
        if row.task.status.is_terminal() {
            return None;
        }
        self.bytes += outcome.as_ref().map_or(0, size_of);
        row.task.status = status;
        row.task.status_message = message;
        row.task.last_updated_at = Timestamp::from(SystemTime::now());
        row.outcome = outcome;
        row.ended.send_replace(true);
        Some(row.task.clone())
    }

    pub(super) fn remove(&mut self, id: &str) {
        if let Some(at) = self.rows.iter().position(|row| row.task.task_id == id) {
            let row = self.rows.remove(at);
            self.bytes -= row.outcome.as_ref().map_or(0, size_of);
        }
    }

    /// Aborts and removes all tasks.
    pub(super) fn clear(&mut self) {
        let lives = self.rows.drain(..).filter_map(|row| row.life);
        lives.for_each(|life| life.abort());
        self.bytes = 0;
    }
}

fn size_of(outcome: &Outcome) -> usize {
    match outcome {
        Ok((json, meta)) => {
            json.len()
                + meta
                    .iter()
                    .map(|(key, value)| key.len() + value.to_string().len())
                    .sum::<usize>()
        }
        Err(error) => {
            error.message.len() + error.data.as_ref().map_or(0, |data| data.to_string().len())
        }
    }
}
