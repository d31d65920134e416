//! Layers around a service: tracing, bounds, time limits, panics.

mod catch_panic;
mod limit;
mod timeout;
mod trace;

pub use catch_panic::{CatchPanic, CatchPanicLayer};
pub use limit::{Limit, LimitLayer};
pub use timeout::{Timeout, TimeoutLayer};
pub use trace::{Trace, TraceLayer};

/// Hands everything but `call` through to the service inside.
macro_rules! delegate_to_inner {
    () => {
        fn profile(&self) -> std::sync::Arc<pintle_proto::ServerProfile> {
            self.inner.profile()
        }

        fn notified(&self, notified: pintle_proto::IncomingNotice) {
            self.inner.notified(notified);
        }

        fn attach(&self, engine: std::sync::Weak<dyn crate::engine_handle::EngineHandle>) {
            self.inner.attach(engine);
        }

        fn leave(&self) -> crate::future::BoxFuture<'_, ()> {
            self.inner.leave()
        }

        fn param_headers(
            &self,
            tool: &str,
            principal: Option<&crate::principal::Principal>,
        ) -> std::sync::Arc<[crate::ParamHeader]> {
            self.inner.param_headers(tool, principal)
        }

        fn missing_scopes(
            &self,
            method: &str,
            subject: &str,
            principal: &crate::principal::Principal,
        ) -> Option<crate::principal::MissingScopes> {
            self.inner.missing_scopes(method, subject, principal)
        }
    };
}

use delegate_to_inner;
