//! The end of an authorization that has a limited duration.

use std::future::{Future, pending};
use std::pin::Pin;
use std::task::{Context, Poll};

use http::request::Parts;
use pintle_runtime::AuthorizedUntil;
use tokio::time::{Instant, sleep_until};

use super::events::{MessageSource, OutgoingMessage};
use crate::rules::event_id::EventId;

/// Returns the end of the authorization of a request, or `None` if it has no end.
#[inline]
pub(super) fn authorized_until(parts: &Parts) -> Option<Instant> {
    let until = parts.extensions.get::<AuthorizedUntil>();
    until.map(|AuthorizedUntil(end)| Instant::from_std(*end))
}

/// Waits until that instant, or forever without one.
pub(super) async fn end_of(until: Option<Instant>) {
    match until {
        Some(end) => sleep_until(end).await,
        None => pending().await,
    }
}

/// Passes messages on until the authorization of the request ends. Later messages wait for a client
/// that resumes with a new token.
pub(super) struct UntilTokenExpiry<S> {
    source: Option<S>,
    end: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl<S: MessageSource> UntilTokenExpiry<S> {
    pub(super) fn new(source: S, until: Option<Instant>) -> Self {
        Self {
            source: Some(source),
            end: until.map(|end| Box::pin(sleep_until(end))),
        }
    }
}

impl<S: MessageSource> MessageSource for UntilTokenExpiry<S> {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        if let Some(end) = &mut self.end
            && end.as_mut().poll(cx).is_ready()
        {
            self.end = None;
            self.source = None;
        }
        match &mut self.source {
            Some(source) => source.poll_message(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_owed(&self) -> bool {
        self.source.as_ref().is_some_and(MessageSource::is_owed)
    }

    fn beginning(&mut self) -> Option<EventId> {
        self.source.as_mut()?.beginning()
    }
}
