//! The limits of a fleet.

use std::time::Duration;

/// Settings of a [`Fleet`](super::Fleet).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetOptions {
    /// The server that this replica runs, if it is known at the start. See
    /// [`Fleet::claim_server`](super::Fleet::claim_server).
    pub server: Option<ServerName>,
    /// Whether other replicas in this process share a store without a clock of its own, such as a
    /// [`MemoryStore`](pintle_store::MemoryStore); default false. They use the clock of the process.
    pub is_shared: bool,
    /// Pause between two renewals of the presence; default 3 s, at least 10 ms. A failed renewal is repeated after a
    /// third of it.
    pub heartbeat_interval: Duration,
    /// How long a replica counts as present after a renewal; default 10 s. It is at least twice
    /// [`FleetOptions::heartbeat_interval`].
    pub presence_ttl: Duration,
    /// Pause between two lists of all replicas; default 5 s. A replica that has gone is noticed within
    /// this pause.
    pub list_interval: Duration,
    /// Pause between two measurements of the clock of the store; default 30 s.
    pub clock_interval: Duration,
    /// Maximum time of one operation of the store; default 1 s. The operation fails then.
    pub operation_timeout: Duration,
    /// Maximum time to join; default 10 s.
    pub join_timeout: Duration,
    /// Maximum number of replicas; default 1,000. Another replica cannot join.
    pub max_replicas: usize,
    /// Maximum number of events that wait for a reader of
    /// [`Fleet::events`](super::Fleet::events); default 1,024. The oldest ones are dropped then.
    pub max_fleet_events: usize,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            server: None,
            is_shared: false,
            heartbeat_interval: Duration::from_secs(3),
            presence_ttl: Duration::from_secs(10),
            list_interval: Duration::from_secs(5),
            clock_interval: Duration::from_secs(30),
            operation_timeout: Duration::from_secs(1),
            join_timeout: Duration::from_secs(10),
            max_replicas: 1_000,
            max_fleet_events: 1_024,
        }
    }
}

impl FleetOptions {
    /// The shortest interval. A shorter one would keep the store busy.
    const MIN_INTERVAL: Duration = Duration::from_millis(10);

    /// Raises values that no fleet can work with.
    pub(super) fn normalized(mut self) -> Self {
        for interval in [
            &mut self.heartbeat_interval,
            &mut self.list_interval,
            &mut self.clock_interval,
        ] {
            *interval = Self::MIN_INTERVAL.max(*interval);
        }
        let two_renewals = self.heartbeat_interval.saturating_mul(2);
        self.presence_ttl = self.presence_ttl.max(two_renewals);
        self.max_replicas = self.max_replicas.max(1);
        self.max_fleet_events = self.max_fleet_events.max(1);
        self
    }
}

/// Name and version of a server, as replicas show them to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName {
    /// Name of the server. All replicas of a fleet have the same one.
    pub name: String,
    /// Version of the server. Replicas of several versions share a fleet.
    pub version: String,
}

impl ServerName {
    /// Creates the name from its parts.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
        }
    }
}
