//! Outcome of a request: a result, questions, or a task.
//!
//! Since 2026-07-28 every result states its kind in `resultType`. The member is read before
//! anything else is decoded. It is not a member of the types, because the sender's engine stamps
//! it.
//!
//! Spec: [2026-07-28, Base protocol, Results][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/index#results

mod without;

use std::borrow::Cow;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use crate::jsonrpc::members;
use crate::object::peek;
use crate::open_enum::open_enum;
use crate::read::from_text;
use crate::{CreateTaskResult, Fit, FitError, InputRequired, Revision, TaskHandle};

/// Outcome of a request. Closed: another `resultType` is an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<R> {
    /// The result.
    Complete(R),
    /// Questions; the request is retried with the answers (2026-07-28).
    InputRequired(InputRequired),
    /// The result comes later (tasks, in both their forms). Boxed, because few outcomes are tasks.
    Task(Box<TaskHandle>),
}

/// Name of the member that states the kind of a result.
pub(crate) const RESULT_TYPE: &str = "resultType";

open_enum! {
    /// The kind of a result: the values of `resultType`.
    pub enum ResultType {
        /// The result itself; also if the member is missing.
        Complete = "complete",
        /// Questions.
        InputRequired = "input_required",
        /// A task; needs the extension.
        Task = "task",
    }
}

impl ResultType {
    /// Reads the kind of a result, and nothing else; `None` if the result does not state it.
    ///
    /// # Errors
    ///
    /// [`OutcomeError::Malformed`] if the result is not an object, or states its kind in a wrong way.
    pub fn of(result: &RawValue) -> Result<Option<Self>, OutcomeError> {
        let peek = Peek::read(result)?;
        Ok(peek.result_type.as_deref().map(Self::from))
    }
}

/// Members of a result that decide its kind.
#[derive(Debug, Default, PartialEq)]
struct Peek<'a> {
    result_type: Option<Cow<'a, str>>,
    task: Option<IgnoredAny>,
}

peek!(Peek<'static> {
    "resultType" => optional result_type,
    "task" => optional task,
});

impl<'a> Peek<'a> {
    fn read(result: &'a RawValue) -> serde_json::Result<Self> {
        match Self::scan(result.get()) {
            Some(peek) => Ok(peek),
            None => from_text::<Peek<'static>>(result.get()),
        }
    }

    /// Reads a result that is in order, in one pass.
    fn scan(result: &'a str) -> Option<Self> {
        let (mut result_type, mut task) = (None, None);
        members(result, |name, value| match name {
            "resultType" if result_type.is_none() => {
                result_type = Some(value.as_text()?);
                Some(())
            }
            "task" if task.is_none() && !value.is_null() => {
                task = Some(IgnoredAny);
                Some(())
            }
            "resultType" | "task" => None,
            _ => Some(()),
        })?;
        Some(Self { result_type, task })
    }
}

impl<R> Outcome<R> {
    /// The `resultType` to stamp.
    pub fn result_type(&self) -> ResultType {
        match self {
            Self::Complete(_) => ResultType::Complete,
            Self::InputRequired(_) => ResultType::InputRequired,
            Self::Task(_) => ResultType::Task,
        }
    }

    /// The result, if it is there.
    pub fn into_complete(self) -> Option<R> {
        match self {
            Self::Complete(result) => Some(result),
            Self::InputRequired(_) | Self::Task(_) => None,
        }
    }

    /// Changes the result, if it is there.
    pub fn map<S>(self, change: impl FnOnce(R) -> S) -> Outcome<S> {
        match self {
            Self::Complete(result) => Outcome::Complete(change(result)),
            Self::InputRequired(input) => Outcome::InputRequired(input),
            Self::Task(handle) => Outcome::Task(handle),
        }
    }
}

impl<R: DeserializeOwned> Outcome<R> {
    /// Reads the result of a request.
    ///
    /// # Errors
    ///
    /// [`OutcomeError`]; the peer is at fault.
    pub fn decode(result: &RawValue) -> Result<Self, OutcomeError> {
        if let Some(complete) = without::complete(result) {
            return Ok(Self::Complete(complete));
        }
        let peek = Peek::read(result)?;
        Self::decode_as(result, peek.result_type)
    }

    /// Reads the result of a request that was sent as a task (2025-11-25). A result without a type
    /// and with a `task` is a task.
    ///
    /// # Errors
    ///
    /// [`OutcomeError`]; the peer is at fault.
    pub fn decode_augmented(result: &RawValue) -> Result<Self, OutcomeError> {
        let peek = Peek::read(result)?;
        if peek.result_type.is_some() || peek.task.is_none() {
            return Self::decode_as(result, peek.result_type);
        }
        Ok(Self::Task(Box::new(legacy_task(result)?)))
    }

    fn decode_as(result: &RawValue, tag: Option<Cow<'_, str>>) -> Result<Self, OutcomeError> {
        match tag
            .as_deref()
            .map_or(ResultType::Complete, ResultType::from)
        {
            ResultType::Complete if tag.is_none() => {
                Ok(Self::Complete(serde_json::from_str(result.get())?))
            }
            ResultType::Complete => Ok(Self::Complete(without::kind(result)?)),
            ResultType::InputRequired => Ok(Self::InputRequired(input_required(result)?)),
            ResultType::Task => Ok(Self::Task(Box::new(task(result)?))),
            ResultType::Unknown(result_type) => Err(OutcomeError::UnknownType { result_type }),
        }
    }
}

// These are not generic, so that other crates do not compile the decoding again.
fn input_required(result: &RawValue) -> serde_json::Result<InputRequired> {
    without::kind(result)
}

fn task(result: &RawValue) -> serde_json::Result<TaskHandle> {
    without::kind(result)
}

fn legacy_task(result: &RawValue) -> serde_json::Result<TaskHandle> {
    let CreateTaskResult { task, meta, .. } = from_text(result.get())?;
    let mut handle = TaskHandle::from(task);
    handle.meta = handle.meta.or(meta);
    Ok(handle)
}

errors! {
    /// Error of reading a result.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum OutcomeError {
        /// The `resultType` was not negotiated; the result must not be used.
        UnknownType {
            /// The word.
            result_type: Box<str>,
        } => "the peer answered with the unknown result type {result_type:?}",
        /// The members do not match the type of the result.
        Malformed(error: serde_json::Error)
            => "the peer answered with a malformed result" (source: error),
    }
}

impl From<serde_json::Error> for OutcomeError {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error)
    }
}

impl<R: Fit> Fit for Outcome<R> {
    /// A task fits where the extension is negotiated; elsewhere it becomes a
    /// [`CreateTaskResult`](crate::CreateTaskResult).
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        match self {
            Self::Complete(result) => result.fit(revision),
            Self::InputRequired(input) => input.fit(revision),
            Self::Task(handle) => handle.fit(revision),
        }
    }
}

#[cfg(test)]
mod tests;
