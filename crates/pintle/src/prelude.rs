//! What nearly every server needs: `use pintle::prelude::*`.

#[cfg(feature = "http")]
pub use pintle_http::ServeHttp;
#[cfg(feature = "macros")]
pub use pintle_macros::{prompt, resource, tool};
pub use pintle_model::{ContentBlock, LoggingLevel, PromptMessage};
pub use pintle_runtime::{Answer, AskError, Context, Principal};
pub use pintle_server::{
    Args, Image, Json, NotFound, PathSegment, Prompt, Resource, Server, ServerHandle, State, Tool,
};

pub use crate::{Result, Run};
