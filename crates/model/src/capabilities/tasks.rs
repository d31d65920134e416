//! The tasks capability of 2025-11-25, the same for clients and servers.

use serde_json::Value;

use super::presence::capability;
use crate::object::object;
use crate::{Extra, JsonObject};

/// Operations on tasks that the sender supports, and the requests it can run as tasks.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TasksCapability {
    /// Tasks can be listed.
    pub list: Option<JsonObject>,
    /// Tasks can be cancelled.
    pub cancel: Option<JsonObject>,
    /// The requests that can be run as a task, nested by the parts of their names.
    pub requests: Option<JsonObject>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(TasksCapability {
    "list" => optional list (read capability),
    "cancel" => optional cancel (read capability),
    "requests" => optional requests (read capability),
});

impl TasksCapability {
    /// Adds a request that can be run as a task, such as `tools/call`.
    #[must_use]
    pub fn with_request(mut self, method: &str) -> Self {
        let mut level = self.requests.get_or_insert_default();
        for part in method.split('/') {
            let below = level
                .entry(part)
                .or_insert_with(|| Value::Object(JsonObject::new()));
            match below {
                Value::Object(members) => level = members,
                // A bare `true` at this level covers all levels below.
                _ => break,
            }
        }
        self
    }

    /// Returns true if `method` can run as a task.
    pub fn has_request(&self, method: &str) -> bool {
        let mut level = self.requests.as_ref();
        method.split('/').all(|part| {
            let below = level.and_then(|members| members.get(part));
            level = below.and_then(Value::as_object);
            level.is_some() || below == Some(&Value::Bool(true))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_nested_by_the_parts_of_their_names() {
        let tasks = TasksCapability::default().with_request("tools/call");

        let wire = json!({"requests": {"tools": {"call": {}}}});
        assert_eq!(serde_json::to_value(&tasks).unwrap(), wire);
        assert!(tasks.has_request("tools/call"));
        assert!(!tasks.has_request("tools/list") && !tasks.has_request("sampling/createMessage"));
    }

    // spec: 2025-11-25 AMB-12
    #[test]
    fn a_bare_true_counts() {
        let wire = json!({"requests": {"tools": {"call": true}}, "list": true, "cancel": false});
        let tasks: TasksCapability = serde_json::from_value(wire).unwrap();

        assert!(tasks.has_request("tools/call"));
        assert_eq!(
            (tasks.list.is_some(), tasks.cancel.is_some()),
            (true, false)
        );
    }
}
