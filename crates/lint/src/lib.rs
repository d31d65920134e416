//! Checks the tools of an MCP server against the limits of hosts.
//!
//! [`lint`] applies the rules of [`rules`] to a [`Surface`]: of a server, or of its lock file. A [`Finding`] has
//! the tool, a JSON pointer into its definition, and the [`Rule`]. A rule has the limit, the fix and the source of the
//! limit. [`estimate`] counts the bytes and estimates the tokens that definitions take in the context of a model.
//!
//! ```
//! use pintle_lint::{Host, lint};
//! use pintle_model::Tool;
//! use pintle_surface::Surface;
//!
//! let tool = Tool::without_arguments("read.file").with_description("Reads a file.");
//! let surface = Surface::new("files", "1.0.0").with_tools([&tool]);
//! let findings = lint(&surface, &[Host::Claude]);
//! assert_eq!(findings[0].rule.id, "claude-name");
//! assert_eq!(findings[0].pointer, "/name");
//! assert!(lint(&surface, &[Host::Gemini]).is_empty());
//! ```
//!
//! # Rules
//!
//! A rule is an error if the host was reported to reject or drop the tool. Otherwise it is a warning: it depends on the
//! mode, the model or the client, or only the quality suffers. Limits change without notice: the source shows where
//! a limit was documented or reported.
//!
#![doc = include_str!("rules.md")]

mod finding;
mod hit;
mod host;
mod rule;
mod rules;
mod subschema;
mod tokens;

pub use finding::{Finding, MAX_HITS, lint};
pub use host::Host;
pub use pintle_surface::Surface;
pub use rule::{Rule, Severity, rules};
pub use tokens::{DefinitionCost, estimate, estimate_tokens};
