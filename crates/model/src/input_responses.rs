//! The responses inside a retry, still undecoded (2026-07-28).

use std::collections::BTreeMap;
use std::collections::btree_map;

use crate::json::once_per_name;
use crate::read::{Members, Object, ReadError, deserialize_by_read, read_by_build, write_as_inner};
use crate::{Feature, Fit, FitError, JsonObject, Revision};

/// Responses by the name of their request. They stay undecoded, because only the request determines
/// the type.
///
/// Reading fails if a response is not an object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputResponses(BTreeMap<String, JsonObject>);

write_as_inner!(InputResponses);

impl InputResponses {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// The answer to the question `name`, as it was sent.
    pub fn get(&self, name: &str) -> Option<&JsonObject> {
        self.0.get(name)
    }

    pub(crate) fn insert_object(&mut self, name: String, answer: JsonObject) {
        self.0.insert(name, answer);
    }

    /// Iterates over the responses by name.
    pub fn iter(&self) -> btree_map::Iter<'_, String, JsonObject> {
        self.0.iter()
    }

    /// Returns the number of responses.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no responses.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Object for InputResponses {
    const EXPECTED: &'static str = "an object";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        once_per_name(members).map(Self)
    }
}

read_by_build!(InputResponses);
deserialize_by_read!(InputResponses);

impl Fit for InputResponses {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::InputRequired)
    }
}
