//! Accessors of the state of an endpoint: the sessions that replicas share, and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pintle_runtime::{Service, SharedSessions};

use super::Endpoint;
use crate::server::HAS_REPLICAS;

impl<S: Service> Endpoint<S> {
    /// Returns the sessions that other replicas serve too.
    pub(in crate::server) fn shared(&self) -> Option<&Arc<dyn SharedSessions>> {
        match HAS_REPLICAS {
            true => self.shared.as_ref(),
            false => None,
        }
    }

    pub(in crate::server) fn begin_drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    pub(in crate::server) fn is_draining(&self) -> &AtomicBool {
        &self.is_draining
    }

    pub(in crate::server) fn close(&self) {
        self.begin_drain();
        self.closing.begin();
        self.sessions.close();
    }

    #[cfg(feature = "sse")]
    pub(in crate::server) fn is_closed(&self) -> bool {
        self.closed.has_begun()
    }
}
