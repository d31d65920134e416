//! The route of a request: two ladders of named rules; the first rule that applies decides.
//!
//! [`by_head`] needs only the head and runs before the body is read. [`by_body`] runs on the parsed
//! message. The body decides the era of a message; headers only have to agree. Up to 2025-11-25 a
//! conversation begins with a handshake and may have a session; since 2026-07-28 requests are
//! stateless.
//!
//! Spec: [2026-07-28, Streamable HTTP][spec]; [2025-11-25, Transports][old].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
//! [old]: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http

mod batch;
mod body;
mod head;
mod http_rejection;

use std::str::FromStr;

use pintle_model::{Feature, Revision};

#[cfg(feature = "sse")]
pub(crate) use batch::outlined;
pub(crate) use batch::{BatchRoute, Part, by_batch, no_batches, parts_of};
pub(crate) use body::{by_body, preview};
#[cfg(feature = "sse")]
pub(crate) use head::by_head_of_two;
pub(crate) use head::{HeadDecision, by_head};
pub(crate) use http_rejection::HttpRejection;

use crate::rules::headers::HeaderError;
use crate::rules::origin::HostPolicy;
use crate::rules::request_headers::{Known, RequestHeaders};
use crate::rules::session_id::SessionId;

/// The service for revisions with a handshake. Closed: three modes exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LegacyMode {
    /// With sessions: `initialize` opens one, and every later request names its id.
    #[default]
    Sessions,
    /// Without sessions: every request is stateless.
    Sessionless,
    /// Not served: such requests are rejected.
    Off,
}

/// The settings of the rules.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) access: HostPolicy,
    pub(crate) legacy: LegacyMode,
}

/// The route of a request. Closed: the server has one path for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// A stateless request, which states its terms.
    Exchange,
    /// A notification without a recipient: accepted, without effect.
    Ignored,
    /// `initialize`: opens a session.
    Open,
    /// A message of an open session.
    Session(SessionId),
    /// A message of the handshake era, served without a session.
    Sessionless(Revision),
}

/// The value of `MCP-Protocol-Version`. Closed: a date is of one era or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named<'h> {
    Nothing,
    Modern,
    Legacy(Revision),
    Unknown(&'h str),
}

fn named_revision<'h>(headers: &RequestHeaders<'h>) -> Result<Named<'h>, HeaderError> {
    let Some(date) = headers.single(Known::ProtocolVersion)? else {
        return Ok(Named::Nothing);
    };
    Ok(match Revision::from_str(date) {
        Ok(revision) if revision.has(Feature::Envelope) => Named::Modern,
        Ok(revision) => Named::Legacy(revision),
        Err(_) => Named::Unknown(date),
    })
}

/// The session that a request names: none, a possible one, or an invalid id.
fn named_session(headers: &RequestHeaders<'_>) -> Result<Option<SessionId>, HttpRejection> {
    let named = headers
        .single(Known::SessionId)
        .map_err(HttpRejection::fault)?;
    named
        .map(|id| SessionId::parse(id).ok_or_else(HttpRejection::no_such_session))
        .transpose()
}
