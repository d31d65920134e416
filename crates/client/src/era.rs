//! Which revisions a client speaks, and what it remembers of servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pintle_model::{Feature, Revision};
use pintle_runtime::sync::Mutex;

/// Which revisions a client speaks with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EraMode {
    /// The newest that the server speaks: it is asked first (`server/discover`), and what it does
    /// not answer like a modern server is taken for one that wants a handshake.
    #[default]
    Auto,
    /// Only revisions with a handshake; the server is not asked first.
    Legacy,
    /// Only revisions without a handshake. Nobody in between can force an older one.
    ModernOnly,
    /// This revision and no other.
    Pinned(Revision),
}

impl EraMode {
    /// The revisions without a handshake that may be spoken, oldest first.
    pub(crate) fn modern(self) -> Vec<Revision> {
        Revision::modern()
            .filter(|revision| self.allows(*revision))
            .collect()
    }

    /// The revision to offer in a handshake, if one may be made.
    pub(crate) fn legacy(self) -> Option<Revision> {
        Revision::legacy()
            .filter(|revision| self.allows(*revision))
            .last()
    }

    /// Whether a revision may be spoken.
    pub(crate) fn allows(self, revision: Revision) -> bool {
        match self {
            Self::Auto => true,
            Self::Legacy => revision.has(Feature::Handshake),
            Self::ModernOnly => revision.has(Feature::Envelope),
            Self::Pinned(pinned) => pinned == revision,
        }
    }

    /// The dates of what may be spoken.
    pub(crate) fn dates(self) -> Vec<String> {
        Revision::ALL
            .into_iter()
            .filter(|revision| self.allows(*revision))
            .map(|revision| revision.as_str().to_owned())
            .collect()
    }
}

/// What is known of the era of a server. Closed: there are two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// It speaks this revision, and needs no handshake.
    Modern(Revision),
    /// It wants a handshake.
    Legacy,
}

/// How long a server is taken for a legacy one before it is asked again: that verdict never fails
/// loudly, so it must end by itself.
const LEGACY_AGE: Duration = Duration::from_secs(24 * 3600);
/// How many servers are remembered; the oldest verdict gives way.
const SERVERS: usize = 1_024;

/// What is remembered of the eras of servers: share it among clients, keep it across runs.
///
/// A server is named by [`Connect::key`](pintle_runtime::Connect::key).
#[derive(Debug, Clone, Default)]
pub struct EraCache(Arc<Mutex<BTreeMap<String, (Era, SystemTime)>>>);

impl EraCache {
    /// Remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is known of a server at `now`.
    pub fn get(&self, key: &str, now: SystemTime) -> Option<Era> {
        let (era, since) = *self.lock().get(key)?;
        let age = now.duration_since(since).unwrap_or_default();
        (era != Era::Legacy || age < LEGACY_AGE).then_some(era)
    }

    /// Remembers what was found at `now`.
    pub fn put(&self, key: impl Into<String>, era: Era, now: SystemTime) {
        let (key, mut known) = (key.into(), self.lock());
        if !known.contains_key(&key) && known.len() >= SERVERS {
            let oldest = known.iter().min_by_key(|(_, (_, since))| *since);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                known.remove(&oldest);
            }
        }
        known.insert(key, (era, now));
    }

    /// Forgets a server: what it does contradicts what was known.
    pub fn forget(&self, key: &str) {
        self.lock().remove(key);
    }

    /// Everything that is remembered, and since when: to keep it across runs.
    pub fn entries(&self) -> Vec<(String, Era, SystemTime)> {
        let known = self.lock();
        known
            .iter()
            .map(|(key, (era, since))| (key.clone(), *era, *since))
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, (Era, SystemTime)>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-ERA-14 (memory), N-ERA-15
    #[test]
    fn a_legacy_verdict_ends_by_itself() {
        let (memory, now) = (EraCache::new(), SystemTime::now());
        memory.put("old", Era::Legacy, now);
        memory.put("new", Era::Modern(Revision::LATEST), now);
        let later = now + LEGACY_AGE;
        assert_eq!(
            memory.get("old", later - Duration::from_secs(1)),
            Some(Era::Legacy)
        );
        assert_eq!(memory.get("old", later), None);
        assert_eq!(
            memory.get("new", later),
            Some(Era::Modern(Revision::LATEST))
        );
        memory.forget("new");
        assert_eq!(memory.get("new", now), None);
    }

    #[test]
    fn no_more_servers_are_remembered_than_the_limit() {
        let (memory, start) = (EraCache::new(), SystemTime::UNIX_EPOCH);
        for server in 0..=SERVERS {
            let since = start + Duration::from_secs(server as u64);
            memory.put(format!("{server}"), Era::Legacy, since);
        }
        assert_eq!(memory.entries().len(), SERVERS);
        assert_eq!(memory.get("0", start), None, "the oldest gave way");
    }

    #[test]
    fn a_mode_says_what_is_offered() {
        assert_eq!(EraMode::Auto.legacy(), Some(Revision::LATEST_LEGACY));
        assert_eq!(EraMode::ModernOnly.legacy(), None);
        let pinned = EraMode::Pinned(Revision::V2025_03_26);
        assert_eq!(
            (pinned.modern(), pinned.legacy()),
            (vec![], Some(Revision::V2025_03_26))
        );
        assert_eq!(EraMode::Legacy.modern(), []);
        assert_eq!(pinned.dates(), ["2025-03-26"]);
    }
}
