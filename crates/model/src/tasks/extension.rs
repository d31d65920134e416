//! Tasks as the extension of 2026-07-28 has them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Task, TaskStatus};
use crate::{Error, Extra, InputRequests, InputResponses, JsonObject, Meta, Timestamp};

/// Id of the extension in capabilities.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A task given instead of a result (`resultType: "task"`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskHandle {
    /// Id of the task.
    pub task_id: String,
    /// Status of the task.
    pub status: TaskStatus,
    /// Message about the status, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Time at which the task was created.
    pub created_at: Timestamp,
    /// Time of the last update of the task.
    pub last_updated_at: Timestamp,
    /// Retention time from the creation; unlimited if `None`. Always written.
    #[serde(rename = "ttlMs", default, with = "crate::time::optional_millis")]
    pub ttl: Option<Duration>,
    /// Suggested interval between two polls.
    #[serde(
        rename = "pollIntervalMs",
        default,
        with = "crate::time::optional_millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub poll_interval: Option<Duration>,
    /// Metadata of the result or notification that holds the task.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl TaskHandle {
    /// Creates a running task without a retention limit, created at `created_at`.
    pub fn new(task_id: impl Into<String>, created_at: impl Into<Timestamp>) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            status_message: None,
            last_updated_at: created_at.clone(),
            created_at,
            ttl: None,
            poll_interval: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}

impl From<Task> for TaskHandle {
    fn from(task: Task) -> Self {
        Self {
            task_id: task.task_id,
            status: task.status,
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl: task.ttl,
            poll_interval: task.poll_interval,
            meta: task.meta,
            extra: task.extra,
        }
    }
}

/// A task with what its status brings along: the answer to `tasks/get`, and what
/// `notifications/tasks` carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DetailedTask {
    /// The task.
    #[serde(flatten)]
    pub handle: TaskHandle,
    /// All open questions, while input is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// The result of the request, once completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JsonObject>,
    /// The error of the request, once failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
}

impl DetailedTask {
    /// Creates a task whose status has no members.
    pub fn new(handle: TaskHandle) -> Self {
        Self {
            handle,
            input_requests: None,
            result: None,
            error: None,
        }
    }

    /// Creates a task that waits for responses to `requests`.
    pub fn asking(handle: TaskHandle, requests: InputRequests) -> Self {
        Self {
            input_requests: Some(requests),
            ..Self::with_status(handle, TaskStatus::InputRequired)
        }
    }

    /// Creates a task that ended with `result`, which may report that a tool failed.
    pub fn completed(handle: TaskHandle, result: JsonObject) -> Self {
        Self {
            result: Some(result),
            ..Self::with_status(handle, TaskStatus::Completed)
        }
    }

    /// Creates a task that ended with `error`.
    pub fn failed(handle: TaskHandle, error: Error) -> Self {
        Self {
            error: Some(error),
            ..Self::with_status(handle, TaskStatus::Failed)
        }
    }

    fn with_status(mut handle: TaskHandle, status: TaskStatus) -> Self {
        handle.status = status;
        Self::new(handle)
    }
}

/// Responses to a task's questions (`tasks/update`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// Id of the task.
    pub task_id: String,
    /// The responses; the client may answer the questions one by one.
    pub input_responses: InputResponses,
    /// Request metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl UpdateTaskParams {
    /// Creates the parameters with responses for a task.
    pub fn new(task_id: impl Into<String>, input_responses: InputResponses) -> Self {
        Self {
            task_id: task_id.into(),
            input_responses,
            meta: None,
            extra: Extra::new(),
        }
    }
}
