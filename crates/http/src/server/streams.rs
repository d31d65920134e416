//! The number of open streams that are not replies: in total, and for each principal.

use std::collections::HashMap;
use std::sync::Arc;

use pintle_runtime::Principal;
use pintle_runtime::sync::{Mutex, MutexGuard};

use super::options::HttpLimits;

/// The open streams of one endpoint.
#[derive(Debug)]
pub(super) struct Streams {
    open: Mutex<Open>,
    most: usize,
    most_of_one: usize,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    count_by_principal: HashMap<Box<str>, usize>,
}

/// The permit for one open stream, released on drop.
#[derive(Debug)]
pub(super) struct StreamPermit {
    streams: Arc<Streams>,
    principal: Option<Box<str>>,
}

impl Streams {
    pub(super) fn new(limits: &HttpLimits) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            most: limits.max_streams,
            most_of_one: limits.max_streams_per_principal,
        })
    }

    /// Counts one more stream; returns `None` at a limit. Only the total limit applies to anonymous
    /// callers.
    pub(super) fn admit(self: &Arc<Self>, principal: Option<&Principal>) -> Option<StreamPermit> {
        let mut open = self.lock();
        if open.all >= self.most {
            return None;
        }
        if let Some(principal) = principal {
            let count = open
                .count_by_principal
                .entry(principal.id().into())
                .or_default();
            if *count >= self.most_of_one {
                return None;
            }
            *count += 1;
        }
        open.all += 1;
        let principal = principal.map(|principal| principal.id().into());
        Some(StreamPermit {
            streams: Arc::clone(self),
            principal,
        })
    }

    // Counting does not panic, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock()
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.streams.lock();
        open.all -= 1;
        let Some(principal) = &self.principal else {
            return;
        };
        if let Some(count) = open.count_by_principal.get_mut(principal) {
            *count -= 1;
            if *count == 0 {
                open.count_by_principal.remove(principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_counted_in_all_and_for_each_principal() {
        let mut limits = HttpLimits::default();
        (limits.max_streams, limits.max_streams_per_principal) = (3, 2);
        let streams = Streams::new(&limits);
        let alice = Principal::new("alice", ["read"]);
        let bob = Principal::new("bob", ["read"]);
        let first = streams.admit(Some(&alice)).expect("room");
        let _second = streams.admit(Some(&alice)).expect("room");
        assert!(streams.admit(Some(&alice)).is_none());
        let third = streams.admit(Some(&bob)).expect("room");
        assert!(streams.admit(None).is_none() && streams.admit(Some(&bob)).is_none());
        drop((first, third));
        assert!(streams.admit(Some(&alice)).is_some());
        assert!(!streams.lock().count_by_principal.contains_key("bob"));
    }
}
