//! Headers that repeat the body: their names, how often they may occur, and their encoding.
//!
//! A second value of a header that may occur once is an error. A value that is not plain text is
//! encoded as `=?base64?…?=` (the *sentinel*), and is compared
//! after decoding. Names compare without case, values with it.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};

/// `MCP-Protocol-Version`: the revision that a message claims.
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Method`: repeats the method of a request.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`: repeats the subject of the request (a tool, a prompt, a URI, a task).
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// `Mcp-Session-Id`: names a session of the revisions up to 2025-11-25.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// `Last-Event-ID`: the event after which a client resumes a stream.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Prefix of the headers that repeat one argument of a tool.
pub(crate) const PARAM_PREFIX: &str = "mcp-param-";

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// The reason why a header cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeaderError {
    /// The header occurs more than once.
    Repeated(HeaderName),
    /// The value has bytes that are not printable ASCII.
    NotText(HeaderName),
    /// The sentinel does not contain Base64 of UTF-8 text.
    NotBase64(HeaderName),
}

impl std::fmt::Display for HeaderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Repeated(name) => write!(f, "header {name} occurs more than once"),
            Self::NotText(name) => write!(f, "header {name} holds invalid characters"),
            Self::NotBase64(name) => write!(f, "header {name} is not valid Base64 of UTF-8 text"),
        }
    }
}

/// Reads a header that may occur once, without the blanks around its value.
///
/// # Errors
///
/// [`HeaderError::Repeated`] on a second value, [`HeaderError::NotText`] on bytes outside printable ASCII:
/// neither is the same as an absent header.
pub(crate) fn single<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h str>, HeaderError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(HeaderError::Repeated(name.clone()));
    }
    text(value)
        .map(Some)
        .ok_or_else(|| HeaderError::NotText(name.clone()))
}

/// Returns a value without the blanks around it; `None` if it has bytes outside of printable ASCII.
pub(crate) fn text(value: &HeaderValue) -> Option<&str> {
    let text = value.to_str().ok()?;
    // Of what `to_str` lets through, blanks and tabs are white space.
    Some(text.trim_ascii())
}

/// Decodes the value of a header that may be a sentinel.
///
/// # Errors
///
/// Those of the value, and [`HeaderError::NotBase64`] for a sentinel that does not decode.
pub(crate) fn decoded<'h>(
    value: Result<Option<&'h str>, HeaderError>,
    name: &HeaderName,
) -> Result<Option<Cow<'h, str>>, HeaderError> {
    let Some(value) = value? else {
        return Ok(None);
    };
    decode(value)
        .map(Some)
        .ok_or_else(|| HeaderError::NotBase64(name.clone()))
}

/// Decodes a header value: returns it unchanged, or the text inside its sentinel.
///
/// `None` for a true sentinel with a wrong alphabet, wrong padding or text that is not UTF-8. A
/// value that only resembles one (other case, no ending) is literal.
pub(crate) fn decode(value: &str) -> Option<Cow<'_, str>> {
    let Some(inner) = sentinel(value) else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(inner).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Encodes a text as a header value: unchanged if possible, or else as a sentinel.
#[cfg(any(feature = "client", test))]
pub(crate) fn encode(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{OPENING}{}{CLOSING}", STANDARD.encode(text)))
}

/// Returns true if a text is its own header value: printable, without blanks around it, and not a sentinel.
pub(crate) fn is_plain(text: &str) -> bool {
    let printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    printable && !text.starts_with(' ') && !text.ends_with(' ') && sentinel(text).is_none()
}

fn sentinel(value: &str) -> Option<&str> {
    value.strip_prefix(OPENING)?.strip_suffix(CLOSING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(HeaderName, &[u8])]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in rows {
            map.append(
                name,
                HeaderValue::from_bytes(value).expect("a header value"),
            );
        }
        map
    }

    // spec: 2026-07-28 N-HDR-13
    // hardening: H-54
    #[test]
    fn a_second_value_is_a_fault_even_when_it_is_the_same() {
        let map = headers(&[(METHOD, b"ping"), (METHOD, b"ping")]);
        assert_eq!(single(&map, &METHOD), Err(HeaderError::Repeated(METHOD)));
    }

    // spec: 2026-07-28 N-HDR-06, N-HDR-09
    #[test]
    fn values_are_trimmed_and_must_be_text() {
        let map = headers(&[(METHOD, b" tools/list\t"), (NAME, b"caf\xe9")]);
        assert_eq!(single(&map, &METHOD), Ok(Some("tools/list")));
        assert_eq!(single(&map, &NAME), Err(HeaderError::NotText(NAME)));
        assert_eq!(single(&map, &SESSION_ID), Ok(None));
    }

    // spec: 2026-07-28 N-HDR-07, N-XHDR-11, N-XHDR-18
    // hardening: H-52
    #[test]
    fn only_an_exact_sentinel_is_decoded() {
        let rows = [
            ("Hello", Some("Hello")),
            ("=?base64?SGVsbG8=?=", Some("Hello")),
            ("=?base64??=", Some("")),
            ("SGVsbG8=", Some("SGVsbG8=")),
            ("=?base64?SGVsbG8=", Some("=?base64?SGVsbG8=")),
            ("=?BASE64?SGVsbG8=?=", Some("=?BASE64?SGVsbG8=?=")),
            ("=?base64?SGVsbG8?=", None),
            ("=?base64?SGVs!!!bG8=?=", None),
            ("=?base64?/w==?=", None),
        ];
        for (value, expected) in rows {
            assert_eq!(decode(value).as_deref(), expected, "{value}");
        }
    }

    // spec: 2026-07-28 N-HDR-05, N-XHDR-10
    // hardening: H-64
    #[test]
    fn unsafe_text_travels_as_a_sentinel_and_comes_back() {
        let safe = ["plain", "two words", "", "a=b; c"];
        let unsafe_ = [
            " x",
            "x ",
            "a\r\nB: c",
            "é",
            "\0",
            "tab\tinside",
            "=?base64?x?=",
        ];
        assert!(safe.iter().all(|text| encode(text) == *text));
        for text in unsafe_ {
            let value = encode(text);
            assert_ne!(value, text);
            assert!(HeaderValue::from_str(&value).is_ok(), "{text:?}");
            assert_eq!(decode(&value).as_deref(), Some(text));
        }
    }
}
