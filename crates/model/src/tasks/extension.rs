//! Tasks as the extension of 2026-07-28 has them.

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Task, TaskStatus};
use crate::object::object;
use crate::read::{
    Members, Object, ReadError, Source, Visit, Want, WriteMembers, fill, serde_by_members,
};
use crate::time::optional_millis;
use crate::{Error, Extra, InputRequests, InputResponses, JsonObject, Meta, Timestamp};

/// Id of the extension in capabilities.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A task given instead of a result (`resultType: "task"`).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TaskHandle {
    /// Id of the task.
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

object!(TaskHandle {
    "taskId" => required task_id,
    "status" => required status,
    "statusMessage" => optional status_message,
    "createdAt" => required created_at,
    "lastUpdatedAt" => required last_updated_at,
    "ttlMs" => default ttl (read optional_millis::read, write optional_millis::write_optional),
    "pollIntervalMs" => optional poll_interval (read optional_millis::read, write optional_millis::write),
    "_meta" => optional meta,
});

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
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DetailedTask {
    /// The task.
    pub handle: TaskHandle,
    /// All open questions, while input is required.
    pub input_requests: Option<InputRequests>,
    /// The result of the request, once completed.
    pub result: Option<JsonObject>,
    /// The error of the request, once failed.
    pub error: Option<Error>,
}

impl Object for DetailedTask {
    const EXPECTED: &'static str = "struct DetailedTask";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        let mut others = Others {
            members,
            input_requests: None,
            result: None,
            error: None,
        };
        Ok(Self {
            handle: TaskHandle::build(&mut others)?,
            input_requests: others.input_requests.flatten(),
            result: others.result.flatten(),
            error: others.error.flatten(),
        })
    }
}

impl WriteMembers for DetailedTask {
    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.handle.write_members(map)?;
        write_optional(map, "inputRequests", &self.input_requests)?;
        write_optional(map, "result", &self.result)?;
        write_optional(map, "error", &self.error)
    }
}

fn write_optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &str,
    value: &Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

serde_by_members!(DetailedTask);

/// The members of the handle in a detailed task; the others are read on the way.
struct Others<'m, 'de> {
    members: &'m mut dyn Members<'de>,
    input_requests: Option<Option<InputRequests>>,
    result: Option<Option<JsonObject>>,
    error: Option<Option<Error>>,
}

impl<'de> Members<'de> for Others<'_, 'de> {
    fn next_name(&mut self) -> Result<Option<Cow<'de, str>>, ReadError> {
        while let Some(name) = self.members.next_name()? {
            match &*name {
                "inputRequests" => fill(&mut self.input_requests, &name, self.members)?,
                "result" => fill(&mut self.result, &name, self.members)?,
                "error" => fill(&mut self.error, &name, self.members)?,
                _ => return Ok(Some(name)),
            }
        }
        Ok(None)
    }
}

impl<'de> Source<'de> for Others<'_, 'de> {
    fn read(&mut self, want: Want, visit: Visit<'_, 'de>) -> Result<(), ReadError> {
        self.members.read(want, visit)
    }

    fn value(&mut self) -> Result<Value, ReadError> {
        self.members.value()
    }

    fn raw(&mut self) -> Result<Box<RawValue>, ReadError> {
        self.members.raw()
    }
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
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// Id of the task.
    pub task_id: String,
    /// The responses; the client may answer the questions one by one.
    pub input_responses: InputResponses,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(UpdateTaskParams {
    "taskId" => required task_id,
    "inputResponses" => required input_responses,
    "_meta" => optional meta,
});

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
