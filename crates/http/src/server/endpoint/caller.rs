//! The source of the messages of one request: an exchange or a post.

use std::task::{Context, Poll};

use pintle_runtime::Service;

use crate::rules::event_id::EventId;
use crate::server::events::{MessageSource, OutgoingMessage};
use crate::server::exchange::Exchange;
use crate::server::session::Post;

/// The source of an answer. Closed: a request is stateless, or belongs to a session.
pub(in crate::server) enum Caller<S: Service> {
    Exchange(Exchange),
    Post(Post<S>),
}

impl<S: Service> MessageSource for Caller<S> {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        match self {
            Self::Exchange(exchange) => exchange.poll_message(cx),
            Self::Post(post) => post.poll_message(cx),
        }
    }

    fn is_owed(&self) -> bool {
        match self {
            Self::Exchange(exchange) => exchange.is_owed(),
            Self::Post(post) => post.is_owed(),
        }
    }

    fn beginning(&mut self) -> Option<EventId> {
        match self {
            Self::Exchange(exchange) => exchange.beginning(),
            Self::Post(post) => post.beginning(),
        }
    }
}
