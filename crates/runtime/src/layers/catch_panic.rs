//! A panicking service answers -32603.
//!
//! Drivers catch panics around every call. The layer is for services that are composed by hand,
//! whose outer layers must see the answer rather than the panic.

use pintle_model::Error;
use pintle_proto::Reply;
use tower_layer::Layer;

use super::delegate_to_inner;
use crate::context::Context;
use crate::run::answer_of;
use crate::service::Service;

/// Layer that wraps a service in [`CatchPanic`].
#[derive(Debug, Clone, Copy, Default)]
pub struct CatchPanicLayer;

impl<S> Layer<S> for CatchPanicLayer {
    type Service = CatchPanic<S>;

    fn layer(&self, inner: S) -> CatchPanic<S> {
        CatchPanic { inner }
    }
}

/// A service whose panics are answered with -32603.
#[derive(Debug, Clone)]
pub struct CatchPanic<S> {
    inner: S,
}

impl<S: Service> Service for CatchPanic<S> {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        answer_of(&self.inner, cx).await
    }

    delegate_to_inner!();
}
