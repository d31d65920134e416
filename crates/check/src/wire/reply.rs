//! The reply to one sending.

use http::HeaderMap;
use serde_json::Value;

use crate::text::{clip, clip_bytes, shown};

/// How a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum End {
    /// The awaited part arrived, and the server may send more.
    #[default]
    Enough,
    /// The response or the stream ended.
    Ended,
    /// The time was over.
    TimedOut,
    /// The connection failed, or the process exited.
    Lost(String),
}

/// Everything that arrived after one sending.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    /// Status of the HTTP response.
    pub(crate) status: Option<u16>,
    /// Headers of the HTTP response.
    pub(crate) headers: HeaderMap,
    /// Messages in the order of arrival.
    pub(crate) messages: Vec<Value>,
    /// Texts that are not JSON, in part.
    pub(crate) junk: Vec<String>,
    /// Ids of events that have data, and other facts of an event stream.
    pub(crate) event_ids: Vec<String>,
    /// Whether the response is an event stream.
    pub(crate) is_stream: bool,
    /// Whether the stream ended after the response.
    pub(crate) ended_after_answer: bool,
    /// Size of the body, in bytes.
    pub(crate) bytes: usize,
    /// The end of the reply.
    pub(crate) end: End,
}

impl Reply {
    /// Returns the response with this id.
    pub(crate) fn answer(&self, id: &Value) -> Option<&Value> {
        let mut messages = self.messages.iter();
        messages.find(|message| is_response(message) && message.get("id") == Some(id))
    }

    /// Returns the first response with an error.
    pub(crate) fn error(&self) -> Option<&Value> {
        self.messages
            .iter()
            .find_map(|message| message.get("error"))
    }

    /// Returns the code of the first error.
    pub(crate) fn code(&self) -> Option<i64> {
        self.error()?.get("code")?.as_i64()
    }

    /// Returns true if a message has a result.
    pub(crate) fn has_result(&self) -> bool {
        let mut messages = self.messages.iter();
        messages.any(|message| message.get("result").is_some())
    }

    /// Returns a header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns true for a status from 400 to 499.
    pub(crate) fn is_rejected(&self) -> bool {
        self.status
            .is_some_and(|status| (400..500).contains(&status))
    }

    /// Adds a message, or a text that is not JSON.
    pub(crate) fn add(&mut self, text: &[u8]) {
        self.bytes += text.len();
        match serde_json::from_slice(text) {
            Ok(value) => self.messages.push(value),
            Err(_) => self.junk.push(clip_bytes(text)),
        }
    }

    /// Describes the reply in one bounded line.
    pub(crate) fn text(&self) -> String {
        let mut parts = Vec::new();
        if let Some(status) = self.status {
            parts.push(format!("HTTP {status}"));
        }
        parts.extend(self.messages.iter().rev().take(2).rev().map(shown));
        parts.extend(self.junk.iter().take(2).cloned());
        match &self.end {
            End::TimedOut => parts.push("no more within the time limit".to_owned()),
            End::Lost(reason) => parts.push(reason.clone()),
            End::Ended if parts.is_empty() => parts.push("the server ended".to_owned()),
            End::Enough | End::Ended => {}
        }
        if parts.is_empty() {
            parts.push("nothing".to_owned());
        }
        clip(&parts.join("; "))
    }
}

/// Returns true if a message has no method, and a result or an error.
pub(crate) fn is_response(message: &Value) -> bool {
    message.get("method").is_none()
        && (message.get("result").is_some() || message.get("error").is_some())
}
