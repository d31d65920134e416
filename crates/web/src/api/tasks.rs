//! Requests about one task.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::{Answered, done};
use crate::backend::Backend;

#[derive(Deserialize)]
pub(super) struct One {
    id: String,
    /// The number of the request, which its progress events repeat.
    #[serde(default)]
    op: u64,
}

/// Polls a task once.
pub(super) async fn status(backend: &Backend, asked: One) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let task = session.client.task(asked.id).refresh().await?;
    Ok(json!({ "task": task }))
}

/// Waits for the result of a task. Questions of the task are answered meanwhile.
pub(super) async fn result(backend: &Backend, asked: One) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let (feed, changes) = (Arc::clone(&backend.feed), Arc::clone(&backend.feed));
    let op = asked.op;
    let task = session.client.task(asked.id);
    let wait = task
        .wait()
        .on_progress(move |progress| {
            feed.add(&json!({ "type": "progress", "op": op, "progress": progress }));
        })
        .on_change(move |task| changes.add(&json!({ "type": "task", "task": task })));
    Ok(json!({ "result": wait.await? }))
}

pub(super) async fn cancel(backend: &Backend, asked: One) -> Answered {
    let _permit = backend.admit()?;
    backend.session()?.client.task(asked.id).cancel().await?;
    Ok(done())
}
