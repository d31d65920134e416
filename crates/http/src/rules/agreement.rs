//! Headers must agree with the parts of the body that they repeat.
//!
//! The body decides. A header that differs is rejected, so that a proxy that reads headers decides
//! about the same message.

use http::HeaderName;
use pintle_model::{Error, ErrorCode};

use crate::rules::headers::{HeaderError, decoded};

/// A difference between a header and the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeaderMismatchError {
    /// The header cannot be read.
    Unreadable(HeaderError),
    /// The body has a value and the header is absent.
    Missing { header: HeaderName, body: String },
    /// The values differ.
    Different {
        header: HeaderName,
        value: String,
        body: String,
    },
    /// The header has a value and the body has none.
    Unfounded { header: HeaderName, value: String },
}

impl std::fmt::Display for HeaderMismatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(fault) => fault.fmt(f),
            Self::Missing { header, body } => {
                write!(
                    f,
                    "header {header} is missing; the body says {:?}",
                    clip(body)
                )
            }
            Self::Different {
                header,
                value,
                body,
            } => {
                write!(
                    f,
                    "header {header} says {:?}; the body says {:?}",
                    clip(value),
                    clip(body)
                )
            }
            Self::Unfounded { header, value } => {
                write!(
                    f,
                    "header {header} says {:?}; the body says nothing",
                    clip(value)
                )
            }
        }
    }
}

impl From<HeaderError> for HeaderMismatchError {
    fn from(fault: HeaderError) -> Self {
        Self::Unreadable(fault)
    }
}

impl From<HeaderMismatchError> for Error {
    fn from(disagreement: HeaderMismatchError) -> Self {
        Self::new(ErrorCode::HEADER_MISMATCH, disagreement.to_string())
    }
}

/// Compares one decoded header with the value in the body.
///
/// # Errors
///
/// [`HeaderMismatchError`], unless both are absent or both have the same value.
pub(crate) fn agree(
    found: Result<Option<&str>, HeaderError>,
    header: &HeaderName,
    body: Option<&str>,
) -> Result<(), HeaderMismatchError> {
    agree_by(found, header, body, |value, body| value == body)
}

/// As [`agree`], with a custom comparison.
pub(crate) fn agree_by(
    found: Result<Option<&str>, HeaderError>,
    header: &HeaderName,
    body: Option<&str>,
    same: impl Fn(&str, &str) -> bool,
) -> Result<(), HeaderMismatchError> {
    let value = decoded(found, header)?;
    let header = || header.clone();
    match (value, body) {
        (None, None) => Ok(()),
        (Some(value), Some(body)) if same(&value, body) => Ok(()),
        (None, Some(body)) => Err(HeaderMismatchError::Missing {
            header: header(),
            body: body.to_owned(),
        }),
        (Some(value), None) => Err(HeaderMismatchError::Unfounded {
            header: header(),
            value: value.into_owned(),
        }),
        (Some(value), Some(body)) => Err(HeaderMismatchError::Different {
            header: header(),
            value: value.into_owned(),
            body: body.to_owned(),
        }),
    }
}

/// Returns the first 100 characters, so that an error text stays short.
fn clip(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;
    use crate::rules::headers::{NAME, single};

    fn with(value: Option<&'static str>, body: Option<&str>) -> Option<i64> {
        let mut headers = HeaderMap::new();
        headers.extend(value.map(|value| (NAME, HeaderValue::from_static(value))));
        agree(single(&headers, &NAME), &NAME, body)
            .err()
            .map(|why| Error::from(why).code.0)
    }

    // spec: 2026-07-28 N-HDR-06, N-HDR-07, N-HDR-08, A-17
    // hardening: H-49, H-52, H-53
    #[test]
    fn a_header_and_the_body_have_the_same_value_or_none() {
        let rows = [
            (None, None, None),
            (Some("add"), Some("add"), None),
            (Some("=?base64?YWRk?="), Some("add"), None),
            (Some("ADD"), Some("add"), Some(-32020)),
            (Some("=?base64?YWRkeA==?="), Some("add"), Some(-32020)),
            (Some("=?base64?YWR!?="), Some("add"), Some(-32020)),
            (Some("=?base64?/w==?="), Some("add"), Some(-32020)),
            (None, Some("add"), Some(-32020)),
            (Some("add"), None, Some(-32020)),
            (Some(""), None, Some(-32020)),
        ];
        for (value, body, expected) in rows {
            assert_eq!(with(value, body), expected, "{value:?} {body:?}");
        }
    }

    // spec: 2026-07-28 N-HDR-06
    #[test]
    fn the_message_names_the_header_and_both_values() {
        let headers = HeaderMap::from_iter([(NAME, HeaderValue::from_static("sub"))]);
        let why = agree(single(&headers, &NAME), &NAME, Some("add"))
            .expect_err("they differ")
            .to_string();
        assert!(
            why.contains("mcp-name") && why.contains("\"sub\"") && why.contains("\"add\""),
            "{why}"
        );
    }
}
