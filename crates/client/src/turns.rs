//! Turns of sending messages about a resource to the server of a session: one at a time.
//!
//! Over HTTP every message has its own request. The end of a subscription could overtake the start
//! of the next one to the same resource, and the server would keep none. So a message about a
//! resource waits until the server has answered the previous one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::sync::{Mutex as Place, OwnedMutexGuard};

/// The turns of one session.
#[derive(Default)]
pub(crate) struct Turns(Mutex<State>);

#[derive(Default)]
struct State {
    /// The queue for each resource that has a message in flight.
    places: BTreeMap<String, Weak<Place<()>>>,
    /// The resources whose unsubscription waits for its turn.
    leaving: BTreeSet<String>,
}

/// The turn to send a message about a resource. Dropping it ends the turn.
pub(crate) type Turn = OwnedMutexGuard<()>;

impl Turns {
    /// Waits for the turn to send a message about a resource: first come, first served.
    pub(crate) async fn take(&self, uri: &str) -> Turn {
        self.place(uri).lock_owned().await
    }

    /// Returns true if no unsubscription of the resource waits yet. Marks one as waiting until
    /// [`Turns::leave`].
    pub(crate) fn begin_leaving(&self, uri: &str) -> bool {
        self.lock().leaving.insert(uri.to_owned())
    }

    /// Waits for the turn to unsubscribe from a resource.
    pub(crate) async fn leave(&self, uri: &str) -> Turn {
        let turn = self.take(uri).await;
        self.lock().leaving.remove(uri);
        turn
    }

    fn place(&self, uri: &str) -> Arc<Place<()>> {
        let places = &mut self.lock().places;
        places.retain(|_, place| place.strong_count() > 0);
        if let Some(place) = places.get(uri).and_then(Weak::upgrade) {
            return place;
        }
        let place = Arc::default();
        places.insert(uri.to_owned(), Arc::downgrade(&place));
        place
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}
