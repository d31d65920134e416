//! One timer for all deadlines of a pipe, made when the first of them is waited for.

use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use tokio::time::{Instant, Sleep, sleep_until};

/// A timer that is set again for each deadline.
#[derive(Debug, Default)]
pub(super) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// Waits until `at`. It replaces the instant of an earlier call.
    pub(super) fn poll(&mut self, cx: &mut TaskContext<'_>, at: Instant) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(cx)
    }
}
