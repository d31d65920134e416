//! One operation: the target of a request, and its end.

use std::borrow::Cow;

use opentelemetry::KeyValue;
use pintle_model::jsonrpc::Member;
use pintle_model::method::{CallTool, GetPrompt, Method as _};
use pintle_model::names::check_tool_name;
use pintle_model::{Error, ErrorCode};
use pintle_proto::{IncomingRequest, Reply};
use serde::Deserialize;

use crate::attributes as key;

/// The target of an operation: a tool, a prompt or a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Tool(String),
    Prompt(String),
    Resource(String),
    None,
}

impl Target {
    /// Reads the target of a request to a server.
    pub(crate) fn of(request: &IncomingRequest) -> Self {
        let text = |member| {
            let value = request.params.members()?.get(member)?.as_text()?;
            Some(value.into_owned())
        };
        Self::read(
            request.method.as_str(),
            || text(Member::Name),
            || text(Member::Uri),
        )
    }

    /// Reads the target of a request from its parameters.
    pub(crate) fn of_params(method: &str, params: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Named {
            name: Option<String>,
            uri: Option<String>,
        }
        let named = || serde_json::from_slice::<Named>(params).ok();
        Self::read(method, || named()?.name, || named()?.uri)
    }

    /// Text that is not a valid name is left out, because the peer or a model chooses it.
    fn read(
        method: &str,
        name: impl FnOnce() -> Option<String>,
        uri: impl FnOnce() -> Option<String>,
    ) -> Self {
        let name = || name().filter(|name| check_tool_name(name).is_ok());
        let target = match method {
            CallTool::NAME => name().map(Self::Tool),
            GetPrompt::NAME => name().map(Self::Prompt),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                uri().map(Self::Resource)
            }
            _ => None,
        };
        target.unwrap_or(Self::None)
    }

    /// The name of a tool or a prompt. URIs are not names, because there is no limit to them.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Tool(name) | Self::Prompt(name) => Some(name),
            Self::Resource(_) | Self::None => None,
        }
    }

    /// The attributes of spans.
    pub(crate) fn span_attributes(&self) -> Vec<KeyValue> {
        match self {
            Self::Resource(uri) => vec![KeyValue::new(key::RESOURCE_URI, uri.clone())],
            _ => self.metric_attributes(),
        }
    }

    /// The attributes of metrics.
    pub(crate) fn metric_attributes(&self) -> Vec<KeyValue> {
        match self {
            Self::Tool(name) => vec![
                KeyValue::new(key::OPERATION, key::EXECUTE_TOOL),
                KeyValue::new(key::TOOL, name.clone()),
            ],
            Self::Prompt(name) => vec![KeyValue::new(key::PROMPT, name.clone())],
            Self::Resource(_) | Self::None => Vec::new(),
        }
    }
}

/// The name of a span: `{method}`, or `{method} {target}`.
pub(crate) fn span_name(method: &str, target: &Target) -> Cow<'static, str> {
    match target.name() {
        Some(name) => format!("{method} {name}").into(),
        None => method.to_owned().into(),
    }
}

/// The end of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Completed,
    ToolError,
    Failed(ErrorCode),
    Cancelled,
    /// The request has no answer, for this reason.
    Unanswered(&'static str),
}

impl End {
    pub(crate) fn of(is_tool_call: bool, reply: &Result<Reply, Error>) -> Self {
        match reply {
            Err(error) => Self::Failed(error.code),
            Ok(Reply::Complete(result)) => Self::of_result(is_tool_call, &result.outline()),
            Ok(_) => Self::Completed,
        }
    }

    pub(crate) fn of_result(is_tool_call: bool, result: &[u8]) -> Self {
        match is_tool_call && is_error(result) {
            true => Self::ToolError,
            false => Self::Completed,
        }
    }

    /// Returns the attributes of a failure; none after a success.
    pub(crate) fn attributes(&self) -> Vec<KeyValue> {
        match self {
            Self::Completed => Vec::new(),
            Self::ToolError => vec![KeyValue::new(key::ERROR_TYPE, key::TOOL_ERROR)],
            Self::Cancelled => vec![KeyValue::new(key::ERROR_TYPE, key::CANCELLED)],
            Self::Unanswered(reason) => vec![KeyValue::new(key::ERROR_TYPE, *reason)],
            Self::Failed(code) => vec![
                KeyValue::new(key::ERROR_TYPE, code.0.to_string()),
                KeyValue::new(key::STATUS_CODE, code.0.to_string()),
            ],
        }
    }

    /// Returns true if the end shows that the server has the target. A server answers an unknown one with -32602.
    pub(crate) fn shows_target(&self) -> bool {
        self.shows_method() && *self != Self::Failed(ErrorCode::INVALID_PARAMS)
    }

    /// Returns true if the end shows that the server has the method.
    pub(crate) fn shows_method(&self) -> bool {
        match self {
            Self::Completed | Self::ToolError => true,
            Self::Failed(code) => *code != ErrorCode::METHOD_NOT_FOUND,
            Self::Cancelled | Self::Unanswered(_) => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_member_of_the_result_itself_is_a_tool_error() {
        assert!(is_error(br#"{"content":[],"isError":true}"#));
        assert!(!is_error(br#"{"content":[],"isError":false}"#));
        assert!(!is_error(br#"{"structuredContent":{"isError":true}}"#));
    }

    #[test]
    fn the_uri_of_a_resource_is_not_in_names_or_metrics() {
        let target = Target::Resource("file:///a".to_owned());
        assert_eq!(span_name("resources/read", &target), "resources/read");
        assert_eq!(target.metric_attributes(), []);
        let uri = KeyValue::new(key::RESOURCE_URI, "file:///a");
        assert_eq!(target.span_attributes(), [uri]);
    }
}
