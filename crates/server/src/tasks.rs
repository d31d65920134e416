//! Tasks: calls that go on after their answer.
//!
//! A task is one record in a [`Store`](pintle_store::Store), and two faces of it: the core feature
//! of 2025-11-25 in `core`, and the extension of 2026-07-28 in `extension`. The record names the replica
//! that runs the handler. It has what must not be lost: questions, answers, steps done once, and the end.
//! If that replica is gone, another one runs the handler again from the record.

mod alone;
mod change;
mod change_locks;
mod core;
mod delivery;
mod drive;
mod extension;
#[cfg(feature = "replicas")]
mod held;
mod holding;
mod id;
#[cfg(feature = "replicas")]
mod index;
mod ledger;
mod lifetime;
mod lookup_limiter;
mod notices;
mod options;
mod record;
mod runner;
mod sessions;
mod shown;
mod task_engine_handle;
mod task_mode;
mod task_store;
mod wire;

pub use options::TaskOptions;

pub(crate) use drive::{Running, drive};
#[cfg(feature = "replicas")]
pub(crate) use held::{HeldTask, holder_of, task_of};
pub(crate) use holding::{BegunTask, StoredTask};
pub(crate) use ledger::ActivePermit;
pub(crate) use record::{End, Owner, TaskRecord, TaskRequest as TaskOrigin};
pub(crate) use runner::Runner;
pub(crate) use task_engine_handle::TaskEngineHandle;
pub(crate) use task_mode::{TaskMode, tasks_capability};
pub(crate) use task_store::Tasks;

use pintle_model::{Error, ErrorCode};

/// -32602: nobody learns whether a task is somebody else's, over, or never was.
fn unknown_task() -> Error {
    Error::invalid_params("there is no such task; it may have expired")
}

/// -32603: whether the task is there is not said. Whoever names so many that are not there guesses.
fn too_many_misses() -> Error {
    let message = "too many tasks were asked for that are not there; try again later";
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}

/// -32603: there is no room for another task.
pub(crate) fn too_many() -> Error {
    let message = "there are too many tasks; try again when some have ended or expired";
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}
