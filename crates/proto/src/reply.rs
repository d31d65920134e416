//! A result on its way out: rendered once, stamped by the engine.

use bytes::Bytes;
use serde::Serialize;

use pintle_model::write::{WriteError, write_json};
use pintle_model::{
    CallToolResult, CompleteResult, CreateTaskResult, DetailedTask, DiscoverResult, EmptyResult,
    Error, Fit, GetPromptResult, InputRequired, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListTasksResult, ListToolsResult, Meta, ReadResourceResult, Revision,
    Task, TaskHandle,
};

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
    GetPromptResult,
    InputRequired,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListTasksResult,
    ListToolsResult,
    ReadResourceResult,
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
}

impl ResultBody for DetailedTask {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.handle.meta
    }
}

/// Room that is kept in front of a result for its envelope, in bytes; a longer envelope becomes a
/// part of its own.
pub(crate) const HEADROOM: usize = 320;

/// A result as bytes: a JSON object without `_meta` and without stamps.
#[derive(Debug, Clone)]
pub struct Rendered {
    json: Json,
    meta: Option<Meta>,
}

/// The bytes of a result.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    /// For one response: the envelope goes into the [`HEADROOM`] in front.
    Own(Vec<u8>),
    /// For many responses: never copied.
    Shared(Bytes),
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
        result.fit(revision).map_err(|unfit| {
            tracing::warn!(%revision, %unfit, "a result does not fit this revision");
            Error::internal()
        })?;
        let meta = result.meta_mut().take();
        let mut json = Vec::with_capacity(HEADROOM + 192);
        json.resize(HEADROOM, 0);
        result.write(&mut json).map_err(|error| {
            tracing::warn!(%error, "a result cannot be written");
            Error::internal()
        })?;
        Ok(Self {
            json: Json::Own(json),
            meta,
        })
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
        let json = match self.json {
            Json::Own(mut json) => Bytes::from(json.split_off(HEADROOM)),
            Json::Shared(json) => json,
        };
        Self {
            json: Json::Shared(json),
            ..self
        }
    }

    /// The object's bytes.
    #[inline]
    pub fn json(&self) -> &[u8] {
        match &self.json {
            Json::Own(json) => json.get(HEADROOM..).unwrap_or_default(),
            Json::Shared(json) => json,
        }
    }

    /// The metadata of the result.
    pub fn meta(&self) -> Option<&Meta> {
        self.meta.as_ref()
    }

    pub(crate) fn into_parts(self) -> (Json, Option<Meta>) {
        (self.json, self.meta)
    }
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
