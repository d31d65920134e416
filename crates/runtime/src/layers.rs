//! Layers around a service: tracing, bounds, time limits, panics.

mod catch_panic;
mod limit;
mod timeout;
mod trace;

pub use catch_panic::{CatchPanic, CatchPanicLayer};
pub use limit::{Limit, LimitLayer};
pub use timeout::{Timeout, TimeoutLayer};
pub use trace::{Trace, TraceLayer};

/// Delegates every method of [`Service`](crate::Service) but `call` to the field `inner`, for layers in crates
/// of this workspace. The crate needs `pintle-proto`.
#[doc(hidden)]
#[macro_export]
macro_rules! delegate_to_inner {
    () => {
        fn profile(&self) -> std::sync::Arc<pintle_proto::ServerProfile> {
            self.inner.profile()
        }

        fn notified(&self, notified: pintle_proto::IncomingNotice) {
            self.inner.notified(notified);
        }

        fn attach(&self, engine: std::sync::Weak<dyn $crate::EngineHandle>) {
            self.inner.attach(engine);
        }

        fn start(&self) -> $crate::BoxFuture<'_, Result<(), $crate::StartHookError>> {
            self.inner.start()
        }

        fn stop(&self) -> $crate::BoxFuture<'_, ()> {
            self.inner.stop()
        }

        fn leave(&self) -> $crate::BoxFuture<'_, ()> {
            self.inner.leave()
        }

        fn is_ready(&self) -> $crate::BoxFuture<'_, bool> {
            self.inner.is_ready()
        }

        fn shared_sessions(&self) -> Option<std::sync::Arc<dyn $crate::SharedSessions>> {
            self.inner.shared_sessions()
        }

        fn param_headers(
            &self,
            tool: &str,
            principal: Option<&$crate::Principal>,
        ) -> std::sync::Arc<[$crate::ParamHeader]> {
            self.inner.param_headers(tool, principal)
        }

        fn tools_with_scopes(&self) -> Vec<Box<str>> {
            self.inner.tools_with_scopes()
        }

        fn missing_scopes(
            &self,
            method: &str,
            subject: &str,
            principal: &$crate::Principal,
        ) -> Option<$crate::MissingScopes> {
            self.inner.missing_scopes(method, subject, principal)
        }
    };
}

use crate::delegate_to_inner;
