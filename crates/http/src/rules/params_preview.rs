//! What the binding reads of a message's parameters: the claim, and what headers repeat.
//!
//! Everything stays raw; the method's own types are decoded once, behind the engine.

use std::borrow::Cow;

use pintle_model::{EnvelopeError, Error, RequestEnvelope};
use pintle_proto::ReadEnvelope;
use pintle_proto::lifecycle::refuse_envelope;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The members of `params` that decide the way of a message.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ParamsPreview<'a> {
    #[serde(borrow, default, rename = "_meta", deserialize_with = "read_envelope")]
    envelope: Option<ReadEnvelope<'a>>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, rename = "taskId")]
    task_id: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "protocolVersion")]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    notifications: Option<&'a RawValue>,
}

fn read_envelope<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ReadEnvelope<'de>>, D::Error> {
    RequestEnvelope::deserialize(deserializer).map(Some)
}

/// The revision a message says it is made by. Closed: it says one, says none, or says nonsense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClaimedRevision<'a> {
    /// No such member: a message of the handshake era, or a careless one.
    Absent,
    /// The member is there and is no string.
    NotText,
    /// What it says, known to us or not.
    Text(Cow<'a, str>),
}

impl<'a> ParamsPreview<'a> {
    /// Reads the parameters of a message, in one pass.
    ///
    /// # Errors
    ///
    /// -32600 when a member that decides the way occurs twice.
    pub(crate) fn read(params: Option<&'a RawValue>) -> Result<Self, Box<Error>> {
        let Some(params) = params else {
            return Ok(Self::default());
        };
        let outline: Self = serde_json::from_str(params.get())
            .map_err(|_| Error::invalid_request("a member of the parameters occurs twice"))?;
        match outline.envelope() {
            Err(fault @ EnvelopeError::Duplicate { .. }) => Err(refuse_envelope(fault).into()),
            // Without a claim it is the engine that has something to say about `_meta`.
            _ => Ok(outline),
        }
    }

    /// The reserved members of `_meta`, or what is wrong with it.
    #[inline]
    pub(crate) fn envelope(&self) -> ReadEnvelope<'a> {
        self.envelope.unwrap_or(Ok(RequestEnvelope::default()))
    }

    /// The revision this message claims.
    pub(crate) fn claim(&self) -> ClaimedRevision<'a> {
        match self.envelope() {
            Ok(envelope) if envelope.is_claimed() => envelope
                .protocol_version()
                .map_or(ClaimedRevision::NotText, ClaimedRevision::Text),
            _ => ClaimedRevision::Absent,
        }
    }

    /// What a request is about, for the methods whose subject a header repeats.
    pub(crate) fn subject(&self, method: &str) -> Option<Cow<'a, str>> {
        let raw = match method {
            "tools/call" | "prompts/get" => self.name,
            "resources/read" => self.uri,
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.task_id,
            _ => None,
        };
        raw.and_then(text)
    }

    /// The resources that a request wants to be told of, when they change.
    pub(crate) fn followed(&self, method: &str) -> Vec<String> {
        match method {
            "resources/subscribe" => self
                .uri
                .and_then(text)
                .map(Cow::into_owned)
                .into_iter()
                .collect(),
            "subscriptions/listen" => self.notifications.map(resources_of).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// Whether a request of this method is served although the header that repeats its subject is absent. Clients
    /// in use omit it for tasks.
    pub(crate) fn may_omit_subject_header(method: &str) -> bool {
        matches!(method, "tasks/get" | "tasks/update" | "tasks/cancel")
    }

    /// Whether a header repeats the subject of this method.
    pub(crate) fn has_subject(method: &str) -> bool {
        matches!(
            method,
            "tools/call"
                | "prompts/get"
                | "resources/read"
                | "tasks/get"
                | "tasks/update"
                | "tasks/cancel"
        )
    }

    /// The raw arguments of a tool.
    pub(crate) fn arguments(&self) -> Option<&'a RawValue> {
        self.arguments
    }

    /// The revision `initialize` asks for.
    pub(crate) fn requested(&self) -> Option<Cow<'a, str>> {
        self.protocol_version.and_then(text)
    }
}

/// The resources of a filter; none of one that the engine refuses.
fn resources_of(filter: &RawValue) -> Vec<String> {
    #[derive(Deserialize)]
    struct Filter {
        #[serde(default, rename = "resourceSubscriptions")]
        resources: Option<Vec<String>>,
    }
    let filter = serde_json::from_str::<Filter>(filter.get());
    filter
        .ok()
        .and_then(|filter| filter.resources)
        .unwrap_or_default()
}

/// The text of a JSON string, borrowed when it has no escapes.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw.get()).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(params: &str) -> Result<ClaimedRevision<'_>, i64> {
        let raw = serde_json::from_str(params).expect("JSON");
        let outline = ParamsPreview::read(Some(raw)).map_err(|error| error.code.0)?;
        Ok(outline.claim())
    }

    // spec: 2026-07-28 N-HTTP-23
    // hardening: H-56, H-102, H-103
    #[test]
    fn a_claim_is_read_exactly_once_and_by_its_exact_name() {
        let version = "io.modelcontextprotocol/protocolVersion";
        let rows = [
            (
                format!(r#"{{"_meta":{{"{version}":"2026-07-28"}}}}"#),
                Ok(ClaimedRevision::Text("2026-07-28".into())),
            ),
            (
                format!(r#"{{"_meta":{{"{version}":7}}}}"#),
                Ok(ClaimedRevision::NotText),
            ),
            (
                format!(r#"{{"_meta":{{"{version}":null}}}}"#),
                Ok(ClaimedRevision::NotText),
            ),
            (
                format!(r#"{{"_meta":["{version}"]}}"#),
                Ok(ClaimedRevision::Absent),
            ),
            (
                format!(r#"{{"_META":{{"{version}":"2026-07-28"}}}}"#),
                Ok(ClaimedRevision::Absent),
            ),
            ("{}".to_owned(), Ok(ClaimedRevision::Absent)),
            (
                format!(r#"{{"_meta":{{"{version}":"a","{version}":"b"}}}}"#),
                Err(-32600),
            ),
            (r#"{"_meta":{},"_meta":{}}"#.to_owned(), Err(-32600)),
            (r#"{"name":"a","name":"b"}"#.to_owned(), Err(-32600)),
        ];
        for (params, expected) in rows {
            assert_eq!(claim(&params), expected, "{params}");
        }
    }

    // spec: 2026-07-28 N-HDR-04
    #[test]
    fn the_subject_depends_on_the_method() {
        let raw = serde_json::from_str(r#"{"name":"n\u0041","uri":"u","taskId":5}"#).expect("JSON");
        let outline = ParamsPreview::read(Some(raw)).expect("an outline");
        assert_eq!(outline.subject("tools/call").as_deref(), Some("nA"));
        assert_eq!(outline.subject("resources/read").as_deref(), Some("u"));
        assert_eq!(outline.subject("tasks/get"), None);
        assert_eq!(outline.subject("tools/list"), None);
        assert!(ParamsPreview::has_subject("prompts/get") && !ParamsPreview::has_subject("ping"));
    }
}
