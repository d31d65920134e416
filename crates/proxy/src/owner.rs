//! The client that something stored belongs to.

use std::sync::Arc;

use pintle::runtime::Context;

/// The client that something stored belongs to: a principal, or a session without one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Principal(String),
    /// A session, by the address of its handle.
    Session(usize),
    /// Clients without a session and without authorization: only an id protects.
    Anyone,
}

impl Owner {
    pub(crate) fn of(cx: &Context) -> Self {
        if let Some(principal) = cx.principal() {
            return Self::Principal(principal.id().to_owned());
        }
        let handle = cx.engine_handle();
        match handle.is_session() {
            true => Self::Session(Arc::as_ptr(&handle).cast::<()>() as usize),
            false => Self::Anyone,
        }
    }
}
