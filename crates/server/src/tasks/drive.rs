//! The handler of a task, to its end.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

use pintle_model::{
    CallToolResult, Error, Feature, InputRequests, InputRequired, InputResponse, Outcome,
};
use pintle_runtime::{Ask, Context, RetryInput};

use crate::ask_code::together;
use crate::input::required::Required;
use crate::input::rounds::{RoundResult, tired};
use crate::tool::{ToolReply, error_chain};

/// A handler at work.
pub(crate) type Running = Pin<Box<dyn Future<Output = ToolReply> + Send>>;

/// Runs a handler that may return its questions: they are asked in the task, and it runs again
/// with the answers. `first` is its first run, which may have begun.
pub(crate) async fn drive(
    cx: &Context,
    first: Running,
    again: impl Fn() -> Running + Send,
) -> ToolReply {
    let mut running = first;
    let most = cx.limits().max_rounds;
    for round in 1..=most {
        let asked = match open_questions(cx, running.await) {
            Ok(asked) => asked,
            Err(ended) => return *ended,
        };
        let requests = asked.input_requests.unwrap_or_default();
        match together(questions(cx, round, requests)).await {
            Ok(responses) => cx
                .questions()
                .set_retry(RetryInput::new(responses, asked.request_state)),
            Err(error) => {
                return Ok(Outcome::Complete(CallToolResult::error(error_chain(
                    &error,
                ))));
            }
        }
        cx.questions().run_again();
        running = again();
    }
    match open_questions(cx, running.await) {
        Ok(_) => CallToolResult::refused(tired(most)),
        Err(ended) => *ended,
    }
}

/// What a run of the handler leaves to be asked before it runs again; else how the task ends.
fn open_questions(cx: &Context, ended: ToolReply) -> Result<InputRequired, Box<ToolReply>> {
    let error = match ended {
        Ok(Outcome::InputRequired(asked)) => return Ok(asked),
        Ok(outcome) => return Err(Box::new(Ok(outcome))),
        Err(error) => error,
    };
    let is_modern = cx.terms().has(Feature::InputRequired);
    let refused = |message: String| CallToolResult::refused(message);
    Err(Box::new(match Required::of_error(cx, &error) {
        Some(Required::Asks(requests)) => return Ok(InputRequired::asking(requests)),
        Some(Required::Fails(error)) => Err(error),
        Some(Required::Refused(error)) if is_modern => Err(error.to_error()),
        Some(Required::Refused(error)) => refused(error_chain(&error)),
        Some(Required::Declined) => refused("the user will not visit the URL".to_owned()),
        None => Err(error),
    }))
}

/// The questions of one round. The round is in their names, for each may ask under the same.
fn questions(
    cx: &Context,
    round: u32,
    requests: InputRequests,
) -> Vec<(String, Ask<InputResponse>)> {
    let ask = |(name, request)| {
        let ask = cx.ask(request).named(&format!("round {round} {name}"));
        (name, ask)
    };
    requests.into_iter().map(ask).collect()
}

/// The outcome of a handler; -32603 if it panics.
pub(super) async fn caught(running: impl Future<Output = ToolReply>) -> ToolReply {
    let mut running = pin!(running);
    poll_fn(|task| {
        // The future is not polled again after a panic, so nobody sees what it left behind.
        let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(task)));
        polled.unwrap_or_else(|_| {
            tracing::error!("the handler of a task panicked");
            Poll::Ready(Err(Error::internal()))
        })
    })
    .await
}
