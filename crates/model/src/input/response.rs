//! One response inside a retry. Only its request determines its type.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{
    CreateMessageResult, ElicitResult, Fit, FitError, InputResponses, JsonObject, ListRootsResult,
    Revision,
};

/// Kind of a request to the client. Closed: the specification names these three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// A response of the user.
    Elicit,
    /// A message of the model.
    CreateMessage,
    /// The roots.
    ListRoots,
}

impl InputKind {
    const ALL: [Self; 3] = [Self::Elicit, Self::CreateMessage, Self::ListRoots];

    /// Name of the method.
    pub const fn method(self) -> &'static str {
        // These are literals because `method` depends on this module; a test compares them.
        match self {
            Self::Elicit => "elicitation/create",
            Self::CreateMessage => "sampling/createMessage",
            Self::ListRoots => "roots/list",
        }
    }

    /// Returns the kind with this method.
    pub fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }
}

/// A response whose kind of request is known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputResponse {
    /// Response of the user.
    Elicit(ElicitResult),
    /// Message of the model.
    CreateMessage(CreateMessageResult),
    /// The roots.
    ListRoots(ListRootsResult),
}

impl InputResponse {
    /// Returns the kind of request that this answers.
    pub fn kind(&self) -> InputKind {
        match self {
            Self::Elicit(_) => InputKind::Elicit,
            Self::CreateMessage(_) => InputKind::CreateMessage,
            Self::ListRoots(_) => InputKind::ListRoots,
        }
    }

    /// Reads a response to a request of `kind`.
    ///
    /// # Errors
    ///
    /// If it is not the result of that method; the peer is at fault.
    pub fn decode(kind: InputKind, answer: &JsonObject) -> Result<Self, serde_json::Error> {
        match kind {
            InputKind::Elicit => read(answer).map(Self::Elicit),
            InputKind::CreateMessage => read(answer).map(Self::CreateMessage),
            InputKind::ListRoots => read(answer).map(Self::ListRoots),
        }
    }
}

/// Reads a copy of an answer, so that the large types are not compiled for borrowed values, too.
fn read<T: DeserializeOwned>(answer: &JsonObject) -> Result<T, serde_json::Error> {
    serde_json::from_value(Value::Object(answer.clone()))
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

impl InputResponses {
    /// Adds the response to the request `name`.
    pub fn insert(&mut self, name: impl Into<String>, answer: impl Into<InputResponse>) {
        let value = serde_json::to_value(answer.into()).expect("answers are plain data");
        let Value::Object(members) = value else {
            unreachable!("answers are objects");
        };
        self.insert_object(name.into(), members);
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

impl Fit for InputResponse {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        match self {
            Self::Elicit(result) => result.fit(revision),
            Self::CreateMessage(result) => result.fit(revision),
            Self::ListRoots(result) => result.fit(revision),
        }
    }
}
