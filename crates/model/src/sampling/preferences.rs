//! Preferences of a server: model, context and use of tools.

use serde::{Deserialize, Serialize};

use crate::open_enum::open_enum;
use crate::{Extra, number};

/// Model preferences of the server; advice only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Models by name; the first that matches wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<ModelHint>>,
    /// Importance of a low price, from 0 to 1.
    #[serde(
        default,
        serialize_with = "number::shortest",
        skip_serializing_if = "Option::is_none"
    )]
    pub cost_priority: Option<f64>,
    /// Importance of speed, from 0 to 1.
    #[serde(
        default,
        serialize_with = "number::shortest",
        skip_serializing_if = "Option::is_none"
    )]
    pub speed_priority: Option<f64>,
    /// Importance of ability, from 0 to 1.
    #[serde(
        default,
        serialize_with = "number::shortest",
        skip_serializing_if = "Option::is_none"
    )]
    pub intelligence_priority: Option<f64>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Hint at a model that the server prefers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelHint {
    /// A part of the model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ModelHint {
    /// Creates a hint at models whose name contains `name`.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            extra: Extra::new(),
        }
    }
}

open_enum! {
    /// Servers whose context the client adds to the conversation.
    pub enum IncludeContext {
        /// No server.
        None = "none",
        /// Only the server that sends the request.
        ThisServer = "thisServer",
        /// All servers that are connected to the client.
        AllServers = "allServers",
    }
}

/// Whether the model must use tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolChoice {
    /// Mode of the tool use; the model decides if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl From<ToolChoiceMode> for ToolChoice {
    fn from(mode: ToolChoiceMode) -> Self {
        Self {
            mode: Some(mode),
            extra: Extra::new(),
        }
    }
}

open_enum! {
    /// Whether the model must use tools.
    pub enum ToolChoiceMode {
        /// The model decides.
        Auto = "auto",
        /// The model must use at least one tool.
        Required = "required",
        /// The model must not use tools.
        None = "none",
    }
}
