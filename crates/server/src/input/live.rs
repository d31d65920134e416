//! Handlers that return their questions, for clients that are sent requests.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use pintle_model::{Error, InputRequests, InputResponse, InputResponses, Outcome};
use pintle_runtime::{Ask, AskError, Context, RetryInput};

use super::required::Required;
use super::rounds::{RoundResult, check_asked, until_suspended};

/// Runs a handler until it asks nothing more: what it asks in a round is asked at once. What it
/// did once or was answered in one run is there in the next.
pub(super) async fn drive<R, Fut>(
    cx: &Context,
    mut run: impl FnMut() -> Fut,
) -> Result<Outcome<R>, Error>
where
    R: RoundResult,
    Fut: Future<Output = Result<Outcome<R>, Error>>,
{
    let desk = cx.questions();
    desk.allow_replay();
    let mut rounds = 0;
    loop {
        let asked = match until_suspended(desk, pin!(run())).await {
            Some(Ok(Outcome::InputRequired(asked))) => asked,
            Some(Ok(outcome)) => return Ok(outcome),
            Some(Err(error)) => return fail(cx, error),
            None => return stop(cx),
        };
        check_asked(&asked)?;
        rounds += 1;
        let most = cx.limits().max_rounds;
        if rounds > most {
            return R::tired(most);
        }
        match Box::pin(answers(cx, asked.input_requests.unwrap_or_default())).await {
            Ok(responses) => desk.set_retry(RetryInput::new(responses, asked.request_state)),
            Err(error) => return R::refused(crate::tool::told(&error)),
        }
        desk.run_again();
    }
}

/// The end of a request whose handler cannot go on.
fn stop<R: RoundResult>(cx: &Context) -> Result<Outcome<R>, Error> {
    let replayed = cx.questions().take().unwrap_or_default();
    match replayed.broken {
        Some(broken) => Err(broken),
        None => say(Required::of_visits(cx, replayed.required)),
    }
}

/// The end of a request whose handler failed.
fn fail<R: RoundResult>(cx: &Context, error: Error) -> Result<Outcome<R>, Error> {
    match Required::of_error(cx, &error) {
        Some(required) => say(required),
        None => Err(error),
    }
}

fn say<R: RoundResult>(required: Required) -> Result<Outcome<R>, Error> {
    match required {
        Required::Fails(error) => Err(error),
        Required::Refused(error) => R::refused(crate::tool::told(&error)),
        // Only where results ask.
        Required::Asks(_) | Required::Declined => Err(Error::internal()),
    }
}

async fn answers(cx: &Context, requests: InputRequests) -> Result<InputResponses, AskError> {
    let ask = |(name, request)| (name, cx.ask(request).afresh());
    together(requests.into_iter().map(ask).collect()).await
}

/// Asks all questions together.
pub(crate) async fn together(
    mut asks: Vec<(String, Ask<InputResponse>)>,
) -> Result<InputResponses, AskError> {
    let mut responses = InputResponses::new();
    poll_fn(|task| {
        let mut failure = None;
        asks.retain_mut(|(name, ask)| match Pin::new(ask).poll(task) {
            Poll::Pending => true,
            Poll::Ready(Ok(response)) => {
                responses.insert(std::mem::take(name), response);
                false
            }
            Poll::Ready(Err(error)) => {
                failure.get_or_insert(error);
                false
            }
        });
        match failure {
            Some(error) => Poll::Ready(Err(error)),
            None if asks.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
    .await?;
    Ok(responses)
}
