//! The requests that typed layers and providers receive.

use std::collections::BTreeMap;

use pintle_model::{CompleteParams, Cursor};
use pintle_runtime::Context;
use serde_json::value::RawValue;

/// A call of a tool on its way in.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolRequest {
    /// The name it was called by.
    pub name: Box<str>,
    /// The arguments, not yet looked at.
    pub arguments: Option<Box<RawValue>>,
    /// The context of the request.
    pub cx: Context,
}

/// A read of a resource on its way in.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadRequest {
    /// URI of the resource.
    pub uri: String,
    /// The context of the request.
    pub cx: Context,
}

/// A prompt's retrieval on its way in.
#[derive(Debug)]
#[non_exhaustive]
pub struct PromptRequest {
    /// The prompt's name.
    pub name: Box<str>,
    /// Its arguments.
    pub arguments: BTreeMap<String, String>,
    /// The context of the request.
    pub cx: Context,
}

/// A page of a list that a [`Provider`](crate::Provider) returns.
#[derive(Debug)]
#[non_exhaustive]
pub struct ListRequest {
    /// The cursor that the provider returned with the page before; `None` for the first page.
    pub cursor: Option<Cursor>,
    /// The context of the request.
    pub cx: Context,
}

/// A request for values of an argument, for a [`Provider`](crate::Provider).
#[derive(Debug)]
#[non_exhaustive]
pub struct CompleteRequest {
    /// The reference, the argument and its context. The name of a prompt has no prefix of a mount.
    pub params: CompleteParams,
    /// The context of the request.
    pub cx: Context,
}
