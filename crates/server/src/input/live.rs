//! Handlers that return their questions, for clients that are sent requests.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use pintle_model::{Error, InputRequests, InputResponse, InputResponses, Outcome};
use pintle_runtime::{Ask, AskError, Context, Retry};

use super::rounds::{RoundResult, until_suspended};

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
    let desk = cx.desk();
    desk.allow_replay();
    let mut rounds = 0;
    loop {
        let Some(ended) = until_suspended(desk, run()).await else {
            let broken = desk.take().and_then(|replayed| replayed.broken);
            return Err(broken.unwrap_or_else(Error::internal));
        };
        let asked = match ended? {
            Outcome::InputRequired(asked) => asked,
            outcome => return Ok(outcome),
        };
        rounds += 1;
        let most = cx.limits().rounds;
        if rounds > most {
            return R::tired(most);
        }
        match answers(cx, asked.input_requests.unwrap_or_default()).await {
            Ok(responses) => desk.set_retry(Retry::new(responses, asked.request_state)),
            Err(error) => return R::refused(crate::tool::told(&error)),
        }
        desk.run_again();
    }
}

/// Asks all questions together.
async fn answers(cx: &Context, requests: InputRequests) -> Result<InputResponses, AskError> {
    let mut asks: Vec<(String, Ask<InputResponse>)> = requests
        .into_iter()
        .map(|(name, request)| (name, cx.ask(request).afresh()))
        .collect();
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
