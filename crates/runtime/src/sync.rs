//! The lock of values that several threads share.
//!
//! It is the lock of the standard library, or that of a checker that plays schedules of threads
//! (`--cfg shuttle`, see `tests/interleavings.rs`).

use std::fmt;
use std::sync::PoisonError;

#[cfg(shuttle)]
use shuttle::sync as imp;
#[cfg(not(shuttle))]
use std::sync as imp;

pub use imp::MutexGuard;

/// A mutex that ignores poison.
///
/// A thread that panics while it holds the lock does not lock others out. So each change under the
/// lock must leave the value whole at every point that may panic.
pub struct Mutex<T: ?Sized>(imp::Mutex<T>);

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    #[cfg(not(shuttle))]
    pub const fn new(value: T) -> Self {
        Self(imp::Mutex::new(value))
    }

    /// Makes an unlocked mutex.
    #[cfg(shuttle)]
    pub fn new(value: T) -> Self {
        Self(imp::Mutex::new(value))
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Blocks this thread until it holds the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Borrows the value without a lock, because no other borrow exists.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// Omits the value, because another thread may hold the lock.
impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_under_the_lock_does_not_lock_others_out() {
        let mut mutex = Mutex::new(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut value = mutex.lock();
            *value = 2;
            panic!("under the lock");
        }));
        assert!(panicked.is_err());
        *mutex.lock() += 1;
        *mutex.get_mut() += 1;
        assert_eq!(mutex.into_inner(), 4);
    }
}
