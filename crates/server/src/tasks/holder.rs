//! This process as the holder of leases.

use pintle_runtime::random_bytes;
use pintle_store::StoreTime;

use super::id::{RANDOM_BYTES, hex};
use super::record::Lease;

/// The name under which this process holds leases.
#[derive(Debug)]
pub(super) struct Holder {
    name: String,
    /// Which opening of the store this is, if the store belongs to one process at a time.
    opening: Option<u64>,
}

impl Holder {
    pub(super) fn new(opening: Option<u64>) -> Self {
        let random = hex(&random_bytes::<RANDOM_BYTES>().unwrap_or_default());
        Self {
            name: format!("{}{random}", opening_prefix(opening)),
            opening,
        }
    }

    pub(super) fn lease(&self, until: StoreTime) -> Lease {
        Lease {
            holder: self.name.clone(),
            until: until.as_millis(),
        }
    }

    pub(super) fn is_ours(&self, lease: &Lease) -> bool {
        lease.holder == self.name
    }

    /// Whether the holder of a lease had the store open before this process.
    pub(super) fn is_dead(&self, lease: &Lease) -> bool {
        !lease.holder.starts_with(&opening_prefix(self.opening))
    }
}

/// The beginning of the holders of leases that were written in one opening of a store.
fn opening_prefix(opening: Option<u64>) -> String {
    opening.map_or_else(String::new, |number| format!("{number:x}-"))
}
