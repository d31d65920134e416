//! A finding: a rule, the place in a file, and the remedy.

use std::path::PathBuf;

use serde::Serialize;

use crate::rule::Rule;

/// A fault of a server or of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that the server or the file breaks.
    #[serde(flatten)]
    pub rule: &'static Rule,
    /// The address of the server, such as `@cursor/files`; `None` for a fault of the whole file.
    pub server: Option<String>,
    /// The file to change.
    pub file: PathBuf,
    /// The line to change; from 1.
    pub line: usize,
    /// The fact. It may contain text of the server.
    pub message: String,
    /// The change that ends the finding.
    pub remedy: String,
}
