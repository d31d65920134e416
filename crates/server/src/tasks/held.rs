//! The index of running tasks: which replica runs which.
//!
//! Every task of a replica has a record in the group of that replica, so that another one finds them
//! without reading all tasks. Order replaces transactions: the index is written before the task has this
//! holder, and removed after the task has ended or has another one.

use std::sync::Arc;

use bytes::Bytes;
use pintle_store::{DecodeError, Key, Namespace, Store, StoredType, TypedStore};

/// An entry of the index. Its key is the holder and the id of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeldTask {
    /// Name of the record of the task.
    pub(crate) record: String,
}

/// Shows that a replica has held tasks. Its key is the name of the replica.
#[derive(Debug)]
pub(crate) struct HolderMark;

/// The index in the store.
#[derive(Debug)]
pub(super) struct HeldIndex {
    pub(super) held: TypedStore<HeldTask>,
    pub(super) marks: TypedStore<HolderMark>,
}

impl HeldIndex {
    pub(super) fn new(store: &Arc<dyn Store>) -> Self {
        Self {
            held: TypedStore::new(Arc::clone(store)),
            marks: TypedStore::new(Arc::clone(store)),
        }
    }
}

/// The beginning of the names of all marks.
pub(super) const MARKS: &str = "all.";

pub(super) fn mark_name(replica: &str) -> String {
    format!("{MARKS}{replica}")
}

/// The replica of a mark.
pub(crate) fn holder_of(mark: &Key) -> &str {
    mark.name().strip_prefix(MARKS).unwrap_or_default()
}

/// The id of the task of an entry.
pub(crate) fn task_of(entry: &Key) -> &str {
    entry.name().rsplit('.').next().unwrap_or_default()
}

impl StoredType for HeldTask {
    const NAMESPACE: Namespace = Namespace::fixed("held");
    const SCHEMA: u16 = 1;

    fn encode(&self) -> Result<Bytes, DecodeError> {
        Ok(self.record.clone().into())
    }

    fn decode(_: u16, bytes: &[u8]) -> Result<Self, DecodeError> {
        let record = std::str::from_utf8(bytes)?.to_owned();
        Ok(Self { record })
    }
}

impl StoredType for HolderMark {
    const NAMESPACE: Namespace = Namespace::fixed("holder");
    const SCHEMA: u16 = 1;

    fn encode(&self) -> Result<Bytes, DecodeError> {
        Ok(Bytes::new())
    }

    fn decode(_: u16, _: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self)
    }
}
