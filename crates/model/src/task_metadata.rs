//! The request to run a call as a task, up to 2025-11-25.

use std::time::Duration;

use crate::Extra;
use crate::object::object;
use crate::time::optional_millis;

/// Requests that a call runs as a task: the member `task` of its parameters.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// Requested retention time of the task.
    pub ttl: Option<Duration>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(TaskMetadata {
    "ttl" => optional ttl (read optional_millis::read, write optional_millis::write),
});

impl TaskMetadata {
    /// Requests the retention time `ttl`.
    pub fn with_ttl(ttl: Duration) -> Self {
        Self {
            ttl: Some(ttl),
            extra: Extra::new(),
        }
    }
}
