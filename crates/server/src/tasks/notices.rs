//! Notices of tasks: to the session that began a task, and to its listeners.

use pintle_model::Feature;

use super::record::TaskRecord;
use super::task_store::Tasks;

impl Tasks {
    /// Sends a state of a task to the session that began it, and to its listeners.
    pub(super) fn tell(&self, record: &TaskRecord) {
        tracing::debug!(status = ?record.status(), "a task changed");
        let now = self.now();
        let is_core = record
            .origin
            .revision()
            .is_some_and(|revision| revision.has(Feature::CoreTasks));
        if is_core && let Some(session) = self.sessions.get(&record.id) {
            let task = record.core_task(&self.options, now);
            session.with(|engine| engine.send_task_status(&task));
        }
        self.changes.each(|engine_handle| {
            engine_handle.engine(&mut |engine| {
                engine.publish_task(record.owner_id(), &record.id, &mut |terms| {
                    record.detailed(&self.options, now, terms).ok()
                });
            });
        });
    }
}
