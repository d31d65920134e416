//! A tool, resource or prompt where it lives: with the state and the layers of its own server.

use std::fmt;
use std::sync::Arc;

use pintle_model as model;
use pintle_model::{Cursor, Freshness};
use pintle_runtime::{Extensions, ParamHeader};

use crate::around::Around;
use crate::prompt::{Prompt, PromptReply};
use crate::request::{PromptRequest, ReadRequest, ToolRequest};
use crate::resource::{ReadReply, Resource};
use crate::set::Listed;
use crate::tool::{Tool, ToolReply};

/// Something a server offers, with the server that it was described on: mounting one server on
/// another mixes their lists, not their states.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) item: T,
    pub(crate) home: Arc<Home>,
    /// For tools: what HTTP clients repeat in headers.
    pub(crate) param_headers: Arc<[ParamHeader]>,
}

/// What all that was described on one server shares.
#[derive(Default)]
pub(crate) struct Home {
    pub(crate) state: Extensions,
    pub(crate) tool_layers: Arc<[Around<ToolRequest, ToolReply>]>,
    pub(crate) read_layers: Arc<[Around<ReadRequest, ReadReply>]>,
    pub(crate) prompt_layers: Arc<[Around<PromptRequest, PromptReply>]>,
}

impl Home {
    /// The same with more state, for what an extension brings.
    pub(crate) fn with_state(&self, own: &Extensions) -> Self {
        let mut state = self.state.clone();
        state.extend(own);
        Self {
            state,
            tool_layers: Arc::clone(&self.tool_layers),
            read_layers: Arc::clone(&self.read_layers),
            prompt_layers: Arc::clone(&self.prompt_layers),
        }
    }
}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Home")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl<T> Entry<T> {
    pub(crate) fn new(item: T, home: Arc<Home>) -> Self {
        Self {
            item,
            home,
            param_headers: Arc::default(),
        }
    }
}

impl Listed for Entry<Tool> {
    type Definition = model::Tool;
    type List = model::ListToolsResult;

    fn key(&self) -> &str {
        self.item.name()
    }

    fn definition(&self) -> &model::Tool {
        self.item.definition()
    }

    fn scopes(&self) -> &[Box<str>] {
        self.item.required_scopes()
    }

    fn page(
        definitions: Vec<model::Tool>,
        next: Option<Cursor>,
        freshness: Freshness,
    ) -> Self::List {
        let mut page = model::ListToolsResult::new(definitions);
        (page.next_cursor, page.freshness) = (next, Some(freshness));
        page
    }
}

impl Listed for Entry<Prompt> {
    type Definition = model::Prompt;
    type List = model::ListPromptsResult;

    fn key(&self) -> &str {
        self.item.name()
    }

    fn definition(&self) -> &model::Prompt {
        self.item.definition()
    }

    fn scopes(&self) -> &[Box<str>] {
        self.item.required_scopes()
    }

    fn page(
        definitions: Vec<model::Prompt>,
        next: Option<Cursor>,
        freshness: Freshness,
    ) -> Self::List {
        let mut page = model::ListPromptsResult::new(definitions);
        (page.next_cursor, page.freshness) = (next, Some(freshness));
        page
    }
}

/// A resource of one URI.
#[derive(Debug)]
pub(crate) struct Fixed(pub(crate) Entry<Resource>);

impl AsRef<Entry<Resource>> for Fixed {
    fn as_ref(&self) -> &Entry<Resource> {
        &self.0
    }
}

impl Listed for Fixed {
    type Definition = model::Resource;
    type List = model::ListResourcesResult;

    fn key(&self) -> &str {
        self.0.item.uri()
    }

    fn definition(&self) -> &model::Resource {
        self.0.item.definition()
    }

    fn scopes(&self) -> &[Box<str>] {
        self.0.item.required_scopes()
    }

    fn page(
        definitions: Vec<model::Resource>,
        next: Option<Cursor>,
        freshness: Freshness,
    ) -> Self::List {
        let mut page = model::ListResourcesResult::new(definitions);
        (page.next_cursor, page.freshness) = (next, Some(freshness));
        page
    }
}

/// A family of resources.
#[derive(Debug)]
pub(crate) struct Templated(pub(crate) Entry<Resource>);

impl AsRef<Entry<Resource>> for Templated {
    fn as_ref(&self) -> &Entry<Resource> {
        &self.0
    }
}

impl Listed for Templated {
    type Definition = model::ResourceTemplate;
    type List = model::ListResourceTemplatesResult;

    fn key(&self) -> &str {
        self.0.item.uri()
    }

    fn definition(&self) -> &model::ResourceTemplate {
        self.0.item.template_definition()
    }

    fn scopes(&self) -> &[Box<str>] {
        self.0.item.required_scopes()
    }

    fn page(
        definitions: Vec<model::ResourceTemplate>,
        next: Option<Cursor>,
        freshness: Freshness,
    ) -> Self::List {
        let mut page = model::ListResourceTemplatesResult::new(definitions);
        (page.next_cursor, page.freshness) = (next, Some(freshness));
        page
    }
}
