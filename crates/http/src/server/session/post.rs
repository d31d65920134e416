//! A request that was posted to a session, and the reply to it.
//!
//! The handler is polled by whoever polls the response. When the client goes away this is not a
//! cancellation: the handler becomes a task of its own and goes on.

use std::sync::Arc;
use std::task::{Context, Poll};

use pintle_proto::{Incoming, RequestKey, Ticket};
use pintle_runtime::{Outlet, Service};
use tokio::sync::oneshot;

use super::Session;
use super::lanes::Next;
use crate::server::events::{Said, Speaker};
use crate::server::exchange::{Handler, Luggage, handler};

/// The reader of one reply.
pub(in crate::server) struct Post<S: Service> {
    session: Arc<Session>,
    service: Arc<S>,
    luggage: Luggage,
    key: RequestKey,
    handler: Option<Handler>,
    is_over: bool,
}

impl<S: Service> Post<S> {
    /// Reads the reply to a request that the session has taken in.
    pub(in crate::server) fn new(
        session: Arc<Session>,
        service: Arc<S>,
        luggage: Luggage,
        key: RequestKey,
    ) -> Self {
        Self {
            session,
            service,
            luggage,
            key,
            handler: None,
            is_over: false,
        }
    }

    fn start(&mut self, ticket: Ticket, incoming: Incoming) {
        let outlet: Arc<dyn Outlet> = Arc::clone(&self.session) as _;
        let luggage = std::mem::take(&mut self.luggage);
        self.handler = Some(handler(&self.service, outlet, luggage, ticket, incoming));
    }

    /// What is there already, or comes of the handler now.
    fn next_said(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        loop {
            let next = self.session.lock().lanes.next_reply(self.key);
            if let Some(next) = next {
                if let Poll::Ready(said) = self.act(next) {
                    return Poll::Ready(said);
                }
                continue;
            }
            self.poll_handler(cx);
            let next = self.session.lock().lanes.poll_reply(self.key, cx);
            if let Poll::Ready(said) = self.act(std::task::ready!(next)) {
                return Poll::Ready(said);
            }
        }
    }

    fn act(&mut self, next: Next) -> Poll<Option<Said>> {
        match next {
            Next::Start(ticket, incoming) => {
                self.start(ticket, incoming);
                Poll::Pending
            }
            Next::Say(said) => {
                self.is_over = said.verdict.is_some();
                Poll::Ready(Some(said))
            }
            Next::Stop => {
                self.is_over = true;
                self.handler = None;
                Poll::Ready(None)
            }
        }
    }

    fn poll_handler(&mut self, cx: &mut Context<'_>) {
        if let Some(handler) = &mut self.handler
            && handler.as_mut().poll(cx).is_ready()
        {
            self.handler = None;
        }
    }

    /// Lets the handler go on without a reader; false if there is none to go on.
    fn detach(&mut self) -> bool {
        let start = self.session.lock().lanes.take_start(self.key);
        if let Some((ticket, incoming)) = start {
            self.start(ticket, incoming);
        }
        let (Some(handler), Ok(runtime)) =
            (self.handler.take(), tokio::runtime::Handle::try_current())
        else {
            return false;
        };
        if !self.session.lock().lanes.is_wanted(self.key) {
            return false;
        }
        // The handler waits until its lane knows of it. It is spawned outside of the lock: a runtime
        // that is ending drops it right here, and what it drops may speak to the session.
        let (go, may_go) = oneshot::channel();
        let task = runtime.spawn(async move {
            if may_go.await.is_ok() {
                handler.await;
            }
        });
        let is_wanted = self
            .session
            .lock()
            .lanes
            .detach(self.key, task.abort_handle());
        is_wanted && go.send(()).is_ok()
    }
}

impl<S: Service> Speaker for Post<S> {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        self.next_said(cx)
    }

    fn is_owed(&self) -> bool {
        self.session.lock().is_over
    }
}

impl<S: Service> Drop for Post<S> {
    fn drop(&mut self) {
        if self.is_over || !self.detach() {
            self.session.change(|state| {
                state.engine.cancel_request(self.key);
                state.lanes.close(self.key);
            });
        }
    }
}
