//! The route of a batch: several messages in one body.

use pintle_model::jsonrpc::{InvalidMessage, Message};
use pintle_model::{Error, Feature, RequestId, Revision};

use super::{HttpRejection, LegacyMode, Named, Settings, named_revision, named_session};
use crate::rules::params_preview::{ClaimedRevision, ParamsPreview};
use crate::rules::request_headers::RequestHeaders;
use crate::rules::session_id::SessionId;

/// The route of the messages of a batch. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchRoute {
    /// To a session, if its revision has batches.
    Session(SessionId),
    /// Without a session: each is served separately.
    Sessionless(Revision),
}

/// Decides the route of a batch from its head.
///
/// # Errors
///
/// [`HttpRejection`] in revisions without batches.
pub(crate) fn by_batch(
    headers: &RequestHeaders<'_>,
    settings: &Settings,
) -> Result<BatchRoute, HttpRejection> {
    let revision = match named_revision(headers).map_err(HttpRejection::fault)? {
        Named::Nothing => Revision::UNNAMED,
        Named::Legacy(revision) => revision,
        Named::Unknown(date) => {
            return Err(HttpRejection::revision(
                date,
                settings.legacy != LegacyMode::Off,
            ));
        }
        Named::Modern => return Err(no_batches()),
    };
    match settings.legacy {
        // The session has its own revision; that in the header only has to exist.
        LegacyMode::Sessions => named_session(headers)?
            .map(BatchRoute::Session)
            .ok_or_else(HttpRejection::session_required),
        LegacyMode::Sessionless if revision.has(Feature::Batches) => {
            Ok(BatchRoute::Sessionless(revision))
        }
        LegacyMode::Sessionless | LegacyMode::Off => Err(no_batches()),
    }
}

/// Returns the rejection of a batch in a revision without batches.
pub(crate) fn no_batches() -> HttpRejection {
    HttpRejection::error(Error::invalid_request(
        "a body is one message, not an array of them",
    ))
}

/// A message of a batch, or the error in it.
pub(crate) type Part<'a> = Result<(Message<'a>, ParamsPreview<'a>), InvalidMessage>;

/// Prepares the messages of a batch.
///
/// # Errors
///
/// [`HttpRejection`] of the whole batch if it mixes requests and responses, or if a message states its
/// own terms.
pub(crate) fn parts_of<'a>(
    messages: impl IntoIterator<Item = Result<Message<'a>, InvalidMessage>>,
) -> Result<Vec<Part<'a>>, HttpRejection> {
    let parts: Vec<Part<'a>> = messages
        .into_iter()
        .map(|message| message.and_then(outlined))
        .collect();
    let messages = || parts.iter().filter_map(|part| part.as_ref().ok());
    if messages().any(|(_, outline)| outline.claim() != ClaimedRevision::Absent) {
        return Err(no_batches());
    }
    let is_response = |message: &Message<'_>| matches!(message, Message::Response(_));
    let responses = messages()
        .filter(|(message, _)| is_response(message))
        .count();
    if responses > 0 && responses < parts.len() {
        return Err(HttpRejection::error(Error::invalid_request(
            "requests and responses do not mix in a batch",
        )));
    }
    Ok(parts)
}

/// A message of a batch, with the parts that decide its route.
pub(crate) fn outlined(
    message: Message<'_>,
) -> Result<(Message<'_>, ParamsPreview<'_>), InvalidMessage> {
    let (params, id): (_, Option<&RequestId>) = match &message {
        Message::Request(request) => (request.params, Some(&request.id)),
        Message::Notification(notification) => (notification.params, None),
        Message::Response(_) => (None, None),
    };
    match ParamsPreview::read(params) {
        Ok(outline) => Ok((message, outline)),
        Err(error) => Err(InvalidMessage::new(id.cloned(), *error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::origin::HostPolicy;
    use http::HeaderMap;
    use pintle_proto::Batch;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn decide(legacy: LegacyMode, rows: &[(&'static str, &str)]) -> Result<BatchRoute, u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in rows {
            headers.insert(*name, value.parse().expect("a value"));
        }
        let settings = Settings {
            access: HostPolicy::loopback(),
            legacy,
        };
        by_batch(&RequestHeaders::of(&headers), &settings)
            .map_err(|rejection| rejection.status.as_u16())
    }

    // spec: 2025-11-25 AMB-29, AMB-112
    // hardening: H-96
    #[test]
    fn a_batch_belongs_to_a_session_or_to_a_revision_that_has_them() {
        let session = ("mcp-session-id", ID);
        let named = |date| ("mcp-protocol-version", date);
        let id = || SessionId::parse(ID).expect("an id");
        let unnamed = BatchRoute::Sessionless(Revision::UNNAMED);
        let sessions = LegacyMode::Sessions;
        let none = LegacyMode::Sessionless;
        assert_eq!(decide(sessions, &[session]), Ok(BatchRoute::Session(id())));
        assert_eq!(decide(sessions, &[]), Err(400));
        assert_eq!(decide(sessions, &[("mcp-session-id", "x")]), Err(404));
        assert_eq!(decide(none, &[]), Ok(unnamed));
        assert_eq!(decide(none, &[named("2025-03-26")]), Ok(unnamed));
        assert_eq!(decide(none, &[named("2025-06-18")]), Err(400));
        assert_eq!(decide(none, &[named("9999-99-99")]), Err(400));
        assert_eq!(decide(sessions, &[session, named("2026-07-28")]), Err(400));
        assert_eq!(decide(LegacyMode::Off, &[]), Err(400));
    }

    // spec: 2025-11-25 AMB-111
    #[test]
    fn a_batch_is_of_one_kind_and_of_one_era() {
        let claim = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let modern = request.replace("\"ping\"", &format!("\"ping\",\"params\":{claim}"));
        let response = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let rows = [
            (format!("[{request},{request},7]"), Ok(3)),
            (format!("[{response},{response}]"), Ok(2)),
            (format!("[{request},{response}]"), Err(-32600)),
            (format!("[{response},7]"), Err(-32600)),
            (format!("[{request},{modern}]"), Err(-32600)),
        ];
        for (text, expected) in rows {
            let batch = Batch::read(text.as_bytes(), usize::MAX)
                .expect("an array")
                .expect("a batch");
            let parts = parts_of(batch.messages()).map(|parts| parts.len());
            let code = |rejection: HttpRejection| rejection.error.expect("an error").code.0;
            assert_eq!(parts.map_err(code), expected, "{text}");
        }
    }
}
