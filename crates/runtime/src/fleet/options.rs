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
    /// Pause between two readings of the inbox or the news while the store reports no changes; default 1 s, at least
    /// 10 ms. Also the pause after a reading or an append that failed.
    pub poll_interval: Duration,
    /// Pause between two readings while the store reports changes; default 5 s, at least
    /// [`FleetOptions::poll_interval`]. A lost report delays a message this long.
    pub watched_poll_interval: Duration,
    /// Maximum time from a request to the reply of another replica; default 1 s. The request fails then.
    pub reply_timeout: Duration,
    /// Maximum time of [`Recipient::receive`](super::Recipient::receive); default 30 s. The message is dropped
    /// then.
    pub receive_timeout: Duration,
    /// How long the inbox stays after its last message, if its replica does not renew it; default 60 s.
    pub inbox_ttl: Duration,
    /// How long the news stay after the last entry, if no replica renews them; default 10 minutes.
    pub news_ttl: Duration,
    /// Time in which equal entries of the news become one; default 20 ms. It delays every entry.
    pub news_delay: Duration,
    /// Whether each reader of the news begins with all kept entries, and not with the next one; default
    /// false. A replica that served requests before it joined may have to read entries from before. Also if the
    /// join took half a second, each reader begins with all kept entries. So does a first reader that finds the
    /// store away.
    pub reads_kept_news: bool,
    /// Maximum number of requests that wait for replies; default 1,024. Another request fails.
    pub max_requests: usize,
    /// Maximum number of messages that recipients act on at the same time; default 1,024. Others wait in the
    /// inbox.
    pub max_received_messages: usize,
    /// Maximum number of messages whose second copy is dropped; default 4,096. The oldest is forgotten.
    pub max_message_numbers: usize,
    /// Maximum number of messages in an inbox; default 10,000. The oldest ones are dropped.
    pub max_inbox_messages: usize,
    /// Maximum size of an inbox; default 64 MiB. The oldest messages are dropped.
    pub max_inbox_bytes: usize,
    /// Maximum number of entries of the news; default 10,000. The oldest ones are dropped, and slow readers
    /// receive [`NewsEvent::Lost`](super::NewsEvent::Lost).
    pub max_news_entries: usize,
    /// Maximum size of the news; default 8 MiB. The oldest entries are dropped.
    pub max_news_bytes: usize,
    /// Maximum number of entries that wait for the store, and of entries that wait for a reader of a
    /// [`NewsFeed`](super::NewsFeed); default 1,024. Beyond it all become
    /// [`NewsEvent::Lost`](super::NewsEvent::Lost).
    pub max_queued_news: usize,
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
            poll_interval: Duration::from_secs(1),
            watched_poll_interval: Duration::from_secs(5),
            reply_timeout: Duration::from_secs(1),
            receive_timeout: Duration::from_secs(30),
            inbox_ttl: Duration::from_secs(60),
            news_ttl: Duration::from_secs(600),
            news_delay: Duration::from_millis(20),
            reads_kept_news: false,
            max_requests: 1_024,
            max_received_messages: 1_024,
            max_message_numbers: 4_096,
            max_inbox_messages: 10_000,
            max_inbox_bytes: 64 << 20,
            max_news_entries: 10_000,
            max_news_bytes: 8 << 20,
            max_queued_news: 1_024,
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
            &mut self.poll_interval,
        ] {
            *interval = Self::MIN_INTERVAL.max(*interval);
        }
        let two_renewals = self.heartbeat_interval.saturating_mul(2);
        self.presence_ttl = self.presence_ttl.max(two_renewals);
        self.max_replicas = self.max_replicas.max(1);
        self.max_fleet_events = self.max_fleet_events.max(1);
        self.watched_poll_interval = self.watched_poll_interval.max(self.poll_interval);
        // A reader must reach the log within the time in which it stays.
        let readings = self.watched_poll_interval.saturating_mul(3);
        self.inbox_ttl = self.inbox_ttl.max(readings);
        self.news_ttl = self.news_ttl.max(readings);
        self.max_received_messages = self.max_received_messages.max(1);
        self.max_queued_news = self.max_queued_news.max(1);
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
