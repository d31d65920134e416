//! The ring of keys in a store that has lost its content.

use std::time::Duration;

use pintle_keys::Keys;
use pintle_runtime::fleet::{Fleet, FleetEvent, FleetEvents};
use tokio::time::{Instant, timeout_at};

/// The pause after an attempt that failed.
const RETRY: Duration = Duration::from_secs(1);
/// Within this time the other replicas notice a loss, and add their keys to the ring that this one created.
const SETTLED: Duration = Duration::from_secs(5);

/// Keeps the ring in the store while this replica is part of the fleet.
pub(crate) fn keep_ring(fleet: &Fleet, keys: &Keys) {
    if fleet.is_shared() {
        tokio::spawn(keep(fleet.events(), keys.clone()));
    }
}

/// An inbox is empty before the epoch is read.
fn may_follow_loss(event: FleetEvent) -> bool {
    matches!(
        event,
        FleetEvent::ContentLost | FleetEvent::MessagesLost | FleetEvent::Missed(_)
    )
}

/// Writes the ring again after each loss of content, until this replica ends. So a process that begins later has the keys of
/// this one, and neither counts apart nor rejects texts from before.
async fn keep(mut events: FleetEvents, keys: Keys) {
    let mut due = keys.is_creator().then(|| Instant::now() + SETTLED);
    loop {
        let event = match due {
            Some(due) => timeout_at(due, events.next()).await,
            None => Ok(events.next().await),
        };
        match event {
            Ok(None) => return,
            Ok(Some(event)) if may_follow_loss(event) => due = Some(Instant::now()),
            Ok(Some(_)) => {}
            Err(_) => {
                let restored = keys.restore().await;
                due = restored.is_err().then(|| Instant::now() + RETRY);
                if let Err(error) = restored {
                    tracing::warn!(%error, "the keys are not in the store");
                }
            }
        }
    }
}
