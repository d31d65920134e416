//! The items that the expansions of our attributes name. They are not public API: they may change in
//! any version, together with the attributes.

#[cfg(feature = "macros")]
#[path = "private/arguments.rs"]
mod arguments;

#[cfg(feature = "macros")]
pub use arguments::{
    AnyDefault, ArgumentName, ArgumentsSchema, DefaultArgument, absent_argument, read_argument,
};

#[cfg(feature = "macros")]
pub use crate::main_function::run_main;
pub use pintle_model::{Icon, PromptArgument};
pub use pintle_server::{
    Args, IntoPrompt, IntoResource, IntoTool, Methods, Prompt, PromptCall, ReadCall, Resource,
    Server, Tool, ToolCall, blocking,
};
pub use {schemars, serde, serde_json};

// A module, because the compiler names the feature of a module that is missing.
#[cfg(feature = "tasks")]
pub mod tasks {
    pub use pintle_model::TaskSupport;
}
