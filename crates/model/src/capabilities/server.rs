//! Capabilities of a server.

use super::TasksCapability;
use super::presence::capability;
use crate::object::object;
use crate::{Extra, JsonObject};

/// Capabilities that a server declares; none by default.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Support for tools.
    pub tools: Option<ToolsCapability>,
    /// Support for resources.
    pub resources: Option<ResourcesCapability>,
    /// Support for prompts.
    pub prompts: Option<PromptsCapability>,
    /// Support for completion of arguments.
    pub completions: Option<JsonObject>,
    /// Support for sending log messages to the client.
    pub logging: Option<JsonObject>,
    /// Support for task-augmented requests; in 2025-11-25 only.
    pub tasks: Option<TasksCapability>,
    /// Supported extensions: their settings by their ids.
    pub extensions: Option<JsonObject>,
    /// Experimental, non-standard capabilities.
    pub experimental: Option<JsonObject>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ServerCapabilities {
    "tools" => optional tools (read capability),
    "resources" => optional resources (read capability),
    "prompts" => optional prompts (read capability),
    "completions" => optional completions (read capability),
    "logging" => optional logging (read capability),
    "tasks" => optional tasks (read capability),
    "extensions" => optional extensions (read capability),
    "experimental" => optional experimental (read capability),
});

impl ServerCapabilities {
    /// Adds tools.
    #[must_use]
    pub fn with_tools(mut self) -> Self {
        self.tools.get_or_insert_default();
        self
    }

    /// Adds resources.
    #[must_use]
    pub fn with_resources(mut self) -> Self {
        self.resources.get_or_insert_default();
        self
    }

    /// Adds prompts.
    #[must_use]
    pub fn with_prompts(mut self) -> Self {
        self.prompts.get_or_insert_default();
        self
    }

    /// Adds completion of arguments.
    #[must_use]
    pub fn with_completions(mut self) -> Self {
        self.completions.get_or_insert_default();
        self
    }

    /// Adds log messages.
    #[must_use]
    pub fn with_logging(mut self) -> Self {
        self.logging.get_or_insert_default();
        self
    }

    /// Adds an extension with its settings.
    #[must_use]
    pub fn with_extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        let extensions = self.extensions.get_or_insert_default();
        extensions.insert(id.into(), settings.into());
        self
    }

    /// Returns the settings of an extension that the server supports.
    pub fn extension(&self, id: &str) -> Option<&JsonObject> {
        self.extensions.as_ref()?.get(id)?.as_object()
    }
}

/// Capabilities of a server that offers tools.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolsCapability {
    /// Whether the server sends notifications about changes of the tool list.
    pub list_changed: Option<bool>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ToolsCapability {
    "listChanged" => optional list_changed,
});

/// Capabilities of a server that offers resources.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Whether clients can subscribe to updates of single resources.
    pub subscribe: Option<bool>,
    /// Whether the server sends notifications about changes of the resource list.
    pub list_changed: Option<bool>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ResourcesCapability {
    "subscribe" => optional subscribe,
    "listChanged" => optional list_changed,
});

/// Capabilities of a server that offers prompts.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PromptsCapability {
    /// Whether the server sends notifications about changes of the prompt list.
    pub list_changed: Option<bool>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(PromptsCapability {
    "listChanged" => optional list_changed,
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_offers_prompts_and_logging_when_they_are_added() {
        let offered = ServerCapabilities::default().with_prompts().with_logging();
        let wire = serde_json::to_value(offered).unwrap();
        assert_eq!(wire, json!({"prompts": {}, "logging": {}}));
    }
}
