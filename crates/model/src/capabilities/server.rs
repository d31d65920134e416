//! Capabilities of a server.

use serde::{Deserialize, Serialize};

use super::TasksCapability;
use super::presence::capability;
use crate::{Extra, JsonObject};

/// Capabilities that a server declares; none by default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Support for tools.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub tools: Option<ToolsCapability>,
    /// Support for resources.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub resources: Option<ResourcesCapability>,
    /// Support for prompts.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub prompts: Option<PromptsCapability>,
    /// Support for completion of arguments.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub completions: Option<JsonObject>,
    /// Support for sending log messages to the client.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub logging: Option<JsonObject>,
    /// Support for task-augmented requests; in 2025-11-25 only.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub tasks: Option<TasksCapability>,
    /// Supported extensions: their settings by their ids.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub extensions: Option<JsonObject>,
    /// Experimental, non-standard capabilities.
    #[serde(
        default,
        deserialize_with = "capability",
        skip_serializing_if = "Option::is_none"
    )]
    pub experimental: Option<JsonObject>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolsCapability {
    /// Whether the server sends notifications about changes of the tool list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Capabilities of a server that offers resources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Whether clients can subscribe to updates of single resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Whether the server sends notifications about changes of the resource list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Capabilities of a server that offers prompts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptsCapability {
    /// Whether the server sends notifications about changes of the prompt list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

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
