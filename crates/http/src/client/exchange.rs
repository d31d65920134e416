//! One message and what comes back for it.

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
use crate::client::resume::{End, Next, Purpose, Resume, ResumeError};
use crate::rules::params_preview::ParamsPreview;

/// How long a stream that has brought its answer may take to end.
const FAREWELL: Duration = Duration::from_secs(1);
/// What is read of a body that says nothing, in bytes.
const SMALL_BYTES: usize = 4 << 10;
/// What is read of a body that comes with an error status, in bytes.
const EVIDENCE_BYTES: usize = 1 << 20;

/// A call about to be posted.
pub(crate) struct PostedCall {
    pub(crate) id: CallId,
    pub(crate) head: CallHead,
    pub(crate) body: Bytes,
    /// The error that came with a status of servers of the older transport: what the server says,
    /// unless it is one.
    doubtful: OnceLock<Bytes>,
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

    /// What headers repeat of it: what the caller says, or else what the message says.
    fn mirrored<'a>(&'a self, outline: &'a Option<Box<str>>) -> RoutingHeaders<'a> {
        let routing = self.head.routing.as_deref();
        let named = routing.and_then(|routing| routing.name.as_deref());
        RoutingHeaders {
            method: Some(self.head.method.as_str()),
            subject: named.or(outline.as_deref()),
            params: routing.map_or(&[], |routing| &routing.params),
        }
    }

    /// The subject in the message, where the caller did not say it.
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
    /// Posts a call and hands in what comes for it, to the end.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError`] when the call is still without an answer then.
    pub(crate) async fn exchange(&self, call: &PostedCall) -> Result<(), HttpTransportError> {
        let standing = self.standing(call.head.revision);
        let subject = call.subject();
        let patience = self.limits.response_idle_timeout;
        let message = call.mirrored(&subject);
        let response = self
            .post(&standing, message, call.body.clone(), patience)
            .await?;
        if self.has_two_endpoints() {
            return taken(response, &standing).await;
        }
        self.take_answer(call, &standing, response).await
    }

    async fn take_answer(
        &self,
        call: &PostedCall,
        standing: &SessionState,
        response: Response<HttpClientBody>,
    ) -> Result<(), HttpTransportError> {
        let (parts, body) = response.into_parts();
        let found = meaning(
            Sent::Request,
            standing.session(),
            parts.status,
            &parts.headers,
        );
        if call.is(Initialize::NAME)
            && matches!(found, ResponseKind::Message | ResponseKind::Events)
        {
            self.note_session(&parts.headers)?;
        }
        match found {
            ResponseKind::Message => self.take_message(call.id, body).await,
            ResponseKind::Events => self.take_events(call, standing, body).await,
            ResponseKind::Evidence(trouble) => self.take_evidence(call, trouble, body).await,
            ResponseKind::Ended(trouble) => Err(trouble.into()),
            ResponseKind::Taken => Err(ResponseError::Unanswered(parts.status.as_u16()).into()),
        }
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
        // How long all of it may take is the call's to say.
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

    /// An error status may carry the error that the server wants to tell.
    async fn take_evidence(
        &self,
        call: &PostedCall,
        trouble: ResponseError,
        body: HttpClientBody,
    ) -> Result<(), HttpTransportError> {
        // A probe wants to know about the server; one that is broken says nothing about itself.
        let is_unusable = call.is(Discover::NAME) && trouble.is_fault();
        let bounds = Bounds::within(EVIDENCE_BYTES, self.limits.header_timeout);
        let text = body::read(body, bounds).await;
        if let Ok(text) = text
            && !is_unusable
            && let Some(code) = error_code(&text)
        {
            let may_be_old =
                call.is(Initialize::NAME) && trouble.suggests_two_endpoints() && !is_modern(code);
            match may_be_old {
                true => drop(call.doubtful.set(text)),
                false => self.wire.receive_reply(call.id, &text),
            }
        }
        if self.wire.is_waiting(call.id) {
            return Err(trouble.into());
        }
        Ok(())
    }

    /// The server does not speak the older transport: what it said before was an answer.
    ///
    /// # Errors
    ///
    /// `trouble`, if it said nothing.
    pub(crate) fn believe(
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

    /// Reads a stream until it has brought the answer, over as many connections as that takes.
    async fn take_events(
        &self,
        call: &PostedCall,
        standing: &SessionState,
        body: HttpClientBody,
    ) -> Result<(), HttpTransportError> {
        let resumes = standing
            .revision
            .is_none_or(|revision| revision.has(Feature::Resumption));
        let purpose = match resumes {
            true => Purpose::Reply,
            false => Purpose::ModernReply,
        };
        // Nothing is owed on a subscription but what changes.
        let pause = (!call.is(Listen::NAME)).then_some(self.limits.response_idle_timeout);
        let mut resume = Resume::new(purpose, self.limits.backoff(), self.limits.max_reconnects);
        let mut events = self.events(body, None, pause);
        loop {
            let end = self.hear_out(Some(call.id), &mut events).await;
            resume.note(events.last_id(), events.retry(), events.messages());
            let end = match end {
                Ok(End::Answered) => {
                    events.drain(FAREWELL).await;
                    return Ok(());
                }
                Err(too_long @ StreamError::TooLong(_)) => return Err(too_long.into()),
                Ok(end) => (end, None),
                Err(broken) => (End::Cut, Some(broken)),
            };
            events = self.go_on(standing, &mut resume, end, pause).await?;
        }
    }

    /// Asks for the rest of a stream until somebody gives it, or until it is given up.
    pub(crate) async fn go_on(
        &self,
        standing: &SessionState,
        resume: &mut Resume,
        (mut end, mut broken): (End, Option<StreamError>),
        pause: Option<Duration>,
    ) -> Result<Events, HttpTransportError> {
        loop {
            let wait = match resume.ended(end, Jitter::draw()) {
                Next::Ask(wait) => wait,
                Next::Done => return Err(ResumeError::Ended.into()),
                Next::GiveUp(lost) => {
                    // What happened first says more than that nothing could be done about it.
                    let told = broken.take().filter(|_| lost == ResumeError::Ended);
                    return Err(told.map_or(lost.into(), HttpTransportError::from));
                }
            };
            sleep(wait).await;
            end = match self.get(standing, resume.last_id()).await {
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    match meaning(
                        Sent::Resume,
                        standing.session(),
                        parts.status,
                        &parts.headers,
                    ) {
                        ResponseKind::Events => {
                            return Ok(self.events(body, resume.last_id(), pause));
                        }
                        ResponseKind::Ended(trouble) | ResponseKind::Evidence(trouble) => {
                            End::Refused(trouble)
                        }
                        ResponseKind::Message | ResponseKind::Taken => End::Cut,
                    }
                }
                Err(HttpTransportError::Redirect(refused)) => return Err(refused.into()),
                Err(_) => End::Unreachable,
            };
        }
    }

    /// Hands in the messages of a stream: to its end, or to the answer to `call`.
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

    /// Posts a message that is owed no answer.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError`] when it was not taken.
    pub(crate) async fn tell(
        &self,
        standing: &SessionState,
        body: Bytes,
    ) -> Result<(), HttpTransportError> {
        let method = match Message::parse(&body) {
            Ok(Message::Notification(notice)) => Some(notice.method.into_owned()),
            _ => None,
        };
        let message = RoutingHeaders {
            method: method.as_deref(),
            ..RoutingHeaders::default()
        };
        let patience = self.limits.header_timeout;
        let response = self.post(standing, message, body.clone(), patience).await?;
        taken(response, standing).await
    }

    /// Hears what the server has to say in a session, until it has no more to say. Says why.
    ///
    /// `opened` is called once it is known whether there is such a stream.
    pub(crate) async fn listen(
        &self,
        standing: &SessionState,
        opened: impl FnOnce() + Send,
    ) -> HttpTransportError {
        let first = self.get(standing, None).await;
        opened();
        let heard = match first {
            Ok(response) => self.keep_listening(standing, response).await,
            Err(failure) => Err(failure),
        };
        match heard {
            Err(failure) => failure,
        }
    }

    async fn keep_listening(
        &self,
        standing: &SessionState,
        response: Response<HttpClientBody>,
    ) -> Result<Infallible, HttpTransportError> {
        let (parts, body) = response.into_parts();
        match meaning(
            Sent::Listen,
            standing.session(),
            parts.status,
            &parts.headers,
        ) {
            ResponseKind::Events => {}
            ResponseKind::Ended(trouble) | ResponseKind::Evidence(trouble) => {
                return Err(trouble.into());
            }
            ResponseKind::Message | ResponseKind::Taken => {
                return Err(HttpTransportError::NotTheAnswer);
            }
        }
        let limits = &self.limits;
        let mut resume = Resume::new(Purpose::Session, limits.backoff(), limits.max_reconnects);
        let mut events = self.events(body, None, None);
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
            events = self.go_on(standing, &mut resume, end, None).await?;
        }
    }
}

/// Whether a message that is owed no answer was taken.
async fn taken(
    response: Response<HttpClientBody>,
    standing: &SessionState,
) -> Result<(), HttpTransportError> {
    let (parts, body) = response.into_parts();
    let found = meaning(
        Sent::Notice,
        standing.session(),
        parts.status,
        &parts.headers,
    );
    if let ResponseKind::Ended(trouble) | ResponseKind::Evidence(trouble) = found {
        return Err(trouble.into());
    }
    // Whatever is in it is read only so that the connection can be used again.
    drop(body::read(body, Bounds::within(SMALL_BYTES, FAREWELL)).await);
    Ok(())
}

/// The code of a text that is the error of a call.
fn error_code(text: &[u8]) -> Option<ErrorCode> {
    match Message::parse(text).ok()? {
        Message::Response(response) => match response.body {
            ResponseBody::Error(error) => Some(error.code),
            _ => None,
        },
        _ => None,
    }
}

/// Whether only servers that know the modern revisions say this.
fn is_modern(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_CLIENT_CAPABILITY
            | ErrorCode::UNSUPPORTED_REVISION
    )
}
