//! Media types: of bodies, and in `Accept`.
//!
//! Types are parsed and compared by their parts, never by prefix: `application/jsonfoo` is
//! not JSON.

use http::HeaderValue;

use crate::rules::request_headers::{Known, RequestHeaders};

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// Returns true if one `Content-Type` states JSON, and no encoding is named.
pub(crate) fn is_json_body(headers: &RequestHeaders<'_>) -> bool {
    // The fast path: most clients send exactly this text.
    let json = headers.is_exactly(Known::ContentType, JSON)
        || match headers.single(Known::ContentType) {
            Ok(Some(value)) => is_type(value, JSON) && is_utf8(value),
            _ => false,
        };
    json && names_no_coding(headers.all(Known::ContentEncoding))
}

fn is_utf8(value: &str) -> bool {
    parameters(value).all(|(name, value)| {
        !name.eq_ignore_ascii_case("charset")
            || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    })
}

/// Returns true if no value of `Content-Encoding` names a coding.
pub(crate) fn names_no_coding<'h>(mut codings: impl Iterator<Item = &'h HeaderValue>) -> bool {
    codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// The response types that a client accepts. Closed: a stream alone is not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcceptedTypes {
    /// JSON or an event stream.
    Both,
    /// One JSON body, without earlier messages.
    Json,
    /// No type that the server has.
    Neither,
}

impl AcceptedTypes {
    /// Returns the response types that `Accept` lists.
    #[inline]
    pub(crate) fn of(headers: &RequestHeaders<'_>) -> Self {
        if says_the_usual(headers) {
            return Self::Both;
        }
        match (accepts(headers, JSON), accepts(headers, EVENT_STREAM)) {
            (true, true) => Self::Both,
            (true, false) => Self::Json,
            (false, _) => Self::Neither,
        }
    }
}

/// Most clients send exactly this text for both types, so it is compared without parsing.
fn says_the_usual(headers: &RequestHeaders<'_>) -> bool {
    let usual: [&[u8]; 2] = [
        b"application/json, text/event-stream",
        b"text/event-stream, application/json",
    ];
    let mut lines = headers.all(Known::Accept);
    let first = lines.next();
    first.is_some_and(|line| usual.contains(&line.as_bytes())) && lines.next().is_none()
}

/// Returns true if `Accept` includes a media type. Without `Accept`, all types are accepted.
pub(crate) fn accepts(headers: &RequestHeaders<'_>, media_type: &str) -> bool {
    let mut lines = headers.all(Known::Accept).peekable();
    if lines.peek().is_none() {
        return true;
    }
    let ranges = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    best(ranges, media_type).is_some_and(|quality| quality > 0.0)
}

/// Returns the quality of the most specific range that matches.
fn best<'a>(ranges: impl Iterator<Item = &'a str>, media_type: &str) -> Option<f32> {
    let matching =
        ranges.filter_map(|range| Some((specificity(range, media_type)?, quality(range))));
    matching
        .max_by_key(|(specificity, _)| *specificity)
        .map(|(_, quality)| quality)
}

fn specificity(range: &str, media_type: &str) -> Option<u8> {
    let range = essence(range);
    let major = media_type.split('/').next().unwrap_or_default();
    if range.eq_ignore_ascii_case(media_type) {
        return Some(2);
    }
    match range.split_once('/')? {
        ("*", "*") => Some(0),
        (of, "*") if of.eq_ignore_ascii_case(major) => Some(1),
        _ => None,
    }
}

fn quality(range: &str) -> f32 {
    let named = parameters(range).find(|(name, _)| name.eq_ignore_ascii_case("q"));
    named
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(1.0)
}

pub(crate) fn is_type(value: &str, media_type: &str) -> bool {
    essence(value).eq_ignore_ascii_case(media_type)
}

fn essence(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

fn parameters(value: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = value.split(';').skip(1);
    parts
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    fn headers(rows: &[(HeaderName, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in rows {
            map.append(name, HeaderValue::from_static(value));
        }
        map
    }

    // spec: 2025-11-25 TRANS-HTTP-08
    // hardening: H-7
    #[test]
    fn only_plain_json_is_a_body() {
        let json = [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
        ];
        let other = [
            "application/jsonfoo",
            "text/plain",
            "multipart/form-data; a=application/json",
            "application/json; charset=utf-16",
            "application/x-www-form-urlencoded",
            "",
        ];
        assert!(
            json.iter()
                .all(|value| is_json_body(&RequestHeaders::of(&headers(&[(CONTENT_TYPE, value)]))))
        );
        assert!(
            !other
                .iter()
                .any(|value| is_json_body(&RequestHeaders::of(&headers(&[(CONTENT_TYPE, value)]))))
        );
        assert!(!is_json_body(&RequestHeaders::of(&HeaderMap::new())));
        assert!(!is_json_body(&RequestHeaders::of(&headers(&[
            (CONTENT_TYPE, JSON),
            (CONTENT_TYPE, JSON)
        ]))));
        assert!(!is_json_body(&RequestHeaders::of(&headers(&[
            (CONTENT_TYPE, JSON),
            (CONTENT_ENCODING, "gzip")
        ]))));
    }

    // spec: 2026-07-28 N-HTTP-06
    #[test]
    fn ranges_match_by_their_parts_and_the_most_specific_one_counts() {
        let rows = [
            ("application/json, text/event-stream", true),
            ("*/*", true),
            ("application/*;q=0.5", true),
            ("*/*;q=0, application/json", true),
            ("application/json;q=0, */*", false),
            ("text/event-stream", false),
            ("application/jsonfoo", false),
            ("text/*", false),
            ("", false),
        ];
        for (accept, expected) in rows {
            assert_eq!(
                accepts(&RequestHeaders::of(&headers(&[(ACCEPT, accept)])), JSON),
                expected,
                "{accept}"
            );
        }
        assert!(accepts(
            &RequestHeaders::of(&HeaderMap::new()),
            EVENT_STREAM
        ));
        let forms = [
            ("application/json, text/event-stream", AcceptedTypes::Both),
            ("text/event-stream, application/json", AcceptedTypes::Both),
            (
                "application/json,text/event-stream;q=0.5",
                AcceptedTypes::Both,
            ),
            ("*/*", AcceptedTypes::Both),
            (
                "application/json, text/event-stream;q=0",
                AcceptedTypes::Json,
            ),
            ("application/json", AcceptedTypes::Json),
            ("text/event-stream", AcceptedTypes::Neither),
            ("text/html", AcceptedTypes::Neither),
        ];
        for (accept, expected) in forms {
            let forms = AcceptedTypes::of(&RequestHeaders::of(&headers(&[(ACCEPT, accept)])));
            assert_eq!(forms, expected, "{accept}");
        }
        assert_eq!(
            AcceptedTypes::of(&RequestHeaders::of(&HeaderMap::new())),
            AcceptedTypes::Both
        );
        let lines = headers(&[(ACCEPT, "application/json"), (ACCEPT, "text/event-stream")]);
        let lines = RequestHeaders::of(&lines);
        assert!(accepts(&lines, JSON) && accepts(&lines, EVENT_STREAM));
    }
}
