//! The rules of Streamable HTTP, as pure functions: they use no sockets, no clock and no state.
//!
//! The server applies the rules before it acts, and the client before it sends. Each file has the rules of
//! one thing: the allowed hosts ([`origin`]), the values of headers ([`headers`], [`param_headers`]), the
//! route of a message ([`classify`]), and the HTTP status of an error ([`status`]).

pub(crate) mod agreement;
pub(crate) mod cause;
pub(crate) mod classify;
pub(crate) mod event_id;
pub(crate) mod headers;
pub(crate) mod media;
pub(crate) mod number;
pub(crate) mod origin;
pub(crate) mod param_headers;
pub(crate) mod params_preview;
pub(crate) mod request_headers;
pub(crate) mod session_id;
pub(crate) mod status;
pub(crate) mod trusted_proxies;
