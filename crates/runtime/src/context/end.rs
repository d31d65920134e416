//! The end of a request, for tasks and threads that a handler starts, and for guards that it holds.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use tokio::sync::Notify;

use super::{Context, Origin};

/// Whether a request has ended, and the tasks that wait for that.
#[derive(Debug, Default)]
pub(super) struct End {
    has_come: AtomicBool,
    // Set by the first task that waits, because most requests have none.
    waiting: OnceLock<Box<Notify>>,
}

impl End {
    /// Marks the end, and wakes the tasks that wait.
    // Both this and `observe` write the flag, so the later of the two sees what the other thread did before the
    // earlier one: the end finds the task that waits, or the task finds the end.
    fn mark(&self) {
        self.has_come.swap(true, Ordering::AcqRel);
        if let Some(waiting) = self.waiting.get() {
            waiting.notify_waiters();
        }
    }

    /// Makes the end visible to a task that waits already, if the end came before.
    fn observe(&self) {
        self.has_come.fetch_or(false, Ordering::AcqRel);
    }

    fn waiting(&self) -> &Notify {
        self.waiting.get_or_init(Box::default)
    }
}

/// Marks the end of a request when it is dropped: its handler has returned, or was dropped.
pub(crate) struct EndGuard(Context);

impl EndGuard {
    pub(crate) fn new(cx: Context) -> Self {
        Self(cx)
    }

    pub(crate) fn context(&self) -> &Context {
        &self.0
    }
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.end().mark();
    }
}

impl Context {
    /// Whether the request is cancelled, or already answered. A task is cancelled, or has ended.
    ///
    /// A handler need not ask, because its future is dropped. A task or thread that it has started may ask, and
    /// so may a guard in its `drop`:
    ///
    /// - This returns true: the request was cancelled, or the client that waited for the response has left.
    /// - [`Context::is_suspended`] returns true: the handler has asked a question.
    /// - Both return false: the handler has returned, or a time limit has ended it.
    ///
    /// ```
    /// # use pintle_runtime::Context;
    /// /// Removes a half-made deployment.
    /// struct Undo(Context);
    ///
    /// impl Drop for Undo {
    ///     fn drop(&mut self) {
    ///         if self.0.is_cancelled() {
    ///             // The client has left: undo.
    ///         } else if self.0.is_suspended() {
    ///             // The handler runs again with the answer: leave everything as it is.
    ///         }
    ///     }
    /// }
    /// ```
    pub fn is_cancelled(&self) -> bool {
        if let Some(is_over) = self.questions().is_task_over() {
            return is_over;
        }
        let has_ended = self.end().has_come.load(Ordering::Acquire);
        has_ended || !self.engine().is_open(self.key())
    }

    /// Waits until the request is cancelled or answered, for a task that the handler has spawned.
    ///
    /// # Cancellation
    ///
    /// Dropping the future changes nothing.
    pub async fn cancelled(&self) {
        while !self.is_cancelled() {
            let mut ended = pin!(self.end().waiting().notified());
            poll_fn(|task| {
                // Both wait before the check, because the end may come between the check and the wait.
                let is_notified = ended.as_mut().poll(task).is_ready();
                self.questions().wait_for_task(task.waker());
                self.end().observe();
                if is_notified || self.is_cancelled() {
                    return Poll::Ready(());
                }
                Poll::Pending
            })
            .await;
        }
    }

    /// Whether the handler is suspended by a question, since 2026-07-28: its future is dropped, the question is the
    /// result of the request, and the retry runs the handler again from its beginning.
    ///
    /// A guard above the question reads this in its `drop`, because everything above a question is dropped and
    /// done again. A handler that waits for its answer, as up to 2025-11-25 and in a task, is not suspended.
    pub fn is_suspended(&self) -> bool {
        self.questions().runs_again() && !self.is_cancelled()
    }

    fn end(&self) -> &End {
        match &self.0.origin {
            Origin::Context(origin) => origin.end(),
            Origin::Request(_) => &self.0.end,
        }
    }
}
