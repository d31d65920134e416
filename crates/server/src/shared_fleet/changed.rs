//! Changes as entries of the news.

use std::collections::BTreeSet;

use pintle_proto::Change;
use pintle_runtime::fleet::ReplicaMessage;
use serde::{Deserialize, Serialize};

/// The kind of the entries in the news.
const KIND: &str = "changed";
/// Largest URI in the news, in bytes. All replicas read it, and the news keep 8 MiB.
const MAX_URI_BYTES: usize = 64 << 10;
/// Maximum number of changes that wait until the replica has joined. More become one.
const MAX_PENDING: usize = 1_024;

/// A change in the form of the news.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Changed {
    Tools,
    Prompts,
    Resources,
    Resource(String),
    /// Any of the others.
    Everything,
}

/// Changes that wait, each once.
#[derive(Debug, Default)]
pub(super) struct PendingChanges(BTreeSet<Changed>);

/// A change that may be any.
#[derive(Debug)]
pub(super) struct AnyChange;

impl Changed {
    /// Reads an entry. `None` for one of another kind. A body of another version may be any change.
    pub(super) fn read(entry: &ReplicaMessage) -> Option<Self> {
        (entry.kind() == KIND).then(|| entry.read().unwrap_or(Self::Everything))
    }
}

/// Returns the entry of a change. `None` if the URI is too large.
pub(super) fn entry(changed: &Changed) -> Option<ReplicaMessage> {
    if let Changed::Resource(uri) = changed
        && uri.len() > MAX_URI_BYTES
    {
        let bytes = uri.len();
        tracing::warn!(
            bytes,
            limit = MAX_URI_BYTES,
            "a URI is too large for other replicas"
        );
        return None;
    }
    ReplicaMessage::new(KIND, changed).ok()
}

impl PendingChanges {
    pub(super) fn add(&mut self, change: &Change) {
        if !self.0.contains(&Changed::Everything) {
            self.0.insert(change.into());
        }
        if self.0.len() > MAX_PENDING {
            self.0 = BTreeSet::from([Changed::Everything]);
        }
    }

    pub(super) fn take(&mut self) -> BTreeSet<Changed> {
        std::mem::take(&mut self.0)
    }
}

impl From<&Change> for Changed {
    fn from(change: &Change) -> Self {
        match change {
            Change::Tools => Self::Tools,
            Change::Prompts => Self::Prompts,
            Change::Resources => Self::Resources,
            Change::Resource(uri) => Self::Resource(uri.clone()),
        }
    }
}

impl TryFrom<Changed> for Change {
    type Error = AnyChange;

    fn try_from(changed: Changed) -> Result<Self, AnyChange> {
        Ok(match changed {
            Changed::Tools => Self::Tools,
            Changed::Prompts => Self::Prompts,
            Changed::Resources => Self::Resources,
            Changed::Resource(uri) => Self::Resource(uri),
            Changed::Everything => return Err(AnyChange),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(number: usize) -> Change {
        Change::Resource(format!("file:///{number}"))
    }

    #[test]
    fn an_entry_of_the_news_contains_its_change() {
        let changes = [
            Change::Tools,
            Change::Prompts,
            Change::Resources,
            resource(1),
        ];
        for change in changes {
            let entry = entry(&Changed::from(&change)).expect("a small entry");
            let read = Changed::read(&entry).map(Change::try_from);
            assert_eq!(read.expect("the kind").expect("one change"), change);
        }
    }

    #[test]
    fn an_entry_of_another_version_may_be_any_change() {
        let newer = ReplicaMessage::new(KIND, &"templates").expect("JSON");
        assert_eq!(Changed::read(&newer), Some(Changed::Everything));
        let other = ReplicaMessage::new("other", &"tools").expect("JSON");
        assert_eq!(Changed::read(&other), None);
    }

    #[test]
    fn a_uri_of_64_kib_crosses_and_a_larger_one_does_not() {
        let of = |bytes| entry(&Changed::Resource("x".repeat(bytes)));
        assert!(of(MAX_URI_BYTES).is_some());
        assert!(of(MAX_URI_BYTES + 1).is_none());
    }

    #[test]
    fn more_than_1024_pending_changes_become_one() {
        let mut pending = PendingChanges::default();
        for number in 0..MAX_PENDING {
            pending.add(&resource(number));
            pending.add(&resource(number));
        }
        assert_eq!(pending.take().len(), MAX_PENDING);
        for number in 0..=MAX_PENDING {
            pending.add(&resource(number));
        }
        pending.add(&Change::Tools);
        assert_eq!(pending.take(), BTreeSet::from([Changed::Everything]));
        assert!(pending.take().is_empty());
    }
}
