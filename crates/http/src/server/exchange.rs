//! A request that stands alone: its engine and its handler live as long as its response.
//!
//! There is no task and no channel. The handler is polled by whoever polls the response, first
//! in place; when the client goes away the response is dropped, and the handler with it.

use std::sync::{Arc, Weak};
use std::task::{Context as TaskContext, Poll};

use pintle_model::jsonrpc::Request;
use pintle_proto::{Connection, Event, IncomingRequest, Input, ReadEnvelope, Ticket};
use pintle_runtime::{
    BoxFuture, Context, EngineHandle, Extensions, Principal, Service, SharedEngine, Shutdown, run,
};
use tokio::time::Instant;

use super::events::{MessageSource, OutgoingMessage};
use super::streams::StreamPermit;
use super::token_expiry::end_of;

/// A handler on its way to its answer.
pub(super) type Handler = BoxFuture<'static, ()>;

/// What a request brings along besides its message.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestExtras {
    pub(super) principal: Option<Principal>,
    pub(super) extensions: Extensions,
}

/// Makes the handler of a request that was admitted.
pub(super) fn handler<S: Service>(
    service: &Arc<S>,
    outlet: Arc<dyn EngineHandle>,
    luggage: RequestExtras,
    ticket: Ticket,
    incoming: IncomingRequest,
) -> Handler {
    let cx = Context::with(
        &incoming,
        Arc::clone(&outlet),
        luggage.principal,
        luggage.extensions,
    );
    Box::pin(run(Arc::clone(service), outlet, ticket, incoming, cx))
}

/// One request, one engine.
pub(super) struct Exchange {
    conversation: Arc<SharedEngine>,
    handler: Option<Handler>,
    listening: Option<Listening>,
    is_answered: bool,
}

/// What an exchange has that is answered when the endpoint ends, not when a handler does.
struct Listening {
    closing: BoxFuture<'static, ()>,
    is_closing: bool,
    _permit: StreamPermit,
}

impl Exchange {
    /// Hands a request to an engine of its own.
    pub(super) fn begin<S: Service>(
        service: &Arc<S>,
        mut engine: Connection,
        request: Request<'_>,
        envelope: ReadEnvelope<'_>,
        luggage: RequestExtras,
    ) -> Self {
        engine.receive_read(request, envelope);
        let first = engine.poll_event();
        let conversation = Arc::new(SharedEngine::new(engine));
        let handler = match first {
            Some(Event::Request(ticket, incoming)) => {
                let outlet: Arc<dyn EngineHandle> = Arc::clone(&conversation) as _;
                Some(handler(service, outlet, luggage, ticket, incoming))
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

    /// Lets the exchange hear of changes until the endpoint ends, or until its request is authorized no
    /// more.
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
                // Either is the end.
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

    fn next_said(&mut self) -> Option<OutgoingMessage> {
        while let Some(event) = self.conversation.poll_event() {
            if let Event::Cancelled(_) = event {
                self.handler = None;
            }
        }
        let said = OutgoingMessage::from(self.conversation.poll_transmit()?);
        self.is_answered = said.verdict.is_some();
        Some(said)
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
        if let Some(said) = self.next_said() {
            return Poll::Ready(Some(said));
        }
        self.poll_handler(cx);
        self.poll_closing(cx);
        loop {
            if let Some(said) = self.next_said() {
                return Poll::Ready(Some(said));
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
