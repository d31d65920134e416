//! The findings of `pintle check` and `pintle lint` about the connected server.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Answered;
use crate::backend::Backend;
use crate::failure::Failure;
use crate::sign_in::SignInSteps;

#[derive(Deserialize)]
pub(super) struct SignedIn {
    /// The number of the sign-in, which its events repeat.
    op: u64,
    target: String,
}

/// Judges the server by the requirements of the protocol. One judgement runs at a time.
pub(super) async fn check(backend: &Backend) -> Answered {
    let _turn = turn(backend)?;
    let session = backend.session()?;
    let judge = session.target.judge.as_ref().ok_or_else(unavailable)?;
    Ok(json!({ "result": judge.check().await? }))
}

/// Checks the tools of the server against the limits of hosts.
pub(super) async fn lint(backend: &Backend) -> Answered {
    let _turn = turn(backend)?;
    let session = backend.session()?;
    let judge = session.target.judge.as_ref().ok_or_else(unavailable)?;
    Ok(json!({ "result": judge.lint(&session.client).await? }))
}

/// Signs the user in to a server, and waits for the end of the sign-in.
pub(super) async fn sign_in(backend: &Backend, asked: SignedIn) -> Answered {
    let _turn = turn(backend)?;
    let steps = SignInSteps::new(&backend.feed, asked.op);
    backend.targets.sign_in(&asked.target, steps).await?;
    Ok(json!({ "result": Value::Null }))
}

fn turn(backend: &Backend) -> Result<tokio::sync::MutexGuard<'_, ()>, Failure> {
    backend.turn.try_lock().map_err(|_| {
        let status = StatusCode::TOO_MANY_REQUESTS;
        Failure::new(
            status,
            "a check or a sign-in runs already; wait for its end",
        )
    })
}

fn unavailable() -> Failure {
    Failure::new(StatusCode::OK, "this server cannot be checked here")
}
