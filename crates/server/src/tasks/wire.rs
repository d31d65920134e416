//! How a record looks to a client: as a task of the core, or as one of the extension.

use pintle_model::{
    CallToolResult, ClientCapabilities, DetailedTask, ElicitParams, Error, ErrorCode, Fit,
    InputRequest, InputRequests, JsonObject, Outcome, Revision, TASKS_EXTENSION, Task, TaskHandle,
    TaskStatus,
};
use pintle_proto::Terms;
use pintle_runtime::{AskError, RequiredCapability};
use pintle_store::StoreTime;
use serde_json::json;

use super::options::TaskOptions;
use super::record::{End, TaskRecord};
use crate::tool::ToolReply;

/// What an error code says that no specification names: the task ended without an outcome.
const CANCELLED: ErrorCode = ErrorCode(-32000);
/// The longest message that goes with a status, in characters.
const MAX_MESSAGE: usize = 500;

impl TaskRecord {
    /// The task as a handle of the extension.
    pub(crate) fn handle(&self, options: &TaskOptions, now: StoreTime) -> TaskHandle {
        let mut handle = TaskHandle::new(&*self.id, self.created_at());
        handle.status = self.status();
        handle.status_message = self.message();
        handle.last_updated_at = self.updated_at();
        handle.ttl = Some(self.ttl_at(now));
        handle.poll_interval = Some(options.poll_interval);
        handle
    }

    /// The task as the core has it, where a tool's failure is the task's.
    pub(crate) fn core_task(&self, options: &TaskOptions, now: StoreTime) -> Task {
        let mut task = Task::from(self.handle(options, now));
        if let Some(End::Result {
            has_failed: true, ..
        }) = &self.end
        {
            task.status = TaskStatus::Failed;
        }
        task
    }

    /// The task with all that its status brings along, for a client on `terms`.
    ///
    /// # Errors
    ///
    /// -32021 if all it asks is more than the client says it can.
    pub(super) fn detailed(
        &self,
        options: &TaskOptions,
        now: StoreTime,
        terms: &Terms,
    ) -> Result<DetailedTask, Error> {
        let handle = self.handle(options, now);
        match &self.end {
            None if self.questions.is_empty() => Ok(DetailedTask::new(handle)),
            None => Ok(DetailedTask::asking(handle, self.open_for(terms)?)),
            Some(End::Result { .. }) => {
                let mut result = self.result().unwrap_or_else(|| Err(Error::internal()))?;
                result.fit(terms.revision).map_err(|_| Error::internal())?;
                Ok(DetailedTask::completed(handle, members(&result)?))
            }
            Some(End::Error(error)) => Ok(DetailedTask::failed(handle, error.clone())),
            Some(End::Cancelled) => Ok(DetailedTask::new(handle)),
        }
    }

    /// The open questions that a client on `terms` can be asked.
    fn open_for(&self, terms: &Terms) -> Result<InputRequests, Error> {
        let mut requests = InputRequests::new();
        let mut missing = None;
        for open in &self.questions {
            match RequiredCapability::of(&open.request) {
                Some(need) if !need.is_met_by(terms) => missing = Some(need),
                _ => {
                    let mut request = open.request.clone();
                    request.fit(terms.revision).map_err(|_| Error::internal())?;
                    requests.insert(open.key.clone(), request);
                }
            }
        }
        match missing {
            Some(need) if requests.is_empty() => Err(AskError::Unsupported(need).to_error()),
            _ => Ok(requests),
        }
    }

    /// What the call came to, once it has ended with a result.
    fn result(&self) -> Option<Result<CallToolResult, Error>> {
        let End::Result { result, .. } = self.end.as_ref()? else {
            return None;
        };
        Some(serde_json::from_str(result.get()).map_err(|_| Error::internal()))
    }

    /// What `tasks/result` answers, once the task has ended: exactly what the call would have been
    /// answered with, and whose it is.
    pub(super) fn outcome(&self) -> Option<Result<CallToolResult, Error>> {
        let result = match self.end.as_ref()? {
            End::Result { .. } => self.result()?,
            End::Error(error) => Err(error.clone()),
            End::Cancelled => {
                let data = json!({ "taskId": self.id, "status": TaskStatus::Cancelled });
                Err(Error::new(CANCELLED, "task cancelled").with_data(data))
            }
        };
        Some(result.map(|mut result| {
            let meta = result.meta.get_or_insert_default();
            meta.set_related_task(&self.id);
            result
        }))
    }
}

impl End {
    /// What a call that was answered so comes to; an error when it is larger than `most` bytes.
    pub(super) fn of(reply: ToolReply, most: usize) -> Self {
        let result = match reply {
            Ok(Outcome::Complete(result)) => result,
            // A handler's questions were asked on the way, and a task in a task has no name.
            Ok(Outcome::InputRequired(_) | Outcome::Task(_)) => {
                return Self::Error(Error::internal());
            }
            Err(error) => return Self::Error(error),
        };
        let has_failed = result.has_failed();
        let message = result.first_text().filter(|_| has_failed).map(shorten);
        match serde_json::value::to_raw_value(&result) {
            Ok(result) if result.get().len() <= most => Self::Result {
                has_failed,
                message,
                result,
            },
            Ok(_) => Self::broken(format!("the result is larger than {most} bytes")),
            Err(_) => Self::Error(Error::internal()),
        }
    }

    /// The end of a task that cannot go on.
    pub(super) fn broken(message: String) -> Self {
        Self::Error(Error::new(ErrorCode::INTERNAL_ERROR, message))
    }
}

/// The question, marked as belonging to a task of the core.
pub(super) fn related(mut request: InputRequest, task_id: &str) -> InputRequest {
    let meta = match &mut request {
        InputRequest::Elicit(params) => match &mut **params {
            ElicitParams::Form(form) => &mut form.meta,
            ElicitParams::Url(url) => &mut url.meta,
            _ => return request,
        },
        InputRequest::CreateMessage(params) => &mut params.meta,
        InputRequest::ListRoots(params) => &mut params.meta,
        _ => return request,
    };
    meta.get_or_insert_default().set_related_task(task_id);
    request
}

/// -32021: the request takes a client that knows tasks.
pub(super) fn needs_extension() -> Error {
    let needed = ClientCapabilities::default().with_extension(TASKS_EXTENSION, JsonObject::new());
    let message = "this takes a client that declares the tasks extension";
    Error::new(ErrorCode::MISSING_CLIENT_CAPABILITY, message)
        .with_data(json!({ "requiredCapabilities": needed }))
}

/// Whether a request was made by a client that knows the extension.
pub(super) fn declares_extension(terms: &Terms) -> bool {
    terms.capabilities.extension(TASKS_EXTENSION).is_some()
}

/// The result as the client of this revision would read it in an answer.
pub(super) fn wrapped(mut reply: ToolReply, revision: Revision, wraps: bool) -> ToolReply {
    if let Ok(Outcome::Complete(result)) = &mut reply {
        if wraps {
            result.wrap_structured_content();
        }
        result.fit(revision).map_err(|_| Error::internal())?;
    }
    reply
}

fn members(result: &CallToolResult) -> Result<JsonObject, Error> {
    match serde_json::to_value(result) {
        Ok(serde_json::Value::Object(members)) => Ok(members),
        _ => Err(Error::internal()),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(MAX_MESSAGE).collect()
}
