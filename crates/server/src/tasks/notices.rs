//! Notices of tasks: to the session that began a task, and to its listeners.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pintle_model::Feature;
use pintle_runtime::Outlet;

use super::keep::Tasks;
use super::outlet::TaskOutlet;
use super::record::TaskRecord;

/// Through which sessions tasks of the core were begun that are at work.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Weak<TaskOutlet>>>);

impl Sessions {
    /// Remembers through which session a task was begun, for as long as it is at work.
    pub(crate) fn remember(&self, id: &str, outlet: &Arc<TaskOutlet>) {
        self.lock().insert(id.to_owned(), Arc::downgrade(outlet));
    }

    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    fn get(&self, id: &str) -> Option<Arc<dyn Outlet>> {
        let outlet = self.lock().get(id)?.upgrade()?;
        outlet.conversation()
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<TaskOutlet>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tasks {
    /// Tells the session that began the task, and those who listen.
    pub(super) fn tell(&self, record: &TaskRecord) {
        tracing::debug!(status = ?record.status(), "a task changed");
        let now = self.clock.now();
        let is_core = record
            .origin
            .revision()
            .is_some_and(|revision| revision.has(Feature::CoreTasks));
        if is_core && let Some(session) = self.sessions.get(&record.id) {
            let task = record.core_task(&self.options, now);
            session.with(|engine| engine.tell_task(&task));
        }
        self.changes.each(|outlet| {
            outlet.engine(&mut |engine| {
                engine.publish_task(record.owner_id(), &record.id, &mut |terms| {
                    record.detailed(&self.options, now, terms).ok()
                });
            });
        });
    }
}

/// Whether a client sees the difference.
pub(super) fn is_news_after(before: &TaskRecord, after: &TaskRecord) -> bool {
    let keys = |record: &TaskRecord| {
        let open = record.questions.iter().map(|open| open.key.clone());
        open.collect::<Vec<_>>()
    };
    before.status() != after.status() || keys(before) != keys(after)
}
