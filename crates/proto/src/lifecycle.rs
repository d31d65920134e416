//! On which terms is a request served, or why is it refused? And, for a client: in which era?

mod discovery;
mod memo;

use std::borrow::Cow;

use pintle_model::{
    EnvelopeError, Error, Feature, InitializeParams, LoggingLevel, RequestEnvelope, Revision,
};

use crate::terms::{Terms, TraceContext};

pub use discovery::{
    Binding, HandshakeDecision, ProbeDecision, ProbeError, ProbeResult, after_handshake,
    after_probe, supported,
};
pub use memo::TermsCache;

/// The minimum level of log messages in a session whose client has not set one.
pub(crate) const SESSION_LOG_LEVEL: LoggingLevel = LoggingLevel::Info;

/// The revision that an envelope claims.
///
/// # Errors
///
/// -32602 when it is not a string, -32022 when it is not a revision that is served by envelope.
///
/// Spec: [2026-07-28, Versioning][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
pub fn claimed_revision(envelope: &RequestEnvelope<'_>) -> Result<Revision, Error> {
    let date = envelope.protocol_version().map_err(refuse_envelope)?;
    served_by_envelope(&date).ok_or_else(|| unsupported(&date))
}

/// The terms that an envelope states, for a revision that [`claimed_revision`] gave.
///
/// # Errors
///
/// -32602 naming the member that is missing or of the wrong type.
pub fn stated_terms(envelope: &RequestEnvelope<'_>, revision: Revision) -> Result<Terms, Error> {
    let mut terms = Terms::new(revision);
    terms.capabilities = envelope.client_capabilities().map_err(refuse_envelope)?;
    terms.client = envelope.client_info().map_err(refuse_envelope)?;
    terms.log_level = envelope.log_level().map_err(refuse_envelope)?;
    if let Some(LoggingLevel::Unknown(level)) = &terms.log_level {
        return Err(Error::invalid_params(format!("unknown log level: {level}")));
    }
    terms.trace = trace_of(envelope);
    Ok(terms)
}

/// The terms that a handshake agrees on: the offered revision if it is one of the handshake's,
/// the newest of those otherwise.
///
/// Spec: [2025-11-25, Lifecycle, Version negotiation][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
pub(crate) fn agreed_terms(params: InitializeParams) -> Terms {
    let offered = params.protocol_version.parse().ok();
    let revision = offered
        .filter(|revision: &Revision| revision.has(Feature::Handshake))
        .unwrap_or(Revision::LATEST_LEGACY);
    let mut terms = Terms::new(revision);
    terms.capabilities = params.capabilities;
    terms.client = Some(params.client_info);
    terms.log_level = Some(SESSION_LOG_LEVEL);
    terms
}

/// The error for an envelope that is not as it should be.
pub fn refuse_envelope(fault: EnvelopeError) -> Error {
    match fault {
        EnvelopeError::Duplicate { .. } => Error::invalid_request(fault.to_string()),
        _ => Error::from(fault),
    }
}

/// The error for a request without an envelope where one is needed.
pub fn missing_envelope() -> Error {
    let dates: Vec<_> = Revision::modern().map(Revision::as_str).collect();
    Error::invalid_params(format!(
        "the request states no terms: _meta needs io.modelcontextprotocol/protocolVersion ({}) and io.modelcontextprotocol/clientCapabilities",
        dates.join(", ")
    ))
}

/// The error for a revision that is not served by envelope. It lists the revisions of the handshake
/// too if the client asks for one of them, because only such a client could speak one.
pub fn unsupported(date: &str) -> Error {
    let is_legacy = date.parse::<Revision>().is_ok();
    let listed = |revision: &Revision| is_legacy || revision.has(Feature::Envelope);
    let newest_first = Revision::ALL.into_iter().rev().filter(listed);
    let dates: Vec<_> = newest_first.map(Revision::as_str).collect();
    Error::unsupported_revision(&dates, date)
}

fn served_by_envelope(date: &str) -> Option<Revision> {
    date.parse()
        .ok()
        .filter(|revision: &Revision| revision.has(Feature::Envelope))
}

/// The trace context and the baggage of a request. An invalid `traceparent` is dropped, and
/// `tracestate` with it, which has no meaning alone. Baggage stands by itself.
///
/// Spec: [W3C Baggage](https://www.w3.org/TR/baggage/).
fn trace_of(envelope: &RequestEnvelope<'_>) -> Option<TraceContext> {
    let parent = envelope.trace_parent();
    let parent = parent.filter(|text| is_trace_parent(text)).map(boxed);
    let baggage = envelope.baggage().map(boxed);
    if parent.is_none() && baggage.is_none() {
        return None;
    }
    let state = parent.as_ref().and_then(|_| envelope.trace_state());
    Some(TraceContext {
        state: state.map(boxed),
        parent,
        baggage,
    })
}

/// Whether a text is a `traceparent`: version, trace, span and flags in lower-case hexadecimal. A
/// version that is to come may add to it.
///
/// Spec: [W3C Trace Context, traceparent](https://www.w3.org/TR/trace-context/#traceparent-header).
fn is_trace_parent(text: &str) -> bool {
    let is_hex = |part: &str| {
        let mut bytes = part.bytes();
        bytes.all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_some = |part: &str| part.bytes().any(|byte| byte != b'0');
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, span, flags, rest @ ..] = parts.as_slice() else {
        return false;
    };
    let lengths = [version.len(), trace.len(), span.len(), flags.len()];
    lengths == [2, 32, 16, 2]
        && [version, trace, span, flags]
            .iter()
            .all(|part| is_hex(part))
        && is_some(trace)
        && is_some(span)
        && *version != "ff"
        && (rest.is_empty() || *version != "00")
}

fn boxed(text: Cow<'_, str>) -> Box<str> {
    text.into()
}
