//! What a server would like: which model, whose context, which use of tools.

use serde::{Deserialize, Serialize};

use crate::open_enum::open_enum;
use crate::{Extra, number};

/// Which model the server would like; advice only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Models by name; the first that matches wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<ModelHint>>,
    /// How much a low price matters, from 0 to 1.
    #[serde(
        default,
        serialize_with = "number::shortest",
        skip_serializing_if = "Option::is_none"
    )]
    pub cost_priority: Option<f64>,
    /// How much speed matters, from 0 to 1.
    #[serde(
        default,
        serialize_with = "number::shortest",
        skip_serializing_if = "Option::is_none"
    )]
    pub speed_priority: Option<f64>,
    /// How much ability matters, from 0 to 1.
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

/// A model the server would like.
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
    /// Any model whose name contains `name`.
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
        /// The asking server's.
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
    /// As it likes when missing.
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
        /// As it likes.
        Auto = "auto",
        /// At least one.
        Required = "required",
        /// None.
        None = "none",
    }
}
