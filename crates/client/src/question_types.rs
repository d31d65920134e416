//! Questions as the handlers of a client receive them.

use std::sync::Arc;

use pintle_model::{ElicitSchema, Implementation, JsonObject};

/// A form that a server asks the user to fill in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FormQuestion {
    /// The server's description of itself, unverified: show it.
    pub server: Option<Arc<Implementation>>,
    /// The message for the user.
    pub message: String,
    /// The schema of the form's fields.
    pub schema: ElicitSchema,
    /// Values that the fields begin with. A field that the answer leaves out gets its value from
    /// here, unless [`ClientBuilder::fill_form_defaults`](crate::ClientBuilder::fill_form_defaults) is
    /// off.
    pub defaults: JsonObject,
}

/// A URL that a server asks the user to visit. It is `https`, or `http` on this machine, and
/// contains no credentials. The client rejects any other URL.
///
/// Show the whole URL. Open it only if the user agrees, in the user's own browser. Never fetch it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UrlQuestion {
    /// The server's description of itself, unverified: show it.
    pub server: Option<Arc<Implementation>>,
    /// The message for the user.
    pub message: String,
    /// The URL: show all of it.
    pub url: String,
    /// The host of the URL: show it prominently.
    pub host: String,
    /// Whether the host may look like another host (Punycode): warn the user.
    pub is_suspicious: bool,
    /// The id with which the server reports that the user is done (2025-11-25).
    pub elicitation_id: Option<String>,
}
