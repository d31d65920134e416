//! What a client must have declared before it may be asked.

use std::fmt;

use pintle_model::{ClientCapabilities, CreateMessageParams, ElicitMode, Feature, InputRequest};
use pintle_proto::Terms;
use serde_json::{Value, json};

/// A capability of the client that a question needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequiredCapability {
    /// The client shows forms.
    Form,
    /// The client sends its user to URLs.
    Url,
    /// The client has a model.
    Sampling,
    /// The model of the client accepts tools.
    SamplingTools,
    /// The client has roots.
    Roots,
}

impl RequiredCapability {
    /// Returns the capability for a question; `None` for an unknown kind of question.
    pub fn of(request: &InputRequest) -> Option<Self> {
        match request {
            InputRequest::Elicit(params) => match params.mode() {
                ElicitMode::Form => Some(Self::Form),
                ElicitMode::Url => Some(Self::Url),
                _ => None,
            },
            InputRequest::CreateMessage(params) => Some(Self::of_sampling(params)),
            InputRequest::ListRoots(_) => Some(Self::Roots),
            _ => None,
        }
    }

    fn of_sampling(params: &CreateMessageParams) -> Self {
        if params.needs_tools() {
            return Self::SamplingTools;
        }
        Self::Sampling
    }

    /// Whether a client on these terms may be asked.
    pub fn is_met_by(self, terms: &Terms) -> bool {
        let client = &terms.capabilities;
        match self {
            Self::Form => terms.has(Feature::Elicitation) && client.has_form_elicitation(),
            Self::Url => terms.has(Feature::UrlElicitation) && client.has_url_elicitation(),
            Self::Sampling => client.sampling.is_some(),
            Self::SamplingTools => terms.has(Feature::SamplingTools) && client.has_sampling_tools(),
            Self::Roots => client.roots.is_some(),
        }
    }

    /// The capabilities that a client lacks, as it would declare them.
    pub fn to_capabilities(self) -> Value {
        let none = ClientCapabilities::default();
        let needed = match self {
            Self::Form => none.with_form_elicitation(),
            Self::Url => none.with_url_elicitation(),
            Self::Sampling => none.with_sampling(),
            Self::SamplingTools => none.with_sampling_tools(),
            Self::Roots => none.with_roots(),
        };
        json!(needed)
    }
}

impl fmt::Display for RequiredCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "elicitation by a form",
            Self::Url => "elicitation by a URL",
            Self::Sampling => "sampling",
            Self::SamplingTools => "sampling with tools",
            Self::Roots => "roots",
        })
    }
}
