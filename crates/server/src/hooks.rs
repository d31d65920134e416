//! Hooks around the service of a server: before its first request, and after its last.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use pintle_runtime::{BoxFuture, StartHookError};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::failure::BoxError;

/// How long all hooks of the stop may take.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_secs(10);

type StartHook = Box<dyn FnOnce() -> BoxFuture<'static, Result<(), BoxError>> + Send>;
type StopHook = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// The hooks of a server that is being described.
#[derive(Default)]
pub(crate) struct HookList {
    start: Vec<StartHook>,
    stop: Vec<StopHook>,
}

impl HookList {
    pub(crate) fn on_start<F, Fut>(&mut self, hook: F)
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        self.start.push(Box::new(|| Box::pin(hook())));
    }

    pub(crate) fn on_stop<F, Fut>(&mut self, hook: F)
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.stop.push(Box::new(|| Box::pin(hook())));
    }

    /// Adds the hooks of a mounted server.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.start.append(&mut other.start);
        self.stop.append(&mut other.stop);
    }
}

/// The hooks of a server that was checked. Each runs once.
pub(crate) struct Hooks {
    state: Mutex<State>,
    stop_timeout: Duration,
}

struct State {
    list: HookList,
    /// Transports that have started the server and not stopped it.
    transports: usize,
    // Also true while hooks run, because a start that is dropped is not complete.
    has_failed: bool,
}

impl Hooks {
    pub(crate) fn new(list: HookList, stop_timeout: Duration) -> Self {
        let state = State {
            list,
            transports: 0,
            has_failed: false,
        };
        Self {
            state: Mutex::new(state),
            stop_timeout,
        }
    }

    /// Runs the hooks of the start in their order, at the first call.
    ///
    /// # Errors
    ///
    /// [`StartHookError`] if a hook failed, in this call or an earlier one. Later hooks do not run then.
    pub(crate) async fn start(&self) -> Result<(), StartHookError> {
        let mut state = self.state.lock().await;
        if std::mem::replace(&mut state.has_failed, true) {
            return Err(StartHookError::new("an earlier start failed"));
        }
        for hook in std::mem::take(&mut state.list.start) {
            hook().await.map_err(StartHookError::new)?;
        }
        state.has_failed = false;
        state.transports += 1;
        Ok(())
    }

    /// Runs the hooks of the stop in their order, when the last transport that started has stopped.
    pub(crate) async fn stop(&self) {
        let mut state = self.state.lock().await;
        if state.transports == 0 {
            return;
        }
        state.transports -= 1;
        if state.transports > 0 {
            return;
        }
        let hooks = std::mem::take(&mut state.list.stop);
        let all = async {
            for hook in hooks {
                hook().await;
            }
        };
        if timeout(self.stop_timeout, all).await.is_err() {
            tracing::warn!(timeout = ?self.stop_timeout, "the hooks of the stop did not end in time");
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
