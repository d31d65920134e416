//! The sessions that are notified of their tasks.

use pintle_runtime::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use pintle_runtime::EngineHandle;

use super::task_engine_handle::TaskEngineHandle;

/// Through which sessions tasks of the core were begun that are at work.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Weak<TaskEngineHandle>>>);

impl Sessions {
    /// Remembers through which session a task was begun, for as long as it is at work.
    pub(crate) fn remember(&self, id: &str, engine_handle: &Arc<TaskEngineHandle>) {
        self.lock()
            .insert(id.to_owned(), Arc::downgrade(engine_handle));
    }

    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<dyn EngineHandle>> {
        let engine_handle = self.lock().get(id)?.upgrade()?;
        engine_handle.conversation()
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<TaskEngineHandle>>> {
        self.0.lock()
    }
}
