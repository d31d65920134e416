//! The stream of another replica: requested from it, followed in its log, and ended if the replica is gone.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_proto::{AnswerStatus, Frame};
use pintle_runtime::fleet::{
    DeliveryError, Fleet, Presence, ReplicaMessage, ReplicaReply, StreamEvent, StreamReader,
};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::{KIND, NotResumed};
use crate::rules::event_id::EventId;
use crate::server::events::OutgoingMessage;
use crate::server::session::Session;

/// The pause after a reading that failed.
const RETRY: Duration = Duration::from_secs(1);
/// The pause between two requests to the replica of a silent stream.
const REPEAT: Duration = Duration::from_secs(30);

/// A request to hand a stream over.
#[derive(Serialize, Deserialize)]
pub(super) struct HandOver {
    /// 32 hexadecimal digits.
    pub(super) session: String,
    /// The id of an event of the stream.
    pub(super) event: String,
    /// The stream that continues it, if it belongs to no request.
    pub(super) next: String,
}

/// The reply. `last` is the number of the last message that left; without it the log is not complete.
#[derive(Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) last: Option<u64>,
}

/// The stream of another replica, as its client resumes it.
pub(super) struct Elsewhere {
    pub(super) fleet: Fleet,
    pub(super) session: Arc<Session>,
    /// The last event of the client.
    pub(super) after: EventId,
    pub(super) reader: StreamReader,
    /// The last event, if this replica must write it.
    pub(super) end: Bytes,
}

/// How the replica of a stream replied.
enum HandedOver {
    /// The log is followed.
    Followed,
    /// The stream does not exist there, or the replica is gone.
    Gone,
    /// The client cannot resume the stream.
    Refused,
}

impl Elsewhere {
    /// Returns true if the writer has ended the stream before the event that the client names.
    pub(super) fn is_beyond_end(&self) -> bool {
        !self.reader.is_taken_over() && self.after.position > self.reader.last()
    }

    /// Requests the stream from its replica, and ends it if that is gone.
    pub(super) async fn take_over(&mut self, next: &str, ttl: Duration) -> Result<(), NotResumed> {
        match self.request(next).await {
            HandedOver::Followed => Ok(()),
            HandedOver::Refused => Err(NotResumed::NoSuchEvent),
            HandedOver::Gone => {
                self.end(ttl).await;
                Ok(())
            }
        }
    }

    // Not `&self`, because a reader is not `Sync`.
    async fn request(&mut self, next: &str) -> HandedOver {
        let asked = HandOver {
            session: self.session.id().to_string(),
            event: self.after.to_string(),
            next: next.to_owned(),
        };
        let Ok(message) = ReplicaMessage::new(KIND, &asked) else {
            return HandedOver::Followed;
        };
        match self.fleet.request(self.reader.writer(), message).await {
            Ok(ReplicaReply::NotFound) | Err(DeliveryError::Absent) => HandedOver::Gone,
            Ok(reply) => match reply.read::<Reply>() {
                Some(Reply { last: Some(last) }) if self.after.position <= last => {
                    HandedOver::Followed
                }
                _ => HandedOver::Refused,
            },
            // Presence decides later.
            Err(_) => HandedOver::Followed,
        }
    }

    /// Ends the stream, unless the log has another end meanwhile. The follower tries again after an error.
    async fn end(&mut self, ttl: Duration) {
        if let Err(error) = self.reader.end(self.end.clone(), ttl).await {
            tracing::warn!(%error, session = ?self.session.id(), "cannot end a stream of another replica");
        }
    }

    async fn is_writer_absent(&mut self) -> bool {
        let writer = self.reader.writer();
        !self.fleet.replicas().contains(&writer)
            && matches!(self.fleet.presence(writer).await, Ok(Presence::Absent))
    }

    /// Sends the messages of the log to the connection. Returns true if the stream has ended as this replica knows.
    pub(super) async fn follow(
        mut self,
        sender: mpsc::Sender<OutgoingMessage>,
        ttl: Duration,
    ) -> bool {
        let mut asked = Instant::now();
        loop {
            let of = self.after;
            for message in messages(&mut self.reader, of) {
                if sender.send(message).await.is_err() {
                    return false;
                }
                asked = Instant::now();
            }
            if let Some(last) = self.reader.last_event() {
                return last.message == self.end;
            }
            if self.session.is_over() {
                return false;
            }
            let read = tokio::select! {
                () = sender.closed() => return false,
                read = self.read_on(&mut asked, ttl) => read,
            };
            if read.is_break() {
                return false;
            }
        }
    }

    /// Reads on. Ends the stream if its replica is gone.
    async fn read_on(&mut self, asked: &mut Instant, ttl: Duration) -> ControlFlow<()> {
        let before = self.reader.last();
        match self.reader.read_on().await {
            Ok(true) => {}
            Ok(false) => return ControlFlow::Break(()),
            Err(_) => sleep(RETRY).await,
        }
        if self.reader.last() != before || self.reader.last_event().is_some() {
            return ControlFlow::Continue(());
        }
        let is_gone = self.is_writer_absent().await || {
            let is_due = asked.elapsed() >= REPEAT;
            if is_due {
                *asked = Instant::now();
            }
            let end = self.end.clone();
            let next = std::str::from_utf8(&end).unwrap_or_default();
            is_due && matches!(self.request(next).await, HandedOver::Gone)
        };
        if is_gone {
            self.end(ttl).await;
        }
        ControlFlow::Continue(())
    }
}

/// Removes the events that a client lacks, and returns their messages. The last event of a stream without a request has
/// no message.
pub(super) fn messages(
    reader: &mut StreamReader,
    of: EventId,
) -> impl Iterator<Item = OutgoingMessage> + use<'_> {
    let is_reply = reader.request().is_some();
    let message = move |event: StreamEvent| {
        let has_message = !event.message.is_empty() && (is_reply || !event.is_last);
        has_message.then(|| OutgoingMessage {
            frame: Frame::around(Vec::new(), event.message, b""),
            is_framed: false,
            verdict: event.is_last.then_some(AnswerStatus::Result),
            id: Some(EventId {
                position: event.number,
                ..of
            }),
        })
    };
    std::iter::from_fn(|| reader.take()).filter_map(message)
}
