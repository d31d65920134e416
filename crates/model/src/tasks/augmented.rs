//! Tasks as 2025-11-25 has them in the core.

use std::time::Duration;

use super::{TaskHandle, TaskStatus};
use crate::object::object;
use crate::time::optional_millis;
use crate::{Cursor, Extra, Meta, Timestamp};

/// A task in the form of every result of 2025-11-25. It is also the result of `tasks/get` and
/// `tasks/cancel`, and the content of `notifications/tasks/status`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Id of the task, chosen by the receiver of the request.
    pub task_id: String,
    /// Status of the task.
    pub status: TaskStatus,
    /// Message about the status, for people.
    pub status_message: Option<String>,
    /// Time at which the task was created.
    pub created_at: Timestamp,
    /// Time of the last update of the task.
    pub last_updated_at: Timestamp,
    /// Retention time from the creation; unlimited if `None`. Always written.
    pub ttl: Option<Duration>,
    /// Suggested interval between two polls.
    pub poll_interval: Option<Duration>,
    /// Metadata of the result or notification that holds the task.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(Task {
    "taskId" => required task_id,
    "status" => required status,
    "statusMessage" => optional status_message,
    "createdAt" => required created_at,
    "lastUpdatedAt" => required last_updated_at,
    "ttl" => default ttl (read optional_millis::read, write optional_millis::write_optional),
    "pollInterval" => optional poll_interval (read optional_millis::read, write optional_millis::write),
    "_meta" => optional meta,
});

impl Task {
    /// Creates a running task without a retention limit, created at `created_at`.
    pub fn new(task_id: impl Into<String>, created_at: impl Into<Timestamp>) -> Self {
        TaskHandle::new(task_id, created_at).into()
    }
}

impl From<TaskHandle> for Task {
    fn from(handle: TaskHandle) -> Self {
        Self {
            task_id: handle.task_id,
            status: handle.status,
            status_message: handle.status_message,
            created_at: handle.created_at,
            last_updated_at: handle.last_updated_at,
            ttl: handle.ttl,
            poll_interval: handle.poll_interval,
            meta: handle.meta,
            extra: handle.extra,
        }
    }
}

/// The task something belongs to: the value at [`Meta::RELATED_TASK`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RelatedTask {
    /// Id of the task.
    pub task_id: String,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(RelatedTask {
    "taskId" => required task_id,
});

impl RelatedTask {
    /// Refers to a task.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            extra: Extra::new(),
        }
    }
}

/// Result of a request that runs as a task.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    pub task: Task,
    /// Result metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(CreateTaskResult {
    "task" => required task,
    "_meta" => optional meta,
});

impl CreateTaskResult {
    /// Creates the result that announces `task`.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// Names a task: the parameters of `tasks/get`, `tasks/result` and `tasks/cancel`, in both
/// revisions that have them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TaskIdParams {
    /// Id of the task.
    pub task_id: String,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(TaskIdParams {
    "taskId" => required task_id,
    "_meta" => optional meta,
});

impl TaskIdParams {
    /// Refers to a task.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// A page of tasks.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListTasksResult {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Position of the next page.
    pub next_cursor: Option<Cursor>,
    /// Result metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ListTasksResult {
    "tasks" => required tasks,
    "nextCursor" => optional next_cursor,
    "_meta" => optional meta,
});

impl ListTasksResult {
    /// Creates the last page.
    pub fn new(tasks: Vec<Task>) -> Self {
        Self {
            tasks,
            ..Self::default()
        }
    }
}
