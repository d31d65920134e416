//! A stateless request: its handler lives as long as its response.
//!
//! There is no task and no channel. A poll of the response polls the handler, the first time in
//! place. When the client disconnects, the response is dropped, and the handler with it. The request
//! has an engine only if its handler needs more than its answer.

use std::sync::{Arc, Weak};
use std::task::{Context as TaskContext, Poll};

use pintle_proto::{Event, IncomingRequest, SingleRequest, Ticket};
use pintle_runtime::{
    BoxFuture, Context, EngineHandle, Extensions, Principal, Service, SharedRequest, Shutdown, run,
};
use tokio::time::Instant;

use super::events::{MessageSource, OutgoingMessage, WORTH_WAITING};
use super::peers::Permit;
use super::token_expiry::end_of;

/// A running handler.
pub(super) type Handler = BoxFuture<'static, ()>;

/// The parts of a request besides its message.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestExtras {
    pub(super) principal: Option<Principal>,
    pub(super) extensions: Extensions,
}

/// Creates the handler of an admitted request.
pub(super) fn handler<S: Service>(
    service: &Arc<S>,
    outlet: Arc<dyn EngineHandle>,
    extras: RequestExtras,
    ticket: Ticket,
    incoming: Box<IncomingRequest>,
) -> Handler {
    let cx = Context::with(incoming, outlet, extras.principal, extras.extensions);
    Box::pin(run(Arc::clone(service), ticket, cx))
}

/// One request and its handler.
pub(super) struct Exchange {
    request: Arc<SharedRequest>,
    handler: Option<Handler>,
    listening: Option<Listening>,
    is_answered: bool,
    _permit: Permit,
}

/// The state of an exchange that ends with its endpoint or its authorization, not with a handler.
struct Listening {
    closing: BoxFuture<'static, ()>,
    is_closing: bool,
}

impl Exchange {
    /// Begins the handler of a request, if it has one.
    pub(super) fn begin<S: Service>(
        service: &Arc<S>,
        (request, handled): (SingleRequest, Option<(Ticket, Box<IncomingRequest>)>),
        extras: RequestExtras,
        permit: Permit,
    ) -> Self {
        let request = Arc::new(SharedRequest::new(request));
        let handler = handled.map(|(ticket, incoming)| {
            let outlet: Arc<dyn EngineHandle> = Arc::clone(&request) as _;
            handler(service, outlet, extras, ticket, incoming)
        });
        Self {
            request,
            handler,
            listening: None,
            is_answered: false,
            _permit: permit,
        }
    }

    /// Sends changes on the exchange until the endpoint or the authorization of its request ends.
    pub(super) fn listen<S: Service>(
        mut self,
        service: &Arc<S>,
        mut closed: Shutdown,
        until: Option<Instant>,
    ) -> Self {
        let outlet = Arc::downgrade(&self.request);
        service.attach(outlet as Weak<dyn EngineHandle>);
        let closing = Box::pin(async move {
            tokio::select! {
                biased;
                () = closed.begun() => {}
                () = end_of(until) => {}
            }
        });
        self.listening = Some(Listening {
            closing,
            is_closing: false,
        });
        self
    }

    fn next_message(&mut self) -> Option<OutgoingMessage> {
        let (is_cancelled, message) = self.request.drive(|request| {
            let mut is_cancelled = false;
            while let Some(event) = request.poll_event() {
                is_cancelled |= matches!(event, Event::Cancelled(_));
            }
            (is_cancelled, poll_output(request))
        });
        if is_cancelled {
            self.handler = None;
        }
        let message = message?;
        self.is_answered = message.verdict.is_some();
        Some(message)
    }

    fn poll_handler(&mut self, cx: &mut TaskContext<'_>) {
        if let Some(handler) = &mut self.handler
            && handler.as_mut().poll(cx).is_ready()
        {
            self.handler = None;
        }
    }

    fn poll_closing(&mut self, cx: &mut TaskContext<'_>) {
        if let Some(listening) = &mut self.listening
            && !listening.is_closing
            && listening.closing.as_mut().poll(cx).is_ready()
        {
            listening.is_closing = true;
            self.request.drive(|request| request.engine().end_listens());
        }
    }
}

/// The next notices as events, or the next message.
fn poll_output(request: &mut SingleRequest) -> Option<OutgoingMessage> {
    match request.poll_framed(WORTH_WAITING) {
        Some(events) => Some(events.into()),
        None => request.poll_transmit().map(Into::into),
    }
}

impl MessageSource for Exchange {
    fn poll_message(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<OutgoingMessage>> {
        if self.is_answered {
            return Poll::Ready(None);
        }
        if let Some(message) = self.next_message() {
            return Poll::Ready(Some(message));
        }
        self.poll_handler(cx);
        self.poll_closing(cx);
        loop {
            if let Some(message) = self.next_message() {
                return Poll::Ready(Some(message));
            }
            std::task::ready!(self.request.poll_ready(cx));
        }
    }
}

/// The request first: the handler reads there, while it is dropped, that its client has left.
impl Drop for Exchange {
    fn drop(&mut self) {
        self.request.drive(SingleRequest::close);
        self.handler = None;
    }
}
