//! The same values in the types of both crates. Both follow the schema of the protocol, so JSON is the
//! way between them.

use pintle_model::{Error, ErrorCode, Feature, InputRequired, Outcome, Revision};
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, GetPromptResponse, InputRequiredResult, ReadResourceResponse};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Converts a value.
pub(crate) fn convert<T: DeserializeOwned>(value: &impl Serialize) -> serde_json::Result<T> {
    serde_json::from_str(&serde_json::to_string(value)?)
}

/// Converts what the client sent.
///
/// # Errors
///
/// -32602 if rmcp cannot read it.
pub(crate) fn params<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, Error> {
    convert(value).map_err(|error| Error::invalid_params(format!("invalid params: {error}")))
}

/// Converts what the handler returned, without the kind of the result: the engine states it, where the
/// revision has it.
///
/// # Errors
///
/// -32603 if Pintle cannot read it; the log has the reason.
pub(crate) fn result<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, Error> {
    read_result(value).map_err(|error| {
        tracing::error!(%error, "a handler returned a result that is not valid");
        Error::internal()
    })
}

fn read_result<T: DeserializeOwned>(value: &impl Serialize) -> serde_json::Result<T> {
    let mut value = serde_json::to_value(value)?;
    if let Value::Object(members) = &mut value {
        members.remove("resultType");
    }
    serde_json::from_value(value)
}

/// Converts an error of the handler.
pub(crate) fn error(error: ErrorData, revision: Revision) -> Error {
    let code = match ErrorCode(error.code.0.into()) {
        ErrorCode::RESOURCE_NOT_FOUND if revision.has(Feature::ResourceNotFoundIsInvalidParams) => {
            ErrorCode::INVALID_PARAMS
        }
        code => code,
    };
    let converted = Error::new(code, error.message);
    match error.data {
        Some(data) => converted.with_data(data),
        None => converted,
    }
}

/// Converts an error of a question.
pub(crate) fn error_data(error: Error) -> ErrorData {
    let code = i32::try_from(error.code.0).map_or(rmcp::model::ErrorCode::INTERNAL_ERROR, |code| {
        rmcp::model::ErrorCode(code)
    });
    ErrorData::new(code, error.message, error.data.map(|data| *data))
}

/// Converts the response to a call.
pub(crate) fn called(
    response: CallToolResponse,
) -> Result<Outcome<pintle_model::CallToolResult>, Error> {
    match response {
        CallToolResponse::Complete(result) => complete(&result),
        CallToolResponse::InputRequired(asked) => input_required(asked),
        _ => Err(unserved("a tool returned a task")),
    }
}

/// Converts the response to a read.
pub(crate) fn read(
    response: ReadResourceResponse,
) -> Result<Outcome<pintle_model::ReadResourceResult>, Error> {
    match response {
        ReadResourceResponse::Complete(result) => complete(&result),
        ReadResourceResponse::InputRequired(asked) => input_required(asked),
        _ => Err(unserved("a resource returned something else than contents")),
    }
}

/// Converts the response to a retrieval of a prompt.
pub(crate) fn got(
    response: GetPromptResponse,
) -> Result<Outcome<pintle_model::GetPromptResult>, Error> {
    match response {
        GetPromptResponse::Complete(result) => complete(&result),
        GetPromptResponse::InputRequired(asked) => input_required(asked),
        _ => Err(unserved("a prompt returned something else than messages")),
    }
}

fn complete<R: DeserializeOwned>(value: &impl Serialize) -> Result<Outcome<R>, Error> {
    result(value).map(Outcome::Complete)
}

fn input_required<R>(asked: InputRequiredResult) -> Result<Outcome<R>, Error> {
    let asked: InputRequired = result(&asked)?;
    Ok(Outcome::InputRequired(asked))
}

fn unserved(reason: &'static str) -> Error {
    tracing::error!("{reason}, and pintle-rmcp does not serve it");
    Error::internal()
}
