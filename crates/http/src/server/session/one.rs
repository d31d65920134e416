//! A session that is one stream, as in 2024-11-05: whatever is posted, everything is said there.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pintle_proto::{IncomingNotice, IncomingRequest, Ticket};
use pintle_runtime::{EngineHandle, Service};
use tokio::runtime::Handle;

use super::Session;
use crate::server::exchange::{RequestExtras, handler};

/// Whether a text may ask for something. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Asks {
    Something,
    Nothing,
}

/// What became of a text.
pub(in crate::server) enum Heard {
    /// It was taken in: these requests may run, and the service hears of these.
    Accepted(Vec<(Ticket, IncomingRequest)>, Vec<IncomingNotice>),
    /// Too many requests are in flight, or too much waits to be read.
    Crowded,
    /// The session has ended meanwhile.
    Over,
}

impl Session {
    /// Hands a message or a batch to the engine. What asks for something is refused at the limits; a
    /// cancellation or an answer makes room and is always heard.
    pub(in crate::server) fn hear(&self, now: Instant, text: &[u8], asks: Asks) -> Heard {
        self.change(|state| {
            state.last_use = now;
            if state.is_over {
                return Heard::Over;
            }
            let has_room =
                !state.engine.is_at_request_limit() && state.lanes.has_room(&self.bounds);
            if asks == Asks::Something && !has_room {
                return Heard::Crowded;
            }
            state.engine.handle_text(now, text);
            state.settle(&self.bounds);
            let notified = std::mem::take(&mut state.notified);
            Heard::Accepted(state.lanes.take_starts(), notified)
        })
    }

    /// Runs a request, first in place, then by itself.
    pub(in crate::server) fn run<S: Service>(
        self: &Arc<Self>,
        service: &Arc<S>,
        luggage: RequestExtras,
        (ticket, incoming): (Ticket, IncomingRequest),
    ) {
        let key = incoming.key;
        let outlet: Arc<dyn EngineHandle> = Arc::clone(self) as _;
        let mut handler = handler(service, outlet, luggage, ticket, incoming);
        let first = handler
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if let (Poll::Pending, Ok(runtime)) = (first, Handle::try_current()) {
            self.detach(&runtime, key, 0, handler);
        }
    }
}
