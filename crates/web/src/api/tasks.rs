//! Requests about one task.

use std::sync::Arc;

use pintle_client::TaskStart;
use pintle_model::CallToolResult;

use super::calls::reporter;
use super::{Answered, done, result as shown};
use crate::asked::Asked;
use crate::backend::Backend;
use crate::failure::Failure;
use crate::object::Object;

/// Calls a tool as a task. Returns the task, or the result if the server did not create one.
pub(super) async fn begin(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let arguments = asked.object("arguments")?.unwrap_or("{}");
    let arguments = crate::asked::decoded(arguments);
    let op = asked.whole("op").unwrap_or_default();
    let call = session.client.call_tool(&asked.text("name")?, arguments);
    let mut call = call.on_progress(reporter(&backend.feed, op));
    if let Some(timeout) = session.target.timeout {
        call = call.timeout(timeout);
    }
    match call.as_task().await? {
        TaskStart::Task(task) => {
            let mut begun = Object::new();
            begun.text("taskId", task.id());
            begun.value("task", &task.last());
            Ok(begun.end())
        }
        TaskStart::Done(result) => written(&result),
    }
}

/// Polls a task once.
pub(super) async fn status(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let task = session.client.task(asked.text("id")?).refresh().await?;
    Ok(Object::new().value("task", &Some(task)).end())
}

/// Waits for the result of a task. Questions of the task are answered meanwhile.
pub(super) async fn result(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let op = asked.whole("op").unwrap_or_default();
    let changes = Arc::clone(&backend.feed);
    let task = session.client.task(asked.text("id")?);
    let wait = task
        .wait()
        .on_progress(reporter(&backend.feed, op))
        .on_change(move |task| {
            changes.add(Object::event("task").value("task", &Some(task)));
        });
    written(&wait.await?)
}

pub(super) async fn cancel(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    session.client.task(asked.text("id")?).cancel().await?;
    Ok(done())
}

fn written(result: &CallToolResult) -> Answered {
    let mut text = Vec::new();
    let written = result.write(&mut text);
    written.map_err(|error| Failure::of(&error))?;
    Ok(shown(text))
}
