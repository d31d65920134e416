//! The requests of the page: each is a POST with a JSON object, and its response is a JSON object.

mod bench;
mod calls;
mod connection;
mod judge;
mod lists;
mod tasks;

use http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::failure::Failure;

/// The largest text of a response; events are rendered before.
type Answered = Result<Value, Failure>;

/// Answers a request of the page, by the last segment of its path. Returns the JSON text of the response.
///
/// # Errors
///
/// [`Failure`] with status 404 for an unknown name, 400 for invalid parameters, and 200 for a failed attempt.
pub(crate) async fn answer(backend: &Backend, name: &str, body: &[u8]) -> Result<String, Failure> {
    if name == "events" {
        let events: Events = read(body)?;
        let wait = backend.options.poll_timeout;
        return Ok(backend.feed.wait(events.after, wait).await);
    }
    let value = match name {
        "state" => connection::state(backend),
        "connect" => connection::connect(backend, read(body)?).await?,
        "disconnect" => connection::disconnect(backend).await,
        "ping" => connection::ping(backend).await?,
        "level" => connection::level(backend, read(body)?).await?,
        "roots" => connection::roots(backend, read(body)?)?,
        "list" => lists::list(backend, read(body)?).await?,
        "subscribe" => lists::subscribe(backend, read(body)?).await?,
        "unsubscribe" => lists::unsubscribe(backend, &read(body)?)?,
        "call" => calls::call(backend, read(body)?).await?,
        "read" => calls::read(backend, read(body)?).await?,
        "prompt" => calls::prompt(backend, read(body)?).await?,
        "complete" => calls::complete(backend, read(body)?).await?,
        "answer" => calls::answer(backend, read(body)?),
        "visited" => calls::visited(backend, &read(body)?)?,
        "bench" => bench::bench(backend, read(body)?).await?,
        "check" => judge::check(backend).await?,
        "lint" => judge::lint(backend).await?,
        "sign-in" => judge::sign_in(backend, read(body)?).await?,
        "recording" => connection::recording(backend)?,
        "task" => tasks::status(backend, read(body)?).await?,
        "task-result" => tasks::result(backend, read(body)?).await?,
        "task-cancel" => tasks::cancel(backend, read(body)?).await?,
        _ => return Err(Failure::new(StatusCode::NOT_FOUND, "not found")),
    };
    Ok(value.to_string())
}

/// A request for events.
#[derive(Deserialize)]
struct Events {
    after: u64,
}

// Other crates decode the types of the model from texts. From bytes, the program would have their code twice.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    let text = std::str::from_utf8(body).map_err(|error| invalid(&error))?;
    serde_json::from_str(text).map_err(|error| invalid(&error))
}

fn invalid(error: &dyn std::error::Error) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, format!("invalid request: {error}"))
}

fn done() -> Value {
    json!({ "ok": true })
}
