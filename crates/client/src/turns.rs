//! Who speaks of a resource to the server of a session: one at a time.
//!
//! Over HTTP every message goes its own way. The end of a subscription could overtake the beginning
//! of the next one to the same resource, and the server would be left with none. So whoever has
//! something to say of a resource waits until the server has answered whoever spoke of it before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::sync::{Mutex as Place, OwnedMutexGuard};

/// The turns of one session.
#[derive(Default)]
pub(crate) struct Turns(Mutex<State>);

#[derive(Default)]
struct State {
    /// Where one waits, for each resource that somebody speaks of.
    places: BTreeMap<String, Weak<Place<()>>>,
    /// The resources whose end is waiting to be said.
    leaving: BTreeSet<String>,
}

/// The turn to speak of a resource: over when it is dropped.
pub(crate) type Turn = OwnedMutexGuard<()>;

impl Turns {
    /// Waits for the turn to speak of a resource: first come, first served.
    pub(crate) async fn take(&self, uri: &str) -> Turn {
        self.place(uri).lock_owned().await
    }

    /// Whether nobody waits yet to say that a resource is of no interest any more; somebody does
    /// from now on, until [`Turns::leave`].
    pub(crate) fn begin_leaving(&self, uri: &str) -> bool {
        self.lock().leaving.insert(uri.to_owned())
    }

    /// Waits for the turn to say that a resource is of no interest any more.
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
