//! One answer inside a retry. What it is, only the question tells.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::OncePerName;
use crate::method::{CreateMessage, Elicit, ListRoots, Method};
use crate::{
    CreateMessageResult, ElicitResult, Feature, Fit, JsonObject, ListRootsResult, Revision, Unfit,
};

/// What is asked of a client. Closed: the specification names these three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// An answer of the user.
    Elicit,
    /// A message of the model.
    CreateMessage,
    /// The roots.
    ListRoots,
}

impl InputKind {
    const ALL: [Self; 3] = [Self::Elicit, Self::CreateMessage, Self::ListRoots];

    /// The method's name.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Elicit => Elicit::NAME,
            Self::CreateMessage => CreateMessage::NAME,
            Self::ListRoots => ListRoots::NAME,
        }
    }

    /// The kind with this method.
    pub fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }
}

/// An answer whose question is known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputResponse {
    /// What the user did.
    Elicit(ElicitResult),
    /// What the model said.
    CreateMessage(CreateMessageResult),
    /// The roots.
    ListRoots(ListRootsResult),
}

impl InputResponse {
    /// What it answers.
    pub fn kind(&self) -> InputKind {
        match self {
            Self::Elicit(_) => InputKind::Elicit,
            Self::CreateMessage(_) => InputKind::CreateMessage,
            Self::ListRoots(_) => InputKind::ListRoots,
        }
    }

    /// Reads an answer as one to a question of `kind`.
    ///
    /// # Errors
    ///
    /// When it is not the result of that method; the peer is to blame.
    pub fn decode(kind: InputKind, answer: &JsonObject) -> Result<Self, serde_json::Error> {
        match kind {
            InputKind::Elicit => read(answer).map(Self::Elicit),
            InputKind::CreateMessage => read(answer).map(Self::CreateMessage),
            InputKind::ListRoots => read(answer).map(Self::ListRoots),
        }
    }
}

fn read<T: DeserializeOwned>(answer: &JsonObject) -> Result<T, serde_json::Error> {
    T::deserialize(answer)
}

impl Serialize for InputResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Elicit(result) => result.serialize(serializer),
            Self::CreateMessage(result) => result.serialize(serializer),
            Self::ListRoots(result) => result.serialize(serializer),
        }
    }
}

impl From<ElicitResult> for InputResponse {
    fn from(result: ElicitResult) -> Self {
        Self::Elicit(result)
    }
}

impl From<CreateMessageResult> for InputResponse {
    fn from(result: CreateMessageResult) -> Self {
        Self::CreateMessage(result)
    }
}

impl From<ListRootsResult> for InputResponse {
    fn from(result: ListRootsResult) -> Self {
        Self::ListRoots(result)
    }
}

/// Answers by the name of their question; undecoded, since only the question tells how.
///
/// An answer that is no object is refused when read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct InputResponses(BTreeMap<String, JsonObject>);

impl InputResponses {
    /// No answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers the question `name`.
    pub fn insert(&mut self, name: impl Into<String>, answer: impl Into<InputResponse>) {
        let value = serde_json::to_value(answer.into()).expect("answers are plain data");
        let Value::Object(members) = value else {
            unreachable!("answers are objects");
        };
        self.0.insert(name.into(), members);
    }

    /// The answer to the question `name`, as it was sent.
    pub fn get(&self, name: &str) -> Option<&JsonObject> {
        self.0.get(name)
    }

    /// The answer to the question `name`, which was of `kind`.
    ///
    /// # Errors
    ///
    /// When it answers another kind of question; the peer is to blame.
    pub fn read(
        &self,
        name: &str,
        kind: InputKind,
    ) -> Result<Option<InputResponse>, serde_json::Error> {
        self.get(name)
            .map(|answer| InputResponse::decode(kind, answer))
            .transpose()
    }

    /// The answers by name.
    pub fn iter(&self) -> btree_map::Iter<'_, String, JsonObject> {
        self.0.iter()
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, A: Into<InputResponse>> FromIterator<(N, A)> for InputResponses {
    fn from_iter<I: IntoIterator<Item = (N, A)>>(answers: I) -> Self {
        let mut responses = Self::new();
        for (name, answer) in answers {
            responses.insert(name, answer);
        }
        responses
    }
}

impl<'de> Deserialize<'de> for InputResponses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_map(OncePerName(PhantomData))
            .map(Self)
    }
}

impl Fit for InputResponse {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        match self {
            Self::Elicit(result) => result.fit(revision),
            Self::CreateMessage(result) => result.fit(revision),
            Self::ListRoots(result) => result.fit(revision),
        }
    }
}

impl Fit for InputResponses {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        Unfit::unless(revision, Feature::InputRequired)
    }
}
