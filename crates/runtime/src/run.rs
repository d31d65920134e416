//! Running a handler so that its request is answered whatever it does.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use pintle_model::Error;
use pintle_proto::{Incoming, Reply, Ticket};

use crate::context::Context;
use crate::outlet::Outlet;
use crate::service::Service;

/// Runs a request to its answer. A panic is answered with -32603 and stays in this call.
pub async fn run<S: Service>(service: Arc<S>, outlet: Arc<dyn Outlet>, ticket: Ticket, incoming: Incoming, cx: Context) {
    let reply = answer_of(&*service, incoming, cx).await;
    outlet.with(|engine| engine.answer(ticket, reply));
}

/// The answer to a request; -32603 if its handler panics.
///
/// # Errors
///
/// The service's, or -32603.
pub async fn answer_of<S: Service>(service: &S, incoming: Incoming, cx: Context) -> Result<Reply, Error> {
    CatchPanic { future: Box::pin(async move { service.call(incoming, cx).await }) }.await
}

/// A future whose panic is an error.
struct CatchPanic<F: ?Sized> {
    future: Pin<Box<F>>,
}

impl<F: Future<Output = Result<Reply, Error>> + ?Sized> Future for CatchPanic<F> {
    type Output = Result<Reply, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let future = self.future.as_mut();
        // The future is not polled again after a panic, so nobody sees what it left behind.
        match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Err(panicked(&*panic))),
        }
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("not text"), "a handler panicked");
    Error::internal()
}
