//! One question inside a result: what would have been a request to the client before.

use serde::de::Error;
use serde::ser::{self, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::InputKind;
use crate::object::peek;
use crate::read::{
    Members, Object, Read, ReadError, Source, deserialize_by_read, fill, from_text, read_object,
    skip,
};
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

    /// Writes the parameters as JSON text; those of an unknown method with the method.
    ///
    /// # Errors
    ///
    /// As [`to_raw_value`]: if a value itself cannot be written.
    // Not generic, so that other crates do not compile the encoding of all parameters again.
    pub fn raw_params(&self) -> serde_json::Result<Box<RawValue>> {
        match self {
            Self::Elicit(params) => to_raw_value(params),
            Self::CreateMessage(params) => to_raw_value(params),
            Self::ListRoots(params) => to_raw_value(params),
            Self::Unknown(members) => to_raw_value(members),
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
        if let Self::Unknown(members) = self {
            return members.serialize(serializer);
        }
        let params = self.raw_params().map_err(ser::Error::custom)?;
        let mut members = serializer.serialize_struct("InputRequest", 2)?;
        members.serialize_field("method", &self.kind().map(InputKind::method))?;
        members.serialize_field("params", &params)?;
        members.end()
    }
}

impl Read for InputRequest {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        read(&source.raw()?).map_err(|error| ReadError::of(&error))
    }
}

deserialize_by_read!(InputRequest);

fn read(raw: &RawValue) -> serde_json::Result<InputRequest> {
    struct Peek {
        method: String,
    }
    peek!(Peek { "method" => required method, });
    let peek: Peek = from_text(raw.get())?;
    match InputKind::of_method(&peek.method) {
        Some(InputKind::Elicit) => required(raw).map(InputRequest::Elicit),
        Some(InputKind::CreateMessage) => required(raw).map(InputRequest::CreateMessage),
        Some(InputKind::ListRoots) => {
            let params: Option<NoParams> = params_of(raw)?;
            Ok(InputRequest::ListRoots(params.unwrap_or_default()))
        }
        None => from_text(raw.get()).map(InputRequest::Unknown),
    }
}

fn required<T: Read>(raw: &RawValue) -> serde_json::Result<T> {
    params_of(raw)?.ok_or_else(|| <serde_json::Error as Error>::missing_field("params"))
}

fn params_of<T: Read>(raw: &RawValue) -> serde_json::Result<Option<T>> {
    let body: Body<T> = from_text(raw.get())?;
    Ok(body.params)
}

struct Body<T> {
    params: Option<T>,
}

impl<T: Read> Object for Body<T> {
    const EXPECTED: &'static str = "struct Body";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        let mut params = None;
        while let Some(name) = members.next_name()? {
            match &*name {
                "params" => fill(&mut params, "params", members)?,
                _ => skip(members)?,
            }
        }
        let params = params.flatten();
        Ok(Self { params })
    }
}

impl<T: Read> Read for Body<T> {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        read_object(source)
    }
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
