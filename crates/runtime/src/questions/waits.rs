//! Time that belongs to the user: while a question is open, a handler's own time stands still.

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::context::Context;

/// How long a handler has waited for answers; questions that are open together count once.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    waited: Mutex<Waited>,
    /// Waiting has begun or ended.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waited {
    open: usize,
    since: Option<Instant>,
    total: Duration,
}

impl Waits {
    pub(crate) fn begin(&self) {
        let mut waited = self.lock();
        waited.open += 1;
        if waited.open == 1 {
            waited.since = Some(Instant::now());
            self.changed.notify_waiters();
        }
    }

    pub(crate) fn end(&self) {
        let mut waited = self.lock();
        waited.open = waited.open.saturating_sub(1);
        if waited.open == 0
            && let Some(since) = waited.since.take()
        {
            waited.total += since.elapsed();
            self.changed.notify_waiters();
        }
    }

    /// How long it was in all; none while it goes on.
    fn total(&self) -> Option<Duration> {
        let waited = self.lock();
        waited.since.is_none().then_some(waited.total)
    }

    // Nothing here panics halfway, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Waited> {
        self.waited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says for as long as it lives that a handler waits for its user.
#[derive(Debug)]
pub(crate) struct Waiting(Context);

impl Waiting {
    pub(crate) fn begin(cx: &Context) -> Self {
        cx.desk().waits().begin();
        Self(cx.clone())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.desk().waits().end();
    }
}

/// Runs a part of a request for up to `limit` of its own time: while a question of the request is
/// open, the time is the user's. None if the limit was missed; the future is dropped then.
pub async fn within<T>(
    cx: &Context,
    limit: Duration,
    running: impl Future<Output = T>,
) -> Option<T> {
    let (began, waits) = (Instant::now(), cx.desk().waits());
    let mut running = pin!(running);
    loop {
        let mut changed = pin!(waits.changed.notified());
        // First listen, then look.
        changed.as_mut().enable();
        let due = waits
            .total()
            .and_then(|waited| began.checked_add(limit.checked_add(waited)?));
        tokio::select! {
            biased;
            ended = &mut running => return Some(ended),
            () = changed => {}
            () = at(due) => return None,
        }
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
