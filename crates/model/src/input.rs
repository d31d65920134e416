//! Questions inside a result, and answers inside the retry (2026-07-28).
//!
//! Spec: [2026-07-28, Multi round-trip requests][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

mod request;
mod response;

pub use request::InputRequest;
pub use response::{InputKind, InputResponse};

use std::collections::BTreeMap;
use std::collections::btree_map;

use crate::json::once_per_name;
use crate::object::object;
use crate::read::{Members, Object, ReadError, deserialize_by_read, read_by_build, write_as_inner};
use crate::{Extra, Feature, Fit, FitError, Meta, Revision};

/// A result that requires input; the client retries the request with the responses.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequired {
    /// Questions for the client. This or [`InputRequired::request_state`] is present.
    pub input_requests: Option<InputRequests>,
    /// State that the retry must return byte for byte; opaque to the client.
    pub request_state: Option<String>,
    /// Result metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(InputRequired {
    "inputRequests" => optional input_requests,
    "requestState" => optional request_state,
    "_meta" => optional meta,
});

impl InputRequired {
    /// Creates a result that asks `requests` before the retry.
    pub fn asking(requests: InputRequests) -> Self {
        Self {
            input_requests: Some(requests),
            ..Self::default()
        }
    }

    /// Creates a result without questions; the retry only returns `state`.
    pub fn resume(state: impl Into<String>) -> Self {
        Self::default().with_state(state)
    }

    /// Sets the `state` that the retry must return.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<String>) -> Self {
        self.request_state = Some(state.into());
        self
    }
}

/// Questions by the name under which they are answered; a name is there once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputRequests(BTreeMap<String, InputRequest>);

write_as_inner!(InputRequests);

impl InputRequests {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `request` under `name` and returns the earlier request of that name.
    pub fn insert(
        &mut self,
        name: impl Into<String>,
        request: impl Into<InputRequest>,
    ) -> Option<InputRequest> {
        self.0.insert(name.into(), request.into())
    }

    /// Returns the question `name`.
    pub fn get(&self, name: &str) -> Option<&InputRequest> {
        self.0.get(name)
    }

    /// Removes the question `name` and returns it.
    pub fn remove(&mut self, name: &str) -> Option<InputRequest> {
        self.0.remove(name)
    }

    /// Iterates over the questions by name.
    pub fn iter(&self) -> btree_map::Iter<'_, String, InputRequest> {
        self.0.iter()
    }

    /// Iterates over the questions by name, mutably.
    pub fn iter_mut(&mut self) -> btree_map::IterMut<'_, String, InputRequest> {
        self.0.iter_mut()
    }

    /// Returns the number of questions.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no requests.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for InputRequests {
    type Item = (String, InputRequest);
    type IntoIter = btree_map::IntoIter<String, InputRequest>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a InputRequests {
    type Item = (&'a String, &'a InputRequest);
    type IntoIter = btree_map::Iter<'a, String, InputRequest>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<N: Into<String>, R: Into<InputRequest>> FromIterator<(N, R)> for InputRequests {
    fn from_iter<I: IntoIterator<Item = (N, R)>>(requests: I) -> Self {
        Self(
            requests
                .into_iter()
                .map(|(name, request)| (name.into(), request.into()))
                .collect(),
        )
    }
}

impl Object for InputRequests {
    const EXPECTED: &'static str = "an object";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        once_per_name(members).map(Self)
    }
}

read_by_build!(InputRequests);
deserialize_by_read!(InputRequests);

impl Fit for InputRequired {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::InputRequired)?;
        self.input_requests.fit(revision)
    }
}

impl Fit for InputRequests {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.0
            .values_mut()
            .try_for_each(|request| request.fit(revision))
    }
}

#[cfg(test)]
mod tests;
