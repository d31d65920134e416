//! What the network does at the moment.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pintle_testkit::Rng;
use tokio::sync::watch;

/// The network between all clients and the server. A change applies to every link at once.
#[derive(Debug)]
pub(super) struct Weather {
    rng: Mutex<Rng>,
    now: watch::Sender<Now>,
}

/// One moment of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Now {
    /// How long bytes are under way, at most.
    pub(super) latency: Duration,
    /// How many bytes are carried at a time.
    pub(super) piece: usize,
    /// Whether nothing is carried towards the server, or towards the clients.
    pub(super) stalled: [bool; 2],
    /// How often all links were cut.
    pub(super) cuts: u64,
    /// How often one direction of all links was closed: towards the server, or towards the clients.
    pub(super) closed: [u64; 2],
}

impl Weather {
    pub(super) fn new(seed: u64) -> Self {
        let fair = Now {
            latency: Duration::ZERO,
            piece: 1 << 16,
            stalled: [false; 2],
            cuts: 0,
            closed: [0; 2],
        };
        Self {
            rng: Mutex::new(Rng::new(seed)),
            now: watch::Sender::new(fair),
        }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Now)) {
        self.now.send_modify(change);
    }

    pub(super) fn watch(&self) -> watch::Receiver<Now> {
        self.now.subscribe()
    }

    /// How long the next bytes are under way.
    pub(super) fn delay(&self) -> Duration {
        let latency = self.now.borrow().latency;
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        rng.up_to(latency)
    }

    /// Fair from now on: nothing more breaks by itself.
    pub(super) fn clear(&self) {
        self.change(|now| {
            now.latency = Duration::ZERO;
            now.piece = 1 << 16;
            now.stalled = [false; 2];
        });
    }
}
