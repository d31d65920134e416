//! The requests that typed layers receive: a layer may read and change them.

use std::collections::BTreeMap;

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
    /// The request.
    pub cx: Context,
}

/// A read of a resource on its way in.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadRequest {
    /// URI of the resource.
    pub uri: String,
    /// The request.
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
    /// The request.
    pub cx: Context,
}
