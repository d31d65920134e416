//! Adding tools, resources and prompts to the description of a server.

use std::sync::Arc;

use pintle_model::ServerCapabilities;

use super::{Methods, Server};
use crate::ask_code::AskCode;
use crate::bundle::{IntoPrompt, IntoResource, PromptSet, ResourceSet};
use crate::extension::ProtocolExtension;
use crate::prompt::Prompt;
use crate::provider::{DynProvider, Provider};
use crate::resource::Resource;
use crate::tags::TagRule;
use crate::tool::{IntoTool, Tool, ToolSet};

/// The tools, resources, prompts and extensions of one server.
#[derive(Default)]
pub(super) struct Offers {
    pub(super) tools: Vec<Tool>,
    pub(super) resources: Vec<Resource>,
    pub(super) prompts: Vec<Prompt>,
    pub(super) extensions: Vec<ProtocolExtension>,
    pub(super) provider: Option<OfferedProvider>,
}

impl Offers {
    /// Keeps the items whose tags all rules allow.
    pub(super) fn choose(&mut self, rules: &[TagRule]) {
        let keeps = |tags: &[Box<str>]| rules.iter().all(|rule| rule.keeps(tags));
        self.tools.retain(|tool| keeps(tool.tags()));
        self.resources.retain(|resource| keeps(resource.tags()));
        self.prompts.retain(|prompt| keeps(prompt.tags()));
    }
}

/// A provider, and its capabilities.
pub(super) struct OfferedProvider {
    pub(super) provider: Arc<dyn DynProvider>,
    pub(super) capabilities: ServerCapabilities,
}

impl Server {
    /// Offers a function under `#[tool]`.
    #[must_use]
    pub fn tool<T: IntoTool>(self) -> Self {
        self.add_tool(T::into_tool())
    }

    /// Offers several functions under `#[tool]`: `.tools::<(add, sub)>()`.
    #[must_use]
    pub fn tools<T: ToolSet>(mut self) -> Self {
        self.offers.tools.extend(T::into_tools());
        self
    }

    /// Offers a tool made by hand.
    #[must_use]
    pub fn add_tool(mut self, tool: Tool) -> Self {
        self.offers.tools.push(tool);
        self
    }

    /// Offers tools made by hand, such as those of a loop.
    #[must_use]
    pub fn add_tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.offers.tools.extend(tools);
        self
    }

    /// Offers a function under `#[resource]`.
    #[must_use]
    pub fn resource<R: IntoResource>(self) -> Self {
        self.add_resource(R::into_resource())
    }

    /// Offers several functions under `#[resource]`.
    #[must_use]
    pub fn resources<R: ResourceSet>(mut self) -> Self {
        self.offers.resources.extend(R::into_resources());
        self
    }

    /// Offers a resource made by hand.
    #[must_use]
    pub fn add_resource(mut self, resource: Resource) -> Self {
        self.offers.resources.push(resource);
        self
    }

    /// Offers resources made by hand, such as those of a loop.
    #[must_use]
    pub fn add_resources(mut self, resources: impl IntoIterator<Item = Resource>) -> Self {
        self.offers.resources.extend(resources);
        self
    }

    /// Offers a function under `#[prompt]`.
    #[must_use]
    pub fn prompt<P: IntoPrompt>(self) -> Self {
        self.add_prompt(P::into_prompt())
    }

    /// Offers several functions under `#[prompt]`.
    #[must_use]
    pub fn prompts<P: PromptSet>(mut self) -> Self {
        self.offers.prompts.extend(P::into_prompts());
        self
    }

    /// Offers a prompt made by hand.
    #[must_use]
    pub fn add_prompt(mut self, prompt: Prompt) -> Self {
        self.offers.prompts.push(prompt);
        self
    }

    /// Offers prompts made by hand, such as those of a loop.
    #[must_use]
    pub fn add_prompts(mut self, prompts: impl IntoIterator<Item = Prompt>) -> Self {
        self.offers.prompts.extend(prompts);
        self
    }

    /// Offers the methods of a value under `#[tools]`: its tools, resources and prompts. All calls
    /// share the value. To keep it, pass an `Arc`.
    #[must_use]
    pub fn methods(self, value: impl Methods) -> Self {
        Arc::new(value).add_to(self)
    }

    /// Lists and serves what a [`Provider`] has, after what the server has itself. Typed layers such as
    /// [`Self::on_tool_call`] are around its calls. A server has one provider, and a later one
    /// replaces it; a mounted server has its own.
    #[must_use]
    pub fn provider(mut self, provider: impl Provider) -> Self {
        self.ask_code = Some(AskCode::LINKED);
        self.offers.provider = Some(OfferedProvider {
            capabilities: provider.capabilities(),
            provider: Arc::new(provider),
        });
        self
    }
}
