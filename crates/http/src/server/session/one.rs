//! A session of one stream, as in 2024-11-05: the stream carries every message of the server.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pintle_proto::{IncomingNotice, IncomingRequest, Ticket};
use pintle_runtime::{EngineHandle, Service};
use tokio::runtime::Handle;

use super::Session;
use crate::server::exchange::{RequestExtras, handler};

/// Whether a text may contain requests. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Asks {
    Something,
    Nothing,
}

/// The result of a delivery.
pub(in crate::server) enum TextDelivery {
    /// The engine accepted the text. These requests may run, and the service handles these notices.
    Accepted(Vec<(Ticket, Box<IncomingRequest>)>, Vec<IncomingNotice>),
    /// Too many requests are in flight, or too many messages wait for the reader.
    Crowded,
    /// The session has ended.
    Over,
}

impl Session {
    /// Passes a message or a batch to the engine. Requests are rejected at the limits. Cancellations
    /// and answers are always accepted, because they make room.
    pub(in crate::server) fn deliver_text(
        &self,
        now: Instant,
        text: &[u8],
        asks: Asks,
    ) -> TextDelivery {
        self.change(|state| {
            state.last_use = now;
            if state.is_over {
                return TextDelivery::Over;
            }
            let has_room =
                !state.engine.is_at_request_limit() && state.lanes.has_room(&self.bounds);
            if asks == Asks::Something && !has_room {
                return TextDelivery::Crowded;
            }
            state.engine.handle_text(now, text);
            state.collect_output(&self.bounds);
            let notified = std::mem::take(&mut state.notified);
            TextDelivery::Accepted(state.lanes.take_starts(), notified)
        })
    }

    /// Runs a request: polls it once in place, then moves it to a task.
    pub(in crate::server) fn run<S: Service>(
        self: &Arc<Self>,
        service: &Arc<S>,
        extras: RequestExtras,
        (ticket, incoming): (Ticket, Box<IncomingRequest>),
    ) {
        let key = incoming.key;
        let outlet: Arc<dyn EngineHandle> = Arc::clone(self) as _;
        let mut handler = handler(service, outlet, extras, ticket, incoming);
        let first = handler
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if let (Poll::Pending, Ok(runtime)) = (first, Handle::try_current()) {
            self.detach(&runtime, key, 0, handler);
        }
    }
}

#[cfg(test)]
mod tests {
    use pintle_model::{Implementation, ServerCapabilities};
    use pintle_proto::{Connection, ServerProfile};

    use crate::HttpOptions;
    use crate::server::peers::Peer;
    use crate::server::session::StreamLayout;
    use crate::server::sessions::Sessions;

    use super::*;

    const OPENING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
        "protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    const CONFIRMATION: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    const CANCELLATION: &[u8] =
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;

    fn session(now: Instant) -> Arc<Session> {
        let options = HttpOptions::default();
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        let profile = ServerProfile::new(Implementation::new("test", "1"), capabilities);
        let limits = Arc::clone(&options.conversation_limits);
        let engine = Connection::session(Arc::new(profile), limits, now);
        let sessions = Arc::new(Sessions::new(&options));
        let session = sessions.open(engine, StreamLayout::OneStream, None, &Peer::Unknown, now);
        session.expect("room")
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_cancelled_before_it_is_a_task_leaves_no_reply() {
        let now = Instant::now();
        let session = session(now);
        session.deliver_text(now, OPENING, Asks::Something);
        session.deliver_text(now, CONFIRMATION, Asks::Nothing);
        let delivery = session.deliver_text(now, CALL, Asks::Something);
        assert!(matches!(delivery, TextDelivery::Accepted(starts, _) if starts.len() == 1));
        assert!(!session.lock().lanes.is_unused());
        session.deliver_text(now, CANCELLATION, Asks::Nothing);
        assert!(session.lock().lanes.is_unused());
    }
}
