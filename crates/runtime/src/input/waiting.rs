//! Waiting for the user: a handler's own time stands still.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::context::Context;
use crate::first::{First, first};

/// Marks a handler as waiting for its user, until it is dropped.
#[derive(Debug)]
pub(super) struct Waiting(Context);

impl Waiting {
    pub(super) fn begin(cx: &Context) -> Self {
        cx.questions().waits().begin();
        Self(cx.clone())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.questions().waits().end();
    }
}

/// Runs a part of a request for up to `limit` of its own time: while a question of the request is
/// open, the time is the user's. None if the limit was missed; the future is dropped then.
pub async fn with_timeout<T>(
    cx: &Context,
    limit: Duration,
    running: impl Future<Output = T>,
) -> Option<T> {
    let (began, waits) = (Instant::now(), cx.questions().waits());
    let mut running = pin!(running);
    loop {
        let mut changed = pin!(waits.notified());
        // First listen, then look.
        changed.as_mut().enable();
        let due = waits
            .total()
            .and_then(|waited| began.checked_add(limit.checked_add(waited)?));
        match first(running.as_mut(), first(changed, at(due))).await {
            First::One(ended) => return Some(ended),
            First::Other(First::One(())) => {}
            First::Other(First::Other(())) => return None,
        }
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
