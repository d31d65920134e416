//! Why a server does not start.

use std::error::Error as StdError;
use std::fmt;

use crate::ability::RequiredState;
use crate::extension::ExtensionDefinitionError;
use crate::failure::Chain;
use crate::prompt::PromptDefinitionError;
use crate::resource::ResourceDefinitionError;
use crate::set::DuplicateNameError;
use crate::tool::ToolDefinitionError;

/// Mistake in the definition of a server, found before the first request.
#[non_exhaustive]
pub enum StartError {
    /// A tool cannot be offered.
    Tool {
        /// Name of the definition.
        name: String,
        /// Reason for the rejection.
        fault: ToolDefinitionError,
    },
    /// A resource cannot be offered.
    Resource {
        /// Its URI or template.
        uri: String,
        /// Reason for the rejection.
        fault: ResourceDefinitionError,
    },
    /// A prompt cannot be offered.
    Prompt {
        /// Name of the definition.
        name: String,
        /// Reason for the rejection.
        fault: PromptDefinitionError,
    },
    /// An extension cannot be offered.
    ProtocolExtension {
        /// Id of the extension.
        id: String,
        /// Reason for the rejection.
        fault: ExtensionDefinitionError,
    },
    /// Two of a kind have the same name.
    Taken(DuplicateNameError),
    /// A handler takes a state that the server does not have.
    MissingState {
        /// Name of the item whose handler needs the state.
        of: String,
        /// The type of the state.
        type_name: &'static str,
    },
    /// An item requires a scope that breaks the grammar of scopes.
    NoScope {
        /// Name of the item that requires the scope.
        of: String,
        /// The invalid scope.
        scope: Box<str>,
    },
    /// A server with layers around every request is mounted on another.
    MountedLayers {
        /// Prefix of the names of the mounted server.
        prefix: String,
    },
    /// The server has a shared state, and another setting for a part of it.
    TwoStates {
        /// The name of the other setting.
        setting: &'static str,
    },
    /// A page of a list has no entries, because [`Server::page_size`](crate::Server::page_size) is 0.
    EmptyPages,
    /// The server started without this kind of item, so clients would never request one.
    NotOffered {
        /// The missing kind of item.
        what: &'static str,
    },
    /// The server is not running, so nothing can be added to it.
    NotRunning,
}

impl StartError {
    pub(crate) fn missing(of: &str, need: &RequiredState) -> Self {
        Self::MissingState {
            of: of.to_owned(),
            type_name: need.type_name(),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { name, fault } => refused(f, "tool", name, fault),
            Self::Resource { uri, fault } => refused(f, "resource", uri, fault),
            Self::Prompt { name, fault } => refused(f, "prompt", name, fault),
            Self::ProtocolExtension { id, fault } => refused(f, "extension", id, fault),
            Self::Taken(taken) => write!(f, "{taken}"),
            Self::MissingState { of, type_name } => {
                write!(
                    f,
                    "`{of}` takes State<{type_name}>, which the server does not have: add .state(…)"
                )
            }
            Self::NoScope { of, scope } => write!(
                f,
                "`{of}` requires the invalid scope {scope:?}: a scope is visible ASCII without \
                 spaces, quotation marks and backslashes; name several one by one"
            ),
            Self::MountedLayers { prefix } => write!(
                f,
                "the server mounted as `{prefix}` has layers around every request, which would not run: \
                 add them to the outermost server, or use on_tool_call, on_resource_read and on_prompt_get"
            ),
            Self::TwoStates { setting } => write!(
                f,
                "the server has both .state_backend(…) and .{setting}(…), and the state backend replaces it: \
                 remove .{setting}(…)"
            ),
            Self::EmptyPages => f.write_str("invalid page size: a page has at least 1 entry"),
            Self::NotOffered { what } => write!(
                f,
                "the server started without {what}, so no client would ask: add .dynamic()"
            ),
            Self::NotRunning => f.write_str("the server is not running"),
        }
    }
}

fn refused(
    f: &mut fmt::Formatter<'_>,
    kind: &str,
    name: &str,
    fault: &(dyn StdError + 'static),
) -> fmt::Result {
    let reason = Chain(fault);
    write!(f, "the {kind} `{name}` cannot be offered: {reason}")
}

/// Writes the same text as `Display`, because `main` prints errors with `Debug`.
impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text contains the reason, so that there is no `source`.
impl StdError for StartError {}

impl From<DuplicateNameError> for StartError {
    fn from(taken: DuplicateNameError) -> Self {
        Self::Taken(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::StartError;
    use crate::{Server, Tool};

    #[test]
    fn main_prints_the_fault_and_the_remedy() {
        let error = Server::new("s", "1").add_tool(Tool::new("idle")).build();
        let error = error.expect_err("does not start");
        let text = "the tool `idle` cannot be offered: the tool runs nothing: give it a handler";
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:?}"), text);
    }

    #[test]
    fn the_text_contains_every_cause_once() {
        let remote = serde_json::json!({ "type": "object", "$ref": "https://a.example/s" });
        let schema = remote.as_object().expect("an object").clone();
        let tool = Tool::new("t").input_schema(schema).handler(async || ());
        let error = Server::new("s", "1").add_tool(tool).build();
        let text = error.expect_err("does not start").to_string();
        assert!(
            text.starts_with(
                "the tool `t` cannot be offered: the schema of the arguments cannot be used: \
                 the `$ref` at \"\" leaves the document"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_page_size_of_zero_is_found_at_the_start() {
        let build = |size| Server::new("s", "1").page_size(size).build();
        assert!(build(1).is_ok());
        let error = build(0).expect_err("does not start");
        assert!(matches!(error, StartError::EmptyPages), "{error}");
    }

    #[test]
    fn two_scopes_in_one_string_are_found_at_the_start() {
        let tool = |scope: &str| Tool::new("edit").scopes([scope]).handler(async || "done");
        let starts = |scope: &str| Server::new("s", "1").add_tool(tool(scope)).build().is_ok();
        assert!(starts("files:write") && starts("https://example.com/files.write"));
        for scope in ["", "files:read files:write", "\"", "\\", "schön", "a\n"] {
            assert!(!starts(scope), "{scope:?}");
        }
    }
}
