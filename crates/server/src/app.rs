//! A server that was checked: it answers requests.

#[cfg(feature = "tasks")]
mod adopt;
#[cfg(feature = "tasks")]
mod begin;
mod check;
mod completing;
mod params;
mod provided;
mod router;
#[cfg(feature = "tasks")]
mod task_calls;

use std::sync::{Arc, Weak};

use pintle_model::Error;
use pintle_proto::{IncomingNotice, Reply, ServerProfile};
use pintle_runtime::{
    BoxFuture, BoxService, Context, EngineHandle, MissingScopes, ParamHeader, Principal, Service,
    SharedSessions, StartHookError,
};

use crate::changes::Changes;
use crate::core::Core;
use crate::handle::ServerHandle;
use crate::set::Listed as _;

pub(crate) use check::{check_prompt, check_resource, check_tool};

/// A layer around every request.
pub(crate) type ServiceLayer = Box<dyn FnOnce(BoxService) -> BoxService + Send>;

/// A server that was checked and can be served, on any number of transports at once. Cloning gives
/// another handle to the same server.
#[derive(Debug, Clone)]
pub struct App {
    core: Arc<Core>,
    /// The core with its layers around it, if it has any.
    layered: Option<BoxService>,
}

impl App {
    /// Takes the handles in the order of the seats.
    pub(crate) fn new(core: Core, handles: &[ServerHandle], layers: Vec<ServiceLayer>) -> Self {
        let core = Arc::new(core);
        for (number, handle) in handles.iter().enumerate() {
            handle.start(&core, number);
        }
        let innermost = || BoxService::new(CoreService(Arc::clone(&core)));
        let layered = (!layers.is_empty()).then(|| {
            let inside_out = layers.into_iter().rev();
            inside_out.fold(innermost(), |inner, layer| layer(inner))
        });
        Self { core, layered }
    }

    /// Tells clients of changes.
    pub fn changes(&self) -> &Changes {
        // The server itself always has a seat.
        &self.core.mounts[0].changes
    }
}

impl Service for App {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        match &self.layered {
            Some(layered) => layered.call(cx).await,
            None => self.core.answer(cx).await,
        }
    }
    fn profile(&self) -> Arc<ServerProfile> {
        match &self.layered {
            Some(layered) => layered.profile(),
            None => Arc::clone(&self.core.profile),
        }
    }

    fn notified(&self, notified: IncomingNotice) {
        if let Some(layered) = &self.layered {
            layered.notified(notified);
        }
    }

    fn attach(&self, engine_handle: Weak<dyn EngineHandle>) {
        match &self.layered {
            Some(layered) => layered.attach(engine_handle),
            None => self.core.attach(&engine_handle),
        }
    }

    fn start(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        self.core.start()
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.core.hooks.stop())
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        // Layers are for requests, and tasks outlive them.
        self.core.leave()
    }

    fn is_ready(&self) -> BoxFuture<'_, bool> {
        self.core.is_ready()
    }

    fn shared_sessions(&self) -> Option<Arc<dyn SharedSessions>> {
        self.core.sessions.clone()
    }

    fn param_headers(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        match &self.layered {
            Some(layered) => layered.param_headers(tool, principal),
            None => self.core.param_headers(tool, principal),
        }
    }

    fn tools_with_scopes(&self) -> Vec<Box<str>> {
        self.core.tools_with_scopes()
    }

    fn missing_scopes(
        &self,
        method: &str,
        subject: &str,
        principal: &Principal,
    ) -> Option<MissingScopes> {
        match &self.layered {
            Some(layered) => layered.missing_scopes(method, subject, principal),
            None => self.core.missing_scopes(method, subject, principal),
        }
    }
}

impl Core {
    /// Returns the names of the tools that require scopes.
    fn tools_with_scopes(&self) -> Vec<Box<str>> {
        let tools = self.tools.snapshot();
        let scoped = tools.iter().filter(|entry| !entry.scopes().is_empty());
        scoped.map(|entry| entry.key().into()).collect()
    }

    fn start(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        Box::pin(async {
            if let Some(replica) = &self.replica {
                replica.start().await.map_err(StartHookError::new)?;
            }
            self.hooks.start().await
        })
    }

    /// Releases the tasks to other replicas.
    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(tasks) = &self.tasks {
                tasks.release().await;
            }
            if let Some(replica) = &self.replica {
                replica.leave().await;
            }
        })
    }

    fn is_ready(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            match &self.store_check {
                Some(check) => check.is_reachable().await,
                None => true,
            }
        })
    }

    // The check is inlined, because each request makes it.
    #[inline]
    fn wake_tasks(self: &Arc<Self>) {
        if let Some(tasks) = &self.tasks {
            tasks.wake(self);
        }
    }

    /// Each of the servers tells of its changes by itself.
    fn attach(self: &Arc<Self>, engine_handle: &Weak<dyn EngineHandle>) {
        self.wake_tasks();
        for mount in &self.mounts {
            mount.changes.attach(Weak::clone(engine_handle));
        }
    }
}

/// The core as a service, for layers to go around.
struct CoreService(Arc<Core>);

impl Service for CoreService {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.0.answer(cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        Arc::clone(&self.0.profile)
    }

    fn attach(&self, engine_handle: Weak<dyn EngineHandle>) {
        self.0.attach(&engine_handle);
    }

    fn start(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        self.0.start()
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.hooks.stop())
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        self.0.leave()
    }

    fn is_ready(&self) -> BoxFuture<'_, bool> {
        self.0.is_ready()
    }

    fn shared_sessions(&self) -> Option<Arc<dyn SharedSessions>> {
        self.0.sessions.clone()
    }

    fn param_headers(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        self.0.param_headers(tool, principal)
    }

    fn tools_with_scopes(&self) -> Vec<Box<str>> {
        self.0.tools_with_scopes()
    }

    fn missing_scopes(
        &self,
        method: &str,
        subject: &str,
        principal: &Principal,
    ) -> Option<MissingScopes> {
        self.0.missing_scopes(method, subject, principal)
    }
}

#[cfg(test)]
mod tests;
