//! What one endpoint does with a request, up to the ways of sessions.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use pintle_model::jsonrpc::Message;
use pintle_model::method::{CallTool, Initialize, Listen, Method};
use pintle_model::{Error, RequestEnvelope, RequestId, Revision};
use pintle_proto::lifecycle::TermsMemo;
use pintle_proto::{Connection, Terms};
use pintle_runtime::{Extensions, Principal, Service, Shutdown, ShutdownHandle};

use super::events::{Said, Speaker};
use super::exchange::{Exchange, Luggage};
use super::options::HttpOptions;
use super::reply::{self, Era};
use super::response::ResponseBody;
use super::session::Post;
use super::sessions::Sessions;
use super::streams::{StreamPermit, Streams};
use crate::body;
use crate::rules::classify::{Rejection, Route, Settings, by_body, by_head};
use crate::rules::mirror;

pub(super) type Answer = Response<ResponseBody>;

/// What the handles of one endpoint share.
pub(super) struct Endpoint<S> {
    pub(super) service: Arc<S>,
    settings: Settings,
    pub(super) options: HttpOptions,
    pub(super) sessions: Arc<Sessions>,
    streams: Arc<Streams>,
    memo: Mutex<TermsMemo>,
    closing: ShutdownHandle,
    closed: Shutdown,
}

impl<S: Service> Endpoint<S> {
    pub(super) fn new(service: S, options: HttpOptions) -> Self {
        let (closing, closed) = ShutdownHandle::new();
        let settings = Settings {
            access: options.effective_access(),
            legacy: options.legacy,
        };
        let sessions = Arc::new(Sessions::new(&options));
        let streams = Streams::new(&options.limits);
        Self {
            service: Arc::new(service),
            settings,
            options,
            sessions,
            streams,
            memo: Mutex::default(),
            closing,
            closed,
        }
    }

    pub(super) fn close(&self) {
        self.closing.begin();
        self.sessions.close();
    }

    pub(super) async fn answer<B: Body>(&self, request: Request<B>) -> Answer {
        if self.closed.has_begun() {
            return reply::busy();
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
            Err(unread) => return reply::unreadable(unread),
        };
        match self.take_in(parts, &bytes) {
            Taken::Answered(answer) => answer,
            Taken::Waiting { speaker, id, era } => {
                reply::reply(speaker, &id, era, limits.keep_alive).await
            }
        }
    }

    /// Everything up to the first wait: what was borrowed from the bytes ends here.
    fn take_in(&self, parts: Parts, bytes: &Bytes) -> Taken<S> {
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

/// Whoever waits for an answer. Closed: a request stands alone, or belongs to a session.
pub(super) enum Caller<S: Service> {
    Exchange(Exchange),
    Post(Post<S>),
}

impl<S: Service> Speaker for Caller<S> {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        match self {
            Self::Exchange(exchange) => exchange.poll_message(cx),
            Self::Post(post) => post.poll_message(cx),
        }
    }
}

/// What became of a posted message.
pub(super) enum Taken<S: Service> {
    /// Its answer is known.
    Answered(Answer),
    /// Its answer is on the way.
    Waiting {
        speaker: Caller<S>,
        id: RequestId,
        era: Era,
    },
}

impl<S: Service> From<Answer> for Taken<S> {
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
    ) -> Result<(Route, Option<Arc<Terms>>), Rejection> {
        let (route, reading) = by_body(
            &parts.headers,
            message,
            &self.settings,
            &|envelope, revision| self.terms_of(envelope, revision),
        )?;
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

    fn exchange(&self, terms: Arc<Terms>, parts: Parts, message: Message<'_>) -> Taken<S> {
        let Message::Request(request) = &message else {
            return reply::bare(StatusCode::ACCEPTED).into();
        };
        let id = request.id.clone();
        let listens = request.method == Listen::NAME;
        let limits = Arc::clone(&self.options.conversation);
        let engine = Connection::exchange(self.service.profile(), limits, terms);
        let permit = if listens {
            self.stream_permit(&parts)
        } else {
            None
        };
        if listens && permit.is_none() {
            return reply::crowded(Some(&id), StatusCode::SERVICE_UNAVAILABLE).into();
        }
        let mut exchange = Exchange::begin(&self.service, engine, message, luggage(parts));
        if let Some(permit) = permit {
            exchange = exchange.listen(&self.service, self.closed.clone(), permit);
        }
        Taken::Waiting {
            speaker: Caller::Exchange(exchange),
            id,
            era: Era::Modern,
        }
    }

    fn sessionless(&self, revision: Revision, parts: Parts, message: Message<'_>) -> Taken<S> {
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
            speaker: Caller::Exchange(exchange),
            id,
            era: Era::Handshaken,
        }
    }

    // A memo is replaced as a whole, so what a poisoned lock guards is whole.
    fn terms_of(
        &self,
        envelope: &RequestEnvelope<'_>,
        revision: Revision,
    ) -> Result<Arc<Terms>, Error> {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        memo.terms(envelope, revision)
    }

    pub(super) fn stream_permit(&self, parts: &Parts) -> Option<StreamPermit> {
        self.streams.admit(parts.extensions.get::<Principal>())
    }
}

/// What a handler gets to see of the request: who it is for, and its head.
pub(super) fn luggage(parts: Parts) -> Luggage {
    let principal = parts.extensions.get::<Principal>().cloned();
    let mut extensions = Extensions::new();
    extensions.insert(parts);
    Luggage {
        principal,
        extensions,
    }
}
