//! Writes whose end this process does not learn.

use std::sync::Arc;
use std::time::Duration;

use pintle_store::Watchers;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::outbox::Outbox;

/// Reports every key once writes of unknown end have ended.
///
/// A caller dropped them, or their connection ended. The server ends them within the time-out of an
/// operation.
#[derive(Debug, Default)]
pub(crate) struct Late {
    unknown: Notify,
}

impl Late {
    /// Remembers that a write has an unknown end.
    pub(crate) fn push(&self) {
        self.unknown.notify_one();
    }

    /// Reports to the watchers of this process, and through `outbox` to others.
    pub(crate) async fn run(
        self: Arc<Self>,
        operation_timeout: Duration,
        watchers: Arc<Watchers>,
        outbox: Arc<Outbox>,
    ) {
        loop {
            self.unknown.notified().await;
            sleep(operation_timeout).await;
            watchers.notify_all();
            outbox.push_all();
        }
    }
}
