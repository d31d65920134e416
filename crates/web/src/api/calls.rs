//! Calls: tools, resources, prompts and completions. A page that ends its request cancels the call.

use std::sync::Arc;

use pintle_model::ProgressParams;
use pintle_model::method::{CallTool, Complete, GetPrompt, Method, ReadResource};

use super::{Answered, done, is_ok, result};
use crate::asked::{Asked, missing};
use crate::backend::Backend;
use crate::failure::Failure;
use crate::feed::Feed;
use crate::object::Object;

/// Makes a call. Its result is the text that the server sent.
pub(super) async fn call(backend: &Backend, name: &str, asked: &Asked<'_>) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let (method, params) = match name {
        "read" => {
            let uri = asked.text("uri")?;
            (ReadResource::NAME, Object::new().text("uri", &uri).end())
        }
        "complete" => {
            let params = asked.object("params")?.ok_or_else(|| missing("params"))?;
            (Complete::NAME, params.into())
        }
        "prompt" => (GetPrompt::NAME, named(asked)?),
        _ => (CallTool::NAME, named(asked)?),
    };
    let op = asked.whole("op").unwrap_or_default();
    let params = String::from_utf8_lossy(&params);
    let call = session.client.request_checked(method, &params);
    // The user asks for the present resource.
    let mut call = call.no_cache().on_progress(reporter(&backend.feed, op));
    if let Some(timeout) = session.target.timeout {
        call = call.timeout(timeout);
    }
    Ok(result(call.await?.get()))
}

/// Returns the parameters of a call with a name and arguments.
pub(super) fn named(asked: &Asked<'_>) -> Answered {
    let arguments = asked.object("arguments")?.unwrap_or("{}");
    let name = asked.text("name")?;
    Ok(Object::new()
        .text("name", &name)
        .raw("arguments", arguments)
        .end())
}

/// Returns a closure that adds the progress of a request of the page to its events.
pub(super) fn reporter(feed: &Arc<Feed>, op: u64) -> Box<dyn FnMut(ProgressParams) + Send> {
    let feed = Arc::clone(feed);
    Box::new(move |progress| {
        let message = progress.message.as_deref();
        report(&feed, op, progress.progress, progress.total, message);
    })
}

/// Adds the progress of a request of the page to its events.
pub(super) fn report(
    feed: &Feed,
    op: u64,
    progress: f64,
    total: Option<f64>,
    message: Option<&str>,
) {
    let mut shown = Object::new();
    shown.double("progress", progress);
    if let Some(total) = total {
        shown.double("total", total);
    }
    if let Some(message) = message {
        shown.text("message", message);
    }
    let mut event = Object::event("progress");
    feed.add(event.whole("op", op).raw("progress", shown.end()));
}

/// Passes the answer of the user to a question.
pub(super) fn answer(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let answer = asked.raw("answer").ok_or_else(|| missing("answer"))?;
    let id = asked.whole("id")?;
    Ok(is_ok(backend.questions.answer(id, answer.get())))
}

/// Reports that the user is done at a URL.
pub(super) fn visited(backend: &Backend, asked: &Asked<'_>) -> Result<Vec<u8>, Failure> {
    let id = asked.text("id")?;
    backend.session()?.client.complete_visit(&id);
    Ok(done())
}
