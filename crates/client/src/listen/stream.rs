//! A subscription: the changes as a stream, and the end of the listening.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use pintle_model::SubscriptionFilter;
use pintle_proto::{Change, PeerCallError};
use tokio::runtime::Handle;

use super::legacy::leave;
use crate::change_queue::{ChangeQueue, Ended};
use crate::conversation::Conversation;

/// A subscription: a stream of changes. Dropping it ends the subscription at the server.
///
/// It ends with its conversation. Then subscribe again, and reload the data that may have changed
/// meanwhile.
#[must_use = "a subscription that is dropped ends"]
pub struct Subscription {
    session: Arc<Conversation>,
    key: u64,
    change_queue: Arc<ChangeQueue>,
    granted: SubscriptionFilter,
    ended: Option<Ended>,
    /// The runtime that sends the unsubscription.
    runtime: Handle,
}

impl Subscription {
    /// Creates a subscription to which nothing is granted yet.
    pub(super) fn new(
        session: Arc<Conversation>,
        key: u64,
        change_queue: Arc<ChangeQueue>,
    ) -> Self {
        Self {
            session,
            key,
            change_queue,
            granted: SubscriptionFilter::new(),
            ended: None,
            runtime: Handle::current(),
        }
    }

    pub(super) fn with_granted(mut self, granted: SubscriptionFilter) -> Self {
        self.granted = granted;
        self
    }
}

impl Subscription {
    /// Returns the changes that the server reports: all requested ones, or fewer.
    pub fn granted(&self) -> &SubscriptionFilter {
        &self.granted
    }

    /// Waits for the next change; none when the subscription has ended.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<Change> {
        poll_fn(|task| self.poll_change(task)).await
    }

    /// Returns the number of changes dropped since the last call, because the queue was full.
    pub fn missed(&self) -> u64 {
        self.change_queue.take_missed()
    }

    /// Returns the error that ended the subscription; none while it is open, or if the server ended
    /// it regularly.
    pub fn failure(&self) -> Option<&PeerCallError> {
        match &self.ended {
            Some(Ended::Failed(failure)) => Some(failure),
            _ => None,
        }
    }

    fn poll_change(&mut self, task: &Context<'_>) -> Poll<Option<Change>> {
        if self.ended.is_some() {
            return Poll::Ready(None);
        }
        self.change_queue.poll_next(task).map(|next| match next {
            Ok(change) => Some(change),
            Err(ended) => {
                self.ended = Some(ended);
                None
            }
        })
    }
}

impl Stream for Subscription {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Change>> {
        self.poll_change(task)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(listener) = self.session.dispatcher.remove(self.key) else {
            return;
        };
        if let Some(listen) = listener.listen {
            let reason = Some("nobody listens any more".to_owned());
            return self
                .session
                .peer
                .with_engine_mut(|engine| engine.cancel_call(listen, reason));
        }
        let uris = listener.filter.resource_subscriptions.unwrap_or_default();
        for uri in uris {
            let session = &self.session;
            if !session.dispatcher.wants_resource(&uri) && session.turns.begin_leaving(&uri) {
                self.runtime.spawn(leave(Arc::clone(session), uri));
            }
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("granted", &self.granted)
            .finish_non_exhaustive()
    }
}
