//! The code of a rule, and the places that it finds.

use pintle_surface::Surface;
use serde_json::{Map, Value};

/// The code of a rule.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    /// Checks the definition of one tool.
    Tool(fn(&Map<String, Value>) -> Vec<Hit>),
    /// Checks the server, and all tools together.
    Server(fn(&Surface) -> Vec<Hit>),
}

/// A place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The name of the tool; empty for the server, and set by the caller for a check of one tool.
    pub(crate) tool: String,
    /// JSON pointer into the definition.
    pub(crate) pointer: String,
    /// The value or count at this place.
    pub(crate) found: String,
}

impl Hit {
    pub(crate) fn new(pointer: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            tool: String::new(),
            pointer: pointer.into(),
            found: found.into(),
        }
    }
}
