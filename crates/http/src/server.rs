//! The server side of the binding.

mod session_id;

pub(crate) use session_id::SessionId;
