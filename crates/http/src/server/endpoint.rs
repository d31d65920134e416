//! What one endpoint does with a request, up to the ways of sessions.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use pintle_model::jsonrpc::{self, Malformed, Message};
use pintle_model::method::{CallTool, Initialize, Listen, Method, ReadResource};
use pintle_model::{Error, RequestEnvelope, RequestId, Revision};
use pintle_proto::lifecycle::TermsMemo;
use pintle_proto::{Batch, Connection, PeerIdentity, ReadEnvelope, ServerProfile, Terms};
use pintle_runtime::{
    Extensions, MissingScopes, Outlet, Principal, Service, Shutdown, ShutdownHandle,
};

use super::batch::Batched;
use super::events::{Pace, Said, Speaker};
use super::exchange::{Exchange, Luggage};
use super::options::HttpOptions;
use super::refusals::Refusals;
use super::reply::{self, Era};
use super::response::ResponseBody;
use super::session::Post;
use super::sessions::Sessions;
use super::streams::{StreamPermit, Streams};
use super::until::authorized_until;
use crate::body::{self, Unread};
use crate::rules::cause::{self, Cause};
use crate::rules::classify::{Rejection, Route, Settings, by_body, by_head};
use crate::rules::event_id::EventId;
use crate::rules::media::Forms;
use crate::rules::mirror;
use crate::rules::outline::Outline;

pub(super) type Answer = Response<ResponseBody>;

/// What the handles of one endpoint share.
pub(super) struct Endpoint<S> {
    pub(super) service: Arc<S>,
    pub(super) settings: Settings,
    pub(super) options: HttpOptions,
    pub(super) sessions: Arc<Sessions>,
    streams: Arc<Streams>,
    refusals: Refusals,
    memo: Mutex<TermsMemo>,
    /// What the server says of itself, and what it says without sessions.
    sessionless_profile: Mutex<Option<[Arc<ServerProfile>; 2]>>,
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
        service.attach(Arc::downgrade(&sessions) as Weak<dyn Outlet>);
        let streams = Streams::new(&options.limits);
        Self {
            service: Arc::new(service),
            settings,
            options,
            sessions,
            streams,
            refusals: Refusals::default(),
            memo: Mutex::default(),
            sessionless_profile: Mutex::default(),
            closing,
            closed,
        }
    }

    pub(super) fn close(&self) {
        self.closing.begin();
        self.sessions.close();
    }

    #[cfg(feature = "sse")]
    pub(super) fn is_closed(&self) -> bool {
        self.closed.has_begun()
    }

    pub(super) async fn answer<B: Body>(&self, request: Request<B>) -> Answer {
        if self.closed.has_begun() {
            return self.busy(&cause::CLOSING);
        }
        let (parts, body) = request.into_parts();
        match by_head(&parts, &self.settings) {
            Err(rejection) => self.reject_head(rejection, &parts),
            Ok(Some(Route::Stream(id))) => self.open_stream(id, &parts),
            Ok(Some(Route::End(id))) => self.end_session(id, &parts),
            Ok(_) => self.answer_post(parts, body).await,
        }
    }

    async fn answer_post<B: Body>(&self, parts: Parts, body: B) -> Answer {
        let limits = &self.options.limits;
        let bytes = match body::read(body, limits.of_bodies()).await {
            Ok(bytes) => bytes,
            Err(unread) => return self.unreadable(unread),
        };
        let forms = Forms::of(&parts.headers);
        match self.take_in(parts, &bytes, forms) {
            Taken::Answered(answer) => answer,
            Taken::Batch(batch) => batch.reply(forms, limits.keep_alive, self.pace()).await,
            Taken::Waiting { speaker, id, era } if forms == Forms::Json => {
                reply::reply_single(speaker, &id, era).await
            }
            Taken::Waiting { speaker, id, era } => {
                let patience = match &speaker {
                    Caller::Post(post) if post.primes() => limits.stream_after,
                    _ => limits.keep_alive,
                };
                reply::reply(speaker, &id, era, patience, self.pace()).await
            }
        }
    }

    /// How many values a message may have.
    pub(super) fn values(&self) -> usize {
        self.options.conversation.values
    }

    pub(super) fn pace(&self) -> Pace {
        Pace {
            silence: self.options.limits.keep_alive,
            retry: self.options.limits.retry,
        }
    }

    /// Everything up to the first wait: what was borrowed from the bytes ends here.
    fn take_in(&self, parts: Parts, bytes: &Bytes, forms: Forms) -> Taken<S> {
        let message = match Message::parse_within(bytes, self.values()) {
            Ok(message) => message,
            Err(malformed) => return self.take_in_other(parts, bytes, forms, malformed),
        };
        let Decided {
            route,
            envelope,
            terms,
        } = match self.decide(&parts, &message) {
            Ok(decided) => decided,
            Err(rejection) => return self.reject(rejection).into(),
        };
        match (route, message) {
            (Route::Exchange, Message::Request(request))
                if forms == Forms::Json && request.method == Listen::NAME =>
            {
                self.reject(Rejection::because(&cause::STREAM_NOT_ACCEPTED))
                    .into()
            }
            (Route::Exchange, Message::Request(request)) => {
                let terms = terms.expect("a request that stands alone has stated its terms");
                self.exchange(terms, parts, request, envelope)
            }
            (Route::Sessionless(revision), Message::Request(request)) => {
                self.sessionless(revision, parts, request, envelope)
            }
            (Route::Open, message) => self.open_session(&parts, message).into(),
            (Route::Session(id), message) => self.in_session(id, parts, message, envelope, forms),
            _ => reply::bare(StatusCode::ACCEPTED).into(),
        }
    }

    /// What is no message may be several.
    fn take_in_other(
        &self,
        parts: Parts,
        bytes: &Bytes,
        forms: Forms,
        malformed: Malformed,
    ) -> Taken<S> {
        match Batch::read(bytes, self.values()) {
            Some(Ok(batch)) => self.take_in_batch(parts, &batch, forms),
            Some(Err(error)) => self.reject(Rejection::error(error)).into(),
            None => self.reject(Rejection::malformed(malformed)).into(),
        }
    }
}

/// Refusals: each is logged, then answered.
impl<S: Service> Endpoint<S> {
    pub(super) fn reject(&self, rejection: Rejection) -> Answer {
        self.refusals.log_rejection(&rejection, None);
        reply::reject(rejection)
    }

    pub(super) fn reject_head(&self, rejection: Rejection, parts: &Parts) -> Answer {
        self.refusals.log_rejection(&rejection, Some(parts));
        reply::reject(rejection)
    }

    pub(super) fn refuse(&self, cause: &'static Cause) -> Answer {
        self.refusals.log(cause, None);
        reply::refusal(cause)
    }

    pub(super) fn busy(&self, cause: &'static Cause) -> Answer {
        self.refusals.log(cause, None);
        reply::busy(cause)
    }

    pub(super) fn unreadable(&self, unread: Unread) -> Answer {
        self.refusals.log(reply::cause_of(unread), None);
        reply::unreadable(unread)
    }
}

/// What was decided about a message.
struct Decided<'a> {
    route: Route,
    envelope: ReadEnvelope<'a>,
    terms: Option<Arc<Terms>>,
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

    fn is_owed(&self) -> bool {
        match self {
            Self::Exchange(exchange) => exchange.is_owed(),
            Self::Post(post) => post.is_owed(),
        }
    }

    fn beginning(&mut self) -> Option<EventId> {
        match self {
            Self::Exchange(exchange) => exchange.beginning(),
            Self::Post(post) => post.beginning(),
        }
    }
}

/// What became of a posted message.
pub(super) enum Taken<S: Service> {
    /// Its answer is known.
    Answered(Answer),
    /// The answers to its messages are on the way.
    Batch(Batched<S>),
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
    fn decide<'a>(&self, parts: &Parts, message: &Message<'a>) -> Result<Decided<'a>, Rejection> {
        let headers = &parts.headers;
        let terms_of = |envelope: &RequestEnvelope<'_>, revision| self.terms_of(envelope, revision);
        let (route, outline, terms) = by_body(headers, message, &self.settings, &terms_of)?;
        if let Some(missing) = self.missing_scopes(parts, message, &outline) {
            return Err(Rejection::scopes(missing));
        }
        if let (Route::Exchange, Message::Request(request)) = (&route, message)
            && request.method == CallTool::NAME
        {
            let tool = outline.subject(CallTool::NAME).unwrap_or_default();
            mirror::verify(
                &self
                    .service
                    .param_headers(&tool, parts.extensions.get::<Principal>()),
                headers,
                outline.arguments(),
            )
            .map_err(|why| Rejection::error(why.into()).with_id(Some(request.id.clone())))?;
        }
        Ok(Decided {
            route,
            envelope: outline.envelope(),
            terms,
        })
    }

    /// What the principal of a request would have to be granted first.
    pub(super) fn missing_scopes(
        &self,
        parts: &Parts,
        message: &Message<'_>,
        outline: &Outline<'_>,
    ) -> Option<MissingScopes> {
        let principal = parts.extensions.get::<Principal>()?;
        let Message::Request(request) = message else {
            return None;
        };
        if let Some(subject) = outline.subject(&request.method) {
            return self
                .service
                .missing_scopes(&request.method, &subject, principal);
        }
        // That something changes is a part of what it is: who may not read it does not follow it.
        let followed = outline.followed(&request.method);
        all_missing(
            followed
                .iter()
                .filter_map(|uri| {
                    self.service
                        .missing_scopes(ReadResource::NAME, uri, principal)
                })
                .collect(),
        )
    }

    fn exchange(
        &self,
        terms: Arc<Terms>,
        parts: Parts,
        request: jsonrpc::Request<'_>,
        envelope: ReadEnvelope<'_>,
    ) -> Taken<S> {
        let id = request.id.clone();
        let listens = request.method == Listen::NAME;
        let limits = Arc::clone(&self.options.conversation);
        let engine = Connection::exchange(self.service.profile(), limits, terms)
            .with_peer(peer_identity(&parts));
        let permit = if listens {
            self.stream_permit(&parts)
        } else {
            None
        };
        if listens && permit.is_none() {
            return reply::crowded(Some(&id), StatusCode::SERVICE_UNAVAILABLE).into();
        }
        let until = authorized_until(&parts);
        let mut exchange =
            Exchange::begin(&self.service, engine, request, envelope, luggage(parts));
        if let Some(permit) = permit {
            exchange = exchange.listen(&self.service, self.closed.clone(), permit, until);
        }
        Taken::Waiting {
            speaker: Caller::Exchange(exchange),
            id,
            era: Era::Modern,
        }
    }

    fn sessionless(
        &self,
        revision: Revision,
        parts: Parts,
        request: jsonrpc::Request<'_>,
        envelope: ReadEnvelope<'_>,
    ) -> Taken<S> {
        let (id, speaker) = self.sessionless_caller(revision, parts, request, envelope);
        Taken::Waiting {
            speaker,
            id,
            era: Era::Handshaken,
        }
    }

    /// Serves a request of the handshake era on its own.
    pub(super) fn sessionless_caller(
        &self,
        revision: Revision,
        parts: Parts,
        request: jsonrpc::Request<'_>,
        envelope: ReadEnvelope<'_>,
    ) -> (RequestId, Caller<S>) {
        let id = request.id.clone();
        let profile = self.sessionless_profile();
        let limits = Arc::clone(&self.options.conversation);
        let engine = if request.method == Initialize::NAME {
            Connection::server(profile, limits)
        } else {
            Connection::exchange(profile, limits, Arc::new(Terms::new(revision)))
        };
        let engine = engine.with_peer(peer_identity(&parts));
        let exchange = Exchange::begin(&self.service, engine, request, envelope, luggage(parts));
        (id, Caller::Exchange(exchange))
    }

    /// What is not remembered between two requests is not offered.
    fn sessionless_profile(&self) -> Arc<ServerProfile> {
        let whole = self.service.profile();
        let kept = self.sessionless_profile.lock();
        let mut kept = kept.unwrap_or_else(PoisonError::into_inner);
        if let Some([known, without]) = &*kept
            && Arc::ptr_eq(known, &whole)
        {
            return Arc::clone(without);
        }
        let without = Arc::new(whole.without_memory());
        *kept = Some([whole, Arc::clone(&without)]);
        without
    }

    // A memo is replaced as a whole, so what a poisoned lock guards is whole.
    fn terms_of(
        &self,
        envelope: &RequestEnvelope<'_>,
        revision: Revision,
    ) -> Result<Arc<Terms>, Box<Error>> {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(memo.terms(envelope, revision)?)
    }

    pub(super) fn stream_permit(&self, parts: &Parts) -> Option<StreamPermit> {
        self.streams.admit(parts.extensions.get::<Principal>())
    }
}

/// One refusal for several; none for none.
pub(super) fn all_missing(missing: Vec<MissingScopes>) -> Option<MissingScopes> {
    let all: BTreeSet<Box<str>> = missing
        .iter()
        .flat_map(|MissingScopes(scopes)| scopes.to_vec())
        .collect();
    (!all.is_empty()).then(|| MissingScopes(all.into_iter().collect()))
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

/// Who sends a request, as far as anybody has looked.
pub(super) fn peer_identity(parts: &Parts) -> PeerIdentity {
    let principal = parts.extensions.get::<Principal>();
    PeerIdentity::authorized(principal.map(Principal::id))
}
