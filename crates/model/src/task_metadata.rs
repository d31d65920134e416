//! The request to run a call as a task, up to 2025-11-25.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Extra;

/// Asks that a request runs as a task: the member `task` of its parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskMetadata {
    /// How long the task should be kept.
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
    /// Asks that the task is kept for `ttl`.
    pub fn with_ttl(ttl: Duration) -> Self {
        Self {
            ttl: Some(ttl),
            extra: Extra::new(),
        }
    }
}
