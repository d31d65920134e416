//! What the binding decides, as pure functions: no sockets, no clock, no state.
//!
//! The server applies them before it acts, and the client before it sends. Each file decides one
//! thing: the allowed hosts ([`origin`]), the values of headers ([`headers`], [`param_headers`]), the
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
