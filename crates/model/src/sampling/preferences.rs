//! Preferences of a server: model, context and use of tools.

use crate::object::object;
use crate::open_enum::open_enum;
use crate::{Extra, number};

/// Model preferences of the server; advice only.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Models by name; the first that matches wins.
    pub hints: Option<Vec<ModelHint>>,
    /// Importance of a low price, from 0 to 1.
    pub cost_priority: Option<f64>,
    /// Importance of speed, from 0 to 1.
    pub speed_priority: Option<f64>,
    /// Importance of ability, from 0 to 1.
    pub intelligence_priority: Option<f64>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ModelPreferences {
    "hints" => optional hints,
    "costPriority" => optional cost_priority (write number::shortest),
    "speedPriority" => optional speed_priority (write number::shortest),
    "intelligencePriority" => optional intelligence_priority (write number::shortest),
});

/// Hint at a model that the server prefers.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelHint {
    /// A part of the model's name.
    pub name: Option<String>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ModelHint {
    "name" => optional name,
});

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
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolChoice {
    /// Mode of the tool use; the model decides if it is missing.
    pub mode: Option<ToolChoiceMode>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ToolChoice {
    "mode" => optional mode,
});

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
