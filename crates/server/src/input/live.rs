//! Handlers that return their questions, for clients that are sent requests.

use pintle_model::{Error, InputRequired, Outcome};
use pintle_runtime::{BoxFuture, Context, RetryInput};

use super::required::Required;
use super::rounds::{RoundEnd, RoundResult, UntilSuspended, check_asked, tired};
use crate::ask_code::AskCode;

/// Continues after the first run of a handler: asks the questions that it returned, and runs it again, until
/// it asks nothing more. What it did once or was answered in one run is there in the next.
pub(super) async fn go_on<'r, R: RoundResult>(
    cx: &Context,
    ask_code: Option<AskCode>,
    ended: Option<RoundEnd<R>>,
    run: &mut (dyn FnMut() -> BoxFuture<'r, RoundEnd<R>> + Send),
) -> RoundEnd<R> {
    let mut asked = match outcome(cx, ended) {
        Ok(outcome) => return outcome,
        Err(asked) => asked,
    };
    let questions = cx.questions();
    for _ in 0..cx.limits().max_rounds {
        check_asked(&asked)?;
        let questions_of_run = asked.input_requests.unwrap_or_default();
        match ask_code
            .ok_or_else(unlinked)?
            .ask(cx, questions_of_run)
            .await
        {
            Ok(responses) => questions.set_retry(RetryInput::new(responses, asked.request_state)),
            Err(error) => return R::refused(crate::tool::error_chain(&error)),
        }
        questions.run_again();
        let ended = UntilSuspended::new(questions, run()).await;
        match outcome(cx, ended) {
            Ok(outcome) => return outcome,
            Err(next) => asked = next,
        }
    }
    check_asked(&asked)?;
    R::refused(tired(cx.limits().max_rounds))
}

/// Returns the outcome of a run, or the questions that the handler returned.
fn outcome<R: RoundResult>(
    cx: &Context,
    ended: Option<Result<Outcome<R>, Error>>,
) -> Result<Result<Outcome<R>, Error>, Box<InputRequired>> {
    match ended {
        Some(Ok(Outcome::InputRequired(asked))) => Err(Box::new(asked)),
        Some(Ok(outcome)) => Ok(Ok(outcome)),
        Some(Err(error)) => Ok(fail(cx, error)),
        None => Ok(stop(cx)),
    }
}

/// The end of a request whose handler cannot go on.
fn stop<R: RoundResult>(cx: &Context) -> Result<Outcome<R>, Error> {
    let replayed = cx.questions().take().unwrap_or_default();
    match replayed.broken {
        Some(broken) => Err(broken),
        None => fail_required(Required::of_visits(cx, replayed.required)),
    }
}

/// The end of a request whose handler failed.
fn fail<R: RoundResult>(cx: &Context, error: Error) -> Result<Outcome<R>, Error> {
    match Required::of_error(cx, &error) {
        Some(required) => fail_required(required),
        None => Err(error),
    }
}

fn fail_required<R: RoundResult>(required: Required) -> Result<Outcome<R>, Error> {
    match required {
        Required::Fails(error) => Err(error),
        Required::Refused(error) => R::refused(crate::tool::error_chain(&error)),
        // Only where results ask.
        Required::Asks(_) | Required::Declined => Err(Error::internal()),
    }
}

/// The error of questions that no type of the server states.
fn unlinked() -> Error {
    tracing::error!("a handler returned questions, and its type cannot");
    Error::internal()
}
