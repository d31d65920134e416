//! The inbox of a replica: messages of other replicas, and replies to its own.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use pintle_store::{Retention, StoreError};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{debug, warn};

use super::background::{Background, reason};
use super::envelope::{Content, Envelope};
use super::event::FleetEvent;
use super::follow::LogFollower;
use super::layout;
use super::message::{DeliveryError, ReplicaMessage, ReplicaReply};
use super::message_numbers::MessageNumbers;
use super::replica_id::ReplicaId;
use super::shared::Shared;
use crate::future::BoxFuture;

impl Shared {
    /// Passes a message to its recipient in this replica.
    pub(super) async fn receive(&self, from: ReplicaId, message: ReplicaMessage) -> ReplicaReply {
        let Some(recipient) = self.mail.recipient(message.kind()) else {
            return ReplicaReply::NotFound;
        };
        let received = recipient.receive(from, message);
        match timeout(self.options.receive_timeout, received).await {
            Ok(reply) => reply,
            Err(_) => {
                warn!(%from, "a message of another replica was dropped; it took too long");
                ReplicaReply::NotFound
            }
        }
    }

    /// Appends a message to the inbox of another replica.
    pub(super) async fn send(
        &self,
        to: ReplicaId,
        message: ReplicaMessage,
    ) -> Result<(), DeliveryError> {
        let number = self.mail.next_number();
        let sent = self.deliver(to, number, Content::Message(message));
        sent.await.map_err(DeliveryError::Store)
    }

    /// As [`Self::send`], and waits for the reply.
    pub(super) async fn request(
        &self,
        to: ReplicaId,
        message: ReplicaMessage,
    ) -> Result<ReplicaReply, DeliveryError> {
        let (number, limit) = (self.mail.next_number(), self.options.max_requests);
        let mut request = self.mail.requests.add(number, to, limit)?;
        self.mail.open();
        let replied = async {
            let sent = self.deliver(to, number, Content::Request(message));
            sent.await.map_err(DeliveryError::Store)?;
            (&mut request.reply)
                .await
                .map_err(|_| DeliveryError::TimedOut)
        };
        match timeout(self.options.reply_timeout, replied).await {
            Ok(replied) => replied,
            Err(_) => Err(DeliveryError::TimedOut),
        }
    }

    /// Appends twice if the first append failed, so the message may arrive twice.
    async fn deliver(
        &self,
        to: ReplicaId,
        number: u64,
        content: Content,
    ) -> Result<(), StoreError> {
        let from = self.replica;
        let event = Envelope {
            from,
            number,
            content,
        }
        .encode();
        let first = self.append_to_inbox(to, event.clone()).await;
        match first {
            Err(error) if error.is_retryable() => self.append_to_inbox(to, event).await,
            first => first,
        }
    }

    async fn append_to_inbox(&self, to: ReplicaId, event: Bytes) -> Result<(), StoreError> {
        let (key, ttl) = (layout::inbox_key(to), self.options.inbox_ttl);
        let retention = Retention {
            max_events: self.options.max_inbox_messages,
            max_bytes: self.options.max_inbox_bytes,
        };
        self.operations()
            .append(&key, &[event], retention, ttl)
            .await
    }

    /// Receives one message, and replies if it is a request.
    async fn answer(self: Arc<Self>, envelope: Envelope) {
        let (from, to) = (envelope.from, envelope.number);
        let reply = match envelope.content {
            Content::Message(message) => return drop(self.receive(from, message).await),
            Content::Request(message) => self.receive(from, message).await,
            Content::Unknown { is_request: true } => ReplicaReply::NotFound,
            Content::Unknown { is_request: false } | Content::Reply { .. } => return,
        };
        let number = self.mail.next_number();
        let replied = self.deliver(from, number, Content::Reply { to, reply });
        if let Err(error) = replied.await {
            debug!(%from, error = %reason(&error), "a reply cannot be sent");
        }
    }
}

impl Background {
    /// Reads the inbox from the moment at which this replica needs one.
    pub(super) async fn receive_messages(&self) {
        let shared = &self.shared;
        if shared
            .mail
            .is_open
            .subscribe()
            .wait_for(|is| *is)
            .await
            .is_err()
        {
            return pending().await;
        }
        let mut numbers = MessageNumbers::new(shared.options.max_message_numbers);
        let mut running = JoinSet::new();
        let mut follower = LogFollower::inbox(shared);
        loop {
            let batch = follower.next().await;
            if batch.is_lost {
                self.report([FleetEvent::MessagesLost]);
            }
            for event in batch.events {
                match Envelope::decode(&event.value) {
                    Some(envelope) => self.accept(envelope, &mut numbers, &mut running).await,
                    None => warn!("the inbox of the replica has a damaged message"),
                }
            }
        }
    }

    async fn accept(
        &self,
        envelope: Envelope,
        numbers: &mut MessageNumbers,
        running: &mut JoinSet<()>,
    ) {
        if let Content::Reply { to, reply } = envelope.content {
            return self.shared.mail.requests.settle(envelope.from, to, reply);
        }
        if !numbers.add(envelope.from, envelope.number) {
            return;
        }
        while running.try_join_next().is_some() {}
        while running.len() >= self.shared.options.max_received_messages {
            running.join_next().await;
        }
        let mut answer: BoxFuture<'static, ()> =
            Box::pin(Arc::clone(&self.shared).answer(envelope));
        // The first poll is here, so recipients begin in the order of the messages.
        if poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx)))
            .await
            .is_pending()
        {
            running.spawn(answer);
        }
    }
}
