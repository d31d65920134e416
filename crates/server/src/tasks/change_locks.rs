//! One change of a task at a time.
//!
//! A change is stored first and its notices are sent then. If another change of the same task came
//! between the two, its notices would leave first, and a listener would read the older state last.

use pintle_runtime::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// The tasks that are being changed in this process.
#[derive(Debug, Default)]
pub(super) struct ChangeLocks(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

/// The right to change one task; given up when dropped.
pub(super) struct ChangeLock<'a> {
    locks: &'a ChangeLocks,
    id: &'a str,
    held: Option<OwnedMutexGuard<()>>,
}

impl ChangeLocks {
    /// Waits for the lock of a task: first come, first served.
    pub(super) async fn take<'a>(&'a self, id: &'a str) -> ChangeLock<'a> {
        // From here on the entry is removed if the wait is given up.
        let mut lock = ChangeLock {
            locks: self,
            id,
            held: None,
        };
        lock.held = Some(self.lock_of(id).lock_owned().await);
        lock
    }

    fn lock_of(&self, id: &str) -> Arc<AsyncMutex<()>> {
        let mut locks = self.lock();
        if let Some(lock) = locks.get(id).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(id.to_owned(), Arc::downgrade(&lock));
        lock
    }

    // Every change is one statement, so the contents of a poisoned lock are whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<AsyncMutex<()>>>> {
        self.0.lock()
    }
}

impl Drop for ChangeLock<'_> {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut locks = self.locks.lock();
        if locks
            .get(self.id)
            .is_some_and(|lock| lock.strong_count() == 0)
        {
            locks.remove(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_is_changed_by_one_at_a_time_and_then_forgotten() {
        let locks = ChangeLocks::default();
        let first = locks.take("a").await;
        let other = locks.take("b").await;
        let mut second = Box::pin(locks.take("a"));
        let mut third = Box::pin(locks.take("a"));
        let none = std::future::ready(());
        tokio::select! {
            biased;
            _ = &mut second => panic!("the first has the lock"),
            _ = &mut third => panic!("the first has the lock"),
            () = none => {}
        }
        drop((first, other));
        drop(second);
        drop(third.await);
        assert!(locks.lock().is_empty());
    }
}
