//! What answers requests.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};

use pintle_model::Error;
use pintle_proto::{IncomingNotice, IncomingRequest, Reply, ServerProfile};

use crate::context::Context;
use crate::engine_handle::EngineHandle;
use crate::future::BoxFuture;
use crate::param_header::ParamHeader;
use crate::principal::{MissingScopes, Principal};

/// Answers the requests of any number of conversations.
///
/// There is no readiness: bounds are the engine's and the layers'. A layer is a
/// [`tower_layer::Layer`] from one service to another.
pub trait Service: Send + Sync + 'static {
    /// Answers a request. Dropping the future is how a cancelled request ends.
    ///
    /// # Errors
    ///
    /// A protocol error. A tool that fails is a result.
    fn call(
        &self,
        request: IncomingRequest,
        cx: Context,
    ) -> impl Future<Output = Result<Reply, Error>> + Send;

    /// What the server says about itself.
    fn profile(&self) -> Arc<ServerProfile>;

    /// Hears of a notification of a client.
    fn notified(&self, _notified: IncomingNotice) {}

    /// Learns of a new conversation, or of many behind one outlet, to tell of changes for as long as
    /// they live.
    fn attach(&self, _outlet: Weak<dyn EngineHandle>) {}

    /// The parameters of a tool that HTTP clients repeat in headers. A tool that `principal` does not
    /// see has none, like one that does not exist.
    fn param_headers(&self, _tool: &str, _principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        Arc::default()
    }

    /// What a request takes that `principal` may not make: the name of a tool or a prompt, or the URI
    /// of a resource, that is there for others. None for what nobody has, and for what it may use.
    ///
    /// A transport that can ask for more authorization asks for these; elsewhere what is hidden does
    /// not exist.
    fn missing_scopes(
        &self,
        _method: &str,
        _subject: &str,
        _principal: &Principal,
    ) -> Option<MissingScopes> {
        None
    }
}

/// What can be made into a service, such as a server that is still being described.
pub trait IntoService {
    /// The service.
    type Service: Service;
    /// Why it cannot be one.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Checks the description and makes the service.
    ///
    /// # Errors
    ///
    /// Whatever the author got wrong: errors come at the start, not at the first call.
    fn into_service(self) -> Result<Self::Service, Self::Error>;
}

impl<S: Service> Service for Arc<S> {
    fn call(
        &self,
        request: IncomingRequest,
        cx: Context,
    ) -> impl Future<Output = Result<Reply, Error>> + Send {
        S::call(self, request, cx)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        S::profile(self)
    }

    fn notified(&self, notified: IncomingNotice) {
        S::notified(self, notified);
    }

    fn attach(&self, outlet: Weak<dyn EngineHandle>) {
        S::attach(self, outlet);
    }

    fn param_headers(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        S::param_headers(self, tool, principal)
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
    fn call_boxed(
        &self,
        request: IncomingRequest,
        cx: Context,
    ) -> BoxFuture<'_, Result<Reply, Error>>;
    fn profile_dyn(&self) -> Arc<ServerProfile>;
    fn notified_dyn(&self, notified: IncomingNotice);
    fn attach_dyn(&self, outlet: Weak<dyn EngineHandle>);
    fn param_headers_dyn(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]>;
    fn missing_scopes_dyn(
        &self,
        method: &str,
        subject: &str,
        principal: &Principal,
    ) -> Option<MissingScopes>;
}

impl<S: Service> DynService for S {
    fn call_boxed(
        &self,
        request: IncomingRequest,
        cx: Context,
    ) -> BoxFuture<'_, Result<Reply, Error>> {
        Box::pin(self.call(request, cx))
    }

    fn profile_dyn(&self) -> Arc<ServerProfile> {
        self.profile()
    }

    fn notified_dyn(&self, notified: IncomingNotice) {
        self.notified(notified);
    }

    fn attach_dyn(&self, outlet: Weak<dyn EngineHandle>) {
        self.attach(outlet);
    }

    fn param_headers_dyn(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        self.param_headers(tool, principal)
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

impl Service for BoxService {
    fn call(
        &self,
        request: IncomingRequest,
        cx: Context,
    ) -> impl Future<Output = Result<Reply, Error>> + Send {
        self.0.call_boxed(request, cx)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile_dyn()
    }

    fn notified(&self, notified: IncomingNotice) {
        self.0.notified_dyn(notified);
    }

    fn attach(&self, outlet: Weak<dyn EngineHandle>) {
        self.0.attach_dyn(outlet);
    }

    fn param_headers(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        self.0.param_headers_dyn(tool, principal)
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
