//! The limits of a session.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pintle_proto::Limits;
use pintle_runtime::fleet::Fleet;
use tokio::sync::watch;

use crate::server::{HAS_REPLICAS, HttpLimits, HttpOptions};

/// The limits of the sessions of one endpoint.
#[derive(Debug)]
pub(in crate::server) struct Bounds {
    pub(super) conversation_limits: Arc<Limits>,
    pub(super) replay: Replay,
    /// Notices sessions without an open question, for the shutdown.
    pub(in crate::server) answered: Answered,
    /// This replica, once it can write logs that other replicas read.
    pub(super) fleet: OnceLock<Fleet>,
}

/// The limits of the messages that are stored for clients that resume.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replay {
    /// Messages of one stream.
    pub(super) events: usize,
    /// Bytes of these.
    pub(super) bytes: usize,
    /// Messages of one session, a stream counting as one more.
    pub(super) events_of_session: usize,
    /// Bytes of these.
    pub(super) bytes_of_session: usize,
    /// How long a stream waits for its client to resume.
    pub(super) time: Duration,
    /// How long a client waits before it resumes.
    pub(super) retry: Duration,
}

/// Notifies a shutdown that sessions have no open question any more.
#[derive(Debug, Default)]
pub(in crate::server) struct Answered(watch::Sender<()>);

impl Answered {
    pub(in crate::server) fn follow(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }

    /// Returns true if a shutdown waits.
    pub(super) fn is_followed(&self) -> bool {
        self.0.receiver_count() > 0
    }

    pub(super) fn notify(&self) {
        self.0.send_replace(());
    }
}

impl Bounds {
    /// Returns this replica, once it can write logs that other replicas read.
    pub(in crate::server) fn fleet(&self) -> Option<&Fleet> {
        match HAS_REPLICAS {
            true => self.fleet.get(),
            false => None,
        }
    }

    /// Sets this replica, once.
    pub(in crate::server) fn set_fleet(&self, fleet: Fleet) {
        let _ = self.fleet.set(fleet);
    }

    /// Returns the limits that the options of an endpoint set.
    pub(in crate::server) fn of(options: &HttpOptions) -> Self {
        Self {
            conversation_limits: Arc::clone(&options.conversation_limits),
            replay: Replay::of(&options.limits),
            answered: Answered::default(),
            fleet: OnceLock::new(),
        }
    }
}

impl Replay {
    fn of(limits: &HttpLimits) -> Self {
        Self {
            events: limits.max_replay_events_per_stream,
            bytes: limits.max_replay_bytes_per_stream,
            events_of_session: limits.max_replay_events_per_session,
            bytes_of_session: limits.max_replay_bytes_per_session,
            time: limits.replay_ttl,
            retry: limits.sse_retry_delay,
        }
    }
}
