//! The items of lists: what a client may list, and how an item is named.

use pintle_model::method::{
    ListPrompts, ListResourceTemplates, ListResources, ListTasks, ListTools, Method,
};
use pintle_model::{Prompt, Resource, ResourceTemplate, Task, Tool};
use serde::de::DeserializeOwned;

/// Something that servers list. Sealed: the protocol has these.
pub trait Item: DeserializeOwned + Send + 'static + sealed::Listed {}

mod sealed {
    use pintle_model::Tool;

    pub trait Listed {
        const METHOD: &'static str;
        const MEMBER: &'static str;
        /// Reads the text of an item. Not generic, so that other crates do not compile the readers again.
        fn read(text: &str) -> serde_json::Result<Self>
        where
            Self: Sized;
        /// Returns the identity of the item within its list.
        fn key(&self) -> &str;
        /// Returns the item if it is a tool, because the client caches tools.
        fn as_tool(&self) -> Option<&Tool> {
            None
        }
    }
}

macro_rules! items {
    ($( $item:ty = $method:ty, $member:literal, $key:ident $(, $as_tool:expr)?; )+) => {
        $(
            impl Item for $item {}
            impl sealed::Listed for $item {
                const METHOD: &'static str = <$method>::NAME;
                const MEMBER: &'static str = $member;
                fn read(text: &str) -> serde_json::Result<Self> {
                    serde_json::from_str(text)
                }
                fn key(&self) -> &str {
                    &self.$key
                }
                $(fn as_tool(&self) -> Option<&Tool> {
                    $as_tool(self)
                })?
            }
        )+
    };
}

items! {
    Tool = ListTools, "tools", name, Some;
    Resource = ListResources, "resources", uri;
    ResourceTemplate = ListResourceTemplates, "resourceTemplates", uri_template;
    Prompt = ListPrompts, "prompts", name;
    Task = ListTasks, "tasks", task_id;
}
