//! Streams that a client resumes at another replica.
//!
//! Each stream has a log. The replica that a client asks reads the log after the last event of the client. It also
//! requests that the replica of the stream hands it over. The reply to a request continues where its handler runs, so
//! the log is followed. A stream for messages that belong to no request ends there, and continues here under another
//! name. The last event of its log has that name. If the replica of the stream is gone, this one writes the last event.

mod elsewhere;
mod followed;

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use pintle_model::jsonrpc::write_error;
use pintle_model::{Error, RequestId};
use pintle_runtime::BoxFuture;
use pintle_runtime::fleet::{
    Fleet, Recipient, ReplicaId, ReplicaMessage, ReplicaReply, StreamReader,
};

use super::events::OutgoingMessage;
use super::peers::Permit;
use super::reply::UNANSWERED;
use super::session::{Session, Stream};
use super::sessions::Sessions;
use crate::rules::event_id::EventId;
use crate::rules::session_id::SessionId;
use elsewhere::{Elsewhere, HandOver, Reply, messages};
use followed::{Followed, Rest};

/// The kind of the messages.
pub(super) const KIND: &str = "session-stream";
/// The number of streams that continue each other, and that one request reads.
const MAX_STREAMS: usize = 8;
const GONE: &str =
    "the replica that ran this request is gone; the effect of the request is unknown";

/// Hands streams over to other replicas.
pub(super) struct SessionStreams(pub(super) Weak<Sessions>);

impl Recipient for SessionStreams {
    fn receive(&self, _from: ReplicaId, message: ReplicaMessage) -> BoxFuture<'_, ReplicaReply> {
        let reply = message.read().ok().and_then(|asked| self.hand_over(&asked));
        Box::pin(async { reply.unwrap_or(ReplicaReply::NotFound) })
    }
}

impl SessionStreams {
    fn hand_over(&self, asked: &HandOver) -> Option<ReplicaReply> {
        let session = self.0.upgrade()?.part(SessionId::parse(&asked.session)?)?;
        let last = session.hand_over(EventId::parse(&asked.event)?, &asked.next)?;
        ReplicaReply::data(&Reply { last: last.last }).ok()
    }
}

/// Why a stream is not resumed.
pub(super) enum NotResumed {
    NoSuchEvent,
    StoreAway,
    Cancelled,
}

/// Resumes a stream, or the last one of those that continue it.
pub(super) async fn resume(
    fleet: &Fleet,
    session: Arc<Session>,
    mut after: EventId,
    permit: Permit,
    ttl: Duration,
) -> Result<Followed, NotResumed> {
    let mut missed = Vec::new();
    for _ in 0..MAX_STREAMS {
        if !session.is_elsewhere(after) {
            let stream = Stream::resume(session, after, permit);
            return Ok(Followed::here(
                missed,
                stream.ok_or(NotResumed::NoSuchEvent)?,
            ));
        }
        let mut reader = read(fleet, &session, after).await?;
        let ended = reader.last_event().map(|last| last.message.clone());
        if reader.request().is_some() {
            return follow_reply(fleet, session, after, reader, permit, ttl).await;
        }
        let Some(next) = ended else {
            let stream = Stream::open(Arc::clone(&session), permit);
            return follow_unsolicited(fleet, session, after, reader, (missed, stream), ttl).await;
        };
        missed.extend(messages(&mut reader, after));
        let next = std::str::from_utf8(&next).ok().and_then(EventId::parse);
        after = next.ok_or(NotResumed::NoSuchEvent)?;
    }
    Err(NotResumed::NoSuchEvent)
}

/// Reads the log of a stream after an event.
async fn read(
    fleet: &Fleet,
    session: &Session,
    after: EventId,
) -> Result<StreamReader, NotResumed> {
    let log = fleet.stream_log(session.id().bits(), after.tag, after.stream);
    let reader = log.reader(after.position).await;
    let reader = reader.map_err(|error| {
        tracing::warn!(%error, session = ?session.id(), "cannot read the log of a stream");
        NotResumed::StoreAway
    })?;
    reader.ok_or(NotResumed::NoSuchEvent)
}

/// Resumes the reply to a request. Its handler stays where it runs.
async fn follow_reply(
    fleet: &Fleet,
    session: Arc<Session>,
    after: EventId,
    reader: StreamReader,
    permit: Permit,
    ttl: Duration,
) -> Result<Followed, NotResumed> {
    let id = reader
        .request()
        .and_then(|id| serde_json::from_str(id).ok());
    let mut elsewhere = Elsewhere {
        fleet: fleet.clone(),
        session,
        after,
        reader,
        end: gone(id.as_ref()),
    };
    match elsewhere.reader.last_event() {
        Some(last) if last.message.is_empty() => return Err(NotResumed::Cancelled),
        Some(_) if elsewhere.is_beyond_end() => return Err(NotResumed::NoSuchEvent),
        Some(_) => {}
        None => elsewhere.take_over("", ttl).await?,
    }
    Ok(Followed::start(
        elsewhere,
        Vec::new(),
        Rest::Permit(permit),
        ttl,
    ))
}

/// Moves a stream for messages that belong to no request to this replica.
async fn follow_unsolicited(
    fleet: &Fleet,
    session: Arc<Session>,
    after: EventId,
    reader: StreamReader,
    (missed, stream): (Vec<OutgoingMessage>, Stream),
    ttl: Duration,
) -> Result<Followed, NotResumed> {
    let next = stream.name().map(|name| name.to_string());
    let next = next.unwrap_or_default();
    let mut elsewhere = Elsewhere {
        fleet: fleet.clone(),
        session,
        after,
        reader,
        end: Bytes::copy_from_slice(next.as_bytes()),
    };
    elsewhere.take_over(&next, ttl).await?;
    Ok(Followed::start(
        elsewhere,
        missed,
        Rest::Stream(stream),
        ttl,
    ))
}

/// Renders the error for a request whose replica is gone.
fn gone(id: Option<&RequestId>) -> Bytes {
    let mut text = Vec::new();
    write_error(&mut text, id, &Error::new(UNANSWERED, GONE));
    text.into()
}
