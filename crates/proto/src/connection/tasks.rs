//! Tasks: the part of a conversation that outlives the request which began the task.
//!
//! A request that becomes a task of the core (2025-11-25) keeps its progress token until the task
//! ends; notices of the task belong to the session. A task of the extension sends none, except to
//! listeners that follow it.

use pintle_model::method::{Notice, TaskChanged, TaskStatusChanged};
use pintle_model::{DetailedTask, Feature, Meta, Task};

use super::builtin::tagged;
use super::{Connection, Negotiation, Side};
use crate::inbound::RequestTask;
use crate::io::{DropPolicy, Lane, RequestKey};
use crate::terms::Terms;

impl Connection {
    /// Notes that a request is about to be answered with a task. From then on notices of its
    /// handler name the task, and are sent until [`Connection::end_task`]. Nothing happens where
    /// tasks are an extension, because its tasks send no such notices.
    ///
    /// Spec: [2025-11-25, Tasks, Progress][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
    pub fn begin_task(&mut self, key: RequestKey, task_id: &str) {
        if let Some(row) = self.inbound.row_mut(key)
            && row.terms.has(Feature::CoreTasks)
        {
            let id = task_id.into();
            let unsent_status = None;
            row.task = Some(Box::new(RequestTask { id, unsent_status }));
        }
    }

    /// Notes that the task a request has become is over.
    pub fn end_task(&mut self, key: RequestKey) {
        self.inbound.end_task(key);
    }

    /// Sends the status of a task of the core to the session. If the request is not answered yet,
    /// the latest status follows its answer.
    pub fn send_task_status(&mut self, task: &Task) {
        let Side::Server(server) = &self.side else {
            return;
        };
        let is_followed = match &server.negotiation {
            Negotiation::Session { terms, .. } => terms.has(Feature::CoreTasks),
            Negotiation::Open { .. } | Negotiation::Fixed(_) => false,
        };
        if !is_followed {
            return;
        }
        if let Some(begun) = self.inbound.task_mut(&task.task_id) {
            begun.unsent_status = Some(task.clone());
            return;
        }
        self.transmit_status(task);
    }

    pub(super) fn transmit_status(&mut self, task: &Task) {
        let name = TaskStatusChanged::NAME;
        // A lost notice does no harm, because the client can still request the status.
        self.transmit_notice(Lane::Session, DropPolicy::DropOldest, name, Some(task));
    }

    /// Sends the status of a task of the extension to listeners that follow it, if they belong to
    /// its owner. `face` returns the task in the form for these terms, or `None` to hide it.
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
