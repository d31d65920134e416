//! The outcome of a request, as a line has it.

use pintle_model::Error;
use pintle_proto::Reply;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    ToolError,
    InputRequired,
    Task,
    /// The JSON-RPC code of the error.
    Error(i64),
    Cancelled,
    Panic,
}

impl Outcome {
    pub(crate) fn of(is_tool_call: bool, reply: &Result<Reply, Error>) -> Self {
        match reply {
            Err(error) => Self::Error(error.code.0),
            Ok(Reply::Complete(result)) if is_tool_call && is_error(&result.outline()) => {
                Self::ToolError
            }
            Ok(Reply::Complete(_)) => Self::Ok,
            Ok(Reply::InputRequired(_)) => Self::InputRequired,
            Ok(Reply::Task(_)) => Self::Task,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::InputRequired => "input_required",
            Self::Task => "task",
            Self::Error(_) => "error",
            Self::Cancelled => "cancelled",
            Self::Panic => "panic",
        }
    }

    pub(crate) fn code(self) -> Option<i64> {
        match self {
            Self::Error(code) => Some(code),
            _ => None,
        }
    }
}

/// Returns true if a tool result has `isError`.
fn is_error(json: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Flag {
        #[serde(rename = "isError", default)]
        is_error: bool,
    }
    serde_json::from_slice(json).is_ok_and(|flag: Flag| flag.is_error)
}
