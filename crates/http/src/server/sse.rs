//! The transport of 2024-11-05: a stream that is the session, and an endpoint to post to.
//!
//! A client opens the stream, whose first event names the URL for posts. Every post is answered 202;
//! all messages of the server use the stream. The session ends with the stream.
//!
//! Spec: [2024-11-05, Transports, HTTP with SSE][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse

use std::convert::Infallible;
use std::fmt;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body::Body;
use pintle_model::jsonrpc::Message;
use pintle_proto::{Batch, Connection};
use pintle_runtime::{Principal, Service};
use tokio::time::Instant;

use super::endpoint::refuse::stream_cause;
use super::endpoint::{Endpoint, EndpointResponse, extras, peer_identity};
use super::events::{EventStream, MessageSource, OutgoingMessage};
use super::peers::{Peer, Resource, Sender};
use super::reply;
use super::session::{Asks, Session, Stream, StreamLayout, TextDelivery};
use super::sessions::Sessions;
use super::token_expiry::{UntilTokenExpiry, authorized_until};
use super::{AnswerFuture, HttpService};
use crate::rules::cause;
use crate::rules::classify::{HttpRejection, by_head_of_two, outlined};
use crate::rules::params_preview::ParamsPreview;
use crate::rules::session_id::SessionId;

/// The query parameter that holds the session id.
const SESSION: &str = "session_id=";

/// The two endpoints of 2024-11-05: a tower service that opens a stream for every GET, and accepts
/// messages by POST. Mount it at both paths.
///
/// It shares the sessions, the limits and the host policy of its [`HttpService`].
pub struct SseService<S> {
    endpoint: Arc<Endpoint<S>>,
    messages: Arc<str>,
}

impl<S: Service> HttpService<S> {
    /// Serves the transport of 2024-11-05, too. Clients post to `messages`: a path, as they see it, or a
    /// URL of the same origin.
    pub fn sse(&self, messages: &str) -> SseService<S> {
        SseService {
            endpoint: Arc::clone(&self.endpoint),
            messages: messages.into(),
        }
    }
}

impl<S> Clone for SseService<S> {
    fn clone(&self) -> Self {
        Self {
            endpoint: Arc::clone(&self.endpoint),
            messages: Arc::clone(&self.messages),
        }
    }
}

impl<S> fmt::Debug for SseService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseService")
            .field("messages", &self.messages)
            .finish_non_exhaustive()
    }
}

impl<S, B> tower_service::Service<Request<B>> for SseService<S>
where
    S: Service,
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = EndpointResponse;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.answer_from(request, None)
    }
}

impl<S: Service> SseService<S> {
    /// Answers a request of a connection from `address`, if that is known.
    pub(super) fn answer_from<B>(
        &self,
        request: Request<B>,
        address: Option<IpAddr>,
    ) -> AnswerFuture
    where
        B: Body + Send + 'static,
        B::Data: Send,
    {
        let service = self.clone();
        AnswerFuture::new(async move { service.answer(request, address).await })
    }

    async fn answer<B: Body>(
        &self,
        request: Request<B>,
        address: Option<IpAddr>,
    ) -> EndpointResponse {
        if self.endpoint.is_closed() {
            return self.endpoint.busy(&cause::CLOSING);
        }
        let (parts, body) = request.into_parts();
        if let Err(rejection) = by_head_of_two(&parts, &self.endpoint.settings) {
            return self.endpoint.reject_head(rejection, &parts);
        }
        let mut sender = self.endpoint.sender(&parts, address);
        if parts.method == Method::GET {
            return self.open(&parts, &sender.peer);
        }
        let bytes = match self.endpoint.read(pin!(body), &mut sender).await {
            Ok(bytes) => bytes,
            Err(unread) => return self.endpoint.unreadable(unread),
        };
        if let Some(checked) = self.endpoint.check_quota(&bytes, &sender.peer)
            && let Some(refused) = checked.await
        {
            return refused;
        }
        self.accept(parts, &sender, &bytes)
            .unwrap_or_else(|rejection| self.endpoint.reject(rejection))
    }

    /// Opens a session; its stream begins with where to post.
    fn open(&self, parts: &Parts, peer: &Peer) -> EndpointResponse {
        let permit = match self.endpoint.permit(peer, Resource::Stream) {
            Ok(permit) => permit,
            Err(excess) => return self.endpoint.busy(stream_cause(excess)),
        };
        let now = Instant::now().into_std();
        let limits = Arc::clone(&self.endpoint.options.conversation_limits);
        let engine = Connection::session(self.endpoint.service.profile(), limits, now)
            .with_peer(peer_identity(parts));
        let (sessions, owner) = (&self.endpoint.sessions, parts.extensions.get::<Principal>());
        match sessions.open(engine, StreamLayout::OneStream, owner, peer, now) {
            Ok(session) => {
                let place = self.place(session.id());
                let whole = Whole {
                    stream: Stream::open(Arc::clone(&session), permit),
                    session,
                    sessions: Arc::clone(sessions),
                };
                let whole = UntilTokenExpiry::new(whole, authorized_until(parts));
                let events = EventStream::new(Box::new(whole), self.endpoint.pace());
                reply::stream(events.preceded_by("endpoint", &place))
            }
            Err(error) => self.endpoint.unopened(error),
        }
    }

    fn place(&self, id: SessionId) -> String {
        let messages = &self.messages;
        let mark = if messages.contains('?') { '&' } else { '?' };
        format!("{messages}{mark}{SESSION}{id}")
    }

    fn accept(
        &self,
        parts: Parts,
        sender: &Sender,
        bytes: &Bytes,
    ) -> Result<EndpointResponse, HttpRejection> {
        let session = self.find(&parts)?;
        let values = self.endpoint.values();
        let asks = match Message::parse_within(bytes, values) {
            Ok(Message::Notification(_) | Message::Response(_)) => Asks::Nothing,
            Ok(message @ Message::Request(_)) => {
                self.check_scopes(&parts, &message)?;
                Asks::Something
            }
            Err(malformed) => match Batch::read(bytes, values) {
                Some(Ok(batch)) if session.has_batches() => {
                    self.check_scopes_of_all(&parts, &batch)?;
                    Asks::Something
                }
                _ => return Err(HttpRejection::malformed(malformed)),
            },
        };
        let now = Instant::now().into_std();
        match session.deliver_text(now, bytes, asks) {
            TextDelivery::Accepted(starts, notified) => {
                let service = &self.endpoint.service;
                notified
                    .into_iter()
                    .for_each(|notified| service.notified(notified));
                let extras = extras(Arc::new(parts), sender);
                for start in starts {
                    session.run(service, extras.clone(), start);
                }
                Ok(reply::bare(StatusCode::ACCEPTED))
            }
            TextDelivery::Crowded => Ok(reply::crowded(None, StatusCode::TOO_MANY_REQUESTS)),
            TextDelivery::Over => Err(HttpRejection::no_such_session()),
        }
    }

    fn check_scopes(&self, parts: &Parts, message: &Message<'_>) -> Result<(), HttpRejection> {
        let Message::Request(request) = message else {
            return Ok(());
        };
        let outline =
            ParamsPreview::read(request.params).map_err(|error| HttpRejection::error(*error))?;
        match self.endpoint.missing_scopes(parts, message, &outline) {
            Some(missing) => Err(HttpRejection::scopes(missing)),
            None => Ok(()),
        }
    }

    fn check_scopes_of_all(&self, parts: &Parts, batch: &Batch<'_>) -> Result<(), HttpRejection> {
        let messages: Vec<_> = batch
            .messages()
            .map(|message| message.and_then(outlined))
            .collect();
        match self.endpoint.missing_scopes_of_all(parts, &messages) {
            Some(missing) => Err(HttpRejection::scopes(missing)),
            None => Ok(()),
        }
    }

    fn find(&self, parts: &Parts) -> Result<Arc<Session>, HttpRejection> {
        let query = parts.uri.query().unwrap_or_default();
        let mut named = query
            .split('&')
            .filter_map(|part| part.strip_prefix(SESSION));
        let (Some(name), None) = (named.next(), named.next()) else {
            return Err(HttpRejection::session_required());
        };
        let id = SessionId::parse(name).ok_or_else(HttpRejection::no_such_session)?;
        let (now, owner) = (
            Instant::now().into_std(),
            parts.extensions.get::<Principal>(),
        );
        let session = self
            .endpoint
            .sessions
            .find(id, StreamLayout::OneStream, owner, now);
        session.ok_or_else(HttpRejection::no_such_session)
    }
}

/// The stream that is the session.
struct Whole {
    stream: Stream,
    session: Arc<Session>,
    sessions: Arc<Sessions>,
}

impl MessageSource for Whole {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        self.stream.poll_message(cx)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.sessions.end(&self.session, Instant::now().into_std());
    }
}
