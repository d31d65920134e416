//! A tool, resource or prompt where it lives: with the state and the layers of its own server.

use std::fmt;
use std::sync::Arc;

use pintle_model as model;
use pintle_model::{Cursor, Freshness};
use pintle_runtime::{Extensions, ParamHeader};

use crate::prompt::{Prompt, PromptReply};
use crate::request::{PromptRequest, ReadRequest, ToolRequest};
use crate::resource::{ReadReply, Resource};
use crate::set::Listed;
use crate::tool::{Tool, ToolReply};
use crate::typed_layer::TypedLayer;

/// Something a server offers, with the server that it was described on: mounting one server on
/// another mixes their lists, not their states.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) item: T,
    pub(crate) mount_context: Arc<MountContext>,
    /// For tools: what HTTP clients repeat in headers.
    pub(crate) param_headers: Arc<[ParamHeader]>,
}

/// Values that all entries of one server share.
#[derive(Default)]
pub(crate) struct MountContext {
    pub(crate) state: Extensions,
    pub(crate) tool_layers: Arc<[TypedLayer<ToolRequest, ToolReply>]>,
    pub(crate) read_layers: Arc<[TypedLayer<ReadRequest, ReadReply>]>,
    pub(crate) prompt_layers: Arc<[TypedLayer<PromptRequest, PromptReply>]>,
}

impl MountContext {
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

impl fmt::Debug for MountContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MountContext")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl<T> Entry<T> {
    pub(crate) fn new(item: T, mount_context: Arc<MountContext>) -> Self {
        Self {
            item,
            mount_context,
            param_headers: Arc::default(),
        }
    }
}

/// A resource with one URI.
#[derive(Debug)]
pub(crate) struct FixedResource(pub(crate) Entry<Resource>);

impl AsRef<Entry<Resource>> for FixedResource {
    fn as_ref(&self) -> &Entry<Resource> {
        &self.0
    }
}

/// Resources whose URIs match one template.
#[derive(Debug)]
pub(crate) struct TemplatedResource(pub(crate) Entry<Resource>);

impl AsRef<Entry<Resource>> for TemplatedResource {
    fn as_ref(&self) -> &Entry<Resource> {
        &self.0
    }
}

/// Implements [`Listed`] for an entry. The arguments: the model types of the definition and of the
/// list, the path of the item, and its functions that return the key and the definition.
macro_rules! listed {
    ($entry:ty, $definition:ident, $list:ident, $($item:tt).+, $key:ident, $define:ident) => {
        impl Listed for $entry {
            type Definition = model::$definition;
            type List = model::$list;

            fn key(&self) -> &str {
                self.$($item).+.$key()
            }

            fn definition(&self) -> &model::$definition {
                self.$($item).+.$define()
            }

            fn scopes(&self) -> &[Box<str>] {
                self.$($item).+.required_scopes()
            }

            fn page(
                definitions: Vec<model::$definition>,
                next: Option<Cursor>,
                freshness: Freshness,
            ) -> Self::List {
                let mut page = model::$list::new(definitions);
                (page.next_cursor, page.freshness) = (next, Some(freshness));
                page
            }
        }
    };
}

listed!(Entry<Tool>, Tool, ListToolsResult, item, name, definition);
listed!(
    Entry<Prompt>,
    Prompt,
    ListPromptsResult,
    item,
    name,
    definition
);
listed!(
    FixedResource,
    Resource,
    ListResourcesResult,
    0.item,
    uri,
    definition
);
listed!(
    TemplatedResource,
    ResourceTemplate,
    ListResourceTemplatesResult,
    0.item,
    uri,
    template_definition
);
