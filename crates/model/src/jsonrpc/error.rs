//! The error object, and one constant per code with its source.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::Extra;
use crate::object::object;
use crate::read::as_inner;

/// A JSON-RPC error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub i64);

as_inner!(ErrorCode(i64));

impl ErrorCode {
    /// The text is not JSON (JSON-RPC 2.0).
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a valid request (JSON-RPC 2.0).
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method does not exist here, or its capability was not offered (JSON-RPC 2.0).
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The parameters do not fit the method (JSON-RPC 2.0).
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed (JSON-RPC 2.0).
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// No such resource; up to 2025-11-25, [`Self::INVALID_PARAMS`] since.
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// A header does not agree with the body (2026-07-28, Streamable HTTP).
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The client did not declare a capability the request needs (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The revision asked for is not served (2026-07-28).
    pub const UNSUPPORTED_REVISION: Self = Self(-32022);
    /// A URL must be visited first (2025-11-25 only).
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error object of a response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Error {
    /// Error type that occurred.
    pub code: ErrorCode,
    /// Description of the error in one sentence.
    pub message: Cow<'static, str>,
    /// Additional information about the error, defined by the sender.
    // Boxed: errors travel in results, and few of them have data.
    pub data: Option<Box<Value>>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(Error {
    "code" => required code,
    "message" => required message,
    "data" => optional data,
});

impl Error {
    /// Creates an error of any code; prefer the named constructors.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            extra: Extra::new(),
        }
    }

    /// -32700.
    pub fn parse_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::PARSE_ERROR, message)
    }

    /// -32600.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, message)
    }

    /// -32601, naming the method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("method not found: {}", clip(method)),
        )
    }

    /// -32602.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// Returns -32603. The message omits the cause, because internals must not reach a peer.
    pub fn internal() -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, "internal error")
    }

    /// -32022, with the revisions that are served and the one that was asked for.
    pub fn unsupported_revision(supported: &[&str], requested: &str) -> Self {
        Self::new(
            ErrorCode::UNSUPPORTED_REVISION,
            format!(
                "unsupported protocol version; supported: {}",
                supported.join(", ")
            ),
        )
        .with_data(serde_json::json!({ "supported": supported, "requested": clip(requested) }))
    }

    /// Returns true if the error reports that there is no resource at a URI: -32002 up to 2025-11-25,
    /// -32602 with the URI in `data` since 2026-07-28. Servers send the old code in any revision.
    pub fn is_resource_not_found(&self) -> bool {
        let names_uri = || self.data.as_ref()?.get("uri")?.as_str();
        match self.code {
            ErrorCode::RESOURCE_NOT_FOUND => true,
            ErrorCode::INVALID_PARAMS => names_uri().is_some(),
            _ => false,
        }
    }

    /// Sets `data`.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Error {}

/// The beginning of a word of a peer: enough to recognise it, never enough to fill a log.
pub(crate) fn clip(word: &str) -> &str {
    let mut end = word.len().min(120);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    &word[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-ERR-01, N-ERR-04 (meaning)
    // spec: 2025-11-25 MSG-17 (own codes)
    #[test]
    fn error_codes_match_the_specification() {
        let error = Error::unsupported_revision(&["2026-07-28"], "1900-01-01");
        assert_eq!(error.code.0, -32022);
        assert_eq!(
            error.data.as_deref(),
            Some(&serde_json::json!({ "supported": ["2026-07-28"], "requested": "1900-01-01" }))
        );
        assert_eq!(ErrorCode::HEADER_MISMATCH.0, -32020);
        assert_eq!(ErrorCode::MISSING_CLIENT_CAPABILITY.0, -32021);
    }

    // spec: 2026-07-28 N-ERR-06, N-RSRC-05
    #[test]
    fn both_codes_of_a_missing_resource_are_recognised() {
        let old = Error::new(ErrorCode::RESOURCE_NOT_FOUND, "gone");
        let bare = Error::invalid_params("not an argument");
        let new = bare.clone().with_data(serde_json::json!({ "uri": "a:b" }));
        assert!(old.is_resource_not_found() && new.is_resource_not_found());
        assert!(!bare.is_resource_not_found());
        let data = serde_json::json!({ "uri": "a:b" });
        assert!(!Error::internal().with_data(data).is_resource_not_found());
    }

    #[test]
    fn unknown_members_of_an_error_survive() {
        let text = r#"{"code":1,"message":"m","data":null,"more":[1]}"#;
        let error: Error = serde_json::from_str(text).expect("reads");
        assert_eq!(
            serde_json::to_value(&error).expect("writes")["more"],
            serde_json::json!([1])
        );
    }

    #[test]
    fn a_clipped_word_ends_at_a_character() {
        assert_eq!(clip(&"é".repeat(100)).len(), 120);
    }
}
