//! The context of one request, for its handler: terms, principal, notices.

mod end;
mod undo;

use std::borrow::Cow;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::Serialize;

use pintle_model::LoggingLevel;
use pintle_proto::{IncomingRequest, Limits, RequestKey, Terms};

use crate::engine_handle::EngineHandle;
use crate::extensions::Extensions;
use crate::first::{First, first};
use crate::principal::Principal;
use crate::questions::QuestionState;
use end::End;

pub(crate) use end::EndGuard;
pub use undo::Undo;

/// How long progress waits for a peer that does not read before notices are merged.
const READER_GRACE: Duration = Duration::from_secs(1);
/// How often a full queue is looked at again.
const READER_POLL: Duration = Duration::from_millis(1);

/// The context of the request that a handler serves. Cloning is cheap; a clone that outlives
/// the request sends nothing.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    origin: Origin,
    engine: Arc<dyn EngineHandle>,
    principal: Option<Principal>,
    extensions: Extensions,
    questions: QuestionState,
    end: End,
}

/// The origin of a context.
enum Origin {
    /// The request is its own.
    Request(Box<IncomingRequest>),
    /// The request and its end are those of this context.
    Context(Context),
}

impl Context {
    /// The context of a request that was admitted.
    #[inline]
    pub fn new(request: impl Into<Box<IncomingRequest>>, engine: Arc<dyn EngineHandle>) -> Self {
        Self::with(request, engine, None, Extensions::new())
    }

    /// The context of a request that was authorized, or that a transport attached something to. The
    /// request may be without a message: work that continues has the key of its request while it is
    /// open, else [`RequestKey::NONE`].
    pub fn with(
        request: impl Into<Box<IncomingRequest>>,
        engine: Arc<dyn EngineHandle>,
        principal: Option<Principal>,
        extensions: Extensions,
    ) -> Self {
        Self(Arc::new(Inner {
            origin: Origin::Request(request.into()),
            engine,
            principal,
            extensions,
            questions: QuestionState::default(),
            end: End::default(),
        }))
    }

    /// The same request with another engine handle, and with question state of its own.
    #[must_use]
    pub fn with_engine(&self, engine: Arc<dyn EngineHandle>) -> Self {
        Self(Arc::new(Inner {
            origin: Origin::Context(self.clone()),
            engine,
            principal: self.0.principal.clone(),
            extensions: self.0.extensions.clone(),
            questions: QuestionState::default(),
            end: End::default(),
        }))
    }

    /// Returns the request: its method, its parameters and its terms.
    #[inline]
    pub fn request(&self) -> &IncomingRequest {
        match &self.0.origin {
            Origin::Request(request) => request,
            Origin::Context(origin) => origin.request(),
        }
    }

    /// Returns the handle of the engine that serves the request.
    #[inline]
    pub fn engine_handle(&self) -> Arc<dyn EngineHandle> {
        Arc::clone(&self.0.engine)
    }

    /// Returns the terms of the request: revision, capabilities and identity of the client.
    pub fn terms(&self) -> &Terms {
        &self.request().terms
    }

    /// The request's name within its conversation.
    pub fn key(&self) -> RequestKey {
        self.request().key
    }

    /// Returns the principal that the request was authorized for; `None` without authorization.
    #[inline]
    pub fn principal(&self) -> Option<&Principal> {
        self.0.principal.as_ref()
    }

    /// Returns the value of this type that a transport or a layer attached to the request.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.extensions.get()
    }

    /// Returns a header of the HTTP request, if its value is text. On other transports no request has headers.
    #[cfg(feature = "http")]
    pub fn header(&self, name: &str) -> Option<String> {
        let parts = self.extension::<http::request::Parts>()?;
        let value = parts.headers.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    }

    /// Returns the questions of this request, for the runner of its handler.
    pub fn questions(&self) -> &QuestionState {
        &self.0.questions
    }

    /// The limits of the conversation.
    pub fn limits(&self) -> Limits {
        self.0.engine.with(|engine| engine.limits().clone())
    }

    #[inline]
    pub(crate) fn engine(&self) -> &dyn EngineHandle {
        &*self.0.engine
    }

    /// Returns the engine handle for a caller that may outlive the conversation.
    pub(crate) fn weak_engine(&self) -> Weak<dyn EngineHandle> {
        Arc::downgrade(&self.0.engine)
    }

    /// Notes that an error of this request asks for a visit under an `elicitationId`: the client is
    /// notified of its end.
    pub fn expect_visit(&self, id: &str) {
        self.0
            .engine
            .with(|engine| engine.expect_visit(self.key(), id));
    }

    /// Sends the progress of the request to the client: `progress` of `total`, in any unit. Both may be whole numbers
    /// of up to 32 bits, or `f64`; an unknown total is `None`.
    ///
    /// Nothing is sent when the client did not ask, or when `progress` is not more than before.
    /// When the client does not read, this waits up to a second; after that notices are merged.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses this notice at most.
    ///
    /// Spec: [2026-07-28, Progress][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
    pub async fn progress(
        &self,
        progress: impl Into<f64>,
        total: impl Into<ProgressTotal>,
        note: impl Into<ProgressMessage<'_>>,
    ) {
        let (progress, ProgressTotal(total)) = (progress.into(), total.into());
        let ProgressMessage(message) = note.into();
        let (engine, key) = (&self.0.engine, self.key());
        if !engine.progress(key, progress, total, message.as_deref()) {
            self.wait_for_reader().await;
            engine.with(|engine| engine.progress(key, progress, total, message.as_deref()));
        }
    }

    /// Sends a log message to the client, if it asked for `level` on this request or session.
    ///
    /// Deprecated by the protocol as of 2026-07-28; `tracing` is for operators, this is for the
    /// client.
    ///
    /// Spec: [2026-07-28, Logging][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
    pub fn log(&self, level: LoggingLevel, logger: Option<&str>, data: impl Serialize) {
        let is_logged = self
            .0
            .engine
            .with(|engine| engine.wants_log(self.key(), &level));
        if !is_logged {
            return;
        }
        match serde_json::to_value(data) {
            Ok(data) => self
                .0
                .engine
                .with(|engine| engine.log(self.key(), level, logger, data)),
            Err(error) => tracing::debug!(%error, "a log message cannot be written as JSON"),
        }
    }

    /// Closes the connection that waits for the answer to this request, after everything sent so
    /// far has left. The request continues, and the client reconnects for the rest.
    ///
    /// Works over HTTP in a session of 2025-11-25. Elsewhere nothing happens, and this returns
    /// false.
    ///
    /// Spec: [2025-11-25, Transports, Sending messages][spec], SEP-1699.
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
    pub fn close_stream(&self) -> bool {
        self.0.engine.close_stream(self.key())
    }

    fn is_behind(&self) -> bool {
        self.0.engine.is_behind(self.key())
    }

    async fn wait_for_reader(&self) {
        let mut timeout = pin!(tokio::time::sleep(READER_GRACE));
        while self.is_behind() {
            if let First::One(()) = first(timeout.as_mut(), tokio::time::sleep(READER_POLL)).await {
                return;
            }
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("key", &self.key())
            .field("terms", &self.request().terms)
            .field("principal", &self.0.principal)
            .finish_non_exhaustive()
    }
}

/// Total of a progress notice: a number, or `None` if it is unknown.
///
/// ```
/// use pintle_runtime::ProgressTotal;
///
/// let lines = 10_u32;
/// assert_eq!(ProgressTotal::from(lines), ProgressTotal(Some(10.0)));
/// assert_eq!(ProgressTotal::from(2.5), ProgressTotal(Some(2.5)));
/// assert_eq!(ProgressTotal::from(None), ProgressTotal(None));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProgressTotal(pub Option<f64>);

impl From<Option<f64>> for ProgressTotal {
    fn from(total: Option<f64>) -> Self {
        Self(total)
    }
}

impl From<f64> for ProgressTotal {
    fn from(total: f64) -> Self {
        Self(Some(total))
    }
}

impl From<u32> for ProgressTotal {
    fn from(total: u32) -> Self {
        Self(Some(total.into()))
    }
}

impl From<i32> for ProgressTotal {
    fn from(total: i32) -> Self {
        Self(Some(total.into()))
    }
}

/// Text of a progress notice, or no text (`()` or `None`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgressMessage<'a>(pub Option<Cow<'a, str>>);

impl From<()> for ProgressMessage<'_> {
    fn from((): ()) -> Self {
        Self(None)
    }
}

impl<'a> From<&'a str> for ProgressMessage<'a> {
    fn from(text: &'a str) -> Self {
        Self(Some(text.into()))
    }
}

impl From<String> for ProgressMessage<'_> {
    fn from(text: String) -> Self {
        Self(Some(text.into()))
    }
}

impl From<Option<String>> for ProgressMessage<'_> {
    fn from(text: Option<String>) -> Self {
        Self(text.map(Cow::from))
    }
}
