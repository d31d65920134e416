//! The requests of the page: each is a POST with a JSON object, and its response is a JSON object.

mod bench;
mod calls;
mod connection;
mod judge;
mod lists;
mod tasks;

use http::StatusCode;

use crate::asked::Asked;
use crate::backend::Backend;
use crate::failure::Failure;
use crate::object::Object;

/// The JSON text of a response.
type Answered = Result<Vec<u8>, Failure>;

/// Answers a request of the page, by the last segment of its path. Returns the JSON text of the response.
///
/// # Errors
///
/// [`Failure`] with status 404 for an unknown name, 400 for invalid parameters, and 200 for a failed attempt.
pub(crate) async fn answer(backend: &Backend, name: &str, body: &[u8]) -> Answered {
    let asked = &Asked::read(body)?;
    match name {
        "events" => {
            let wait = backend.options.poll_timeout;
            Ok(backend.feed.wait(asked.whole("after")?, wait).await)
        }
        "state" => Ok(connection::state(backend)),
        "connect" => connection::connect(backend, asked).await,
        "disconnect" => connection::disconnect(backend).await,
        "ping" => connection::ping(backend).await,
        "level" => connection::level(backend, asked).await,
        "roots" => connection::roots(backend, asked),
        "list" => lists::list(backend, asked).await,
        "subscribe" => lists::subscribe(backend, asked).await,
        "unsubscribe" => lists::unsubscribe(backend, asked),
        "call" if asked.is_set("asTask") => tasks::begin(backend, asked).await,
        "call" | "read" | "prompt" | "complete" => calls::call(backend, name, asked).await,
        "answer" => calls::answer(backend, asked),
        "visited" => calls::visited(backend, asked),
        "bench" => bench::bench(backend, asked).await,
        "check" | "lint" => judge::judge(backend, name).await,
        "sign-in" => judge::sign_in(backend, asked).await,
        "recording" => connection::recording(backend),
        "task" => tasks::status(backend, asked).await,
        "task-result" => tasks::result(backend, asked).await,
        "task-cancel" => tasks::cancel(backend, asked).await,
        _ => Err(Failure::new(StatusCode::NOT_FOUND, "not found")),
    }
}

fn done() -> Vec<u8> {
    is_ok(true)
}

fn is_ok(is_ok: bool) -> Vec<u8> {
    Object::new().flag("ok", is_ok).end()
}

/// The response with the JSON text of a result.
fn result(json: impl AsRef<[u8]>) -> Vec<u8> {
    Object::new().raw("result", json).end()
}
