//! What the binding decides, as pure functions: no sockets, no clock, no state.
//!
//! The server asks these before it does anything; the client asks the same ones before it
//! sends. Each file is one question: who may speak ([`origin`]), what the headers say
//! ([`headers`], [`mirror`]), which path a message takes ([`classify`]), and which HTTP
//! status an error has ([`status`]).

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
pub(crate) mod session_id;
pub(crate) mod status;
