//! One message and the response to it.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use pintle_model::jsonrpc::{Message, ResponseBody};
use pintle_model::method::{Discover, Initialize, Listen, Method};
use pintle_model::{ErrorCode, Feature};
use pintle_proto::{CallHead, CallId};
use tokio::time::{Instant, sleep};

use crate::body::{self, Bounds};
use crate::client::answer::{ResponseError, ResponseKind, Sent, meaning};
use crate::client::backoff::Jitter;
use crate::client::events::{Events, StreamError, is_message};
use crate::client::failure::{HttpTransportError, ResponseBodyError};
use crate::client::head::RoutingHeaders;
use crate::client::http_client::{HttpClient, HttpClientBody};
use crate::client::http_conversation::{HttpConversation, SessionState};
use crate::client::notices::{END_TIMEOUT, taken};
use crate::client::resume::{End, Next, Purpose, Resume, ResumeError};
use crate::rules::params_preview::ParamsPreview;

/// Maximum bytes that are read of a body with an error status.
const ERROR_BODY_BYTES: usize = 1 << 20;

/// A call about to be posted.
pub(crate) struct PostedCall {
    pub(crate) id: CallId,
    pub(crate) head: CallHead,
    pub(crate) body: Bytes,
    /// The JSON-RPC error of a response whose status suggests the older transport. It is the answer,
    /// unless the server uses that transport.
    // Boxed, because few calls have one.
    doubtful: OnceLock<Box<Bytes>>,
}

impl PostedCall {
    pub(crate) fn new(id: CallId, head: CallHead, body: Bytes) -> Self {
        Self {
            id,
            head,
            body,
            doubtful: OnceLock::new(),
        }
    }

    pub(crate) fn is(&self, method: &str) -> bool {
        self.head.method.as_str() == method
    }

    /// Returns the values that headers repeat: from the caller, or else from the message.
    fn mirrored<'a>(&'a self, outline: &'a Option<Box<str>>) -> RoutingHeaders<'a> {
        let routing = self.head.routing.as_deref();
        let named = routing.and_then(|routing| routing.name.as_deref());
        RoutingHeaders {
            method: Some(self.head.method.as_str()),
            subject: named.or(outline.as_deref()),
            params: routing.map_or(&[], |routing| &routing.params),
        }
    }

    /// Returns the subject in the message, if the caller did not pass it.
    fn subject(&self) -> Option<Box<str>> {
        let routing = self.head.routing.as_deref();
        let is_said = routing.is_some_and(|routing| routing.name.is_some());
        let method = self.head.method.as_str();
        if is_said || !ParamsPreview::has_subject(method) {
            return None;
        }
        let Ok(Message::Request(request)) = Message::parse(&self.body) else {
            return None;
        };
        let outline = ParamsPreview::read(request.params).ok()?;
        Some(outline.subject(method)?.into())
    }
}

impl<F: HttpClient> HttpConversation<F> {
    /// Posts a call and passes all messages of its response to the engine.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError`] if the call has no answer.
    pub(crate) async fn exchange(&self, call: &PostedCall) -> Result<(), HttpTransportError> {
        let state = self.state(call.head.revision);
        let Some((found, body)) = self.post_call(call, &state).await? else {
            return Ok(());
        };
        // The work that few calls need is boxed, so that the others are not as large.
        match found {
            ResponseKind::Message => self.take_message(call.id, body).await,
            ResponseKind::Events => Box::pin(self.read_events(call, &state, body)).await,
            ResponseKind::ErrorBody(trouble) => {
                Box::pin(self.read_error_body(call, trouble, body)).await
            }
            ResponseKind::Ended(trouble) => Err(trouble.into()),
            ResponseKind::Accepted => Err(HttpTransportError::NotTheAnswer),
        }
    }

    /// Posts a call. Returns its response, unless the answer arrives on the stream of the older transport.
    async fn post_call(
        &self,
        call: &PostedCall,
        state: &SessionState,
    ) -> Result<Option<(ResponseKind, HttpClientBody)>, HttpTransportError> {
        let subject = call.subject();
        let wait = self.limits.response_idle_timeout;
        let message = call.mirrored(&subject);
        let response = self.post(state, message, &call.body, wait).await?;
        if self.has_two_endpoints() {
            Box::pin(taken(response, state)).await?;
            return Ok(None);
        }
        self.open_response(call, state, response).map(Some)
    }

    /// Reads the head of a response, and returns its body.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError::SessionId`].
    fn open_response(
        &self,
        call: &PostedCall,
        state: &SessionState,
        response: Response<HttpClientBody>,
    ) -> Result<(ResponseKind, HttpClientBody), HttpTransportError> {
        let (parts, body) = response.into_parts();
        let found = meaning(Sent::Request, state.session(), parts.status, &parts.headers);
        let opens = matches!(found, ResponseKind::Message | ResponseKind::Events);
        if opens && call.is(Initialize::NAME) {
            self.note_session(&parts.headers)?;
        }
        Ok((found, body))
    }

    async fn take_message(
        &self,
        call: CallId,
        body: HttpClientBody,
    ) -> Result<(), HttpTransportError> {
        let (limit, pause) = (
            self.limits.max_response_bytes,
            self.limits.response_idle_timeout,
        );
        // The timeout of the call limits the total time.
        let bounds = Bounds {
            bytes: limit,
            pause,
            time: Duration::MAX,
        };
        let text = body::read(body, bounds)
            .await
            .map_err(|unread| ResponseBodyError::new(unread, limit, pause))?;
        self.wire.receive_reply(call, &text);
        if self.wire.is_waiting(call) {
            return Err(HttpTransportError::NotTheAnswer);
        }
        Ok(())
    }

    /// Reads the JSON-RPC error in a response with an error status.
    async fn read_error_body(
        &self,
        call: &PostedCall,
        trouble: ResponseError,
        body: HttpClientBody,
    ) -> Result<(), HttpTransportError> {
        // A server error does not answer a probe, because it shows nothing about the server.
        let is_unusable = call.is(Discover::NAME) && trouble.is_fault();
        let bounds = Bounds::within(ERROR_BODY_BYTES, self.limits.header_timeout);
        let text = body::read(body, bounds).await;
        if let Ok(text) = text
            && !is_unusable
            && let Some(code) = error_code(&text)
        {
            let may_be_old =
                call.is(Initialize::NAME) && trouble.suggests_two_endpoints() && !is_modern(code);
            match may_be_old {
                true => drop(call.doubtful.set(Box::new(text))),
                false => self.wire.receive_reply(call.id, &text),
            }
        }
        if self.wire.is_waiting(call.id) {
            return Err(trouble.into());
        }
        Ok(())
    }

    /// Accepts the stored error as the answer, because the server does not use the older transport.
    ///
    /// # Errors
    ///
    /// `trouble`, if no error is stored.
    pub(crate) fn accept_error(
        &self,
        call: &PostedCall,
        trouble: ResponseError,
    ) -> Result<(), HttpTransportError> {
        if let Some(text) = call.doubtful.get() {
            self.wire.receive_reply(call.id, text);
        }
        if self.wire.is_waiting(call.id) {
            return Err(trouble.into());
        }
        Ok(())
    }

    /// Reads a stream up to the answer, and resumes it on new connections if it breaks.
    async fn read_events(
        &self,
        call: &PostedCall,
        state: &SessionState,
        body: HttpClientBody,
    ) -> Result<(), HttpTransportError> {
        let resumes = state
            .revision
            .is_none_or(|revision| revision.has(Feature::Resumption));
        let purpose = match resumes {
            true => Purpose::Reply,
            false => Purpose::ModernReply,
        };
        // A subscription may be silent, because only changes are sent on it.
        let pause = (!call.is(Listen::NAME)).then_some(self.limits.response_idle_timeout);
        let mut resume = Resume::new(purpose, self.limits.backoff(), self.limits.max_reconnects);
        let mut events = self.events(body, None, pause);
        loop {
            let end = self.hear_out(Some(call.id), &mut events).await;
            resume.note(events.last_id(), events.retry(), events.messages());
            let end = match end {
                Ok(End::Answered) => {
                    events.drain(END_TIMEOUT).await;
                    return Ok(());
                }
                Err(too_long @ StreamError::TooLong(_)) => return Err(too_long.into()),
                Ok(end) => (end, None),
                Err(broken) => (End::Cut, Some(broken)),
            };
            events = self.resume_stream(state, &mut resume, end, pause).await?;
        }
    }

    /// Resumes a stream, with retries. Fails when the retries are used up.
    pub(crate) async fn resume_stream(
        &self,
        state: &SessionState,
        resume: &mut Resume,
        (mut end, mut broken): (End, Option<StreamError>),
        pause: Option<Duration>,
    ) -> Result<Events, HttpTransportError> {
        loop {
            let wait = match resume.ended(end, Jitter::draw()) {
                Next::Ask(wait) => wait,
                Next::Done => return Err(ResumeError::Ended.into()),
                Next::GiveUp(lost) => {
                    // The first error is more useful than the failure to resume.
                    let first = broken.take().filter(|_| lost == ResumeError::Ended);
                    return Err(first.map_or(lost.into(), HttpTransportError::from));
                }
            };
            sleep(wait).await;
            end = match self.get(state, resume.last_id()).await {
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    match meaning(Sent::Resume, state.session(), parts.status, &parts.headers) {
                        ResponseKind::Events => {
                            return Ok(self.events(body, resume.last_id(), pause));
                        }
                        ResponseKind::Ended(trouble) | ResponseKind::ErrorBody(trouble) => {
                            End::Refused(trouble)
                        }
                        ResponseKind::Message | ResponseKind::Accepted => End::Cut,
                    }
                }
                Err(HttpTransportError::Redirect(refused)) => return Err(refused.into()),
                Err(HttpTransportError::Fetch(_)) => End::Unreachable,
                Err(_) => End::Cut,
            };
        }
    }

    /// Passes the messages of a stream to the engine, to its end or the answer to `call`.
    ///
    /// # Errors
    ///
    /// [`StreamError`].
    pub(crate) async fn hear_out(
        &self,
        call: Option<CallId>,
        events: &mut Events,
    ) -> Result<End, StreamError> {
        loop {
            self.room().await;
            let Some(event) = events.next().await? else {
                return Ok(End::Cut);
            };
            if !is_message(&event) {
                continue;
            }
            self.wire.receive(&event.data);
            if call.is_some_and(|call| !self.wire.is_waiting(call)) {
                return Ok(End::Answered);
            }
        }
    }

    pub(crate) fn events(
        &self,
        body: HttpClientBody,
        last_id: Option<&str>,
        pause: Option<Duration>,
    ) -> Events {
        Events::new(body, last_id, self.limits.max_event_bytes, pause)
    }

    /// Reads the stream of a session to its end, and returns the reason for the end.
    ///
    /// Calls `opened` once the stream is open, or the first attempt to open it has failed.
    pub(crate) async fn listen(
        &self,
        state: &SessionState,
        opened: impl FnOnce() + Send,
    ) -> HttpTransportError {
        let first = self.get(state, None).await;
        opened();
        match self.keep_listening(state, first).await {
            Err(failure) => failure,
        }
    }

    async fn keep_listening(
        &self,
        state: &SessionState,
        first: Result<Response<HttpClientBody>, HttpTransportError>,
    ) -> Result<Infallible, HttpTransportError> {
        let limits = &self.limits;
        let mut resume = Resume::new(Purpose::Session, limits.backoff(), limits.max_reconnects);
        let mut events = self.open_listener(state, &mut resume, first).await?;
        loop {
            let opened = Instant::now();
            let end = self.hear_out(None, &mut events).await;
            resume.note(events.last_id(), events.retry(), events.messages());
            resume.lasted(opened.elapsed());
            let end = match end {
                Err(too_long @ StreamError::TooLong(_)) => return Err(too_long.into()),
                Ok(end) => (end, None),
                Err(broken) => (End::Cut, Some(broken)),
            };
            events = self.resume_stream(state, &mut resume, end, None).await?;
        }
    }

    /// Opens the stream of a session. Tries again while the server, or a proxy in front of it, is away or busy.
    async fn open_listener(
        &self,
        state: &SessionState,
        resume: &mut Resume,
        mut response: Result<Response<HttpClientBody>, HttpTransportError>,
    ) -> Result<Events, HttpTransportError> {
        loop {
            let failure = match response.and_then(|response| self.listener(state, response)) {
                Ok(events) => return Ok(events),
                Err(failure) => failure,
            };
            let end = match &failure {
                HttpTransportError::Trouble(trouble) if trouble.is_passing() => {
                    End::Refused(trouble.clone())
                }
                HttpTransportError::Fetch(_) => End::Unreachable,
                HttpTransportError::Silent(_) => End::Cut,
                _ => return Err(failure),
            };
            match resume.ended(end, Jitter::draw()) {
                Next::Ask(wait) => sleep(wait).await,
                Next::Done | Next::GiveUp(_) => return Err(failure),
            }
            response = self.get(state, None).await;
        }
    }

    /// Returns the events of the first stream of a session.
    fn listener(
        &self,
        state: &SessionState,
        response: Response<HttpClientBody>,
    ) -> Result<Events, HttpTransportError> {
        let (parts, body) = response.into_parts();
        match meaning(Sent::Listen, state.session(), parts.status, &parts.headers) {
            ResponseKind::Events => Ok(self.events(body, None, None)),
            ResponseKind::Ended(trouble) | ResponseKind::ErrorBody(trouble) => Err(trouble.into()),
            ResponseKind::Message | ResponseKind::Accepted => Err(HttpTransportError::NotTheAnswer),
        }
    }
}

/// Returns the code of a JSON-RPC error, if the text is one.
fn error_code(text: &[u8]) -> Option<ErrorCode> {
    match Message::parse(text).ok()? {
        Message::Response(response) => match response.body {
            ResponseBody::Error(error) => Some(error.code),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true for codes that only servers of modern revisions send.
fn is_modern(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_CLIENT_CAPABILITY
            | ErrorCode::UNSUPPORTED_REVISION
    )
}
