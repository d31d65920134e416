//! The news of other replicas, as a feed.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::message::ReplicaMessage;
use super::replica_id::ReplicaId;

/// An entry of the news, or the loss of some.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewsEvent {
    /// Another replica published an entry. The same entry may arrive twice.
    Entry {
        /// The replica that published the entry.
        from: ReplicaId,
        /// The entry as the other replica published it.
        entry: ReplicaMessage,
    },
    /// Entries may be missing, so everything may have changed.
    Lost,
}

/// The news of other replicas, in their order.
#[derive(Debug)]
pub struct NewsFeed(pub(super) Option<broadcast::Receiver<NewsEvent>>);

impl NewsFeed {
    /// Waits for the next entry. Returns `None` after the replica has left; at once in a fleet of one.
    ///
    /// # Cancellation
    ///
    /// Cancellation is safe: the next call returns an entry that this call did not return.
    pub async fn next(&mut self) -> Option<NewsEvent> {
        match self.0.as_mut()?.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(_)) => Some(NewsEvent::Lost),
            Err(RecvError::Closed) => None,
        }
    }
}
