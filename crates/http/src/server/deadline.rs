//! A deadline that moves with every request and rarely passes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pintle_runtime::deadline_after;
use tokio::time::{Instant, Sleep, sleep_until};

/// A deadline that wakes its task.
///
/// To move it later is cheap: the timer is reset only when it fires too early.
#[derive(Debug, Default)]
pub(super) struct Deadline {
    at: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
    /// The waker that the timer wakes.
    waker: Option<Waker>,
}

impl Deadline {
    /// Moves the deadline to `after` from now.
    pub(super) fn set(&mut self, after: Duration) {
        self.at = Some(deadline_after(Instant::now(), after));
    }

    pub(super) fn clear(&mut self) {
        self.at = None;
    }

    pub(super) fn is_set(&self) -> bool {
        self.at.is_some()
    }

    /// Returns `Ready` from the deadline on and wakes the task then; never without a deadline.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else {
            return Poll::Pending;
        };
        if self.will_wake(at, cx) {
            return Poll::Pending;
        }
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(at)))
            .as_mut();
        let poll = Self::wait(timer, at, cx);
        self.waker = poll.is_pending().then(|| cx.waker().clone());
        poll
    }

    /// Whether the timer fires at the deadline or before, and wakes the task then.
    fn will_wake(&self, at: Instant, cx: &Context<'_>) -> bool {
        let timer = self.timer.as_ref();
        timer.is_some_and(|timer| timer.deadline() <= at && !timer.is_elapsed())
            && self
                .waker
                .as_ref()
                .is_some_and(|waker| waker.will_wake(cx.waker()))
    }

    fn wait(mut timer: Pin<&mut Sleep>, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if timer.deadline() > at {
            timer.as_mut().reset(at);
        }
        loop {
            std::task::ready!(timer.as_mut().poll(cx));
            if timer.deadline() >= at {
                return Poll::Ready(());
            }
            timer.as_mut().reset(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    async fn passes(deadline: &mut Deadline) -> Duration {
        let began = Instant::now();
        poll_fn(|cx| deadline.poll(cx)).await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_may_move_either_way() {
        let mut deadline = Deadline::default();
        for seconds in [30, 60, 10, 10] {
            deadline.set(SECOND * 1000);
            assert!(
                tokio::time::timeout(SECOND, passes(&mut deadline))
                    .await
                    .is_err()
            );
            deadline.set(SECOND * seconds);
            assert_eq!(passes(&mut deadline).await, SECOND * seconds);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_deadline_never_comes() {
        let mut deadline = Deadline::default();
        deadline.set(SECOND);
        deadline.clear();
        let waiting = passes(&mut deadline);
        assert!(tokio::time::timeout(SECOND * 1000, waiting).await.is_err());
    }
}
