//! Every limit of a store, in one place.

use bytes::Bytes;

use crate::error::{LimitError, LimitKind};

/// The limits of one store: each with its default, unit and reason.
///
/// Keys are bounded by their type: see [`Key::MAX_NAME_BYTES`](crate::Key::MAX_NAME_BYTES).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoreLimits {
    /// Records, logs and counters together; default 100 000.
    ///
    /// Ten for each of 10 000 sessions. Beyond it nothing new is stored.
    pub max_entries: usize,
    /// Bytes of everything together; default 256 MiB.
    ///
    /// A record counts as its key, its value and [`StoreLimits::ENTRY_BYTES`]. A log or a counter
    /// counts as its key and `ENTRY_BYTES`, and an event as its value and `ENTRY_BYTES`. The bound protects the
    /// memory of a server, because all entries are in memory.
    pub max_bytes: usize,
    /// Bytes of one value, or of all events of one append; default 16 MiB, as much as one message.
    pub max_value_bytes: usize,
    /// Events of one append; default 256.
    pub max_batch_events: usize,
    /// Events of one log; default 1 000. Beyond it the oldest are dropped: a reader who is that
    /// late has given up.
    pub max_log_events: usize,
    /// Bytes of the events of one log, without overhead; default 10 MiB. Beyond it the oldest
    /// are dropped, but never the latest.
    pub max_log_bytes: usize,
    /// Records of one page, or events of one reading; default 1 000, so that a reader cannot hold
    /// up the others.
    pub max_page_entries: usize,
    /// Bytes of values of one page or reading; default 16 MiB. The first is given whatever its
    /// size.
    pub max_page_bytes: usize,
    /// Those who wait for changes; default 16 384: every session and stream of a busy server.
    pub max_watchers: usize,
    /// Operations that wait for a slow disk or server; default 1 024. More are refused for a while. A
    /// store in a directory counts writes alone, and a store in memory has no such queue.
    pub max_queued_writes: usize,
    /// Bytes of their values; default 64 MiB. A write that waits alone may have more.
    pub max_queued_bytes: usize,
}

impl StoreLimits {
    /// Cost of an entry or event besides its text, in bytes.
    pub const ENTRY_BYTES: usize = 64;

    /// Checks the size of a value, for implementations of a store.
    ///
    /// # Errors
    ///
    /// [`LimitKind::ValueBytes`] if it is larger than [`Self::max_value_bytes`].
    pub fn check_value(&self, bytes: usize) -> Result<(), LimitError> {
        let most = self.max_value_bytes;
        if bytes > most {
            return Err(LimitError::new(LimitKind::ValueBytes, most));
        }
        Ok(())
    }

    /// Checks the events of one append, for implementations of a store.
    ///
    /// # Errors
    ///
    /// [`LimitKind::BatchEvents`] beyond [`Self::max_batch_events`]; [`LimitKind::ValueBytes`] if they
    /// are larger together than [`Self::max_value_bytes`].
    pub fn check_batch(&self, events: &[Bytes]) -> Result<(), LimitError> {
        let most = self.max_batch_events;
        if events.len() > most {
            return Err(LimitError::new(LimitKind::BatchEvents, most));
        }
        self.check_value(events.iter().map(Bytes::len).sum())
    }
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            max_entries: 100_000,
            max_bytes: 256 << 20,
            max_value_bytes: 16 << 20,
            max_batch_events: 256,
            max_log_events: 1_000,
            max_log_bytes: 10 << 20,
            max_page_entries: 1_000,
            max_page_bytes: 16 << 20,
            max_watchers: 16_384,
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
    fn defaults_match_the_documentation() {
        let limits = StoreLimits::default();
        assert_eq!(
            (limits.max_entries, limits.max_bytes, limits.max_value_bytes),
            (100_000, 268_435_456, 16_777_216)
        );
        assert_eq!(
            (limits.max_log_events, limits.max_log_bytes),
            (1_000, 10_485_760)
        );
        assert_eq!(limits.max_batch_events, 256);
        assert_eq!(
            (
                limits.max_page_entries,
                limits.max_page_bytes,
                limits.max_watchers
            ),
            (1_000, 16_777_216, 16_384)
        );
        let queued = (limits.max_queued_writes, limits.max_queued_bytes);
        assert_eq!(queued, (1_024, 67_108_864));
    }
}
