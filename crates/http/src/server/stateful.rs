//! The ways of sessions: open one, speak to it, listen to it, end it.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use pintle_model::Error;
use pintle_model::jsonrpc::Message;
use pintle_model::method::{Initialize, Method};
use pintle_proto::{AnswerStatus, Connection};
use pintle_runtime::{BoxFuture, Principal, Service};
use tokio::time::Instant;

use super::endpoint::refuse::stream_cause;
use super::endpoint::{Caller, Endpoint, EndpointResponse, PostResult, extras, peer_identity};
use super::events::{EventStream, OutgoingMessage};
use super::peers::{Peer, Permit, Resource, Sender};
use super::reply::{self, Era};
use super::session::{Delivered, Post, ReplyFormat, Session, Stream, StreamLayout};
use super::session_streams::{self, NotResumed};
use super::token_expiry::{UntilTokenExpiry, authorized_until};
use crate::rules::cause;
use crate::rules::classify::HttpRejection;
use crate::rules::event_id::EventId;
use crate::rules::headers;
use crate::rules::media::AcceptedTypes;
use crate::rules::session_id::SessionId;

impl<S: Service> Endpoint<S> {
    /// Shakes hands; only a handshake that succeeds leaves a session behind.
    pub(super) fn open_session(
        &self,
        parts: &Parts,
        peer: &Peer,
        message: Message<'_>,
    ) -> EndpointResponse {
        let now = Instant::now().into_std();
        let limits = Arc::clone(&self.options.conversation_limits);
        let mut engine = Connection::session(self.service.profile(), limits, now)
            .with_peer(peer_identity(parts));
        engine.receive(now, message);
        let Some(message) = engine.poll_transmit().map(OutgoingMessage::from) else {
            return reply::bare(StatusCode::INTERNAL_SERVER_ERROR);
        };
        let succeeded = message.verdict == Some(AnswerStatus::Result);
        let mut answer = reply::answer(message, Era::Legacy);
        if !succeeded {
            return answer;
        }
        match self.session_of(engine, parts, peer) {
            Ok(id) => {
                answer.headers_mut().insert(headers::SESSION_ID, id);
                answer
            }
            Err(error) => self.unopened(error),
        }
    }

    pub(super) fn in_session(
        &self,
        id: SessionId,
        parts: Arc<Parts>,
        sender: &Sender,
        message: Message<'_>,
        forms: AcceptedTypes,
    ) -> PostResult<S> {
        let form = match forms {
            AcceptedTypes::Both => ReplyFormat::Own,
            AcceptedTypes::Json | AcceptedTypes::Neither => ReplyFormat::Single,
        };
        let request = match &message {
            Message::Request(request) => Some(request.id.clone()),
            Message::Notification(_) | Message::Response(_) => None,
        };
        let now = Instant::now().into_std();
        let Some(session) = self.find_session(id, &parts, now) else {
            return self
                .reject(HttpRejection::no_such_session().with_id(request))
                .into();
        };
        if matches!(&message, Message::Request(request) if request.method == Initialize::NAME) {
            let error = Error::invalid_request("the session is initialized already");
            return self
                .reject(HttpRejection::error(error).with_id(request))
                .into();
        }
        match (session.deliver(now, message, form), request) {
            (Delivered::Request(key), Some(id)) => {
                let post = Post::new(
                    session,
                    Arc::clone(&self.service),
                    extras(parts, sender),
                    key,
                );
                PostResult::Waiting {
                    source: Caller::Post(post),
                    id,
                    era: Era::Legacy,
                }
            }
            (Delivered::Accepted(notified), _) => {
                notified
                    .into_iter()
                    .for_each(|notified| self.service.notified(notified));
                reply::bare(StatusCode::ACCEPTED).into()
            }
            (Delivered::Crowded, request) => {
                reply::crowded(request.as_ref(), StatusCode::TOO_MANY_REQUESTS).into()
            }
            (_, request) => self
                .reject(HttpRejection::no_such_session().with_id(request))
                .into(),
        }
    }

    pub(super) async fn open_stream(
        &self,
        id: SessionId,
        parts: &Parts,
        peer: &Peer,
    ) -> EndpointResponse {
        let Some(session) = self.find_session(id, parts, Instant::now().into_std()) else {
            return self.reject(HttpRejection::no_such_session());
        };
        let permit = match self.permit(peer, Resource::Stream) {
            Ok(permit) => permit,
            Err(excess) => return self.busy(stream_cause(excess)),
        };
        let after = match headers::single(&parts.headers, &headers::LAST_EVENT_ID) {
            Ok(None) => None,
            Ok(Some(last)) => match EventId::parse(last) {
                None => return self.reject(HttpRejection::no_such_event()),
                after => after,
            },
            Err(fault) => return self.reject(HttpRejection::fault(fault)),
        };
        let stream = match after {
            None => Some(Stream::open(session, permit)),
            Some(after) if session.is_elsewhere(after) => {
                let until = authorized_until(parts);
                return self.resume_elsewhere(session, after, permit, until).await;
            }
            Some(after) => Stream::resume(session, after, permit),
        };
        match stream {
            // 204 stops clients from resuming; after an empty stream they would try again.
            Some(stream) if stream.is_cancelled() => reply::bare(StatusCode::NO_CONTENT),
            Some(stream) => {
                let stream = UntilTokenExpiry::new(stream, authorized_until(parts));
                reply::stream(EventStream::new(Box::new(stream), self.pace()))
            }
            None => self.reject(HttpRejection::no_such_event()),
        }
    }

    /// Resumes a stream that began at another replica.
    async fn resume_elsewhere(
        &self,
        session: Arc<Session>,
        after: EventId,
        permit: Permit,
        until: Option<Instant>,
    ) -> EndpointResponse {
        let ttl = self.options.limits.replay_ttl;
        let resumed = match self.mail.fleet() {
            Ok(Some(fleet)) => {
                let resumed = session_streams::resume(&fleet, session, after, permit, ttl);
                (Box::pin(resumed) as BoxFuture<'_, _>).await
            }
            // No other replica can have the stream.
            Ok(None) => Err(NotResumed::NoSuchEvent),
            // This replica has not joined the others, so it cannot know.
            Err(_) => Err(NotResumed::StoreAway),
        };
        match resumed {
            Ok(source) => {
                let source = UntilTokenExpiry::new(source, until);
                reply::stream(EventStream::new(Box::new(source), self.pace()))
            }
            Err(NotResumed::NoSuchEvent) => self.reject(HttpRejection::no_such_event()),
            Err(NotResumed::StoreAway) => self.busy(&cause::STORE_AWAY),
            // 204 stops clients from resuming.
            Err(NotResumed::Cancelled) => reply::bare(StatusCode::NO_CONTENT),
        }
    }

    /// Ends a session: for all replicas first, if they share it.
    pub(super) async fn end_session(&self, id: SessionId, parts: &Parts) -> EndpointResponse {
        let now = Instant::now().into_std();
        let Some(session) = self.find_session(id, parts, now) else {
            return self.reject(HttpRejection::no_such_session());
        };
        let recorded = match (self.shared(), session.key()) {
            (Some(shared), Some(key)) => shared.end(key).await.map(Some),
            _ => Ok(None),
        };
        let is_first = match recorded {
            // Another request may have found the record, and ended this part, before this one goes on.
            Ok(is_first) => {
                let was_open = self.sessions.end(&session, now);
                is_first.unwrap_or(was_open)
            }
            Err(error) => {
                tracing::warn!(%error, session = ?id, "cannot end a session for all replicas");
                return self.busy(&cause::STORE_AWAY);
            }
        };
        if is_first && session.is_shared() {
            // A replica that does not learn of the end finds it in the record, within 5 s of use.
            let _ = self.mail.announce(id, u64::MAX).await;
        }
        match is_first {
            true => reply::bare(StatusCode::OK),
            false => self.reject(HttpRejection::no_such_session()),
        }
    }

    pub(super) fn find_session(
        &self,
        id: SessionId,
        parts: &Parts,
        now: std::time::Instant,
    ) -> Option<Arc<Session>> {
        self.sessions.find(
            id,
            StreamLayout::ManyStreams,
            parts.extensions.get::<Principal>(),
            now,
        )
    }
}
