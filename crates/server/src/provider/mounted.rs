//! A provider where it lives: with the prefix and the layers of its own server.

use std::fmt;
use std::sync::Arc;

use pintle_model as model;
use pintle_model::{Cursor, Error, Freshness};
use pintle_runtime::BoxFuture;

use super::Provider;
use crate::entry::{Entry, FixedResource, MountContext, TemplatedResource};
use crate::operation::through;
use crate::prompt::{Prompt, PromptReply};
use crate::request::{CompleteRequest, ListRequest, PromptRequest, ReadRequest, ToolRequest};
use crate::resource::ReadReply;
use crate::set::Listed;
use crate::tool::{Tool, ToolReply};

/// A provider, with the server that it was given to.
pub(crate) struct MountedProvider {
    provider: Arc<dyn DynProvider>,
    /// Prefix of its names.
    prefix: Box<str>,
    mount_context: Arc<MountContext>,
}

impl MountedProvider {
    pub(crate) fn new(
        provider: Arc<dyn DynProvider>,
        prefix: &str,
        mount_context: &Arc<MountContext>,
    ) -> Self {
        Self {
            provider,
            prefix: prefix.into(),
            mount_context: Arc::clone(mount_context),
        }
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(crate) async fn call_tool(self: Arc<Self>, request: ToolRequest) -> ToolReply {
        let layers = Arc::clone(&self.mount_context.tool_layers);
        let call = |mounted: Arc<Self>, request| async move {
            mounted.provider.call_tool_dyn(request).await
        };
        through(layers, request, self, call).await
    }

    pub(crate) async fn read_resource(self: Arc<Self>, request: ReadRequest) -> ReadReply {
        let layers = Arc::clone(&self.mount_context.read_layers);
        let read = |mounted: Arc<Self>, request| async move {
            mounted.provider.read_resource_dyn(request).await
        };
        through(layers, request, self, read).await
    }

    pub(crate) async fn get_prompt(self: Arc<Self>, request: PromptRequest) -> PromptReply {
        let layers = Arc::clone(&self.mount_context.prompt_layers);
        let get = |mounted: Arc<Self>, request| async move {
            mounted.provider.get_prompt_dyn(request).await
        };
        through(layers, request, self, get).await
    }

    pub(crate) fn complete(
        &self,
        request: CompleteRequest,
    ) -> BoxFuture<'_, Result<model::CompleteResult, Error>> {
        self.provider.complete_dyn(request)
    }

    /// Returns a page of the provider, with the prefix before each name.
    pub(crate) async fn list<T: Provided>(&self, request: ListRequest) -> Result<T::List, Error> {
        let mut list = T::list(&*self.provider, request).await?;
        let (definitions, _) = T::parts(&mut list);
        if !self.prefix.is_empty() {
            let names = definitions.iter_mut().filter_map(T::prefixed);
            names.for_each(|name| name.insert_str(0, &self.prefix));
        }
        Ok(list)
    }
}

impl fmt::Debug for MountedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MountedProvider")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// [`Provider`] for trait objects.
pub(crate) trait DynProvider: Send + Sync {
    fn list_tools_dyn(&self, request: ListRequest) -> List<'_, model::ListToolsResult>;
    fn list_resources_dyn(&self, request: ListRequest) -> List<'_, model::ListResourcesResult>;
    fn list_resource_templates_dyn(
        &self,
        request: ListRequest,
    ) -> List<'_, model::ListResourceTemplatesResult>;
    fn list_prompts_dyn(&self, request: ListRequest) -> List<'_, model::ListPromptsResult>;
    fn call_tool_dyn(&self, request: ToolRequest) -> BoxFuture<'_, ToolReply>;
    fn read_resource_dyn(&self, request: ReadRequest) -> BoxFuture<'_, ReadReply>;
    fn get_prompt_dyn(&self, request: PromptRequest) -> BoxFuture<'_, PromptReply>;
    fn complete_dyn(&self, request: CompleteRequest) -> List<'_, model::CompleteResult>;
}

type List<'a, T> = BoxFuture<'a, Result<T, Error>>;

impl<P: Provider> DynProvider for P {
    fn list_tools_dyn(&self, request: ListRequest) -> List<'_, model::ListToolsResult> {
        Box::pin(self.list_tools(request))
    }

    fn list_resources_dyn(&self, request: ListRequest) -> List<'_, model::ListResourcesResult> {
        Box::pin(self.list_resources(request))
    }

    fn list_resource_templates_dyn(
        &self,
        request: ListRequest,
    ) -> List<'_, model::ListResourceTemplatesResult> {
        Box::pin(self.list_resource_templates(request))
    }

    fn list_prompts_dyn(&self, request: ListRequest) -> List<'_, model::ListPromptsResult> {
        Box::pin(self.list_prompts(request))
    }

    fn call_tool_dyn(&self, request: ToolRequest) -> BoxFuture<'_, ToolReply> {
        Box::pin(self.call_tool(request))
    }

    fn read_resource_dyn(&self, request: ReadRequest) -> BoxFuture<'_, ReadReply> {
        Box::pin(self.read_resource(request))
    }

    fn get_prompt_dyn(&self, request: PromptRequest) -> BoxFuture<'_, PromptReply> {
        Box::pin(self.get_prompt(request))
    }

    fn complete_dyn(&self, request: CompleteRequest) -> List<'_, model::CompleteResult> {
        Box::pin(self.complete(request))
    }
}

/// An item of a list that providers have as well.
pub(crate) trait Provided: Listed {
    /// Asks a provider for a page.
    fn list(provider: &dyn DynProvider, request: ListRequest) -> List<'_, Self::List>;

    /// Returns the definitions of a page, and its other members.
    fn parts(list: &mut Self::List) -> (&mut Vec<Self::Definition>, PageEnd<'_>);

    /// Returns the unique key of a definition.
    fn key_of(definition: &Self::Definition) -> &str;

    /// Returns the name that the prefix of a mount precedes, if there is one.
    fn prefixed(definition: &mut Self::Definition) -> Option<&mut String>;
}

/// The members of a page after its definitions.
pub(crate) struct PageEnd<'a> {
    pub(crate) next: &'a mut Option<Cursor>,
    pub(crate) freshness: &'a mut Option<Freshness>,
}

/// Implements [`Provided`] for an item. The arguments are the method of [`DynProvider`], the types of
/// the list and the definition, their members, and the prefixed name.
macro_rules! provided {
    ($item:ty, $method:ident, $list:ident, $definition:ident, $members:ident, $key:ident, $prefixed:expr) => {
        impl Provided for $item {
            fn list(provider: &dyn DynProvider, request: ListRequest) -> List<'_, model::$list> {
                provider.$method(request)
            }

            fn parts(list: &mut model::$list) -> (&mut Vec<model::$definition>, PageEnd<'_>) {
                let end = PageEnd {
                    next: &mut list.next_cursor,
                    freshness: &mut list.freshness,
                };
                (&mut list.$members, end)
            }

            fn key_of(definition: &model::$definition) -> &str {
                &definition.$key
            }

            fn prefixed(definition: &mut model::$definition) -> Option<&mut String> {
                let prefixed: fn(&mut model::$definition) -> Option<&mut String> = $prefixed;
                prefixed(definition)
            }
        }
    };
}

provided!(
    Entry<Tool>,
    list_tools_dyn,
    ListToolsResult,
    Tool,
    tools,
    name,
    |tool| Some(&mut tool.name)
);
provided!(
    FixedResource,
    list_resources_dyn,
    ListResourcesResult,
    Resource,
    resources,
    uri,
    |_| None
);
provided!(
    TemplatedResource,
    list_resource_templates_dyn,
    ListResourceTemplatesResult,
    ResourceTemplate,
    resource_templates,
    uri_template,
    |_| None
);
provided!(
    Entry<Prompt>,
    list_prompts_dyn,
    ListPromptsResult,
    Prompt,
    prompts,
    name,
    |prompt| Some(&mut prompt.name)
);
