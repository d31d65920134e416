//! The handling of a request by one endpoint, except for sessions.

mod caller;
mod extras;
mod quota;
pub(super) mod reading;
pub(super) mod refuse;
mod scopes;
mod setting;
mod state;
mod stateless;

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use http_body::Body;
use pintle_model::jsonrpc::Message;
use pintle_model::method::{CallTool, Method};
use pintle_model::{Error, RequestEnvelope, RequestId, Revision};
use pintle_proto::lifecycle::TermsCache;
use pintle_proto::{ServerProfile, Terms};
use pintle_runtime::sync::Mutex;
use pintle_runtime::{
    BoxFuture, EngineHandle, Principal, Service, SharedSessions, Shutdown, ShutdownHandle,
};

use super::HAS_REPLICAS;
use super::batch::Batched;
use super::events::{MessageSource as _, OutgoingMessage, StreamTiming};
use super::options::HttpOptions;
use super::peers::{BodyAccount, BodyRejection, Excess, Peer, Peers, Permit, Resource, Sender};
use super::quotas::Quotas;
use super::refusals::Refusals;
use super::reply::{self, Era};
use super::response::ResponseBody;
use super::session_mail::{Forwarding, SessionMail};
use super::sessions::Sessions;
use crate::body::{self, Bounds};
use crate::rules::cause;
use crate::rules::classify::{
    HeadDecision, HttpRejection, Route, Settings, by_body, by_head, preview,
};
use crate::rules::headers;
use crate::rules::media::AcceptedTypes;
use crate::rules::param_headers;
use crate::rules::request_headers::RequestHeaders;
use crate::rules::session_id::SessionId;

pub(super) use caller::Caller;
use extras::spare_headers;
pub(super) use extras::{extras, peer_identity};
use reading::{Reading, Unread, read};
pub(super) use scopes::all_missing;
pub(super) use setting::{Setting, UnrecordedChange, change_of};

pub(super) type EndpointResponse = Response<ResponseBody>;

/// The state that all handles of one endpoint share.
pub(super) struct Endpoint<S> {
    pub(super) service: Arc<S>,
    pub(super) settings: Settings,
    pub(super) options: HttpOptions,
    pub(super) sessions: Arc<Sessions>,
    /// Present if other replicas serve the sessions too.
    shared: Option<Arc<dyn SharedSessions>>,
    /// Carries messages to the sessions of other replicas.
    pub(super) mail: SessionMail,
    body_bounds: Bounds,
    pub(super) peers: Arc<Peers>,
    /// Present if there is a quota of requests.
    quotas: Option<Quotas>,
    refusals: Refusals,
    memo: Mutex<TermsCache>,
    /// The profile of the server, and its form without sessions.
    sessionless_profile: Mutex<Option<[Arc<ServerProfile>; 2]>>,
    is_draining: AtomicBool,
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
        service.attach(Arc::downgrade(&sessions) as Weak<dyn EngineHandle>);
        let shared = service.shared_sessions();
        if !HAS_REPLICAS && shared.is_some() {
            tracing::error!("sessions stay at this process; enable the feature `replicas`");
        }
        let body_bounds = options.limits.of_bodies();
        let peers = Peers::new(&options.limits);
        let quotas = Quotas::of(&options.limits);
        Self {
            service: Arc::new(service),
            settings,
            options,
            sessions,
            shared,
            mail: SessionMail::default(),
            body_bounds,
            peers,
            quotas,
            refusals: Refusals::default(),
            memo: Mutex::default(),
            sessionless_profile: Mutex::default(),
            is_draining: AtomicBool::new(false),
            closing,
            closed,
        }
    }

    /// Answers a request.
    /// `address` is the other end of the connection, if that is known.
    pub(super) async fn answer<B: Body>(
        self: Arc<Self>,
        mut parts: Arc<Parts>,
        body: B,
        address: Option<IpAddr>,
    ) -> EndpointResponse {
        if self.closed.has_begun() {
            return self.busy(&cause::CLOSING);
        }
        let mut sender = self.sender(&parts, address);
        if let Some(shared) = self.shared()
            && parts.headers.contains_key(headers::SESSION_ID)
        {
            let found = self.with_shared_session(&**shared, parts, &sender.peer);
            parts = match (Box::pin(found) as BoxFuture<'_, _>).await {
                Ok(parts) => parts,
                Err(answer) => return answer,
            };
        }
        // The rules for the head and those for the message read the same headers, so they are found once.
        let headers = RequestHeaders::of(&parts.headers);
        let forms = match by_head(&parts, &headers, &self.settings) {
            Ok(HeadDecision::Body(forms)) => forms,
            Ok(HeadDecision::Stream(id) | HeadDecision::End(id)) => {
                return Box::pin(self.answer_head(id, &parts, &sender.peer)).await;
            }
            Err(rejection) => return self.reject_head(rejection, &parts),
        };
        let bytes = match self.read(pin!(body), &mut sender).await {
            Ok(bytes) => bytes,
            Err(unread) => return self.unreadable(unread),
        };
        let post = Post {
            parts: &parts,
            headers: &headers,
            bytes: &bytes,
            forms,
            sender: &sender,
        };
        let begun = match poll_fn(|cx| Poll::Ready(self.read_answer(cx, post))).await {
            Ok(begun) => begun,
            Err(counting) => counting.await,
        };
        match begun {
            BegunAnswer::Message(message, era) => {
                reply::answer_with(message, era, spare_headers(parts))
            }
            BegunAnswer::Ready(answer) => *answer,
            BegunAnswer::Later(answer) => {
                // Released before a long wait.
                drop((parts, bytes, sender));
                answer.await
            }
        }
    }

    /// Answers GET and DELETE.
    async fn answer_head(&self, id: SessionId, parts: &Parts, peer: &Peer) -> EndpointResponse {
        match parts.method == http::Method::GET {
            true => self.open_stream(id, parts, peer).await,
            false => self.end_session(id, parts).await,
        }
    }

    /// Returns the sender of a request. `address` is the other end of its connection, if that is known.
    pub(super) fn sender(&self, parts: &Parts, address: Option<IpAddr>) -> Sender {
        Sender {
            peer: Peer::of(parts, address, &self.options),
            body: None,
        }
    }

    /// Reads a body, and counts it for its sender.
    pub(super) fn read<'a, B: Body>(
        &'a self,
        body: Pin<&'a mut B>,
        sender: &'a mut Sender,
    ) -> impl Future<Output = Result<Bytes, BodyRejection>> + use<'a, B, S> {
        let peers = &self.peers;
        body::read_counted(body, &self.body_bounds, BodyAccount { peers, sender })
    }

    /// Reads the body of a post, and handles the post up to its first wait.
    ///
    /// # Errors
    ///
    /// The same after a wait, if its requests count for the quota of the peer.
    fn read_answer<'s: 'p, 'p>(
        &'s self,
        cx: &mut Context<'_>,
        post: Post<'p>,
    ) -> Result<BegunAnswer<'s>, BoxFuture<'p, BegunAnswer<'s>>> {
        let reading = read(post.bytes, self.values());
        let Some(checked) = self.check_quota(&reading, &post.sender.peer) else {
            return Ok(self.begin_answer(cx, post, reading));
        };
        Err(Box::pin(async move {
            if let Some(refused) = checked.await {
                return BegunAnswer::Ready(Box::new(refused));
            }
            let mut reading = Some(reading);
            let begin = |cx: &mut Context<'_>| match reading.take() {
                Some(reading) => Poll::Ready(self.begin_answer(cx, post, reading)),
                // It is ready at its first poll.
                None => Poll::Pending,
            };
            poll_fn(begin).await
        }))
    }

    /// Handles a post up to its first wait. What most posts do not need is boxed.
    fn begin_answer<'s>(
        &'s self,
        cx: &mut Context<'_>,
        post: Post<'_>,
        reading: Reading<'_>,
    ) -> BegunAnswer<'s> {
        let forms = post.forms;
        match self.accept(post, reading) {
            PostResult::Answered(answer) => BegunAnswer::Ready(Box::new(answer)),
            PostResult::Batch(batch) => BegunAnswer::Later(self.answer_batch(batch, forms)),
            PostResult::Forwarding(forwarding) => {
                let (forwarding, answer) = *forwarding;
                BegunAnswer::Later(self.answer_forwarded(forwarding, answer))
            }
            PostResult::Setting(setting, era) => {
                BegunAnswer::Later(self.answer_setting(*setting, era, forms))
            }
            PostResult::Waiting {
                mut source,
                id,
                era,
            } => match source.poll_message(cx) {
                Poll::Ready(Some(message)) if message.verdict.is_some() => {
                    BegunAnswer::Message(message, era)
                }
                first => BegunAnswer::Later(Box::pin(self.reply(source, first, id, era, forms))),
            },
        }
    }

    /// Answers a request whose answer is not its first message, or not ready at the first poll.
    pub(super) async fn reply(
        &self,
        source: Caller<S>,
        first: Poll<Option<OutgoingMessage>>,
        id: RequestId,
        era: Era,
        forms: AcceptedTypes,
    ) -> EndpointResponse {
        if forms == AcceptedTypes::Json {
            return reply::reply_single(source, first, &id, era).await;
        }
        let limits = &self.options.limits;
        let stream_delay = match &source {
            Caller::Post(post) if post.primes() => limits.stream_delay,
            _ => limits.keep_alive_interval,
        };
        reply::reply(source, first, &id, era, stream_delay, self.pace()).await
    }

    /// Maximum number of values in a message.
    pub(super) fn values(&self) -> usize {
        self.options.conversation_limits.max_values_per_message
    }

    pub(super) fn pace(&self) -> StreamTiming {
        StreamTiming {
            silence: self.options.limits.keep_alive_interval,
            retry: self.options.limits.sse_retry_delay,
        }
    }

    /// Handles a post up to its first wait, where borrows of its bytes end.
    fn accept(&self, post: Post<'_>, reading: Reading<'_>) -> PostResult<S> {
        let message = match reading {
            Ok(message) => message,
            Err(unread) => return self.accept_other(post, *unread),
        };
        let Decided { route, terms } = match self.decide(post, &message) {
            Ok(decided) => decided,
            Err(rejection) => return self.reject(rejection).into(),
        };
        match route {
            Route::Session(id) if self.shared().is_some() => {
                self.in_shared_session(id, post, message)
            }
            Route::Session(id) => {
                let (parts, sender) = (Arc::clone(post.parts), post.sender);
                self.in_session(id, parts, sender, message, post.forms)
            }
            Route::Open => {
                let peer = &post.sender.peer;
                self.open_session(post.parts, peer, message).into()
            }
            route => match message {
                Message::Request(request) => self.accept_single(post, route, terms, request),
                _ => reply::bare(StatusCode::ACCEPTED).into(),
            },
        }
    }

    /// Accepts a body that is not one message: it may be a batch.
    fn accept_other(&self, post: Post<'_>, unread: Unread<'_>) -> PostResult<S> {
        match unread.batch {
            Some(Ok(batch)) => self.accept_batch(post, batch),
            Some(Err(error)) => self.reject(HttpRejection::error(error)).into(),
            None => {
                let rejection = HttpRejection::malformed(unread.malformed);
                self.reject(rejection).into()
            }
        }
    }
}

/// A post whose head was accepted.
#[derive(Clone, Copy)]
pub(super) struct Post<'p> {
    // Shared, because handlers share it, and because it is large to move.
    pub(super) parts: &'p Arc<Parts>,
    headers: &'p RequestHeaders<'p>,
    pub(super) bytes: &'p Bytes,
    pub(super) forms: AcceptedTypes,
    pub(super) sender: &'p Sender,
}

/// The answer to a post after its first poll.
enum BegunAnswer<'a> {
    Message(OutgoingMessage, Era),
    // Boxed, because the future of each answer has room for it.
    Ready(Box<EndpointResponse>),
    Later(BoxFuture<'a, EndpointResponse>),
}

/// The decision about a message.
struct Decided {
    route: Route,
    terms: Option<Arc<Terms>>,
}

/// The result of a post.
pub(super) enum PostResult<S: Service> {
    /// The response is ready.
    Answered(EndpointResponse),
    /// The answers to the messages will follow.
    Batch(Batched<S>),
    /// The answer will follow.
    Waiting {
        source: Caller<S>,
        id: RequestId,
        era: Era,
    },
    /// The answer will follow when other replicas can read the message.
    Forwarding(Box<(Forwarding, EndpointResponse)>),
    /// The answer will follow when all replicas know the setting.
    Setting(Box<Setting<S>>, Era),
}

impl<S: Service> From<EndpointResponse> for PostResult<S> {
    fn from(answer: EndpointResponse) -> Self {
        Self::Answered(answer)
    }
}

/// The ways of a message.
impl<S: Service> Endpoint<S> {
    /// Returns the route of a message, and its terms if it states them. Headers that repeat arguments
    /// of a tool are checked last, because this check needs the results of the others.
    fn decide(&self, post: Post<'_>, message: &Message<'_>) -> Result<Decided, HttpRejection> {
        let parts = post.parts;
        let terms_of = |envelope: &RequestEnvelope<'_>, revision| self.terms_of(envelope, revision);
        let outline = preview(message)?;
        let (route, terms) = by_body(post.headers, message, &outline, &self.settings, &terms_of)?;
        if let Some(missing) = self.missing_scopes(parts, message, &outline) {
            return Err(HttpRejection::scopes(missing));
        }
        if let (Route::Exchange, Message::Request(request)) = (&route, message)
            && request.method == CallTool::NAME
        {
            let tool = outline.subject(CallTool::NAME).unwrap_or_default();
            param_headers::verify(
                &self
                    .service
                    .param_headers(&tool, parts.extensions.get::<Principal>()),
                &parts.headers,
                outline.arguments(),
            )
            .map_err(|why| HttpRejection::error(why.into()).with_id(Some(request.id.clone())))?;
        }
        Ok(Decided { route, terms })
    }

    fn terms_of(
        &self,
        envelope: &RequestEnvelope<'_>,
        revision: Revision,
    ) -> Result<Arc<Terms>, Box<Error>> {
        let mut memo = self.memo.lock();
        Ok(memo.terms(envelope, revision)?)
    }

    pub(super) fn permit(&self, peer: &Peer, resource: Resource) -> Result<Permit, Excess> {
        self.peers.admit(peer, resource, 1)
    }
}

#[cfg(test)]
mod tests;
