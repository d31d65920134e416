//! The notifications of a server about tasks, and the listeners for them.
//!
//! No behavior depends on them: the client polls each task anyway, and a notification only makes it
//! poll sooner.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use pintle_model::{Meta, ProgressParams};
use pintle_proto::IncomingNotice;
use pintle_runtime::sync::{Mutex, MutexGuard};
use serde::Deserialize;
use tokio::sync::Notify;

/// Largest number of unread progress notifications of one task; beyond it the latest replaces the
/// one before.
const WAITING_PROGRESS: usize = 64;

/// The listeners for the tasks that the client follows.
#[derive(Debug, Default)]
pub(crate) struct TaskEvents(Mutex<Vec<Weak<TaskListener>>>);

/// The unread notifications about one task.
#[derive(Debug)]
pub(crate) struct TaskListener {
    id: String,
    state: Mutex<ListenerState>,
    wake: Notify,
}

#[derive(Debug)]
struct ListenerState {
    progress: VecDeque<ProgressParams>,
    last: f64,
    has_changed: bool,
}

/// The member that names a task, in a status notice of either revision.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    task_id: String,
}

impl TaskEvents {
    /// Receives the notifications about a task until the listener is dropped.
    pub(crate) fn listen(&self, id: &str) -> Arc<TaskListener> {
        let listener = Arc::new(TaskListener {
            id: id.to_owned(),
            state: Mutex::new(ListenerState {
                progress: VecDeque::new(),
                last: f64::NEG_INFINITY,
                has_changed: false,
            }),
            wake: Notify::new(),
        });
        let mut listeners = self.lock();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        listener
    }

    /// Records that a task has changed, whatever its status.
    pub(crate) fn changed(&self, notified: &IncomingNotice) {
        let Ok(Named { task_id }) = notified.params.decode() else {
            return;
        };
        for listener in self
            .listeners()
            .into_iter()
            .filter(|listener| listener.id == task_id)
        {
            listener.lock().has_changed = true;
            listener.wake.notify_one();
        }
    }

    /// Records the progress of a task.
    pub(crate) fn progress(&self, notified: &IncomingNotice) {
        let Ok(progress) = notified.params.decode::<ProgressParams>() else {
            return;
        };
        let meta = progress.meta.as_ref();
        let Some(id) = meta.and_then(Meta::related_task) else {
            return;
        };
        for listener in self
            .listeners()
            .into_iter()
            .filter(|listener| listener.id == id)
        {
            listener.put(progress.clone());
        }
    }

    fn listeners(&self) -> Vec<Arc<TaskListener>> {
        self.lock().iter().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<TaskListener>>> {
        self.0.lock()
    }
}

impl TaskListener {
    /// Waits until a notification arrives.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub(crate) async fn notified(&self) {
        self.wake.notified().await;
    }

    /// Returns true if the server has reported a change of the task since the last call.
    pub(crate) fn take_change(&self) -> bool {
        std::mem::take(&mut self.lock().has_changed)
    }

    /// Returns the oldest unread progress.
    pub(crate) fn take_progress(&self) -> Option<ProgressParams> {
        self.lock().progress.pop_front()
    }

    fn put(&self, progress: ProgressParams) {
        let mut state = self.lock();
        if !progress.progress.is_finite() || progress.progress <= state.last {
            return;
        }
        state.last = progress.progress;
        if state.progress.len() >= WAITING_PROGRESS {
            state.progress.pop_back();
        }
        state.progress.push_back(progress);
        self.wake.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, ListenerState> {
        self.state.lock()
    }
}
