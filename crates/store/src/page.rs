//! Listing page by page.

use crate::key::Key;
use crate::limits::StoreLimits;
use crate::record::Record;

/// Which part of a listing is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Only keys after this one.
    pub after: Option<Key>,
    /// How many records at most; a store gives no more than
    /// [`StoreLimits::max_page_entries`](crate::StoreLimits::max_page_entries), and counts 0 as 1.
    pub limit: usize,
}

impl Page {
    /// The first `most` records.
    pub fn first(most: usize) -> Self {
        Self {
            after: None,
            limit: most,
        }
    }

    /// The next `most` records after `key`.
    pub fn after(key: Key, most: usize) -> Self {
        Self {
            after: Some(key),
            limit: most,
        }
    }
}

/// One page of records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Listing {
    /// In the order of their keys.
    pub records: Vec<(Key, Record)>,
    /// Where the next page goes on; `None` at the end.
    pub next: Option<Key>,
}

impl Listing {
    /// A page, for those who write a store.
    pub fn new(records: Vec<(Key, Record)>, next: Option<Key>) -> Self {
        Self { records, next }
    }
}

/// The room that is left on a page, for implementations of a store.
#[derive(Debug)]
pub struct PageRoom {
    entries: usize,
    bytes: usize,
    is_untouched: bool,
}

impl PageRoom {
    /// Begins a page of `limit` entries, within the limits of a store.
    pub fn new(limit: usize, limits: &StoreLimits) -> Self {
        Self {
            entries: limit.min(limits.max_page_entries).max(1),
            bytes: limits.max_page_bytes,
            is_untouched: true,
        }
    }

    /// Returns the number of entries that still fit, whatever their sizes.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Takes the room for a value of `bytes` bytes. Returns false if it does not fit. The first value
    /// always fits.
    pub fn take(&mut self, bytes: usize) -> bool {
        let fits = self.entries > 0 && bytes <= self.bytes;
        if fits || self.is_untouched {
            self.entries -= 1;
            self.bytes = self.bytes.saturating_sub(bytes);
            self.is_untouched = false;
            return true;
        }
        false
    }
}
