//! Work that outlives its request: the experiment of 2025-11-25, and the extension of
//! 2026-07-28.
//!
//! Both describe the same record with different members. [`Task`] is the older form; [`TaskHandle`]
//! and [`DetailedTask`] are the newer one. Each is made from the other by `From`.
//!
//! Spec: [2025-11-25, Tasks][core]; extension `io.modelcontextprotocol/tasks` (SEP-2663).
//!
//! [core]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks

mod augmented;
mod extension;
mod fit;

pub use augmented::{CreateTaskResult, ListTasksResult, RelatedTask, Task, TaskIdParams};
pub use extension::{DetailedTask, TASKS_EXTENSION, TaskHandle, UpdateTaskParams};

use crate::open_enum::open_enum;

open_enum! {
    /// Status of a task.
    pub enum TaskStatus {
        /// The task is running.
        Working = "working",
        /// The task needs input from the requester.
        InputRequired = "input_required",
        /// The task ended with a result.
        Completed = "completed",
        /// The task ended with an error.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns true if the status is final. An unknown status is not final.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Returns true if a task may change from this status to `next`.
    pub fn may_become(&self, next: &Self) -> bool {
        !self.is_terminal() && self != next
    }
}

#[cfg(test)]
mod tests;
