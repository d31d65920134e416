//! A stream for what the server says unasked.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::Session;
use crate::server::events::{Said, Speaker};
use crate::server::streams::StreamPermit;

/// One open GET. The newest of a session hears everything; an older one stays as a spare.
pub(in crate::server) struct Stream {
    session: Arc<Session>,
    number: u64,
    _permit: StreamPermit,
}

impl Stream {
    /// Opens a stream on a session.
    pub(in crate::server) fn open(session: Arc<Session>, permit: StreamPermit) -> Self {
        let number = session.lock().lanes.open_stream();
        Self {
            session,
            number,
            _permit: permit,
        }
    }
}

impl Speaker for Stream {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        let mut state = self.session.lock();
        if state.is_over {
            return Poll::Ready(None);
        }
        state.lanes.poll_unasked(self.number, cx)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.session
            .change(|state| state.lanes.close_stream(self.number));
    }
}
