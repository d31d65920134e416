//! The locks of what several threads share: the standard library's, or those of a checker that
//! plays schedules of threads (`--cfg shuttle`, see `tests/interleavings.rs`).

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};
