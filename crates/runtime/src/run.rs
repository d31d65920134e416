//! Running a handler so that its request is always answered.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use pintle_model::Error;
use pintle_proto::{Reply, Ticket};

use crate::context::{Context, EndGuard};
use crate::service::Service;

/// Runs a request to its answer. A panic is answered with -32603 and stays in this call.
pub async fn run<S: Service>(service: Arc<S>, ticket: Ticket, cx: Context) {
    let end = EndGuard::new(cx.clone());
    let reply = answer_of(&*service, cx).await;
    end.context().engine().answer(ticket, reply);
}

/// The answer to a request; -32603 if its handler panics.
///
/// # Errors
///
/// The service's, or -32603.
pub async fn answer_of<S: Service>(service: &S, cx: Context) -> Result<Reply, Error> {
    // The service may panic before it returns a future.
    let mut future = match catch_unwind(AssertUnwindSafe(|| service.call(cx))) {
        Ok(future) => pin!(future),
        Err(panic) => return Err(panicked(&*panic)),
    };
    poll_fn(|task| poll_catching(future.as_mut(), task)).await
}

fn poll_catching(
    future: Pin<&mut impl Future<Output = Result<Reply, Error>>>,
    task: &mut TaskContext<'_>,
) -> Poll<Result<Reply, Error>> {
    // The future is not polled again after a panic, so its broken state is never used.
    match catch_unwind(AssertUnwindSafe(|| future.poll(task))) {
        Ok(poll) => poll,
        Err(panic) => Poll::Ready(Err(panicked(&*panic))),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("not text"), "a handler panicked");
    Error::internal()
}
