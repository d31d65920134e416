//! The task that sends notifications.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::outbox::Outbox;
use super::payload::{self, Sender};
use crate::backoff::Backoff;
use crate::pool::Pool;
use crate::statements::Operation;

/// The pause after a notification, in which the keys of the next one gather. It bounds how often the
/// server commits them: each of these commits holds a lock of the whole server.
const GATHER: Duration = Duration::from_millis(5);

/// Sends the keys of `outbox` to `channel`, until the outbox is closed.
pub(crate) async fn send(pool: Arc<Pool>, outbox: Arc<Outbox>, channel: String, sender: Sender) {
    let mut backoff = Backoff::default();
    while let Some(batch) = outbox.next().await {
        let payloads = payload::write(sender, &batch);
        let sent = pool
            .call(Operation::Notify, &[&channel, &payloads], 0)
            .await;
        match sent {
            Ok(_) => {
                backoff = Backoff::default();
                sleep(GATHER).await;
            }
            // The store is closed, and readers of other processes poll.
            Err(_) if outbox.is_closed() => break,
            Err(error) => {
                tracing::debug!(%error, "a notification failed");
                outbox.push_all();
                sleep(backoff.next()).await;
            }
        }
    }
}
