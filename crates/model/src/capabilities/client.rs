//! Capabilities of a client.

use super::TasksCapability;
use super::presence::capability;
use crate::object::object;
use crate::{Extra, JsonObject};

/// Capabilities that a client declares; none by default.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Support for elicitation.
    pub elicitation: Option<ElicitationCapability>,
    /// Support for sampling.
    pub sampling: Option<SamplingCapability>,
    /// Support for listing roots.
    pub roots: Option<RootsCapability>,
    /// Support for task-augmented requests; in 2025-11-25 only.
    pub tasks: Option<TasksCapability>,
    /// Supported extensions: their settings by their ids.
    pub extensions: Option<JsonObject>,
    /// Experimental, non-standard capabilities.
    pub experimental: Option<JsonObject>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ClientCapabilities {
    "elicitation" => optional elicitation (read capability),
    "sampling" => optional sampling (read capability),
    "roots" => optional roots (read capability),
    "tasks" => optional tasks (read capability),
    "extensions" => optional extensions (read capability),
    "experimental" => optional experimental (read capability),
});

impl ClientCapabilities {
    /// Adds elicitation with forms.
    #[must_use]
    pub fn with_form_elicitation(mut self) -> Self {
        self.elicitation.get_or_insert_default().form = Some(JsonObject::new());
        self
    }

    /// Adds elicitation by visiting a URL.
    #[must_use]
    pub fn with_url_elicitation(mut self) -> Self {
        self.elicitation.get_or_insert_default().url = Some(JsonObject::new());
        self
    }

    /// Adds sampling.
    #[must_use]
    pub fn with_sampling(mut self) -> Self {
        self.sampling.get_or_insert_default();
        self
    }

    /// Adds sampling with tools.
    #[must_use]
    pub fn with_sampling_tools(mut self) -> Self {
        self.sampling.get_or_insert_default().tools = Some(JsonObject::new());
        self
    }

    /// Adds roots.
    #[must_use]
    pub fn with_roots(mut self) -> Self {
        self.roots.get_or_insert_default();
        self
    }

    /// Adds an extension with its settings.
    #[must_use]
    pub fn with_extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        let extensions = self.extensions.get_or_insert_default();
        extensions.insert(id.into(), settings.into());
        self
    }

    /// Returns the settings of an extension that the client supports.
    pub fn extension(&self, id: &str) -> Option<&JsonObject> {
        self.extensions.as_ref()?.get(id)?.as_object()
    }

    /// Returns true if the client can show a form. A client that declares no mode supports only
    /// forms.
    pub fn has_form_elicitation(&self) -> bool {
        let elicitation = self.elicitation.as_ref();
        elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
    }

    /// Returns true if the client can send its user to a URL.
    pub fn has_url_elicitation(&self) -> bool {
        let elicitation = self.elicitation.as_ref();
        elicitation.is_some_and(|modes| modes.url.is_some())
    }

    /// Returns true if the client's model can use tools.
    pub fn has_sampling_tools(&self) -> bool {
        let sampling = self.sampling.as_ref();
        sampling.is_some_and(|sampling| sampling.tools.is_some())
    }
}

/// Modes of elicitation that a client supports. No declared mode means forms.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// With a form.
    pub form: Option<JsonObject>,
    /// With a URL to visit.
    pub url: Option<JsonObject>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ElicitationCapability {
    "form" => optional form (read capability),
    "url" => optional url (read capability),
});

/// Sampling features that a client supports.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// Support for context inclusion via `includeContext`.
    pub context: Option<JsonObject>,
    /// Support for tool use via `tools` and `toolChoice`.
    pub tools: Option<JsonObject>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(SamplingCapability {
    "context" => optional context (read capability),
    "tools" => optional tools (read capability),
});

/// Capabilities of a client that lists roots.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RootsCapability {
    /// Whether the client sends notifications about changes of the roots; up to 2025-11-25.
    pub list_changed: Option<bool>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(RootsCapability {
    "listChanged" => optional list_changed,
});
