//! The resources that clients see.

use std::borrow::Cow;

use pintle::model::{Error, ErrorCode, ListResourceTemplatesResult, ListResourcesResult};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::pattern::Pattern;
use super::shown;
use crate::error::internal;

/// Largest number of times that a URI is unescaped.
const MAX_ESCAPES: usize = 4;

/// The resources of the server that clients see, by their URIs. By default all. `*` in a pattern is any text.
///
/// Servers may read several forms of a URI as one resource. So a pattern is compared with the URI and with its
/// unescaped form. A URI with `.` or `..` as a segment, or with an empty segment in its path, is hidden.
#[derive(Debug, Clone, Default)]
pub struct ResourceFilter {
    only: Vec<Pattern>,
    /// In lower case.
    without: Vec<Pattern>,
}

/// The URI of a request. A repeated member is an error, because the server could read the other.
#[derive(Deserialize)]
struct Located<'a> {
    #[serde(borrow)]
    uri: Cow<'a, str>,
}

impl ResourceFilter {
    /// Permits the resources of this pattern. Without a call of it, all resources are permitted.
    #[must_use]
    pub fn only(mut self, pattern: impl Into<String>) -> Self {
        self.only.push(Pattern::new(pattern));
        self
    }

    /// Hides the resources of this pattern, also those that [`only`](Self::only) permits. Upper and lower case are
    /// equal.
    #[must_use]
    pub fn without(mut self, pattern: impl Into<String>) -> Self {
        self.without
            .push(Pattern::new(pattern.into().to_lowercase()));
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.only.is_empty() && self.without.is_empty()
    }

    /// Whether clients see the resource at a URI.
    pub(crate) fn permits(&self, uri: &str) -> bool {
        if self.is_empty() {
            return true;
        }
        forms(uri).is_some_and(|forms| forms.iter().all(|form| self.permits_text(form)))
    }

    /// Whether the patterns permit a text: one form of a URI, or a template of URIs.
    fn permits_text(&self, text: &str) -> bool {
        let matches =
            |patterns: &[Pattern], text: &str| patterns.iter().any(|pattern| pattern.matches(text));
        (self.only.is_empty() || matches(&self.only, text))
            && !matches(&self.without, &text.to_lowercase())
    }

    /// Checks the URI of a request.
    ///
    /// # Errors
    ///
    /// -32002 for a resource that clients do not see; -32602 for other parameters.
    pub(crate) fn check(&self, params: &str) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let located: Located<'_> = serde_json::from_str(params)
            .map_err(|error| Error::invalid_params(error.to_string()))?;
        match self.permits(&located.uri) {
            true => Ok(()),
            false => Err(missing(&located.uri)),
        }
    }

    /// Checks the URI or the template of a completion.
    ///
    /// # Errors
    ///
    /// -32602 for one that clients do not see.
    pub(super) fn check_template(&self, uri: &str) -> Result<(), Error> {
        match self.is_empty() || self.permits_text(uri) && self.permits(uri) {
            true => Ok(()),
            false => Err(Error::invalid_params(format!(
                "unknown resource template: {}",
                shown(uri)
            ))),
        }
    }

    /// Returns a page of resources as clients see it.
    ///
    /// # Errors
    ///
    /// -32603 if the page cannot be read.
    pub(crate) fn list(&self, page: Box<RawValue>) -> Result<Box<RawValue>, Error> {
        if self.is_empty() {
            return Ok(page);
        }
        let mut listed: ListResourcesResult =
            serde_json::from_str(page.get()).map_err(unreadable)?;
        listed
            .resources
            .retain(|resource| self.permits(&resource.uri));
        to_raw_value(&listed).map_err(unreadable)
    }

    /// Returns a page of templates as clients see it.
    ///
    /// # Errors
    ///
    /// -32603 if the page cannot be read.
    pub(crate) fn list_templates(&self, page: Box<RawValue>) -> Result<Box<RawValue>, Error> {
        if self.is_empty() {
            return Ok(page);
        }
        let mut listed: ListResourceTemplatesResult =
            serde_json::from_str(page.get()).map_err(unreadable)?;
        listed
            .resource_templates
            .retain(|template| self.permits_text(&template.uri_template));
        to_raw_value(&listed).map_err(unreadable)
    }
}

/// The error for a resource that clients do not see: that of a resource that does not exist.
fn missing(uri: &str) -> Error {
    let text = "the resource does not exist".to_owned();
    Error::new(ErrorCode::RESOURCE_NOT_FOUND, text).with_data(json!({ "uri": shown(uri) }))
}

fn unreadable(error: serde_json::Error) -> Error {
    internal(&format!("invalid resources of the server: {error}"))
}

/// Returns a URI and its unescaped forms; `None` if a form has a segment by which servers leave a folder.
fn forms(uri: &str) -> Option<Vec<String>> {
    let mut forms = vec![uri.to_owned()];
    for _ in 0..=MAX_ESCAPES {
        let last = forms.last()?;
        if leaves(last) {
            return None;
        }
        let next = unescaped(last)?;
        if next == *last {
            return Some(forms);
        }
        forms.push(next);
    }
    None
}

/// Whether a URI has a segment `.` or `..`, or a path with an empty segment that is not the last.
fn leaves(uri: &str) -> bool {
    const SLASHES: [char; 2] = ['/', '\\'];
    let rest = match uri.split_once("://") {
        Some((_, rest)) => rest.split_once(SLASHES).map_or("", |(_, path)| path),
        None => uri,
    };
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let path = path.strip_suffix(SLASHES).unwrap_or(path);
    let has_empty = !path.is_empty() && path.split(SLASHES).any(str::is_empty);
    let mut segments = rest.split(['/', '\\', '?', '#']);
    has_empty || segments.any(|segment| segment == "." || segment == "..")
}

/// Returns a text without its percent escapes; `None` if it is not UTF-8.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| escaped(after)).flatten();
        bytes.push(escaped.unwrap_or(first));
        rest = match escaped {
            Some(_) => after.get(2..).unwrap_or_default(),
            None => after,
        };
    }
    String::from_utf8(bytes).ok()
}

/// Returns the byte of two hexadecimal digits.
fn escaped(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..2)?).ok()?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex
        .then(|| u8::from_str_radix(digits, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_form_of_a_hidden_uri_is_hidden() {
        let filter = ResourceFilter::default()
            .only("file:///docs/*")
            .without("file:///docs/secret*");
        for (uri, is_permitted) in [
            ("file:///docs/a", true),
            ("file:///docs/a%20b", true),
            ("file:///docs/a/", true),
            ("file:///docs/a?from=b://c", true),
            ("file:///docs/secret", false),
            ("file:///docs/SECRET", false),
            ("file:///docs/%73ecret", false),
            ("file:///docs/%2573ecret", false),
            ("file:///docs/../etc/passwd", false),
            ("file:///docs/%2e%2e/etc/passwd", false),
            ("file:///docs/a\\..\\b", false),
            ("file:///docs//secret", false),
            ("file:///docs/.", false),
            ("file:///docs/%ff", false),
            ("FILE:///docs/a", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(filter.permits(uri), is_permitted, "{uri}");
        }
        assert!(ResourceFilter::default().permits("file:///docs/../a"));
    }

    #[test]
    fn a_uri_that_is_escaped_too_often_is_hidden() {
        let filter = ResourceFilter::default().without("a");
        let escaped = |times: usize| format!("memo:///%{}41", "25".repeat(times));
        assert!(filter.permits(&escaped(2)));
        assert!(!filter.permits(&escaped(9)));
    }

    #[test]
    fn a_repeated_uri_does_not_pass_a_filter() {
        let filter = ResourceFilter::default().only("a:*");
        for params in [r#"{"uri":"a:1","uri":"b:1"}"#, "{}", r#"{"uri":["a:1"]}"#] {
            let refused = filter.check(params).expect_err("refused");
            assert_eq!(refused.code.0, -32602, "{params}");
        }
        assert!(filter.check(r#"{"uri":"a:1"}"#).is_ok());
    }
}
