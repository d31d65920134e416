//! A result on its way out: rendered once, stamped by the engine.

mod json;

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;

use pintle_model::write::{WriteError, write_json};
use pintle_model::{
    Base64, CallToolResult, CompleteResult, CreateTaskResult, DetailedTask, DiscoverResult,
    EmptyResult, Error, Fit, FitError, GetPromptResult, InitializeResult, InputRequired,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListTasksResult,
    ListToolsResult, Meta, ReadResourceResult, Revision, Task, TaskHandle,
};

pub(crate) use json::{Around, HEADROOM, Json};

/// Answer to a request that is not an error. Closed: the protocol has these three.
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
    /// -32603 when the result does not fit `revision`.
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

    /// Adds the result as JSON to `out`: what serde writes.
    ///
    /// # Errors
    ///
    /// As [`write_json`].
    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        write_json(out, self)
    }

    /// Returns the base64 that is not copied when the result is rendered: the first that is large.
    fn large_base64(&mut self) -> Option<&mut Base64> {
        None
    }
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
    CompleteResult,
    CreateTaskResult,
    DiscoverResult,
    EmptyResult,
    InitializeResult,
    InputRequired,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListTasksResult,
    ListToolsResult,
    Task,
    TaskHandle,
);

impl ResultBody for CallToolResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.write(out)
    }

    fn large_base64(&mut self) -> Option<&mut Base64> {
        self.large_base64()
    }
}

impl ResultBody for GetPromptResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    fn large_base64(&mut self) -> Option<&mut Base64> {
        self.large_base64()
    }
}

impl ResultBody for ReadResourceResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    fn large_base64(&mut self) -> Option<&mut Base64> {
        self.large_base64()
    }
}

impl ResultBody for DetailedTask {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.handle.meta
    }
}

/// A result as bytes: a JSON object without `_meta` and without stamps.
#[derive(Debug, Clone)]
pub struct Rendered {
    json: Json,
    meta: Option<Meta>,
}

impl Rendered {
    /// Fits `result` to `revision` and renders it.
    ///
    /// # Errors
    ///
    /// -32603 when the result does not fit `revision`, or cannot be written as JSON.
    pub fn new<R: ResultBody>(mut result: R, revision: Revision) -> Result<Self, Error> {
        Self::of(&mut result, revision)
    }

    /// As [`Rendered::new`], without moving the result. The result is fitted and loses its metadata.
    ///
    /// # Errors
    ///
    /// As [`Rendered::new`].
    pub fn of<R: ResultBody>(result: &mut R, revision: Revision) -> Result<Self, Error> {
        if let Err(unfit) = result.fit(revision) {
            return Err(unfitting(revision, &unfit));
        }
        let meta = result.meta_mut().take();
        match Json::of(result) {
            Ok(json) => Ok(Self { json, meta }),
            Err(error) => Err(unwritable(&error)),
        }
    }

    /// Takes bytes that are a JSON object without `_meta` and without line breaks.
    #[inline]
    pub fn from_object(json: Bytes, meta: Option<Meta>) -> Self {
        debug_assert!(json.starts_with(b"{") && json.ends_with(b"}"));
        Self {
            json: Json::Shared(json),
            meta,
        }
    }

    /// The same result, cheap to clone: for lists that are rendered once and sent many times.
    #[must_use]
    pub fn into_shared(self) -> Self {
        Self {
            json: Json::Shared(self.json.into_bytes()),
            ..self
        }
    }

    /// The object's bytes. They are copied only if the result has a large base64.
    #[inline]
    pub fn json(&self) -> Cow<'_, [u8]> {
        self.json.get()
    }

    /// The object's bytes, with an empty text instead of a large base64. A large base64 is not copied.
    #[inline]
    pub fn outline(&self) -> Cow<'_, [u8]> {
        self.json.outline()
    }

    /// The metadata of the result.
    pub fn meta(&self) -> Option<&Meta> {
        self.meta.as_ref()
    }

    pub(crate) fn into_parts(self) -> (Json, Option<Meta>) {
        (self.json, self.meta)
    }
}

// Not in `Rendered::of`, which is compiled for each type of results.
#[cold]
fn unfitting(revision: Revision, unfit: &FitError) -> Error {
    tracing::warn!(%revision, %unfit, "a result does not fit this revision");
    Error::internal()
}

#[cold]
fn unwritable(error: &WriteError) -> Error {
    tracing::warn!(%error, "a result cannot be written");
    Error::internal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_small_to_move() {
        assert!(size_of::<Rendered>() <= 56, "{}", size_of::<Rendered>());
        assert!(size_of::<Reply>() <= 64, "{}", size_of::<Reply>());
        let result = size_of::<Result<Reply, Error>>();
        assert!(result <= 64, "{result}");
    }
}
