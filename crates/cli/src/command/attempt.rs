//! One action in a conversation: attempts, with a sign-in between them where the server requires
//! one.

use std::future::Future;

use super::{Action, fulfil, inspect, shell};
use crate::conversation::{ConversationOptions, Opening};
use crate::exit::{CliError, Exit};
use crate::screen::Screen;

/// Does an action in a conversation until it is done or interrupted. If the server requires a
/// sign-in and a user can sign in, the action is attempted again afterwards.
pub(super) async fn converse(
    options: ConversationOptions<'_>,
    action: &Action,
) -> Result<(), CliError> {
    let mut opening = Opening::new(options, Screen::look())?;
    let done = attempts(&mut opening, action).await;
    if done.is_err() {
        opening.report_hidden();
    }
    match done {
        Err(failure) if matches!(action, Action::Inspect) && failure.exit() == Exit::SignIn => {
            Err(or_interrupted(inspect::explain(&opening, failure)).await?)
        }
        done => done,
    }
}

async fn attempts(opening: &mut Opening<'_>, action: &Action) -> Result<(), CliError> {
    for _ in 0..SIGN_INS {
        match attempt(opening, action).await {
            Err(AttemptError::Retryable(failure)) if opening.may_sign_in(&failure) => {
                or_interrupted(opening.sign_in()).await?;
            }
            done => return done.map_err(AttemptError::into_failure),
        }
    }
    let done = attempt(opening, action).await;
    done.map_err(AttemptError::into_failure)
}

/// Maximum number of sign-ins for one command. A server that then requires another would never
/// stop.
pub(super) const SIGN_INS: u32 = 3;

/// Failure of an attempt, with the information whether a retry is safe.
enum AttemptError {
    /// The attempt printed nothing; a retry is safe.
    Retryable(CliError),
    /// The attempt may have printed a part of its output.
    Partial(CliError),
}

impl AttemptError {
    fn into_failure(self) -> CliError {
        match self {
            Self::Retryable(failure) | Self::Partial(failure) => failure,
        }
    }
}

async fn attempt(opening: &Opening<'_>, action: &Action) -> Result<(), AttemptError> {
    // Opening may ask for inputs of a configuration file. Ctrl-C ends the program meanwhile.
    let opened = or_interrupted(opening.open()).await;
    let conversation = opened.map_err(AttemptError::Retryable)?;
    let done = match action {
        // A shell cancels the call when it is interrupted, and reads the next line.
        Action::Shell => shell::run(&conversation).await,
        action => tokio::select! {
            done = fulfil(&conversation, action) => done,
            interrupted = tokio::signal::ctrl_c() => {
                conversation.interrupt();
                interrupted.map_err(CliError::from).and(Err(CliError::interrupted()))
            }
        },
    };
    conversation.live.clear();
    // A second Ctrl-C ends the wait for the end of the conversation.
    tokio::select! {
        () = conversation.close() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    done.map_err(match action.prints_at_its_end() {
        true => AttemptError::Retryable,
        false => AttemptError::Partial,
    })
}

/// Awaits a future. Returns an error if the user presses Ctrl-C first.
pub(super) async fn or_interrupted<T>(
    something: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    tokio::select! {
        biased;
        done = something => done,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            Err(CliError::interrupted())
        }
    }
}
