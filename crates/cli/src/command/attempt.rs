//! One action in a conversation: attempts, with a sign-in between them where the server requires one.

use std::future::Future;

use super::{Action, fulfil, inspect, shell};
use crate::conversation::{ConversationOptions, Opening};
use crate::exit::{CliError, Exit};
use crate::screen::Screen;

/// Talks to a server until the action is done, or nobody waits any more. Whoever is there signs in
/// when the server wants that, and then it is tried again.
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
            Err(AttemptError::InVain(failure)) if opening.may_sign_in(&failure) => {
                or_interrupted(opening.sign_in()).await?;
            }
            done => return done.map_err(AttemptError::into_failure),
        }
    }
    let done = attempt(opening, action).await;
    done.map_err(AttemptError::into_failure)
}

/// How often somebody signs in for one command: servers that want more after that will want more for
/// ever.
const SIGN_INS: u32 = 3;

/// What became of an attempt that did not do what was meant.
enum AttemptError {
    /// Nothing came of it, so that it can be made again.
    InVain(CliError),
    /// Something may have.
    InPart(CliError),
}

impl AttemptError {
    fn into_failure(self) -> CliError {
        match self {
            Self::InVain(failure) | Self::InPart(failure) => failure,
        }
    }
}

async fn attempt(opening: &Opening<'_>, action: &Action) -> Result<(), AttemptError> {
    // First what may ask for something that a file leaves open: until then Ctrl-C ends the program
    // as it ends any other.
    let opened = or_interrupted(opening.open()).await;
    let conversation = opened.map_err(AttemptError::InVain)?;
    let done = match action {
        // A shell gives up a call when it is interrupted, and goes on.
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
    // Whoever interrupts twice does not want to wait for a farewell.
    tokio::select! {
        () = conversation.close() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    done.map_err(match action.prints_at_its_end() {
        true => AttemptError::InVain,
        false => AttemptError::InPart,
    })
}

/// What comes of something, unless somebody presses Ctrl-C first.
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
