//! The parts of the parameters that the binding reads: the claimed revision, and values of headers.
//!
//! All values stay raw, because the engine decodes the types of the method once.

use std::borrow::Cow;

use pintle_model::jsonrpc::{Member, ParamsRef};
use pintle_model::{EnvelopeError, Error, RawJson, RequestEnvelope};
use pintle_proto::lifecycle::refuse_envelope;
use serde::Deserialize;

/// The members of `params` that decide the route of a message.
#[derive(Debug, Default)]
pub(crate) struct ParamsPreview<'a>(Option<ParamsRef<'a>>);

/// The revision that a message claims. Closed: a text, an invalid value, or absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClaimedRevision<'a> {
    /// The member is absent: the message is of the handshake era, or incomplete.
    Absent,
    /// The member is not a string.
    NotText,
    /// The text, which may be an unknown revision.
    Text(Cow<'a, str>),
}

impl<'a> ParamsPreview<'a> {
    /// Checks the parameters of a message.
    ///
    /// # Errors
    ///
    /// -32600 if a member that decides the route occurs twice.
    pub(crate) fn read(params: Option<ParamsRef<'a>>) -> Result<Self, Box<Error>> {
        let Some(params) = params else {
            return Ok(Self::default());
        };
        if params.outline().is_ambiguous() {
            let error = Error::invalid_request("a member of the parameters occurs twice");
            return Err(error.into());
        }
        match RequestEnvelope::of_params(Some(&params)) {
            Err(fault @ EnvelopeError::Duplicate { .. }) => Err(refuse_envelope(fault).into()),
            // Without a claim, the engine checks `_meta`.
            _ => Ok(Self(Some(params))),
        }
    }

    /// Returns the reserved members of `_meta`, or the error in it.
    #[inline]
    pub(crate) fn envelope(&self) -> Result<RequestEnvelope<'_>, EnvelopeError> {
        RequestEnvelope::of_params(self.0.as_ref())
    }

    #[inline]
    fn member(&self, member: Member) -> Option<RawJson<'a>> {
        self.0.as_ref()?.member(member)
    }

    /// Returns the revision that this message claims.
    pub(crate) fn claim(&self) -> ClaimedRevision<'_> {
        match self.envelope() {
            Ok(envelope) if envelope.is_claimed() => envelope
                .protocol_version()
                .map_or(ClaimedRevision::NotText, ClaimedRevision::Text),
            _ => ClaimedRevision::Absent,
        }
    }

    /// Returns the subject of a request, for the methods whose subject a header repeats.
    pub(crate) fn subject(&self, method: &str) -> Option<Cow<'a, str>> {
        let member = match method {
            "tools/call" | "prompts/get" => Member::Name,
            "resources/read" => Member::Uri,
            "tasks/get" | "tasks/update" | "tasks/cancel" => Member::TaskId,
            _ => return None,
        };
        self.member(member)?.as_text()
    }

    /// Returns the resources to whose changes a request subscribes.
    pub(crate) fn followed(&self, method: &str) -> Vec<String> {
        match method {
            "resources/subscribe" => {
                let uri = self.member(Member::Uri).and_then(RawJson::as_text);
                uri.map(Cow::into_owned).into_iter().collect()
            }
            "subscriptions/listen" => {
                let filter = self.member(Member::Notifications);
                filter.map(resources_of).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Returns true if a request of this method is served without the header that repeats its subject.
    /// Existing clients omit it for tasks.
    pub(crate) fn may_omit_subject_header(method: &str) -> bool {
        matches!(method, "tasks/get" | "tasks/update" | "tasks/cancel")
    }

    /// Returns true if a header repeats the subject of this method.
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

    /// Returns the raw arguments of a tool.
    pub(crate) fn arguments(&self) -> Option<RawJson<'a>> {
        self.member(Member::Arguments)
    }

    /// Returns the revision that `initialize` requests.
    pub(crate) fn requested(&self) -> Option<Cow<'a, str>> {
        self.member(Member::ProtocolVersion)?.as_text()
    }
}

/// Returns the resources of a filter, or none if the engine rejects the filter.
fn resources_of(filter: RawJson<'_>) -> Vec<String> {
    #[derive(Deserialize)]
    struct Filter {
        #[serde(default, rename = "resourceSubscriptions")]
        resources: Option<Vec<String>>,
    }
    let filter = filter.decode::<Filter>();
    filter
        .ok()
        .and_then(|filter| filter.resources)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(params: &str) -> Result<ClaimedRevision<'static>, i64> {
        let raw = serde_json::from_str(params).expect("JSON");
        let outline =
            ParamsPreview::read(Some(ParamsRef::read(raw))).map_err(|error| error.code.0)?;
        Ok(match outline.claim() {
            ClaimedRevision::Text(text) => ClaimedRevision::Text(text.into_owned().into()),
            ClaimedRevision::NotText => ClaimedRevision::NotText,
            ClaimedRevision::Absent => ClaimedRevision::Absent,
        })
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
        let outline = ParamsPreview::read(Some(ParamsRef::read(raw))).expect("an outline");
        assert_eq!(outline.subject("tools/call").as_deref(), Some("nA"));
        assert_eq!(outline.subject("resources/read").as_deref(), Some("u"));
        assert_eq!(outline.subject("tasks/get"), None);
        assert_eq!(outline.subject("tools/list"), None);
        assert!(ParamsPreview::has_subject("prompts/get") && !ParamsPreview::has_subject("ping"));
    }
}
