//! The sessions that are notified of their tasks.

use pintle_runtime::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use pintle_runtime::EngineHandle;

use super::outlet::TaskOutlet;

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

    pub(super) fn get(&self, id: &str) -> Option<Arc<dyn EngineHandle>> {
        let outlet = self.lock().get(id)?.upgrade()?;
        outlet.conversation()
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<TaskOutlet>>> {
        self.0.lock()
    }
}
