//! A result on its way out: rendered once, stamped by the engine.

use bytes::Bytes;
use serde::Serialize;

use pintle_model::{
    CallToolResult, CompleteResult, DiscoverResult, EmptyResult, Error, Fit, GetPromptResult,
    InputRequired, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, Meta, ReadResourceResult, Revision,
};

/// What a request is answered with, when it is not an error. Closed: the protocol has these three.
#[derive(Debug)]
pub enum Reply {
    /// The method's own result.
    Complete(Rendered),
    /// Questions that the client answers before it asks again.
    InputRequired(Rendered),
    /// A task that goes on after the answer.
    Task(Rendered),
}

impl Reply {
    /// A complete result, fitted to `revision` and rendered.
    ///
    /// # Errors
    ///
    /// -32603 when the result cannot be said in `revision` at all.
    pub fn complete<R: ResultBody>(result: R, revision: Revision) -> Result<Self, Error> {
        Rendered::new(result, revision).map(Self::Complete)
    }

    pub(crate) fn into_parts(self) -> (&'static str, Rendered) {
        match self {
            Self::Complete(rendered) => ("complete", rendered),
            Self::InputRequired(rendered) => ("input_required", rendered),
            Self::Task(rendered) => ("task", rendered),
        }
    }
}

/// A result that can be rendered: its `_meta` apart, because the engine adds to it.
pub trait ResultBody: Fit + Serialize {
    /// The result's `_meta`.
    fn meta_mut(&mut self) -> &mut Option<Meta>;
}

macro_rules! result_bodies {
    ($($name:ty),+ $(,)?) => {
        $(impl ResultBody for $name {
            fn meta_mut(&mut self) -> &mut Option<Meta> {
                &mut self.meta
            }
        })+
    };
}

result_bodies!(
    CallToolResult,
    CompleteResult,
    DiscoverResult,
    EmptyResult,
    GetPromptResult,
    InputRequired,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListToolsResult,
    ReadResourceResult,
);

/// A result as bytes: a JSON object without `_meta` and without stamps.
///
/// Cloning is cheap, so a list is rendered once and sent many times.
#[derive(Debug, Clone)]
pub struct Rendered {
    json: Bytes,
    meta: Option<Meta>,
}

impl Rendered {
    /// Fits `result` to `revision` and renders it.
    ///
    /// # Errors
    ///
    /// -32603 when the result cannot be said in `revision` at all, or not be written as JSON.
    pub fn new<R: ResultBody>(mut result: R, revision: Revision) -> Result<Self, Error> {
        result.fit(revision).map_err(|unfit| {
            tracing::warn!(%revision, %unfit, "a result cannot be said in this revision");
            Error::internal()
        })?;
        let meta = result.meta_mut().take();
        let json = serde_json::to_vec(&result).map_err(|error| {
            tracing::warn!(%error, "a result cannot be written");
            Error::internal()
        })?;
        Ok(Self {
            json: json.into(),
            meta,
        })
    }

    /// Takes bytes that are a JSON object without `_meta` and without line breaks.
    pub fn from_object(json: Bytes, meta: Option<Meta>) -> Self {
        debug_assert!(json.starts_with(b"{") && json.ends_with(b"}"));
        Self { json, meta }
    }

    /// The object's bytes.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    pub(crate) fn into_parts(self) -> (Bytes, Option<Meta>) {
        (self.json, self.meta)
    }
}
