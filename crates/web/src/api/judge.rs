//! The findings of `pintle check` and `pintle lint` about the connected server.

use http::StatusCode;

use super::{Answered, result};
use crate::asked::Asked;
use crate::backend::Backend;
use crate::failure::Failure;
use crate::sign_in::SignInSteps;

/// Judges the server by the requirements of the protocol, or its tools by the limits of hosts. One judgement runs at a
/// time.
pub(super) async fn judge(backend: &Backend, name: &str) -> Answered {
    let _turn = turn(backend)?;
    let session = backend.session()?;
    let Some(judge) = &session.target.judge else {
        let message = "this server cannot be checked here";
        return Err(Failure::new(StatusCode::OK, message));
    };
    let report = match name {
        "check" => judge.check(),
        _ => judge.lint(&session.client),
    };
    Ok(result(report.await?))
}

/// Signs the user in to a server, and waits for the end of the sign-in.
pub(super) async fn sign_in(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let _turn = turn(backend)?;
    let steps = SignInSteps::new(&backend.feed, asked.whole("op")?);
    let target = asked.text("target")?;
    backend.targets.sign_in(&target, steps).await?;
    Ok(result("null"))
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
