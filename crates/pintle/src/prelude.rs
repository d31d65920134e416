//! The names that nearly every server and client uses: `use pintle::prelude::*`.

#[cfg(feature = "client")]
pub use pintle_client::{Client, ClientBuilder, Group};
#[cfg(feature = "http")]
pub use pintle_http::ServeHttp;
#[cfg(feature = "derive")]
pub use pintle_macros::data;
#[cfg(feature = "macros")]
pub use pintle_macros::{prompt, resource, tool, tools};
pub use pintle_model::{ContentBlock, LoggingLevel, PromptMessage, ResourceContents};
#[cfg(feature = "client")]
pub use pintle_process::Command;
pub use pintle_runtime::{Answer, AskError, Context, Principal};
#[cfg(feature = "server")]
pub use pintle_server::{
    Args, FileContent, Image, Json, Locked, NotFound, PathSegment, Prompt, Resource, Server,
    ServerHandle, State, Tool,
};
#[cfg(feature = "inspector")]
pub use pintle_web::Inspect;

pub use crate::Result;
#[cfg(feature = "server")]
pub use crate::Run;
#[cfg(feature = "openapi")]
pub use crate::openapi::{OpenApi, OpenApiTools};
