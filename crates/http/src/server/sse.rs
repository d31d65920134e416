//! The transport of 2024-11-05: a stream that is the session, and an endpoint to post to.
//!
//! A client opens the stream, whose first event names the URL for posts. Every post is answered 202;
//! all messages of the server use the stream. The session ends with the stream.
//!
//! With a shared state, the replica of the stream is the home of the session. Other replicas pass posts on to it.
//!
//! Spec: [2024-11-05, Transports, HTTP with SSE][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse

mod deliver;
mod home;

use std::convert::Infallible;
use std::fmt;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body::Body;
use pintle_proto::Connection;
use pintle_runtime::{Principal, Service};
use tokio::time::Instant;

use super::endpoint::reading::read;
use super::endpoint::refuse::stream_cause;
use super::endpoint::{Endpoint, EndpointResponse, peer_identity};
use super::events::{EventStream, MessageSource, OutgoingMessage};
use super::peers::{Peer, Resource, Sender};
use super::reply;
use super::session::{NewSession, Session, Stream, StreamLayout};
use super::sessions::{OpenSessionError, Sessions, draw_id};
use super::token_expiry::{UntilTokenExpiry, authorized_until};
use super::{AnswerFuture, HttpService};
use crate::rules::cause;
use crate::rules::classify::{HttpRejection, by_head_of_two};
use crate::rules::session_id::SessionId;
use deliver::{Delivery, Text};
use home::Found;

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
            return self.open(&parts, &sender.peer).await;
        }
        let bytes = match self.endpoint.read(pin!(body), &mut sender).await {
            Ok(bytes) => bytes,
            Err(unread) => return self.endpoint.unreadable(unread),
        };
        let reading = read(&bytes, self.endpoint.values());
        if let Some(checked) = self.endpoint.check_quota(&reading, &sender.peer)
            && let Some(refused) = checked.await
        {
            return refused;
        }
        let text = Text {
            bytes: &bytes,
            reading,
        };
        match self.find(&parts).await {
            Ok(Found::Here(session)) => self.accept(&session, parts, &sender, text),
            Ok(Found::Elsewhere(address)) => self.endpoint.pass_on(&address, &parts, text).await,
            Err(answer) => answer,
        }
    }

    /// Opens a session; its stream begins with where to post.
    async fn open(&self, parts: &Parts, peer: &Peer) -> EndpointResponse {
        let Ok(home) = self.endpoint.be_home().await else {
            return self.endpoint.busy(&cause::STORE_AWAY);
        };
        let permit = match self.endpoint.permit(peer, Resource::Stream) {
            Ok(permit) => permit,
            Err(excess) => return self.endpoint.busy(stream_cause(excess)),
        };
        let opened = draw_id().and_then(|id| {
            let name = self.endpoint.name_of(id, home, owner(parts))?;
            self.session(id, parts, peer).map(|session| (session, name))
        });
        match opened {
            Ok((session, name)) => {
                let place = self.place(&name);
                let whole = Whole {
                    stream: Stream::open(Arc::clone(&session), permit),
                    session,
                    sessions: Arc::clone(&self.endpoint.sessions),
                };
                let whole = UntilTokenExpiry::new(whole, authorized_until(parts));
                let events = EventStream::new(Box::new(whole), self.endpoint.pace());
                reply::stream(events.preceded_by("endpoint", &place))
            }
            Err(error) => self.endpoint.unopened(error),
        }
    }

    fn session(
        &self,
        id: SessionId,
        parts: &Parts,
        peer: &Peer,
    ) -> Result<Arc<Session>, OpenSessionError> {
        let now = Instant::now().into_std();
        let limits = Arc::clone(&self.endpoint.options.conversation_limits);
        let engine = Connection::session(self.endpoint.service.profile(), limits, now)
            .with_peer(peer_identity(parts));
        let new = NewSession {
            id,
            owner: owner(parts),
            peer,
            engine,
            layout: StreamLayout::OneStream,
            part: None,
        };
        self.endpoint.sessions.insert(new, now)
    }

    fn place(&self, name: &str) -> String {
        let messages = &self.messages;
        let mark = if messages.contains('?') { '&' } else { '?' };
        format!("{messages}{mark}{SESSION}{name}")
    }

    fn accept(
        &self,
        session: &Arc<Session>,
        parts: Parts,
        sender: &Sender,
        text: Text<'_>,
    ) -> EndpointResponse {
        match self.endpoint.deliver_text(session, parts, sender, text) {
            Ok(Delivery::Accepted) => reply::bare(StatusCode::ACCEPTED),
            Ok(Delivery::Crowded) => reply::crowded(None, StatusCode::TOO_MANY_REQUESTS),
            Err(rejection) => self.endpoint.reject(rejection),
        }
    }

    /// Finds the session that a request names.
    ///
    /// # Errors
    ///
    /// The response if there is no such session.
    async fn find(&self, parts: &Parts) -> Result<Found, EndpointResponse> {
        let query = parts.uri.query().unwrap_or_default();
        let mut named = query
            .split('&')
            .filter_map(|part| part.strip_prefix(SESSION));
        let (Some(name), None) = (named.next(), named.next()) else {
            return Err(self.endpoint.reject(HttpRejection::session_required()));
        };
        match SessionId::parse(name) {
            Some(id) => {
                let session = self.endpoint.session_here(id, owner(parts));
                let found = session.map(Found::Here);
                found.ok_or_else(|| self.endpoint.no_session())
            }
            None => self.endpoint.find_named(name, owner(parts)).await,
        }
    }
}

fn owner(parts: &Parts) -> Option<&Principal> {
    parts.extensions.get::<Principal>()
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
