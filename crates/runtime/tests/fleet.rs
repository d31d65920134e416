//! Replicas of one store, on a paused clock.

mod faults;
mod joining;
mod link;
mod messages;
mod news;
mod present;
mod recorder;
mod storm;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::fleet::{Fleet, FleetEvent, FleetEvents, FleetOptions};
use tokio::time::{sleep, timeout};

use link::{Fault, Host, Link};

/// A replica and its link to the store.
struct Replica {
    fleet: Fleet,
    link: Arc<Link>,
    events: FleetEvents,
}

impl Replica {
    async fn join(host: &Arc<Host>) -> Self {
        Self::join_with(host, FleetOptions::default()).await
    }

    async fn join_with(host: &Arc<Host>, options: FleetOptions) -> Self {
        let link = host.link();
        let joined = Fleet::join(Arc::clone(&link) as _, options).await;
        let fleet = joined.expect("the replica joins");
        let events = fleet.events();
        Self {
            fleet,
            link,
            events,
        }
    }

    /// The next event, which comes within ten minutes.
    async fn next(&mut self) -> FleetEvent {
        let event = timeout(seconds(600), self.events.next()).await;
        event.expect("an event").expect("a replica that runs")
    }

    /// Ends the replica as the end of its process does: its presence stays.
    fn kill(self) {
        self.link.set(Fault::Silent);
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// The number of tasks of this runtime, once no task can run before its timer.
async fn tasks() -> usize {
    sleep(seconds(2)).await;
    tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
}
