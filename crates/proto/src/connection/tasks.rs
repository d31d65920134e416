//! Tasks: what a conversation knows of work that outlives its request.
//!
//! A request that becomes a task of the core (2025-11-25) keeps its progress token until the task
//! ends; what is told of it then belongs to the session. A task of the extension is silent, except
//! to listeners that follow it.

use pintle_model::method::{Notice, TaskChanged, TaskStatusChanged};
use pintle_model::{DetailedTask, Feature, Meta, Task};

use super::builtin::tagged;
use super::{Connection, Negotiation, Side};
use crate::io::{DropPolicy, Lane, RequestKey};
use crate::terms::Terms;

impl Connection {
    /// Notes that a request is about to be answered with a task: what its handler tells from then
    /// on names the task, and is told until [`Connection::end_task`]. Nothing happens where tasks
    /// are an extension, which keeps them silent.
    ///
    /// Spec: [2025-11-25, Tasks, Progress][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
    pub fn begin_task(&mut self, key: RequestKey, task_id: &str) {
        if let Some(row) = self.inbound.row_mut(key)
            && row.terms.has(Feature::CoreTasks)
        {
            row.task = Some(task_id.into());
        }
    }

    /// Notes that the task a request has become is over.
    pub fn end_task(&mut self, key: RequestKey) {
        self.inbound.end_task(key);
    }

    /// Tells the session how far a task of the core has come. A client that has not been sent the task
    /// itself is sent its latest status right behind it.
    pub fn send_task_status(&mut self, task: &Task) {
        let Side::Server(server) = &self.side else {
            return;
        };
        let hears = match &server.ground {
            Negotiation::Session { terms, .. } => terms.has(Feature::CoreTasks),
            Negotiation::Open { .. } | Negotiation::Fixed(_) => false,
        };
        if !hears {
            return;
        }
        if let Some(row) = self.inbound.row_of_task_mut(&task.task_id) {
            row.unsent_status = Some(Box::new(task.clone()));
            return;
        }
        self.transmit_status(task);
    }

    pub(super) fn transmit_status(&mut self, task: &Task) {
        let name = TaskStatusChanged::NAME;
        // Who misses one can still ask.
        self.transmit_notice(Lane::Session, DropPolicy::DropOldest, name, Some(task));
    }

    /// Tells listeners that follow a task of the extension what has become of it, if they speak for
    /// its owner. `face` says it to a client on these terms, or keeps it from one.
    pub fn publish_task(
        &mut self,
        owner: Option<&str>,
        task_id: &str,
        face: &mut dyn FnMut(&Terms) -> Option<DetailedTask>,
    ) {
        let Side::Server(server) = &self.side else {
            return;
        };
        if server.peer.principal() != owner {
            return;
        }
        let listens = self.subscriptions.listens().iter();
        let following = listens.filter(|listen| listen.follows(task_id));
        let following: Vec<_> = following
            .map(|listen| (listen.key, listen.id.clone()))
            .collect();
        for (key, id) in following {
            let Some(mut task) = self.inbound.terms(key).and_then(|terms| face(terms)) else {
                continue;
            };
            task.handle.meta = Some(tagged(&id));
            self.transmit_notice(
                Lane::Reply(key),
                DropPolicy::DropOldest,
                TaskChanged::NAME,
                Some(&task),
            );
        }
    }
}

/// The metadata of what belongs to a task of the core.
pub(super) fn related(task_id: &str) -> Meta {
    let mut meta = Meta::new();
    meta.set_related_task(task_id);
    meta
}
