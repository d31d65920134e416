//! The state of a client: its settings, its memory, and its conversation.

use std::sync::Arc;

use pintle_model::method::MethodName;
use pintle_model::{Feature, Implementation, LoggingLevel, Tool};
use pintle_runtime::sync::{Mutex, MutexGuard};
use pintle_runtime::{BoxConnect, CallObserver};
use tokio::time::Instant;

use crate::approvals::{Approvals, ToolPins};
use crate::cache::Cache;
use crate::conversation::Conversation;
use crate::era::{EraCache, EraMode};
use crate::error::{CallError, ConnectError};
use crate::handlers::Handlers;
use crate::options::ClientOptions;
use crate::output_schema::{OutputCheck, OutputSchema};
use crate::task_events::TaskEvents;
use crate::tool_cache::ToolCache;

/// Everything that the stages of a call read and change.
pub(crate) struct ClientState {
    pub(crate) connect: BoxConnect,
    pub(crate) identity: Implementation,
    pub(crate) handlers: Handlers,
    pub(crate) mode: EraMode,
    pub(crate) eras: EraCache,
    pub(crate) options: ClientOptions,
    pub(crate) check_output: OutputCheck,
    pub(crate) pins: Option<ToolPins>,
    pub(crate) tool_cache: ToolCache,
    pub(crate) cache: Arc<Cache>,
    /// The notifications about tasks, and their listeners.
    pub(crate) task_events: Arc<TaskEvents>,
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
    pub(crate) state: Mutex<State>,
    pub(crate) opening: tokio::sync::Mutex<()>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) session: Option<Arc<Conversation>>,
    is_closed: bool,
    log_level: Option<LoggingLevel>,
    failures: u32,
    failed_at: Option<Instant>,
    failure: Option<Arc<ConnectError>>,
}

impl ClientState {
    /// The conversation of this moment, or the last one.
    pub(crate) fn current(&self) -> Option<Arc<Conversation>> {
        self.lock().session.clone()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn live(&self, method: &MethodName) -> Result<Option<Arc<Conversation>>, CallError> {
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
    pub(crate) fn check_pace(&self, method: &MethodName) -> Result<(), CallError> {
        let state = self.lock();
        let (Some(failed_at), Some(failure)) = (state.failed_at, &state.failure) else {
            return Ok(());
        };
        if failed_at.elapsed() >= self.options.reconnect_delay_after(state.failures) {
            return Ok(());
        }
        Err(CallError::NotConnected {
            method: method.clone(),
            source: Arc::clone(failure),
        })
    }

    pub(crate) fn note(
        &self,
        opened: Result<Conversation, ConnectError>,
    ) -> Result<Arc<Conversation>, Arc<ConnectError>> {
        let mut state = self.lock();
        match opened {
            Ok(session) if state.is_closed => {
                session.peer.close();
                Err(Arc::new(ConnectError::Closed))
            }
            Ok(session) => {
                let session = Arc::new(session);
                self.tool_cache.forget();
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

    /// Returns true if the present output schema of a tool is known, or its absence.
    pub(crate) fn knows_output_of(&self, tool: &str) -> bool {
        let cached = self.tool_cache.get(tool);
        cached.is_some_and(|tool| tool.as_of == self.cache.tool_changes())
    }

    /// Returns the output schema of a tool if it is known and checked.
    pub(crate) fn output_of(&self, tool: &str) -> Option<Arc<OutputSchema>> {
        if self.check_output == OutputCheck::Off {
            return None;
        }
        let tool = self.tool_cache.get(tool)?;
        let output = tool.output.clone()?;
        // Before that revision the member has no meaning in the protocol.
        let session = self.current()?;
        let is_promise = session.info.revision.has(Feature::StructuredContent);
        (is_promise && tool.as_of == self.cache.tool_changes()).then_some(output)
    }

    /// Returns true if the present definition of a tool is known and is the only one of its name.
    pub(crate) fn is_sure_of(&self, tool: &str) -> bool {
        let cached = self.tool_cache.get(tool);
        cached.is_some_and(|tool| !tool.is_ambiguous && tool.as_of == self.cache.tool_changes())
    }

    /// Compares a listed tool with its approved definition. Returns its fingerprint if the client
    /// has approvals.
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

    pub(crate) fn shut(&self) -> Option<Arc<Conversation>> {
        let mut state = self.lock();
        state.is_closed = true;
        state.session.take()
    }
}

impl Drop for ClientState {
    fn drop(&mut self) {
        if let Some(session) = self.shut() {
            session.peer.close();
        }
    }
}
