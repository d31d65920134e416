//! The members of a message that an observer needs.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum size of an id that is tracked, in bytes.
const MAX_ID_BYTES: usize = 256;
/// The member of `_meta` that states the revision of a request.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of JSON-RPC. Only its outer members are read.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

/// The form of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// A request, which has a method and an id.
    Request,
    /// A notification, which has a method and no id.
    Notification,
    /// A successful answer.
    Result,
    /// An answer with an error.
    Error,
    /// A list of messages.
    Batch,
    /// A line that is not a message.
    Other,
}

/// The members of parameters that an observer needs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "requestId")]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads a message. The error is a reason for people.
    pub(crate) fn read(json: &'a str) -> Result<(Self, MessageKind), String> {
        let envelope: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if envelope.jsonrpc.as_deref() != Some("2.0") {
            return Err("the member jsonrpc is not \"2.0\"".to_owned());
        }
        let kind = envelope.kind()?;
        Ok((envelope, kind))
    }

    fn kind(&self) -> Result<MessageKind, String> {
        let has_answer = self.result.is_some() || self.error.is_some();
        match (&self.method, self.id) {
            (Some(_), _) if has_answer => Err("it has a method and a result".to_owned()),
            (Some(_), Some(_)) => self.id().map(|_| MessageKind::Request),
            (Some(_), None) => Ok(MessageKind::Notification),
            (None, _) if self.result.is_some() && self.error.is_some() => {
                Err("it has a result and an error".to_owned())
            }
            (None, _) if self.result.is_some() => self.id().map(|_| MessageKind::Result),
            // An error may have no id, if the request could not be read.
            (None, _) if self.error.is_some() => Ok(MessageKind::Error),
            (None, _) => Err("it has neither a method nor a result".to_owned()),
        }
    }

    /// Returns the id in one form: as JSON without redundant escapes.
    pub(crate) fn id(&self) -> Result<String, String> {
        id(self.id).ok_or_else(|| "the id is not a short string or a number".to_owned())
    }

    pub(crate) fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Returns the parameters. Members of other types are treated as absent.
    pub(crate) fn params(&self) -> Params<'a> {
        let read = |raw: &'a RawValue| serde_json::from_str(raw.get()).ok();
        self.params.and_then(read).unwrap_or_default()
    }
}

impl Params<'_> {
    /// Returns the name of the tool or prompt, or the URI of the resource.
    pub(crate) fn target(&self) -> Option<&str> {
        self.name.as_deref().or(self.uri.as_deref())
    }

    /// Returns the id of the request that is cancelled.
    pub(crate) fn cancelled(&self) -> Option<String> {
        id(self.request_id)
    }

    /// Returns the revision that the request states.
    pub(crate) fn revision(&self) -> Option<String> {
        let meta: Value = serde_json::from_str(self.meta?.get()).ok()?;
        Some(meta.get(REVISION)?.as_str()?.to_owned())
    }
}

/// Returns the revision that an `initialize` request or result states.
pub(crate) fn handshake_revision(raw: &RawValue) -> Option<String> {
    let value: Value = serde_json::from_str(raw.get()).ok()?;
    Some(value.get("protocolVersion")?.as_str()?.to_owned())
}

fn id(raw: Option<&RawValue>) -> Option<String> {
    let raw = raw?.get();
    if raw.len() > MAX_ID_BYTES {
        return None;
    }
    match serde_json::from_str(raw).ok()? {
        id @ (Value::String(_) | Value::Number(_)) => Some(id.to_string()),
        _ => None,
    }
}
