//! The server side of the binding: one tower service for every revision.
//!
//! A request is classified, then takes one of four ways: an exchange that lives as long as its
//! response, a message to a session, a stream, or a refusal. No way has a task of its own, and
//! none waits for another's reader.

mod events;
mod exchange;
mod listen;
mod options;
mod reply;
mod response;
mod session;
mod session_id;
mod sessions;
mod stall;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONNECTION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use pintle_model::jsonrpc::Message;
use pintle_model::method::{CallTool, Initialize, Listen, Method};
use pintle_model::{Error, ErrorCode, RequestId, Revision};
use pintle_proto::{Connection, Terms, Verdict};
use pintle_runtime::{Extensions, Outlet, Principal, Service, Shutdown, ShutdownHandle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

pub use listen::{HttpServer, ServeError};
pub use options::{HttpLimits, HttpOptions};
pub use response::ResponseBody;
pub(crate) use session_id::SessionId;

use crate::body::{self, Unread};
use crate::rules::classify::{Rejection, Route, Settings, by_body, by_head};
use crate::rules::{headers, mirror};
use events::{EventStream, Said, Speaker};
use exchange::{Exchange, Luggage};
use reply::Era;
use session::{Delivered, Post, Session, Stream};
use sessions::{Sessions, Unopened};

/// An MCP endpoint: a tower service that answers requests of every revision on one path.
///
/// Cloning gives another handle to the same endpoint: its sessions are shared. It never fails,
/// and it reads no paths: mount it where it belongs.
pub struct HttpService<S> {
    endpoint: Arc<Endpoint<S>>,
}

struct Endpoint<S> {
    service: Arc<S>,
    settings: Settings,
    options: HttpOptions,
    sessions: Arc<Sessions>,
    streams: Arc<Semaphore>,
    closing: ShutdownHandle,
    closed: Shutdown,
}

impl<S: Service> HttpService<S> {
    /// Serves `service` over HTTP.
    pub fn new(service: S, options: HttpOptions) -> Self {
        let (closing, closed) = ShutdownHandle::new();
        let settings = Settings {
            access: options.effective_access(),
            legacy: options.legacy,
        };
        let sessions = Arc::new(Sessions::new(&options));
        let streams = Arc::new(Semaphore::new(options.limits.streams));
        let endpoint = Endpoint {
            service: Arc::new(service),
            settings,
            options,
            sessions,
            streams,
            closing,
            closed,
        };
        Self {
            endpoint: Arc::new(endpoint),
        }
    }

    /// Comes to an end: nothing new is served, listeners get their result, streams end.
    pub fn close(&self) {
        self.endpoint.closing.begin();
        self.endpoint.sessions.close();
    }

    pub(crate) fn options(&self) -> &HttpOptions {
        &self.endpoint.options
    }
}

impl<S> Clone for HttpService<S> {
    fn clone(&self) -> Self {
        Self {
            endpoint: Arc::clone(&self.endpoint),
        }
    }
}

impl<S> fmt::Debug for HttpService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("options", &self.endpoint.options)
            .finish_non_exhaustive()
    }
}

type Answer = Response<ResponseBody>;

impl<S, B> tower_service::Service<Request<B>> for HttpService<S>
where
    S: Service,
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let endpoint = Arc::clone(&self.endpoint);
        Box::pin(async move { Ok(endpoint.answer(request).await) })
    }
}

impl<S: Service> Endpoint<S> {
    async fn answer<B: Body>(&self, request: Request<B>) -> Answer {
        if self.closed.has_begun() {
            return busy();
        }
        let (parts, body) = request.into_parts();
        match by_head(&parts, &self.settings) {
            Err(rejection) => reply::reject(rejection),
            Ok(Some(Route::Stream(id))) => self.open_stream(id, &parts),
            Ok(Some(Route::End(id))) => self.end_session(id, &parts),
            Ok(_) => self.answer_post(parts, body).await,
        }
    }

    async fn answer_post<B: Body>(&self, parts: Parts, body: B) -> Answer {
        let limits = &self.options.limits;
        let bytes = match body::read(body, limits.body_bytes, limits.body_pause).await {
            Ok(bytes) => bytes,
            Err(unread) => return unreadable(unread),
        };
        match self.take_in(parts, &bytes) {
            Taken::Answered(answer) => answer,
            Taken::Waiting { speaker, id, era } => {
                reply::reply(speaker, &id, era, limits.keep_alive).await
            }
        }
    }

    /// Everything up to the first wait: what was borrowed from the bytes ends here.
    fn take_in(&self, parts: Parts, bytes: &Bytes) -> Taken {
        let message = match Message::parse(bytes) {
            Ok(message) => message,
            Err(malformed) => return reply::reject(Rejection::malformed(malformed)).into(),
        };
        match self.decide(&parts, &message) {
            Err(rejection) => reply::reject(rejection).into(),
            Ok((Route::Exchange, Some(terms))) => self.exchange(terms, parts, message),
            Ok((Route::Sessionless(revision), _)) => self.sessionless(revision, parts, message),
            Ok((Route::Open, _)) => self.open_session(&parts, message).into(),
            Ok((Route::Session(id), _)) => self.in_session(id, parts, message),
            Ok(_) => reply::bare(StatusCode::ACCEPTED).into(),
        }
    }
}

/// What became of a posted message.
enum Taken {
    /// Its answer is known.
    Answered(Answer),
    /// Its answer is on the way.
    Waiting {
        speaker: Box<dyn Speaker>,
        id: RequestId,
        era: Era,
    },
}

impl From<Answer> for Taken {
    fn from(answer: Answer) -> Self {
        Self::Answered(answer)
    }
}

/// The ways of a message.
impl<S: Service> Endpoint<S> {
    /// The route of a message, and its terms if it states them. What headers repeat of a tool's
    /// arguments is checked last, because only then is it known that the rest is in order.
    fn decide(
        &self,
        parts: &Parts,
        message: &Message<'_>,
    ) -> Result<(Route, Option<Terms>), Rejection> {
        let (route, reading) = by_body(&parts.headers, message, &self.settings)?;
        if let (Route::Exchange, Message::Request(request)) = (&route, message)
            && request.method == CallTool::NAME
        {
            let tool = reading.outline.subject(CallTool::NAME).unwrap_or_default();
            let repeated = self.service.param_headers(&tool);
            mirror::verify(&repeated, &parts.headers, reading.outline.arguments())
                .map_err(|why| Rejection::error(why.into()).with_id(Some(request.id.clone())))?;
        }
        Ok((route, reading.into_terms()))
    }

    fn exchange(&self, terms: Terms, parts: Parts, message: Message<'_>) -> Taken {
        let Message::Request(request) = &message else {
            return reply::bare(StatusCode::ACCEPTED).into();
        };
        let id = request.id.clone();
        let listens = request.method == Listen::NAME;
        let limits = Arc::clone(&self.options.conversation);
        let engine = Connection::exchange(self.service.profile(), limits, Arc::new(terms));
        let permit = if listens { self.stream_permit() } else { None };
        if listens && permit.is_none() {
            return crowded(Some(&id), StatusCode::SERVICE_UNAVAILABLE).into();
        }
        let mut exchange = Exchange::begin(&self.service, engine, message, luggage(parts));
        if let Some(permit) = permit {
            exchange = exchange.listen(&self.service, self.closed.clone(), permit);
        }
        Taken::Waiting {
            speaker: Box::new(exchange),
            id,
            era: Era::Modern,
        }
    }

    fn sessionless(&self, revision: Revision, parts: Parts, message: Message<'_>) -> Taken {
        let Message::Request(request) = &message else {
            return reply::bare(StatusCode::ACCEPTED).into();
        };
        let id = request.id.clone();
        let (profile, limits) = (
            self.service.profile(),
            Arc::clone(&self.options.conversation),
        );
        let engine = if request.method == Initialize::NAME {
            Connection::server(profile, limits)
        } else {
            Connection::exchange(profile, limits, Arc::new(Terms::new(revision)))
        };
        let exchange = Exchange::begin(&self.service, engine, message, luggage(parts));
        Taken::Waiting {
            speaker: Box::new(exchange),
            id,
            era: Era::Handshaken,
        }
    }

    /// Shakes hands; only a handshake that succeeds leaves a session behind.
    fn open_session(&self, parts: &Parts, message: Message<'_>) -> Answer {
        let now = Instant::now().into_std();
        let limits = Arc::clone(&self.options.conversation);
        let mut engine = Connection::session(self.service.profile(), limits, now);
        engine.receive(now, message);
        let Some(said) = engine.poll_transmit().map(Said::from) else {
            return reply::bare(StatusCode::INTERNAL_SERVER_ERROR);
        };
        let succeeded = said.verdict == Some(Verdict::Result);
        let mut answer = reply::answer(said, Era::Handshaken);
        if !succeeded {
            return answer;
        }
        match self
            .sessions
            .open(engine, parts.extensions.get::<Principal>(), now)
        {
            Ok(session) => {
                self.service
                    .attach(Arc::downgrade(&session) as Weak<dyn Outlet>);
                answer
                    .headers_mut()
                    .insert(headers::SESSION_ID, session.id().to_header());
                answer
            }
            Err(Unopened::Full) => busy(),
            Err(Unopened::NoRandomness) => reply::bare(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    fn in_session(&self, id: SessionId, parts: Parts, message: Message<'_>) -> Taken {
        let request = match &message {
            Message::Request(request) => Some(request.id.clone()),
            Message::Notification(_) | Message::Response(_) => None,
        };
        let now = Instant::now().into_std();
        let Some(session) = self.find_session(id, &parts, now) else {
            return reply::reject(Rejection::no_such_session().with_id(request)).into();
        };
        match (session.deliver(now, message), request) {
            (Delivered::Request(key), Some(id)) => {
                let post = Post::new(session, Arc::clone(&self.service), luggage(parts), key);
                Taken::Waiting {
                    speaker: Box::new(post),
                    id,
                    era: Era::Handshaken,
                }
            }
            (Delivered::Accepted(notified), _) => {
                notified
                    .into_iter()
                    .for_each(|notified| self.service.notified(notified));
                reply::bare(StatusCode::ACCEPTED).into()
            }
            (Delivered::Crowded, request) => {
                crowded(request.as_ref(), StatusCode::TOO_MANY_REQUESTS).into()
            }
            (_, request) => reply::reject(Rejection::no_such_session().with_id(request)).into(),
        }
    }

    fn open_stream(&self, id: SessionId, parts: &Parts) -> Answer {
        let Some(session) = self.find_session(id, parts, Instant::now().into_std()) else {
            return reply::reject(Rejection::no_such_session());
        };
        let Some(permit) = self.stream_permit() else {
            return busy();
        };
        let stream = Stream::open(session, permit);
        reply::stream(EventStream::new(
            Box::new(stream),
            self.options.limits.keep_alive,
        ))
    }

    fn end_session(&self, id: SessionId, parts: &Parts) -> Answer {
        let now = Instant::now().into_std();
        let Some(session) = self.find_session(id, parts, now) else {
            return reply::reject(Rejection::no_such_session());
        };
        self.sessions.end(&session, now);
        reply::bare(StatusCode::OK)
    }

    fn find_session(
        &self,
        id: SessionId,
        parts: &Parts,
        now: std::time::Instant,
    ) -> Option<Arc<Session>> {
        self.sessions
            .find(id, parts.extensions.get::<Principal>(), now)
    }

    fn stream_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }
}

/// What a handler gets to see of the request: who it is for, and its head.
fn luggage(parts: Parts) -> Luggage {
    let principal = parts.extensions.get::<Principal>().cloned();
    let mut extensions = Extensions::new();
    extensions.insert(parts);
    Luggage {
        principal,
        extensions,
    }
}

fn unreadable(unread: Unread) -> Answer {
    let status = match unread {
        Unread::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Unread::Stalled => StatusCode::REQUEST_TIMEOUT,
        Unread::Broken => StatusCode::BAD_REQUEST,
    };
    let mut answer = reply::bare(status);
    // What is left of the body is not read, so nothing can follow it.
    answer
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// 503: come again later.
fn busy() -> Answer {
    retry_later(reply::bare(StatusCode::SERVICE_UNAVAILABLE))
}

/// A request that is one too many.
fn crowded(id: Option<&RequestId>, status: StatusCode) -> Answer {
    let error = Error::new(ErrorCode::INTERNAL_ERROR, "too many requests are open");
    retry_later(reply::error(status, id, &error))
}

fn retry_later(mut answer: Answer) -> Answer {
    answer
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("10"));
    answer
}
