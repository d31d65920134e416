//! The operations that wait for an answer, with their limits.

use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_store::StoreLimits;

use crate::operation_error::OperationError;

/// Counts the operations that wait, and the bytes of their values.
pub(crate) struct Pending {
    operations: AtomicUsize,
    bytes: AtomicUsize,
    max_operations: usize,
    max_bytes: usize,
}

/// The place of one operation, until it is dropped.
pub(crate) struct Place<'p> {
    pending: &'p Pending,
    bytes: usize,
}

impl Pending {
    pub(crate) fn new(limits: &StoreLimits) -> Self {
        Self {
            operations: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            max_operations: limits.max_queued_writes.max(1),
            max_bytes: limits.max_queued_bytes,
        }
    }

    /// Begins an operation with values of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`OperationError::TooMany`] and [`OperationError::TooLarge`] at the limits. An operation that waits
    /// alone may have any size.
    pub(crate) fn begin(&self, bytes: usize) -> Result<Place<'_>, OperationError> {
        // Both are added first, so that two operations never take the same room.
        let others = self.operations.fetch_add(1, Ordering::AcqRel);
        let sum = self.bytes.fetch_add(bytes, Ordering::AcqRel) + bytes;
        let place = Place {
            pending: self,
            bytes,
        };
        if others >= self.max_operations {
            return Err(OperationError::TooMany(self.max_operations));
        }
        if sum > self.max_bytes && sum > bytes {
            return Err(OperationError::TooLarge(self.max_bytes));
        }
        Ok(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.pending.operations.fetch_sub(1, Ordering::AcqRel);
        self.pending.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> Pending {
        let mut limits = StoreLimits::default();
        (limits.max_queued_writes, limits.max_queued_bytes) = (2, 10);
        Pending::new(&limits)
    }

    // hardening: H-194
    #[test]
    fn operations_beyond_the_limit_have_no_place() {
        let pending = pending();
        let first = pending.begin(0).expect("a place");
        let _second = pending.begin(0).expect("a place");
        assert!(matches!(pending.begin(0), Err(OperationError::TooMany(2))));
        drop(first);
        pending.begin(0).expect("a place");
    }

    // hardening: H-194
    #[test]
    fn bytes_beyond_the_limit_have_no_place() {
        let pending = pending();
        let first = pending.begin(10).expect("at the limit");
        assert!(matches!(
            pending.begin(1),
            Err(OperationError::TooLarge(10))
        ));
        drop(pending.begin(0).expect("a place without bytes"));
        drop(first);
        pending.begin(11).expect("alone");
    }
}
