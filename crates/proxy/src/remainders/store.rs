//! The remainders that clients may read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pintle::runtime::sync::Mutex;
use tokio::time::Instant;

use super::cut::Rest;
use crate::options::ProxyOptions;
use crate::owner::Owner;

/// The stored remainders, by their URIs. At a limit the oldest of the client with the most bytes is removed.
pub(super) struct Store {
    entries: Mutex<HashMap<String, Entry>>,
    most_entries: usize,
    max_bytes: usize,
    ttl: Duration,
}

struct Entry {
    owner: Owner,
    contents: Arc<str>,
    added: Instant,
}

impl Store {
    pub(super) fn new(options: &ProxyOptions) -> Self {
        Self {
            entries: Mutex::default(),
            most_entries: options.max_remainders,
            max_bytes: options.max_remainder_bytes,
            ttl: options.remainder_ttl,
        }
    }

    /// Stores a remainder. Returns its URI, or `None` if it is larger than all that may be stored.
    pub(super) fn add<'u>(&self, uri: &'u str, owner: &Owner, rest: &Rest) -> Option<&'u str> {
        let contents: Arc<str> = serde_json::to_string(&rest.contents).ok()?.into();
        if contents.len() > self.max_bytes || self.most_entries == 0 {
            return None;
        }
        let mut entries = self.entries.lock();
        let left = self.max_bytes - contents.len();
        while entries.len() >= self.most_entries || bytes(&entries) > left {
            remove_one(&mut entries)?;
        }
        let entry = Entry {
            owner: owner.clone(),
            contents,
            added: Instant::now(),
        };
        entries.insert(uri.to_owned(), entry);
        Some(uri)
    }

    /// Returns the contents of a remainder of a client.
    pub(super) fn get(&self, uri: &str, owner: &Owner) -> Option<Arc<str>> {
        let entries = self.entries.lock();
        let entry = entries.get(uri).filter(|entry| entry.owner == *owner)?;
        (entry.added.elapsed() < self.ttl).then(|| Arc::clone(&entry.contents))
    }

    pub(super) fn sweep(&self) {
        let ttl = self.ttl;
        let mut entries = self.entries.lock();
        entries.retain(|_, entry| entry.added.elapsed() < ttl);
    }
}

fn bytes(entries: &HashMap<String, Entry>) -> usize {
    entries.values().map(|entry| entry.contents.len()).sum()
}

/// Removes the oldest remainder of the client that has the most bytes.
fn remove_one(entries: &mut HashMap<String, Entry>) -> Option<()> {
    let mut bytes_by_owner: HashMap<&Owner, usize> = HashMap::new();
    for entry in entries.values() {
        *bytes_by_owner.entry(&entry.owner).or_default() += entry.contents.len();
    }
    let (owner, _) = bytes_by_owner.into_iter().max_by_key(|(_, bytes)| *bytes)?;
    let of_owner = entries.iter().filter(|(_, entry)| entry.owner == *owner);
    let (uri, _) = of_owner.min_by_key(|(_, entry)| entry.added)?;
    let uri = uri.clone();
    entries.remove(&uri).map(drop)
}
