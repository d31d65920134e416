//! Questions that a handler returned, for clients that are sent requests.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use pintle_model::{InputRequests, InputResponse, InputResponses};
use pintle_runtime::{Ask, AskError, BoxFuture, Context};

/// The code that asks the questions that a handler returned: 7 % of a server. A program contains it only if a handler, a layer
/// or a provider can return questions, because nothing else refers to it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct AskCode(for<'a> fn(&'a Context, InputRequests) -> Answers<'a>);

/// The future of all answers.
type Answers<'a> = BoxFuture<'a, Result<InputResponses, AskError>>;

impl AskCode {
    /// The code. A program that refers to this contains it.
    pub(crate) const LINKED: Self = Self(|cx, requests| {
        let ask = |(name, request)| (name, cx.ask(request).afresh());
        Box::pin(together(requests.into_iter().map(ask).collect()))
    });

    pub(crate) fn ask<'a>(self, cx: &'a Context, requests: InputRequests) -> Answers<'a> {
        (self.0)(cx, requests)
    }
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
