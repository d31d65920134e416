//! The two forms of tasks, and parts of messages about them.

use pintle::model::method::{CallTool, Method};
use pintle::model::{
    ClientCapabilities, ElicitParams, Error, ErrorCode, InputRequest, JsonObject, ListToolsResult,
    Meta, RawJson, RawMembers, ServerCapabilities, TASKS_EXTENSION, TaskSupport, TasksCapability,
};
use pintle::runtime::Context;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::internal;

/// How the tasks of a server reach a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskForm {
    /// As they are; or one side has none.
    Same,
    /// The server has those of 2025-11-25, and the client those of the extension.
    OfCore,
    /// The server has those of the extension, and the client those of 2025-11-25.
    OfExtension,
}

/// The error of a task that was cancelled.
const CANCELLED: ErrorCode = ErrorCode(-32000);

/// Whether the client of a request has the extension of tasks.
pub(crate) fn declares(cx: &Context) -> bool {
    cx.terms().capabilities.extension(TASKS_EXTENSION).is_some()
}

/// Checks that the client of a request has the extension of tasks.
///
/// # Errors
///
/// -32021.
pub(crate) fn check_declared(cx: &Context) -> Result<(), Error> {
    match declares(cx) {
        true => Ok(()),
        false => Err(needs_extension()),
    }
}

/// -32021: the request requires the extension of tasks.
pub(crate) fn needs_extension() -> Error {
    let message = "this request requires a client that declares the extension of tasks";
    Error::new(ErrorCode::MISSING_CLIENT_CAPABILITY, message)
        .with_data(json!({ "requiredCapabilities": with_tasks(ClientCapabilities::default()) }))
}

/// Whether an error of the server requires the extension of tasks.
pub(crate) fn requires_extension(error: &Error) -> bool {
    let required = |data: &serde_json::Value| {
        let extensions = data.get("requiredCapabilities")?.get("extensions")?;
        extensions.get(TASKS_EXTENSION).map(drop)
    };
    error.code == ErrorCode::MISSING_CLIENT_CAPABILITY
        && error.data.as_deref().and_then(required).is_some()
}

/// Returns capabilities with the extension of tasks.
pub(crate) fn with_tasks(capabilities: ClientCapabilities) -> ClientCapabilities {
    capabilities.with_extension(TASKS_EXTENSION, JsonObject::new())
}

pub(crate) fn unknown_task() -> Error {
    Error::invalid_params("unknown task")
}

pub(crate) fn cancelled() -> Error {
    Error::new(CANCELLED, "the task was cancelled")
}

/// Returns the id of the task that a question belongs to.
pub(crate) fn related_task(request: &InputRequest) -> Option<&str> {
    let meta = match request {
        InputRequest::Elicit(params) => match &**params {
            ElicitParams::Form(form) => &form.meta,
            ElicitParams::Url(url) => &url.meta,
            _ => return None,
        },
        InputRequest::CreateMessage(params) => &params.meta,
        InputRequest::ListRoots(params) => &params.meta,
        _ => return None,
    };
    meta.as_ref()?.related_task()
}

/// Returns a question that belongs to a task, or to none.
pub(crate) fn related(mut request: InputRequest, task: Option<&str>) -> InputRequest {
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
    relate(meta, task);
    request
}

/// Sets the task that a message belongs to, or removes it.
pub(crate) fn relate(meta: &mut Option<Meta>, task: Option<&str>) {
    match task {
        Some(task) => meta.get_or_insert_default().set_related_task(task),
        None => {
            if let Some(members) = meta {
                members.remove(Meta::RELATED_TASK);
            }
            meta.take_if(|members| members.is_empty());
        }
    }
}

/// Returns the result of a task, which belongs to a task or to none.
pub(crate) fn related_result(raw: &RawValue, task: Option<&str>) -> Result<Box<RawValue>, Error> {
    let unreadable = |error| internal(&format!("invalid result of the server: {error}"));
    let mut members = RawMembers::read(raw.get()).map_err(unreadable)?;
    let meta = members.remove("_meta").map(RawJson::decode::<JsonObject>);
    let mut meta = meta.transpose().map_err(unreadable)?.map(Meta::from);
    relate(&mut meta, task);
    let meta = meta.map(|meta| to_raw_value(&meta)).transpose();
    let meta = meta.map_err(unreadable)?;
    if let Some(meta) = &meta {
        members.insert("_meta", &**meta);
    }
    let text = String::from_utf8(members.to_vec()).map_err(|_| Error::internal())?;
    RawValue::from_string(text).map_err(unreadable)
}

/// Adds the form of tasks that the server does not have.
pub(crate) fn declare(capabilities: &mut ServerCapabilities) {
    if has_core(capabilities) {
        let extensions = capabilities.extensions.get_or_insert_default();
        let settings = serde_json::Value::Object(Default::default());
        extensions
            .entry(TASKS_EXTENSION.to_owned())
            .or_insert(settings);
    } else if capabilities.extension(TASKS_EXTENSION).is_some() {
        let mut tasks = TasksCapability::default().with_request(CallTool::NAME);
        (tasks.list, tasks.cancel) = (Some(Default::default()), Some(Default::default()));
        capabilities.tasks = Some(tasks);
    }
}

/// Returns a page of tools that clients of 2025-11-25 may call as tasks.
///
/// # Errors
///
/// -32603 if the page cannot be read.
pub(crate) fn offered(page: &RawValue) -> Result<Box<RawValue>, Error> {
    let unreadable = |error| internal(&format!("invalid tools of the server: {error}"));
    let mut listed: ListToolsResult = serde_json::from_str(page.get()).map_err(unreadable)?;
    for tool in &mut listed.tools {
        let execution = tool.execution.get_or_insert_default();
        execution.task_support.get_or_insert(TaskSupport::Optional);
    }
    to_raw_value(&listed).map_err(unreadable)
}

pub(crate) fn has_core(capabilities: &ServerCapabilities) -> bool {
    let tasks = capabilities.tasks.as_ref();
    tasks.is_some_and(|tasks| tasks.has_request(CallTool::NAME))
}
