//! Questions as the handlers of a client receive them.

use std::sync::Arc;

use pintle_model::{ElicitSchema, Implementation, JsonObject};

/// A form that a server wants the user to fill in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FormQuestion {
    /// Who asks, by its own account: show it.
    pub server: Option<Arc<Implementation>>,
    /// What the user is told.
    pub message: String,
    /// The fields.
    pub schema: ElicitSchema,
    /// Values that the fields begin with. A field that the answer leaves out gets its value from
    /// here, unless [`ClientBuilder::fill_form_defaults`](crate::ClientBuilder::fill_form_defaults) is
    /// off.
    pub defaults: JsonObject,
}

/// A URL that a server wants the user to visit. It is `https`, or `http` on this machine, and
/// carries no credentials; anything else was refused.
///
/// Show all of it, and open it in a browser of the user's own, only if the user agrees. Never
/// fetch it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UrlQuestion {
    /// Who asks, by its own account: show it.
    pub server: Option<Arc<Implementation>>,
    /// What the user is told.
    pub message: String,
    /// The URL: show all of it.
    pub url: String,
    /// The part of it that says where it leads: show it big.
    pub host: String,
    /// Whether the host is not what it may look like (Punycode): warn.
    pub is_suspicious: bool,
    /// The name under which the server says that the user is done (2025-11-25).
    pub elicitation_id: Option<String>,
}
