//! One line of the log.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use pintle_model::Timestamp;
use pintle_runtime::Context;
use serde::{Serialize, Serializer};

use crate::options::AuditText;
use crate::outcome::Outcome;
use crate::{Log, subject};

/// Longest text of a peer in a line, in bytes. The rest is cut off.
const MAX_TEXT_BYTES: usize = 256;
/// The principal of a request without one.
const ANONYMOUS: &str = "anonymous";

/// The line of a request that runs.
#[derive(Debug, Serialize)]
pub(crate) struct Record {
    time: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    method: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    #[serde(serialize_with = "millis")]
    duration_ms: Duration,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
}

impl Record {
    /// Begins the line of a request.
    pub(crate) fn begin(log: &Log, cx: &Context) -> Self {
        let (request, options) = (cx.request(), &log.options);
        let client = cx.terms().client.as_ref();
        let own_trace = options.trace_id.and_then(|current| current());
        Self {
            time: SystemTime::now().into(),
            principal: match cx.principal() {
                Some(principal) => log.text(principal.id(), options.principals),
                None => Some(ANONYMOUS.into()),
            },
            client: client.and_then(|client| log.text(&client.name, options.clients)),
            session: subject::session(cx),
            method: cut(request.method.as_str()).into(),
            name: subject::name(request).and_then(|name| log.text(&name, options.names)),
            arguments: subject::arguments(request).map(|text| log.key.digest(text.as_bytes())),
            outcome: "",
            code: None,
            duration_ms: Duration::ZERO,
            trace: own_trace.or_else(|| subject::trace_id(request)),
        }
    }

    /// Returns the line with its end.
    pub(crate) fn end(&mut self, outcome: Outcome, duration: Duration) -> Vec<u8> {
        self.outcome = outcome.as_str();
        self.code = outcome.code();
        self.duration_ms = duration;
        // Texts, digests and numbers are always valid JSON.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

impl Log {
    fn text(&self, text: &str, form: AuditText) -> Option<Box<str>> {
        match form {
            AuditText::Plain => Some(cut(text).into()),
            AuditText::Digest => Some(self.key.digest(text.as_bytes()).into()),
            AuditText::Omitted => None,
        }
    }
}

/// Shortens a text that is too long, and marks it with an ellipsis.
fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_TEXT_BYTES {
        return text.into();
    }
    let ends = (0..=MAX_TEXT_BYTES).rev();
    let end = ends.into_iter().find(|end| text.is_char_boundary(*end));
    format!("{}…", &text[..end.unwrap_or_default()]).into()
}

fn millis<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let micros = u32::try_from(duration.as_micros()).unwrap_or(u32::MAX);
    serializer.serialize_f64(f64::from(micros) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(cut("short"), "short");
        let long = "é".repeat(MAX_TEXT_BYTES);
        let cut = cut(&long);
        assert_eq!(cut.chars().filter(|it| *it == 'é').count(), 128);
        assert!(cut.ends_with('…'));
    }
}
