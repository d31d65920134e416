//! The client: one handle, any number of callers, one server.

mod build;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pintle_model::method::MethodName;
use pintle_model::{Feature, Implementation, LoggingLevel, Tool};
use pintle_proto::TransportError;
use pintle_runtime::{BoxConnect, Connect};
use tokio::time::Instant;

use crate::approvals::{Approvals, Pins};
use crate::cache::Cache;
use crate::connect::open;
use crate::conversation::{ServerInfo, Session};
use crate::era::{EraMemory, Mode};
use crate::error::{CallError, ConnectError};
use crate::handlers::Handlers;
use crate::options::ClientOptions;
use crate::output_schema::{OutputCheck, OutputSchema};
use crate::task_events::Told;
use crate::tool_cache::Known;

pub use build::ClientBuilder;

/// A client of one server. Cloning is cheap; when the last clone is dropped the conversation ends.
///
/// A conversation that is lost is opened again by the next call. Calls that were in flight have
/// failed; those that change nothing are made once more by themselves.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Inner>);

/// Everything about a client.
pub(crate) struct Inner {
    pub(crate) connect: BoxConnect,
    pub(crate) identity: Implementation,
    pub(crate) handlers: Handlers,
    pub(crate) mode: Mode,
    pub(crate) eras: EraMemory,
    pub(crate) options: ClientOptions,
    pub(crate) check_output: OutputCheck,
    pub(crate) pins: Option<Pins>,
    pub(crate) known: Known,
    pub(crate) cache: Arc<Cache>,
    /// Who follows which task.
    pub(crate) told: Arc<Told>,
    state: Mutex<State>,
    opening: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    session: Option<Arc<Session>>,
    is_closed: bool,
    log_level: Option<LoggingLevel>,
    failures: u32,
    failed_at: Option<Instant>,
    failure: Option<Arc<ConnectError>>,
}

impl Client {
    /// Connects to a server with the usual options and nobody to answer its questions.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the attempt.
    pub async fn connect(target: impl Connect) -> Result<Self, ConnectError> {
        Self::builder().connect(target).await
    }

    /// Describes a client.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// What the server says about itself, as of the last time it was connected to.
    pub fn server(&self) -> Option<ServerInfo> {
        let state = self.0.lock();
        state.session.as_ref().map(|session| session.info.clone())
    }

    /// Whether the conversation goes on. One that does not is opened again by the next call.
    pub fn is_connected(&self) -> bool {
        let session = self.0.current();
        session.is_some_and(|session| !session.is_over())
    }

    /// Waits until the conversation of this moment has ended, and says why; none if it ended as it
    /// should, or if there is none.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn disconnected(&self) -> Option<TransportError> {
        let session = self.0.current()?;
        let mut end = session.end.clone();
        let ended = end.wait_for(Option::is_some).await.ok()?;
        ended.clone().and_then(Result::err)
    }

    /// Says that the user is done at a URL, by the server's name for the visit: the call that waits
    /// for it goes on. For users who say so themselves, as not every server does. Whether anybody
    /// waited.
    pub fn visited(&self, elicitation_id: &str) -> bool {
        let session = self.0.current();
        session.is_some_and(|session| session.hub.end_visit(elicitation_id))
    }

    /// Ends the conversation for good: calls that wait fail, and so do later ones. The server
    /// receives the cancellations of open and dropped calls first. Waits until the transport is
    /// closed.
    ///
    /// # Cancellation
    ///
    /// The end goes on without being waited for.
    pub async fn close(&self) {
        let Some(session) = self.0.shut() else {
            return;
        };
        session.peer.close();
        let mut end = session.end.clone();
        let farewell = end.wait_for(Option::is_some);
        // The transport bounds its own farewell; this is for one that does not.
        let _ = tokio::time::timeout(self.0.options.close * 4, farewell).await;
    }
}

impl Inner {
    /// The conversation of this moment, or the last one.
    pub(crate) fn current(&self) -> Option<Arc<Session>> {
        self.lock().session.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation, opened if there is none.
    pub(crate) async fn session(&self, method: &MethodName) -> Result<Arc<Session>, CallError> {
        if let Some(session) = self.live(method)? {
            return Ok(session);
        }
        let _turn = self.opening.lock().await;
        if let Some(session) = self.live(method)? {
            return Ok(session);
        }
        self.check_pace(method)?;
        let opened = open(self).await;
        self.note(opened).map_err(|source| CallError::Unconnected {
            method: method.clone(),
            source,
        })
    }

    /// Opens the first conversation.
    pub(crate) async fn open_first(&self) -> Result<(), Arc<ConnectError>> {
        let _turn = self.opening.lock().await;
        let opened = open(self).await;
        self.note(opened).map(drop)
    }

    fn live(&self, method: &MethodName) -> Result<Option<Arc<Session>>, CallError> {
        let state = self.lock();
        if state.is_closed {
            return Err(CallError::Closed {
                method: method.clone(),
            });
        }
        let session = state.session.as_ref();
        Ok(session.filter(|session| !session.is_over()).cloned())
    }

    /// A server that cannot be reached is not asked again at once.
    fn check_pace(&self, method: &MethodName) -> Result<(), CallError> {
        let state = self.lock();
        let (Some(failed_at), Some(failure)) = (state.failed_at, &state.failure) else {
            return Ok(());
        };
        let doubled = 1_u32
            .checked_shl(state.failures.saturating_sub(1))
            .unwrap_or(u32::MAX);
        let pause = self.options.reconnect_pause.saturating_mul(doubled);
        if failed_at.elapsed() >= pause.min(self.options.longest_reconnect_pause) {
            return Ok(());
        }
        Err(CallError::Unconnected {
            method: method.clone(),
            source: Arc::clone(failure),
        })
    }

    fn note(
        &self,
        opened: Result<Session, ConnectError>,
    ) -> Result<Arc<Session>, Arc<ConnectError>> {
        let mut state = self.lock();
        match opened {
            Ok(session) if state.is_closed => {
                session.peer.close();
                Err(Arc::new(ConnectError::Closed))
            }
            Ok(session) => {
                let session = Arc::new(session);
                self.known.forget();
                self.cache.clear();
                state.session = Some(Arc::clone(&session));
                (state.failures, state.failed_at, state.failure) = (0, None, None);
                Ok(session)
            }
            Err(error) => {
                let error = Arc::new(error);
                state.failures += 1;
                state.failed_at = Some(Instant::now());
                state.failure = Some(Arc::clone(&error));
                Err(error)
            }
        }
    }

    /// Whether it is known what a tool promises to give now, be it nothing.
    pub(crate) fn knows_output_of(&self, tool: &str) -> bool {
        let known = self.known.get(tool);
        known.is_some_and(|tool| tool.as_of == self.cache.tool_changes())
    }

    /// What a tool promises to give, if that is known and checked.
    pub(crate) fn output_of(&self, tool: &str) -> Option<Arc<OutputSchema>> {
        if self.check_output == OutputCheck::Off {
            return None;
        }
        let tool = self.known.get(tool)?;
        let output = tool.output.clone()?;
        // Before that revision the member is somebody's own.
        let session = self.current()?;
        let is_promise = session.info.revision.has(Feature::StructuredContent);
        (is_promise && tool.as_of == self.cache.tool_changes()).then_some(output)
    }

    /// Whether it is known what a tool is, and that it is one tool.
    pub(crate) fn is_sure_of(&self, tool: &str) -> bool {
        let known = self.known.get(tool);
        known.is_some_and(|tool| !tool.is_ambiguous && tool.as_of == self.cache.tool_changes())
    }

    /// Compares a tool that is listed with what was approved; what it is approved by, where that
    /// matters.
    pub(crate) fn look_at(&self, tool: &Tool) -> Option<Arc<str>> {
        let pins = self.pins.as_ref()?;
        let fingerprint = Approvals::fingerprint(tool).into();
        if pins.approvals.is_news(&tool.name, &fingerprint)
            && let Some(hear) = &self.handlers.changed_tool
        {
            hear(tool.clone());
        }
        Some(fingerprint)
    }

    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        self.lock().log_level.clone()
    }

    pub(crate) fn set_log_level(&self, level: LoggingLevel) {
        self.lock().log_level = Some(level);
    }

    fn shut(&self) -> Option<Arc<Session>> {
        let mut state = self.lock();
        state.is_closed = true;
        state.session.take()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(session) = self.shut() {
            session.peer.close();
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server())
            .finish_non_exhaustive()
    }
}
