//! A stateless request: its engine and its handler live as long as its response.
//!
//! There is no task and no channel. A poll of the response polls the handler, the first time in
//! place. When the client disconnects, the response is dropped, and the handler with it.

use std::sync::{Arc, Weak};
use std::task::{Context as TaskContext, Poll};

use pintle_model::jsonrpc::Request;
use pintle_proto::{Connection, Event, IncomingRequest, Input, Ticket};
use pintle_runtime::{
    BoxFuture, Context, EngineHandle, Extensions, Principal, Service, SharedEngine, Shutdown, run,
};
use tokio::time::Instant;

use super::events::{MessageSource, OutgoingMessage};
use super::streams::StreamPermit;
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
    incoming: IncomingRequest,
) -> Handler {
    let cx = Context::with(incoming, outlet, extras.principal, extras.extensions);
    Box::pin(run(Arc::clone(service), ticket, cx))
}

/// One request, one engine.
pub(super) struct Exchange {
    conversation: Arc<SharedEngine>,
    handler: Option<Handler>,
    listening: Option<Listening>,
    is_answered: bool,
}

/// The state of an exchange that ends with its endpoint or its authorization, not with a handler.
struct Listening {
    closing: BoxFuture<'static, ()>,
    is_closing: bool,
    _permit: StreamPermit,
}

impl Exchange {
    /// Passes a request to a new engine.
    pub(super) fn begin<S: Service>(
        service: &Arc<S>,
        mut engine: Connection,
        request: Request<'_>,
        extras: RequestExtras,
    ) -> Self {
        engine.receive_request(request);
        let first = engine.poll_event();
        let conversation = Arc::new(SharedEngine::new(engine));
        let handler = match first {
            Some(Event::Request(ticket, incoming)) => {
                let outlet: Arc<dyn EngineHandle> = Arc::clone(&conversation) as _;
                Some(handler(service, outlet, extras, ticket, incoming))
            }
            _ => None,
        };
        Self {
            conversation,
            handler,
            listening: None,
            is_answered: false,
        }
    }

    /// Sends changes on the exchange until the endpoint or the authorization of its request ends.
    pub(super) fn listen<S: Service>(
        mut self,
        service: &Arc<S>,
        mut closed: Shutdown,
        permit: StreamPermit,
        until: Option<Instant>,
    ) -> Self {
        let outlet = Arc::downgrade(&self.conversation);
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
            _permit: permit,
        });
        self
    }

    fn next_message(&mut self) -> Option<OutgoingMessage> {
        while let Some(event) = self.conversation.poll_event() {
            if let Event::Cancelled(_) = event {
                self.handler = None;
            }
        }
        let message = OutgoingMessage::from(self.conversation.poll_transmit()?);
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
            self.conversation.drive(Connection::end_listens);
        }
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
            std::task::ready!(self.conversation.poll_ready(cx));
        }
    }
}

/// The engine first: the handler reads there, while it is dropped, that its client has left.
impl Drop for Exchange {
    fn drop(&mut self) {
        let now = Instant::now().into_std();
        self.conversation
            .drive(|engine| engine.handle_input(now, Input::Closed));
        self.handler = None;
    }
}
