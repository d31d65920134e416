//! The request to run a call as a task, up to 2025-11-25.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Extra;

/// Requests that a call runs as a task: the member `task` of its parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskMetadata {
    /// Requested retention time of the task.
    #[serde(
        default,
        with = "crate::time::optional_millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl: Option<Duration>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl TaskMetadata {
    /// Requests the retention time `ttl`.
    pub fn with_ttl(ttl: Duration) -> Self {
        Self {
            ttl: Some(ttl),
            extra: Extra::new(),
        }
    }
}
