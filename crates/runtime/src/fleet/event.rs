//! Changes of a fleet, as a feed.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::replica_id::ReplicaId;

/// A change of the fleet that this replica noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FleetEvent {
    /// Another replica is absent: it left, or its presence expired. It may be present again later.
    Gone(ReplicaId),
    /// The presence of this replica lapsed. Others may have acted for it, so it reads a record before
    /// it acts.
    Lapsed,
    /// The presence of this replica is written again.
    Renewed,
    /// The store does not answer.
    Offline,
    /// The store answers again.
    Online,
    /// The store has lost its content.
    ContentLost,
    /// The inbox dropped messages of other replicas, so read a record before you act on it.
    MessagesLost,
    /// The reader was slow, and that many events were dropped. Everything may have changed.
    Missed(u64),
}

/// The events of a fleet since the feed was made.
#[derive(Debug)]
pub struct FleetEvents(pub(super) Option<broadcast::Receiver<FleetEvent>>);

impl FleetEvents {
    /// Waits for the next event. Returns `None` after the replica has left; at once in a fleet of one.
    ///
    /// # Cancellation
    ///
    /// Cancellation is safe: the next call returns an event that this call did not return.
    pub async fn next(&mut self) -> Option<FleetEvent> {
        match self.0.as_mut()?.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(count)) => Some(FleetEvent::Missed(count)),
            Err(RecvError::Closed) => None,
        }
    }

    /// Waits for the next replica that has gone. Returns `None` after this replica has left.
    ///
    /// It skips other events, so read [`Fleet::replicas`](super::Fleet::replicas) from time to time too.
    ///
    /// # Cancellation
    ///
    /// Cancellation is safe: the next call returns a replica that this call did not return.
    pub async fn gone(&mut self) -> Option<ReplicaId> {
        loop {
            if let FleetEvent::Gone(replica) = self.next().await? {
                return Some(replica);
            }
        }
    }
}
