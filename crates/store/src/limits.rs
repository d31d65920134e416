//! Every bound of a store, in one place.

/// The bounds of one store: each with its default, unit and reason.
///
/// Keys are bounded by their type: see [`Key::MAX_NAME_BYTES`](crate::Key::MAX_NAME_BYTES).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoreLimits {
    /// Records and logs together; default 100 000.
    ///
    /// Ten for each of 10 000 sessions. Beyond it nothing new is stored.
    pub entries: usize,
    /// Bytes of everything together; default 256 MiB.
    ///
    /// A record counts as its key, its value and [`StoreLimits::ENTRY_BYTES`]; a log as its key
    /// and `ENTRY_BYTES`; an event as its value and `ENTRY_BYTES`. So that nobody fills the
    /// memory of a server with what it has to remember.
    pub bytes: usize,
    /// Bytes of one value or event; default 16 MiB, as much as one message.
    pub value_bytes: usize,
    /// Events of one log; default 1 000. Beyond it the oldest are dropped: a reader who is that
    /// late has given up.
    pub log_events: usize,
    /// Bytes of the events of one log, without overhead; default 10 MiB. Beyond it the oldest
    /// are dropped, but never the latest.
    pub log_bytes: usize,
    /// Records of one page, or events of one reading; default 1 000, so that a reader cannot hold
    /// up the others.
    pub page_entries: usize,
    /// Bytes of values of one page or reading; default 16 MiB. The first is given whatever its
    /// size.
    pub page_bytes: usize,
    /// Those who wait for changes; default 16 384: every session and stream of a busy server.
    pub watchers: usize,
    /// Writes that wait for a slow disk; default 1 024. More are refused for a while. Only a store in
    /// a directory has such a queue.
    pub max_queued_writes: usize,
    /// Bytes of their values; default 64 MiB. A write that waits alone may have more.
    pub max_queued_bytes: usize,
}

impl StoreLimits {
    /// What an entry or event counts beside its text, in bytes.
    pub const ENTRY_BYTES: usize = 64;
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            entries: 100_000,
            bytes: 256 << 20,
            value_bytes: 16 << 20,
            log_events: 1_000,
            log_bytes: 10 << 20,
            page_entries: 1_000,
            page_bytes: 16 << 20,
            watchers: 16_384,
            max_queued_writes: 1_024,
            max_queued_bytes: 64 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_are_what_the_documentation_promises() {
        let limits = StoreLimits::default();
        assert_eq!(
            (limits.entries, limits.bytes, limits.value_bytes),
            (100_000, 268_435_456, 16_777_216)
        );
        assert_eq!((limits.log_events, limits.log_bytes), (1_000, 10_485_760));
        assert_eq!(
            (limits.page_entries, limits.page_bytes, limits.watchers),
            (1_000, 16_777_216, 16_384)
        );
        let queued = (limits.max_queued_writes, limits.max_queued_bytes);
        assert_eq!(queued, (1_024, 67_108_864));
    }
}
