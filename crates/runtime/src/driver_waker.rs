//! The waker of a driver that waits for output.

use std::task::Waker;

/// The waker of the one driver of an engine. Code that adds output wakes a driver that waits.
#[derive(Debug, Default)]
pub(crate) struct DriverWaker {
    // It stays when it was used, so that a driver registers it once.
    waker: Option<Waker>,
    is_waiting: bool,
}

impl DriverWaker {
    /// The driver runs, so no output wakes it.
    #[inline]
    pub(crate) fn run(&mut self) {
        self.is_waiting = false;
    }

    /// The driver waits for output, unless there is output now. Returns whether it waits.
    #[inline]
    pub(crate) fn wait(&mut self, driver: &Waker, has_output: bool) -> bool {
        self.is_waiting = !has_output;
        let known = self.waker.as_ref();
        if self.is_waiting && !known.is_some_and(|waker| waker.will_wake(driver)) {
            self.waker = Some(driver.clone());
        }
        self.is_waiting
    }

    /// Returns the waker of a driver that waits for output that now exists; it no longer waits then.
    #[inline]
    pub(crate) fn due(&mut self, has_output: bool) -> Option<Waker> {
        let is_due = self.is_waiting && has_output;
        self.is_waiting &= !is_due;
        is_due.then(|| self.waker.clone()).flatten()
    }
}
