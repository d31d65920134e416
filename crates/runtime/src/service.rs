//! The trait of everything that answers requests.

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};

use pintle_model::Error;
use pintle_proto::{IncomingNotice, Reply, ServerProfile};

use crate::context::Context;
use crate::engine_handle::EngineHandle;
use crate::future::BoxFuture;
use crate::param_header::ParamHeader;
use crate::principal::{MissingScopes, Principal};
use crate::shared_sessions::SharedSessions;
use crate::start_hook_error::StartHookError;

/// Answers the requests of any number of conversations.
///
/// There is no readiness: bounds are the engine's and the layers'. A layer is a
/// [`tower_layer::Layer`] from one service to another.
pub trait Service: Send + Sync + 'static {
    /// Answers the request of the context. Dropping the future is how a cancelled request ends.
    ///
    /// # Errors
    ///
    /// A protocol error. A tool that fails is a result.
    fn call(&self, cx: Context) -> impl Future<Output = Result<Reply, Error>> + Send;

    /// Returns the description of the server.
    fn profile(&self) -> Arc<ServerProfile>;

    /// Handles a notification of a client.
    fn notified(&self, _notified: IncomingNotice) {}

    /// Attaches a new conversation, or one handle for many, to send changes to while it exists.
    fn attach(&self, _engine: Weak<dyn EngineHandle>) {}

    /// Prepares the server for its first request. A transport calls it before it serves; only the first call
    /// has an effect. A transport that has started calls [`stop`](Self::stop) once.
    ///
    /// # Errors
    ///
    /// [`StartHookError`]; the transport does not serve then.
    fn start(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        Box::pin(async { Ok(()) })
    }

    /// Ends the server after its last request, when all transports that started have stopped. Returns within
    /// a limit of the service.
    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Releases the work that outlives requests, so that another process with the same store continues
    /// it. A transport calls this at its shutdown; requests that run may still finish.
    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Returns true if this server can serve requests: if a store that replicas share answers. True by
    /// default. Checks of readiness call it, so it returns within about a second.
    fn is_ready(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { true })
    }

    /// Returns the sessions that this server shares with its other replicas. `None` if each session
    /// belongs to one process.
    fn shared_sessions(&self) -> Option<Arc<dyn SharedSessions>> {
        None
    }

    /// The parameters of a tool that HTTP clients repeat in headers. A tool that `principal` does not
    /// see has none, like one that does not exist.
    fn param_headers(&self, _tool: &str, _principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        Arc::default()
    }

    /// Returns the names of the tools that only callers with scopes may see. A transport without authorization
    /// warns of them, because no caller has scopes there. Empty by default.
    fn tools_with_scopes(&self) -> Vec<Box<str>> {
        Vec::new()
    }

    /// Returns the scopes of a request that `principal` may not make. The subject is the name of a
    /// tool or a prompt, or the URI of a resource. `None` if the subject does not exist, or the
    /// principal may use it.
    ///
    /// A transport that supports step-up authorization requests these scopes. Elsewhere a hidden
    /// subject does not exist.
    fn missing_scopes(
        &self,
        _method: &str,
        _subject: &str,
        _principal: &Principal,
    ) -> Option<MissingScopes> {
        None
    }
}

/// A value that can be turned into a service, such as the description of a server.
pub trait IntoService {
    /// The type of the service.
    type Service: Service;
    /// The reason why the value is not a valid service.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Checks the description and makes the service.
    ///
    /// # Errors
    ///
    /// Whatever the author got wrong: errors come at the start, not at the first call.
    fn into_service(self) -> Result<Self::Service, Self::Error>;

    /// Accepts the state that the command line of a program names, and returns true. By default it returns
    /// false, because the service has no state to share.
    ///
    /// `Server` accepts the `StateBackend` of `pintle-server`.
    fn accept_state(&mut self, state: &dyn Any) -> bool {
        let _ = state;
        false
    }
}

impl<S: Service> Service for Arc<S> {
    fn call(&self, cx: Context) -> impl Future<Output = Result<Reply, Error>> + Send {
        S::call(self, cx)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        S::profile(self)
    }

    fn notified(&self, notified: IncomingNotice) {
        S::notified(self, notified);
    }

    fn attach(&self, engine: Weak<dyn EngineHandle>) {
        S::attach(self, engine);
    }

    fn start(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        S::start(self)
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        S::stop(self)
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        S::leave(self)
    }

    fn is_ready(&self) -> BoxFuture<'_, bool> {
        S::is_ready(self)
    }

    fn shared_sessions(&self) -> Option<Arc<dyn SharedSessions>> {
        S::shared_sessions(self)
    }

    fn param_headers(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        S::param_headers(self, tool, principal)
    }

    fn tools_with_scopes(&self) -> Vec<Box<str>> {
        S::tools_with_scopes(self)
    }

    fn missing_scopes(
        &self,
        method: &str,
        subject: &str,
        principal: &Principal,
    ) -> Option<MissingScopes> {
        S::missing_scopes(self, method, subject, principal)
    }
}

/// A service of any type, at the price of one allocation per call.
#[derive(Clone)]
pub struct BoxService(Arc<dyn DynService>);

impl BoxService {
    /// Hides the type of a service.
    pub fn new(service: impl Service) -> Self {
        Self(Arc::new(service))
    }
}

impl fmt::Debug for BoxService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxService")
    }
}

/// [`Service`] for trait objects.
trait DynService: Send + Sync {
    fn call_boxed(&self, cx: Context) -> BoxFuture<'_, Result<Reply, Error>>;
    fn profile_dyn(&self) -> Arc<ServerProfile>;
    fn notified_dyn(&self, notified: IncomingNotice);
    fn attach_dyn(&self, engine: Weak<dyn EngineHandle>);
    fn start_dyn(&self) -> BoxFuture<'_, Result<(), StartHookError>>;
    fn stop_dyn(&self) -> BoxFuture<'_, ()>;
    fn leave_dyn(&self) -> BoxFuture<'_, ()>;
    fn is_ready_dyn(&self) -> BoxFuture<'_, bool>;
    fn shared_sessions_dyn(&self) -> Option<Arc<dyn SharedSessions>>;
    fn param_headers_dyn(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]>;
    fn tools_with_scopes_dyn(&self) -> Vec<Box<str>>;
    fn missing_scopes_dyn(
        &self,
        method: &str,
        subject: &str,
        principal: &Principal,
    ) -> Option<MissingScopes>;
}

impl<S: Service> DynService for S {
    fn call_boxed(&self, cx: Context) -> BoxFuture<'_, Result<Reply, Error>> {
        Box::pin(self.call(cx))
    }

    fn profile_dyn(&self) -> Arc<ServerProfile> {
        self.profile()
    }

    fn notified_dyn(&self, notified: IncomingNotice) {
        self.notified(notified);
    }

    fn attach_dyn(&self, engine: Weak<dyn EngineHandle>) {
        self.attach(engine);
    }

    fn start_dyn(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        self.start()
    }

    fn stop_dyn(&self) -> BoxFuture<'_, ()> {
        self.stop()
    }

    fn leave_dyn(&self) -> BoxFuture<'_, ()> {
        self.leave()
    }

    fn is_ready_dyn(&self) -> BoxFuture<'_, bool> {
        self.is_ready()
    }

    fn shared_sessions_dyn(&self) -> Option<Arc<dyn SharedSessions>> {
        self.shared_sessions()
    }

    fn param_headers_dyn(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        self.param_headers(tool, principal)
    }

    fn tools_with_scopes_dyn(&self) -> Vec<Box<str>> {
        self.tools_with_scopes()
    }

    fn missing_scopes_dyn(
        &self,
        method: &str,
        subject: &str,
        principal: &Principal,
    ) -> Option<MissingScopes> {
        self.missing_scopes(method, subject, principal)
    }
}

impl IntoService for BoxService {
    type Service = Self;
    type Error = Infallible;

    fn into_service(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

impl Service for BoxService {
    fn call(&self, cx: Context) -> impl Future<Output = Result<Reply, Error>> + Send {
        self.0.call_boxed(cx)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile_dyn()
    }

    fn notified(&self, notified: IncomingNotice) {
        self.0.notified_dyn(notified);
    }

    fn attach(&self, engine: Weak<dyn EngineHandle>) {
        self.0.attach_dyn(engine);
    }

    fn start(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        self.0.start_dyn()
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.0.stop_dyn()
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        self.0.leave_dyn()
    }

    fn is_ready(&self) -> BoxFuture<'_, bool> {
        self.0.is_ready_dyn()
    }

    fn shared_sessions(&self) -> Option<Arc<dyn SharedSessions>> {
        self.0.shared_sessions_dyn()
    }

    fn param_headers(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        self.0.param_headers_dyn(tool, principal)
    }

    fn tools_with_scopes(&self) -> Vec<Box<str>> {
        self.0.tools_with_scopes_dyn()
    }

    fn missing_scopes(
        &self,
        method: &str,
        subject: &str,
        principal: &Principal,
    ) -> Option<MissingScopes> {
        self.0.missing_scopes_dyn(method, subject, principal)
    }
}
