//! One question inside a result: what would have been a request to the client before.

use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::InputKind;
use crate::{CreateMessageParams, ElicitParams, Fit, FitError, JsonObject, NoParams, Revision};

/// A question to the client, with its method but without an envelope.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Elicitation: a question for the user.
    Elicit(Box<ElicitParams>),
    /// Sampling: a request for the model.
    CreateMessage(Box<CreateMessageParams>),
    /// Request for the roots.
    ListRoots(NoParams),
    /// A request with an unknown method, kept as it was read.
    Unknown(JsonObject),
}

impl InputRequest {
    /// Returns the kind of the response; `None` for an unknown method.
    pub fn kind(&self) -> Option<InputKind> {
        match self {
            Self::Elicit(_) => Some(InputKind::Elicit),
            Self::CreateMessage(_) => Some(InputKind::CreateMessage),
            Self::ListRoots(_) => Some(InputKind::ListRoots),
            Self::Unknown(_) => None,
        }
    }
}

impl From<ElicitParams> for InputRequest {
    fn from(params: ElicitParams) -> Self {
        Self::Elicit(Box::new(params))
    }
}

impl From<CreateMessageParams> for InputRequest {
    fn from(params: CreateMessageParams) -> Self {
        Self::CreateMessage(Box::new(params))
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Elicit(params) => with_params(serializer, InputKind::Elicit, params),
            Self::CreateMessage(params) => {
                with_params(serializer, InputKind::CreateMessage, params)
            }
            Self::ListRoots(params) => with_params(serializer, InputKind::ListRoots, params),
            Self::Unknown(members) => members.serialize(serializer),
        }
    }
}

fn with_params<S: Serializer>(
    serializer: S,
    kind: InputKind,
    params: &impl Serialize,
) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_struct("InputRequest", 2)?;
    members.serialize_field("method", kind.method())?;
    members.serialize_field("params", params)?;
    members.end()
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Peek {
            method: String,
        }
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let peek: Peek = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        match InputKind::of_method(&peek.method) {
            Some(InputKind::Elicit) => required(&raw).map(Self::Elicit),
            Some(InputKind::CreateMessage) => required(&raw).map(Self::CreateMessage),
            Some(InputKind::ListRoots) => {
                let params: Option<NoParams> = params_of(&raw)?;
                Ok(Self::ListRoots(params.unwrap_or_default()))
            }
            None => serde_json::from_str(raw.get())
                .map(Self::Unknown)
                .map_err(D::Error::custom),
        }
    }
}

fn required<T: DeserializeOwned, E: Error>(raw: &RawValue) -> Result<T, E> {
    params_of(raw)?.ok_or_else(|| E::missing_field("params"))
}

fn params_of<T: DeserializeOwned, E: Error>(raw: &RawValue) -> Result<Option<T>, E> {
    #[derive(Deserialize)]
    struct Body<T> {
        params: Option<T>,
    }
    let body: Body<T> = serde_json::from_str(raw.get()).map_err(E::custom)?;
    Ok(body.params)
}

impl Fit for InputRequest {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        match self {
            Self::Elicit(params) => params.fit(revision),
            Self::CreateMessage(params) => params.fit(revision),
            Self::ListRoots(_) | Self::Unknown(_) => Ok(()),
        }
    }
}
