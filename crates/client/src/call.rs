//! One call: its request, its timeouts, and everything that happens until its result.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pintle_model::{ClientCapabilities, ProgressParams};
use pintle_runtime::BoxFuture;
use pintle_runtime::sync::Mutex;

use crate::client::Client;
use crate::error::CallError;
use crate::execute::{Performed, performed};
use crate::request::{Freshness, Request};
use crate::result::{Reader, Reading};

/// A call that was not sent yet: awaiting it sends it.
///
/// Dropping the future of a call cancels the call at the server, as the revision and the transport
/// require.
#[must_use = "a call is made when it is awaited"]
pub struct Call<R> {
    pub(crate) client: Client,
    pub(crate) request: Request,
    pub(crate) read: Reading<R>,
}

impl<R> Call<R> {
    pub(crate) fn new(client: Client, request: Request, read: Reader<R>) -> Self {
        Self {
            client,
            request,
            read: Reading::By(read),
        }
    }

    /// Sets the longest wait without an answer or progress. The default is the client's
    /// [`Limits::call_idle_timeout`](pintle_proto::Limits::call_idle_timeout) (60 s).
    pub fn timeout(mut self, idle: Duration) -> Self {
        self.request.timeouts.idle = Some(idle);
        self
    }

    /// Sets the longest total wait, however much progress is made. The default is the client's
    /// [`Limits::call_total_timeout`](pintle_proto::Limits::call_total_timeout) (10 min). The time
    /// in which the user answers questions is not counted.
    pub fn total_timeout(mut self, total: Duration) -> Self {
        self.request.timeouts.total = Some(total);
        self
    }

    /// Calls the closure with each progress, in order, before the result. Progress that arrives
    /// faster than it is processed is merged.
    pub fn on_progress(mut self, receive: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.request.on_progress = Some(Box::new(receive));
        self
    }

    /// Adds a member to the request's `_meta`. Members that belong to the protocol's own envelope
    /// are left alone.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.request.meta.insert(key, value);
        self
    }

    /// Sets the capabilities that the request states as of 2026-07-28, for a proxy whose requests have different
    /// senders. Earlier revisions state them in the handshake only.
    pub fn capabilities(mut self, capabilities: Arc<ClientCapabilities>) -> Self {
        self.request.capabilities = Some(capabilities);
        self
    }

    /// Sends the request even if a fresh result is cached.
    pub fn no_cache(mut self) -> Self {
        self.request.freshness = Freshness::Anew;
        self
    }

    /// Accepts a stale cached result if the server is not reachable. A result that a change made
    /// stale is not cached.
    pub fn allow_stale(mut self) -> Self {
        self.request.freshness = Freshness::OrStale;
        self
    }

    /// Declares that the call may be sent again after a lost connection, because a repetition has
    /// no further effect.
    pub fn idempotent(mut self) -> Self {
        self.request.is_repeatable = true;
        self
    }
}

impl<R: Send + 'static> Call<R> {
    /// Sends the call, and returns a handle that yields its progress.
    pub fn start(self) -> RunningCall<R> {
        let seen = Arc::new(Mutex::new(VecDeque::new()));
        let queue = Arc::clone(&seen);
        let observer = move |progress| {
            let mut queue = queue.lock();
            queue.push_back(progress);
        };
        RunningCall {
            future: self.on_progress(observer).into_future(),
            seen,
            outcome: None,
        }
    }
}

impl<R: Send + 'static> IntoFuture for Call<R> {
    type Output = Result<R, CallError>;
    type IntoFuture = CallFuture<R>;

    fn into_future(self) -> CallFuture<R> {
        CallFuture {
            performed: performed(self.client, self.request),
            read: self.read,
        }
    }
}

/// The future of a [`Call`]. Dropping it cancels the call.
#[must_use = "a call is made when it is awaited"]
pub struct CallFuture<R> {
    performed: BoxFuture<'static, Result<Performed, CallError>>,
    read: Reading<R>,
}

impl<R> Future for CallFuture<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let performed = ready!(self.performed.as_mut().poll(task))?;
        Poll::Ready(performed.read(&self.read))
    }
}

impl<R> fmt::Debug for CallFuture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").finish_non_exhaustive()
    }
}

impl<R> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.request.method)
            .finish_non_exhaustive()
    }
}

/// A call in flight. It advances while it or its progress is awaited. Dropping it cancels the call.
#[must_use = "a call that is dropped is given up"]
pub struct RunningCall<R> {
    future: CallFuture<R>,
    seen: Arc<Mutex<VecDeque<ProgressParams>>>,
    outcome: Option<Result<R, CallError>>,
}

impl<R> RunningCall<R> {
    /// Waits for the next progress; none once the call has ended. Then await the call for its
    /// result.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn progress(&mut self) -> Option<ProgressParams> {
        poll_fn(|task| self.poll_progress(task)).await
    }

    fn poll_progress(&mut self, task: &mut Context<'_>) -> Poll<Option<ProgressParams>> {
        if let Some(progress) = self.take() {
            return Poll::Ready(Some(progress));
        }
        if self.outcome.is_none() {
            match Pin::new(&mut self.future).poll(task) {
                Poll::Ready(outcome) => self.outcome = Some(outcome),
                Poll::Pending => {
                    return match self.take() {
                        Some(progress) => Poll::Ready(Some(progress)),
                        None => Poll::Pending,
                    };
                }
            }
        }
        Poll::Ready(self.take())
    }

    fn take(&self) -> Option<ProgressParams> {
        let mut seen = self.seen.lock();
        seen.pop_front()
    }
}

impl<R: Unpin> Future for RunningCall<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(outcome) = self.outcome.take() {
            return Poll::Ready(outcome);
        }
        let outcome = ready!(Pin::new(&mut self.future).poll(task));
        Poll::Ready(outcome)
    }
}

impl<R> fmt::Debug for RunningCall<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningCall").finish_non_exhaustive()
    }
}
