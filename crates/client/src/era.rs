//! The revisions that a client may use, and the cache of the eras of servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pintle_model::{CacheScope, DiscoverResult, Feature, Revision};
use pintle_runtime::sync::Mutex;

/// The revisions that a client may use with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EraMode {
    /// The newest that both sides support. The client first sends `server/discover`. A server that
    /// does not answer it like a modern server is treated as one that requires a handshake.
    #[default]
    Auto,
    /// Only revisions with a handshake; the client does not send `server/discover`.
    Legacy,
    /// Only revisions without a handshake. An attacker on the network cannot force an older
    /// revision.
    ModernOnly,
    /// This revision and no other.
    Pinned(Revision),
}

impl EraMode {
    /// The revisions without a handshake that may be used, oldest first.
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

    /// Returns true if the revision may be used.
    pub(crate) fn allows(self, revision: Revision) -> bool {
        match self {
            Self::Auto => true,
            Self::Legacy => revision.has(Feature::Handshake),
            Self::ModernOnly => revision.has(Feature::Envelope),
            Self::Pinned(pinned) => pinned == revision,
        }
    }

    /// Returns the dates of the revisions that may be used.
    pub(crate) fn dates(self) -> Vec<String> {
        Revision::ALL
            .into_iter()
            .filter(|revision| self.allows(*revision))
            .map(|revision| revision.as_str().to_owned())
            .collect()
    }
}

/// The cached era of a server. Closed: there are two eras.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// The server supports this revision and does not need a handshake.
    Modern(Revision),
    /// The server requires a handshake.
    Legacy,
}

/// How long a server is treated as a legacy server before it is probed again. The entry must
/// expire, because a wrong one never causes an error.
const LEGACY_AGE: Duration = Duration::from_secs(24 * 3600);
/// Largest number of cached servers; the oldest entry is evicted.
const SERVERS: usize = 1_024;
/// Longest time for which a description is stored, also if the server allows more.
const MAX_DISCOVERY_AGE: Duration = Duration::from_secs(24 * 3600);
/// Largest description that is stored, in bytes of JSON.
pub(crate) const MAX_DISCOVERY_BYTES: usize = 64 << 10;

/// A cache of the eras of servers. Clients may share it, and a program may store it across runs.
///
/// [`Connect::key`](pintle_runtime::Connect::key) names a server.
///
/// The cache also stores the description of a modern server over HTTP, for as long as the server allows, at most a
/// day. A new conversation then begins without `server/discover`. If the server has changed its revisions, the
/// client notices it at its next call, and discovers the server again.
#[derive(Debug, Clone, Default)]
pub struct EraCache(Arc<Mutex<BTreeMap<String, CachedServer>>>);

#[derive(Debug)]
struct CachedServer {
    era: Era,
    since: SystemTime,
    discovery: Option<CachedDiscovery>,
}

/// A description, and the time at which it ends.
#[derive(Debug)]
struct CachedDiscovery {
    found: Arc<DiscoverResult>,
    until: SystemTime,
    /// The principal of a private description.
    principal: Option<String>,
}

impl CachedDiscovery {
    /// Returns `None` if the server does not allow a cache to store the description.
    fn of(found: DiscoverResult, principal: Option<&str>, now: SystemTime) -> Option<Self> {
        let freshness = found.freshness?;
        let principal = match freshness.scope {
            CacheScope::Public => None,
            CacheScope::Private => Some(principal?.to_owned()),
        };
        let age = freshness.ttl.min(MAX_DISCOVERY_AGE);
        let until = now.checked_add(age).filter(|_| !age.is_zero())?;
        Some(Self {
            found: Arc::new(found),
            until,
            principal,
        })
    }

    fn is_for(&self, principal: Option<&str>) -> bool {
        self.principal.is_none() || self.principal.as_deref() == principal
    }
}

impl EraCache {
    /// Returns an empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the era of a server at `now`; none if it is not cached or has expired.
    pub fn get(&self, key: &str, now: SystemTime) -> Option<Era> {
        let servers = self.lock();
        let CachedServer { era, since, .. } = servers.get(key)?;
        let age = now.duration_since(*since).unwrap_or_default();
        (*era != Era::Legacy || age < LEGACY_AGE).then_some(*era)
    }

    /// Stores the era of a server as found at `now`.
    pub fn put(&self, key: impl Into<String>, era: Era, now: SystemTime) {
        let discovery = None;
        let since = now;
        self.insert(
            key.into(),
            CachedServer {
                era,
                since,
                discovery,
            },
        );
    }

    fn insert(&self, key: String, server: CachedServer) {
        let mut servers = self.lock();
        if !servers.contains_key(&key) && servers.len() >= SERVERS {
            let oldest = servers.iter().min_by_key(|(_, server)| server.since);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                servers.remove(&oldest);
            }
        }
        servers.insert(key, server);
    }

    /// Stores the description of a modern server, as found at `now`, if the server allows it.
    pub(crate) fn put_discovery(
        &self,
        key: String,
        revision: Revision,
        found: DiscoverResult,
        principal: Option<&str>,
        now: SystemTime,
    ) {
        let discovery = CachedDiscovery::of(found, principal, now);
        let server = CachedServer {
            era: Era::Modern(revision),
            since: now,
            discovery,
        };
        self.insert(key, server);
    }

    /// Returns the description of a server at `now`, if it is fresh and for this principal.
    pub(crate) fn discovery(
        &self,
        key: &str,
        principal: Option<&str>,
        now: SystemTime,
    ) -> Option<(Revision, Arc<DiscoverResult>)> {
        let servers = self.lock();
        let server = servers.get(key)?;
        // A clock that was set back makes no description fresh again.
        let discovery = server.discovery.as_ref().filter(|it| it.is_for(principal));
        let discovery = discovery.filter(|it| server.since <= now && now < it.until)?;
        match server.era {
            Era::Modern(revision) => Some((revision, Arc::clone(&discovery.found))),
            Era::Legacy => None,
        }
    }

    /// Removes a server, because its behavior contradicts the cached era.
    pub fn forget(&self, key: &str) {
        self.lock().remove(key);
    }

    /// Returns all entries with the times at which they were found, so that a program can store
    /// them across runs.
    pub fn entries(&self) -> Vec<(String, Era, SystemTime)> {
        let eras = self.lock();
        eras.iter()
            .map(|(key, server)| (key.clone(), server.era, server.since))
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, CachedServer>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-ERA-14 (memory), N-ERA-15
    #[test]
    fn a_legacy_entry_expires_after_a_day() {
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
    fn a_mode_selects_the_revisions_to_offer() {
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
