//! A client's decision table for the era of a server, as functions without a state.
//!
//! A probe (`server/discover`, before anything else) has a [`ProbeResult`], and [`after_probe`]
//! returns the [`ProbeDecision`]. Only a response that no legacy server sends is evidence of a
//! modern one. On a pipe, silence and odd answers mean a legacy server. Over HTTP they mean
//! nothing, because they have other causes there.
//!
//! ```text
//!  server/discover ──► after_probe ──► Modern: speak the revision
//!        ▲   ▲                     ├─► Retry, once: probe with the other revision
//!        │   └─────────────────────┘
//!        │                         ├─► Legacy: initialize ──► success
//!        │                         │               └─► failure ──► after_handshake ──► Fail
//!        │                         └─► Fail                              │
//!        └────────────────────────── Probe: probe once more ─────────────┘
//! ```
//!
//! | the probe ends with | pipe | HTTP |
//! |---|---|---|
//! | a discovery that shares a modern revision | `Modern` | `Modern` |
//! | a discovery that lists legacy revisions instead | `Legacy` | `Legacy` |
//! | a discovery without a revision known here | `Fail` | `Fail` |
//! | another result, or both a result and an error | `Legacy` | `Legacy` |
//! | -32022 that shares a modern revision | `Retry`, then `Fail` | `Retry`, then `Fail` |
//! | -32022 that lists legacy revisions instead, or nothing | `Legacy` | `Legacy` |
//! | -32022 that lists only unknown revisions | `Fail` | `Fail` |
//! | -32020 or -32021, which only modern servers send | `Fail` | `Fail` |
//! | another error | `Legacy` | `Legacy` |
//! | 401 or 403 | `Fail` | `Fail` |
//! | another status of 4xx | `Fail` | `Legacy` |
//! | silence, or a connection or a process that ended | `Legacy` | `Fail` |
//! | another failure of the transport | `Fail` | `Fail` |
//!
//! Spec: [2026-07-28, Versioning][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning

use pintle_model::{DiscoverResult, Error, ErrorCode, Feature, Revision};
use serde_json::value::RawValue;

use crate::error::PeerCallError;
use crate::transport_error::{TransportError, TransportErrorKind};

/// Kind of transport, where clients must distinguish it. Closed: the specification has these two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// One ordered stream of messages in either direction.
    Pipe,
    /// One HTTP exchange per message.
    Http,
}

/// Result of a probe: how the call of `server/discover` ended.
pub type ProbeResult<'a> = Result<&'a RawValue, &'a PeerCallError>;

/// Next step of a client. Closed: it speaks one era, probes again, or fails.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeDecision {
    /// The server speaks this revision, and sent this description of itself.
    Modern(Revision, Box<DiscoverResult>),
    /// The server does not speak the probed revision, but this one: probe again, with it.
    Retry(Revision),
    /// The server requires a handshake. If the pipe ended during the probe, open a new one.
    Legacy,
    /// The sides have no revision in common, or the result is not evidence.
    Fail(ProbeError),
}

/// Reason why a probe failed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ProbeError {
    /// Both sides are modern and have no revision in common.
    NoCommonRevision {
        /// The revisions that the server speaks.
        theirs: Vec<String>,
    },
    /// The server is modern and rejected the probe itself: the client is at fault.
    Rejected(Error),
    /// The server requires authorization first. This is not evidence of an era.
    Unauthorized(TransportError),
    /// The probe failed in transit; the era of the server is unknown.
    NoAnswer(PeerCallError),
}

/// Decides after a probe. `spoken` are the modern revisions that the client may speak; `is_retry`
/// is whether this probe follows a [`ProbeDecision::Retry`].
pub fn after_probe(
    evidence: ProbeResult<'_>,
    binding: Binding,
    spoken: &[Revision],
    is_retry: bool,
) -> ProbeDecision {
    match evidence {
        Ok(result) => judge_result(result, spoken),
        Err(PeerCallError::Answered(error)) => judge_error(error, spoken, is_retry),
        Err(PeerCallError::Lost(error)) => judge_loss(error, binding),
        // The response has both a result and an error, or neither: modern servers do not send that.
        Err(PeerCallError::Contradiction) => ProbeDecision::Legacy,
        Err(failure) => match binding {
            Binding::Pipe => ProbeDecision::Legacy,
            Binding::Http => ProbeDecision::Fail(ProbeError::NoAnswer(failure.clone())),
        },
    }
}

fn judge_result(result: &RawValue, spoken: &[Revision]) -> ProbeDecision {
    let Ok(found) = pintle_model::Outcome::<DiscoverResult>::decode(result) else {
        return ProbeDecision::Legacy;
    };
    let Some(found) = found.into_complete() else {
        return ProbeDecision::Legacy;
    };
    match choose(&found.supported_versions, spoken) {
        Choice::Modern(revision) => ProbeDecision::Modern(revision, Box::new(found)),
        Choice::Legacy => ProbeDecision::Legacy,
        Choice::Nothing => no_common(found.supported_versions),
    }
}

fn judge_error(error: &Error, spoken: &[Revision], is_retry: bool) -> ProbeDecision {
    match error.code {
        ErrorCode::UNSUPPORTED_REVISION => {
            let theirs = supported(error);
            if theirs.is_empty() {
                return ProbeDecision::Legacy;
            }
            match choose(&theirs, spoken) {
                Choice::Modern(revision) if !is_retry => ProbeDecision::Retry(revision),
                Choice::Legacy => ProbeDecision::Legacy,
                Choice::Modern(_) | Choice::Nothing => no_common(theirs),
            }
        }
        ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_CLIENT_CAPABILITY => {
            ProbeDecision::Fail(ProbeError::Rejected(error.clone()))
        }
        _ => ProbeDecision::Legacy,
    }
}

fn judge_loss(error: &TransportError, binding: Binding) -> ProbeDecision {
    match (error.kind(), binding) {
        (TransportErrorKind::Unauthorized(_), _) => {
            ProbeDecision::Fail(ProbeError::Unauthorized(error.clone()))
        }
        (TransportErrorKind::Status(400..500), Binding::Http) => ProbeDecision::Legacy,
        // Some servers end when they are asked anything before the handshake.
        (
            TransportErrorKind::Disconnected
            | TransportErrorKind::ProcessExited
            | TransportErrorKind::TimedOut,
            Binding::Pipe,
        ) => ProbeDecision::Legacy,
        _ => ProbeDecision::Fail(ProbeError::NoAnswer(PeerCallError::Lost(error.clone()))),
    }
}

fn no_common(theirs: Vec<String>) -> ProbeDecision {
    ProbeDecision::Fail(ProbeError::NoCommonRevision { theirs })
}

enum Choice {
    Modern(Revision),
    Legacy,
    Nothing,
}

/// The newest modern revision that both speak, or else whether they have a legacy one in common.
fn choose(theirs: &[String], spoken: &[Revision]) -> Choice {
    let revisions = || theirs.iter().filter_map(|date| date.parse().ok());
    let mutual = revisions()
        .filter(|revision| spoken.contains(revision))
        .max();
    match mutual {
        Some(revision) => Choice::Modern(revision),
        None if revisions().any(|revision| revision.has(Feature::Handshake)) => Choice::Legacy,
        None => Choice::Nothing,
    }
}

/// Returns the served revisions that a -32022 error lists.
pub fn supported(error: &Error) -> Vec<String> {
    let listed = error.data.as_ref().and_then(|data| data.get("supported"));
    let dates = listed.and_then(|listed| listed.as_array());
    dates
        .into_iter()
        .flatten()
        .filter_map(|date| date.as_str().map(str::to_owned))
        .collect()
}

/// Next step after a failed handshake. Closed, as [`ProbeDecision`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeDecision {
    /// The server turned out to be modern: probe once more, with this revision.
    Probe(Revision),
    /// The connection fails.
    Fail,
}

/// Decides after a failed handshake.
///
/// A slow server may answer a late probe as a modern one, and then serve this era only. It then
/// refuses the handshake and lists its revisions. Over HTTP the transport itself checks for the two
/// endpoints of 2024-11-05, before the handshake fails.
pub fn after_handshake(failure: &PeerCallError, spoken: &[Revision]) -> HandshakeDecision {
    match failure {
        PeerCallError::Answered(error) if error.code == ErrorCode::UNSUPPORTED_REVISION => {
            match choose(&supported(error), spoken) {
                Choice::Modern(revision) => HandshakeDecision::Probe(revision),
                Choice::Legacy | Choice::Nothing => HandshakeDecision::Fail,
            }
        }
        _ => HandshakeDecision::Fail,
    }
}

#[cfg(test)]
mod tests;
