//! The tasks capability of 2025-11-25, the same for clients and servers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::presence::capability;
use crate::{Extra, JsonObject};

/// What can be done with tasks, and which requests can be run as one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TasksCapability {
    /// Tasks can be listed.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub list: Option<JsonObject>,
    /// Tasks can be cancelled.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub cancel: Option<JsonObject>,
    /// The requests that can be run as a task, nested by the parts of their names.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub requests: Option<JsonObject>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

impl TasksCapability {
    /// Adds a request that can be run as a task, such as `tools/call`.
    #[must_use]
    pub fn with_request(mut self, method: &str) -> Self {
        let mut level = self.requests.get_or_insert_default();
        for part in method.split('/') {
            let below = level.entry(part).or_insert_with(|| Value::Object(JsonObject::new()));
            match below {
                Value::Object(members) => level = members,
                // Somebody wrote a bare `true` here, which says it all.
                _ => break,
            }
        }
        self
    }

    /// Whether `method` can be run as a task.
    pub fn has_request(&self, method: &str) -> bool {
        let mut level = self.requests.as_ref();
        method.split('/').all(|part| {
            let below = level.and_then(|members| members.get(part));
            level = below.and_then(Value::as_object);
            level.is_some() || below == Some(&Value::Bool(true))
        })
    }
}
