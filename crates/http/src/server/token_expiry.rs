//! The end of what was authorized for a while.

use std::future::{Future, pending};
use std::pin::Pin;
use std::task::{Context, Poll};

use http::request::Parts;
use pintle_runtime::AuthorizedUntil;
use tokio::time::{Instant, sleep_until};

use super::events::{MessageSource, OutgoingMessage};
use crate::rules::event_id::EventId;

/// Until when a request is authorized; none for as long as it takes.
#[inline]
pub(super) fn authorized_until(parts: &Parts) -> Option<Instant> {
    let until = parts.extensions.get::<AuthorizedUntil>();
    until.map(|AuthorizedUntil(end)| Instant::from_std(*end))
}

/// Is ready at that moment; never without one.
pub(super) async fn end_of(until: Option<Instant>) {
    match until {
        Some(end) => sleep_until(end).await,
        None => pending().await,
    }
}

/// Speaks until its request is authorized no more. What is said then is for whoever comes back with
/// a new token.
pub(super) struct TokenExpiry<S> {
    speaker: Option<S>,
    end: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl<S: MessageSource> TokenExpiry<S> {
    pub(super) fn new(speaker: S, until: Option<Instant>) -> Self {
        Self {
            speaker: Some(speaker),
            end: until.map(|end| Box::pin(sleep_until(end))),
        }
    }
}

impl<S: MessageSource> MessageSource for TokenExpiry<S> {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        if let Some(end) = &mut self.end
            && end.as_mut().poll(cx).is_ready()
        {
            self.end = None;
            self.speaker = None;
        }
        match &mut self.speaker {
            Some(speaker) => speaker.poll_message(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_owed(&self) -> bool {
        self.speaker.as_ref().is_some_and(MessageSource::is_owed)
    }

    fn beginning(&mut self) -> Option<EventId> {
        self.speaker.as_mut()?.beginning()
    }
}
