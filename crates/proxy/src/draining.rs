//! Earlier connections whose calls run on.

use std::sync::{Arc, Weak};

use pintle::runtime::sync::Mutex;
use tokio::time::Instant;

use crate::link::Link;

/// The connections that were replaced. Each of them ends with its last call.
#[derive(Default)]
pub(crate) struct Draining(Mutex<Vec<Entry>>);

struct Entry {
    link: Weak<Link>,
    /// The time when its calls are cut off; `None`: the next replacement of all connections.
    ends: Option<Instant>,
}

impl Draining {
    /// Adds a connection.
    pub(crate) fn add(&self, link: &Arc<Link>, ends: Option<Instant>) {
        let link = Arc::downgrade(link);
        self.0.lock().push(Entry { link, ends });
    }

    /// Returns the number of connections that are still open.
    pub(crate) fn open(&self) -> usize {
        let mut all = self.0.lock();
        all.retain(|entry| entry.link.strong_count() > 0);
        all.len()
    }

    /// Removes all connections, and returns those that are still open.
    pub(crate) fn take(&self) -> Vec<Arc<Link>> {
        let all = std::mem::take(&mut *self.0.lock());
        all.iter()
            .filter_map(|entry| entry.link.upgrade())
            .collect()
    }

    /// Closes the connections whose time is over.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let is_over = |entry: &mut Entry| entry.ends.is_some_and(|ends| ends <= now);
        let over: Vec<Entry> = self.0.lock().extract_if(.., is_over).collect();
        for link in over.iter().filter_map(|entry| entry.link.upgrade()) {
            tracing::warn!("a connection was replaced for its age, and its calls are cut off");
            tokio::spawn(async move { link.client().close().await });
        }
    }
}
