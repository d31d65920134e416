//! Tasks between a client and a server with different forms of tasks.
//!
//! 2025-11-25 has tasks in its core, and 2026-07-28 as an extension. A task of a server of the core stays there: each poll
//! of the client is a poll of the server ([`core`]). A server of the extension decides which calls become tasks. So a task
//! of a client of the core is one of the proxy, which runs the call ([`own`]).

mod core;
mod follow;
mod own;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pintle::runtime::sync::Mutex;

pub(crate) use core::CoreTask;
pub(crate) use follow::{
    AskClient, CancelOnDrop, OfContext, Round, follow, pause_before_poll, rounds, stated, to_end,
    within,
};
pub(crate) use own::{End, OwnCall, OwnTask};

/// The tasks that the proxy knows.
#[derive(Default)]
pub(crate) struct Tasks {
    core: Mutex<HashMap<String, Arc<CoreTask>>>,
    own: Mutex<HashMap<String, Arc<OwnTask>>>,
}

impl Tasks {
    /// Removes tasks that were not polled for a time, and own tasks whose time is over.
    pub(crate) fn sweep(&self, idle: Duration) {
        let mut removed = Vec::new();
        self.core.lock().retain(|_, task| {
            let stays = task.is_fresh(idle);
            if !stays {
                removed.push(Arc::clone(task));
            }
            stays
        });
        self.own.lock().retain(|_, task| task.is_fresh());
        // Outside of the lock, because the last clone of a client closes its connection.
        drop(removed);
    }

    /// Removes all tasks.
    pub(crate) fn clear(&self) {
        let (core, own) = (
            std::mem::take(&mut *self.core.lock()),
            std::mem::take(&mut *self.own.lock()),
        );
        own.values().for_each(|task| task.abort());
        drop(core);
    }
}
