//! Which way a request takes: two ladders of named rules, the first rule that speaks decides.
//!
//! [`by_head`] needs the head alone and runs before a byte of the body is read. [`by_body`] runs
//! on the parsed message. The body says which era a message belongs to; headers only have to
//! agree. Up to 2025-11-25 a conversation opens with a handshake and may live in a session;
//! since 2026-07-28 every request stands alone.
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

use http::HeaderMap;
use pintle_model::{Feature, Revision};

#[cfg(feature = "sse")]
pub(crate) use batch::outlined;
pub(crate) use batch::{BatchRoute, Part, by_batch, no_batches, parts_of};
pub(crate) use body::by_body;
pub(crate) use head::by_head;
#[cfg(feature = "sse")]
pub(crate) use head::by_head_of_two;
pub(crate) use http_rejection::HttpRejection;

use crate::rules::headers::{self, HeaderError};
use crate::rules::origin::HostPolicy;
use crate::rules::session_id::SessionId;

/// How revisions with a handshake are served. Closed: these are the three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LegacyMode {
    /// With sessions: `initialize` opens one, its id comes with every later request.
    #[default]
    Sessions,
    /// Without: every request stands alone, nothing is remembered between two.
    Sessionless,
    /// Not at all.
    Off,
}

/// What the rules may depend on besides the request.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) access: HostPolicy,
    pub(crate) legacy: LegacyMode,
}

/// The way a request takes. Closed: the server has one path for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// A request that states its own terms.
    Exchange,
    /// A notification that has nowhere to go: accepted, no effect.
    Ignored,
    /// `initialize`: opens a session.
    Open,
    /// A message of an open session.
    Session(SessionId),
    /// A message of the handshake era, served without a session.
    Sessionless(Revision),
    /// A stream for what the server says unasked.
    Stream(SessionId),
    /// The end of a session.
    End(SessionId),
}

/// What `MCP-ProtocolError-Version` says. Closed: a date is of one era or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named<'h> {
    Nothing,
    Modern,
    Legacy(Revision),
    Unknown(&'h str),
}

fn named_revision(headers: &HeaderMap) -> Result<Named<'_>, HeaderError> {
    let Some(date) = headers::single(headers, &headers::PROTOCOL_VERSION)? else {
        return Ok(Named::Nothing);
    };
    Ok(match Revision::from_str(date) {
        Ok(revision) if revision.has(Feature::Envelope) => Named::Modern,
        Ok(revision) => Named::Legacy(revision),
        Err(_) => Named::Unknown(date),
    })
}

/// The session a request names: none, one that may exist, or one that cannot.
fn named_session(headers: &HeaderMap) -> Result<Option<SessionId>, HttpRejection> {
    let named = headers::single(headers, &headers::SESSION_ID).map_err(HttpRejection::fault)?;
    named
        .map(|id| SessionId::parse(id).ok_or_else(HttpRejection::no_such_session))
        .transpose()
}
