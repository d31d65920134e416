//! Calls: tools, resources, prompts and completions. A page that ends its request cancels the call.

use std::sync::Arc;

use pintle_client::{Call, TaskStart};
use pintle_model::{CompleteParams, JsonObject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answered, done};
use crate::backend::Backend;
use crate::failure::Failure;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Named {
    /// The number of the call, which its progress events repeat.
    op: u64,
    name: String,
    #[serde(default)]
    arguments: JsonObject,
    /// Whether the call is to be a task.
    #[serde(default)]
    as_task: bool,
}

#[derive(Deserialize)]
pub(super) struct Read {
    op: u64,
    uri: String,
}

#[derive(Deserialize)]
pub(super) struct Complete {
    params: CompleteParams,
}

#[derive(Deserialize)]
pub(super) struct Answer {
    id: u64,
    answer: Value,
}

#[derive(Deserialize)]
pub(super) struct Visited {
    id: String,
}

/// Calls a tool. The result is that of the tool, or the task that the call became.
pub(super) async fn call(backend: &Backend, asked: Named) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let call = session.client.call_tool(&asked.name, &asked.arguments);
    let call = prepared(backend, &session.target.timeout, asked.op, call);
    if !asked.as_task {
        return Ok(json!({ "result": call.await? }));
    }
    Ok(match call.as_task().await? {
        TaskStart::Task(task) => json!({ "task": task.last(), "taskId": task.id() }),
        TaskStart::Done(result) => json!({ "result": result }),
    })
}

pub(super) async fn read(backend: &Backend, asked: Read) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    // The user asks for the resource as it is now.
    let call = session.client.read_resource(&asked.uri).no_cache();
    let call = prepared(backend, &session.target.timeout, asked.op, call);
    Ok(json!({ "result": call.await? }))
}

pub(super) async fn prompt(backend: &Backend, asked: Named) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let call = session.client.get_prompt(&asked.name, &asked.arguments);
    let call = prepared(backend, &session.target.timeout, asked.op, call);
    Ok(json!({ "result": call.await? }))
}

/// Sets the timeout of a call, and lets its progress be events.
fn prepared<R: Serialize>(
    backend: &Backend,
    timeout: &Option<std::time::Duration>,
    op: u64,
    call: Call<R>,
) -> Call<R> {
    let feed = Arc::clone(&backend.feed);
    let call = call.on_progress(move |progress| {
        feed.add(&json!({ "type": "progress", "op": op, "progress": progress }));
    });
    match timeout {
        Some(timeout) => call.timeout(*timeout),
        None => call,
    }
}

pub(super) async fn complete(backend: &Backend, asked: Complete) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    Ok(json!({ "result": session.client.complete(asked.params).await? }))
}

/// Passes the answer of the user to a question.
pub(super) fn answer(backend: &Backend, asked: Answer) -> Value {
    json!({ "ok": backend.questions.answer(asked.id, asked.answer) })
}

/// Reports that the user is done at a URL.
pub(super) fn visited(backend: &Backend, asked: &Visited) -> Result<Value, Failure> {
    backend.session()?.client.complete_visit(&asked.id);
    Ok(done())
}
