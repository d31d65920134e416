//! A ceiling on handlers.

use std::time::Duration;

use pintle_model::{Error, ErrorCode};
use pintle_proto::Reply;
use tower_layer::Layer;

use super::delegate_to_inner;
use crate::context::Context;
use crate::input::with_timeout;
use crate::service::Service;

/// Layer that wraps a service in [`Timeout`].
#[derive(Debug, Clone, Copy)]
pub struct TimeoutLayer {
    timeout: Duration,
}

impl TimeoutLayer {
    /// Lets every request take up to `timeout`.
    pub fn new(timeout: Duration) -> Self {
        Self { timeout }
    }
}

impl<S> Layer<S> for TimeoutLayer {
    type Service = Timeout<S>;

    fn layer(&self, inner: S) -> Timeout<S> {
        Timeout {
            inner,
            timeout: self.timeout,
        }
    }
}

/// A service whose requests take no longer than a ceiling; those that would are dropped and
/// answered with -32603. While a question to the client is open, the time is the user's.
#[derive(Debug, Clone)]
pub struct Timeout<S> {
    inner: S,
    timeout: Duration,
}

impl<S: Service> Service for Timeout<S> {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        let method = cx.request().method.clone();
        let call = self.inner.call(cx.clone());
        let answer = with_timeout(&cx, self.timeout, call).await;
        answer.unwrap_or_else(|| {
            let message = format!("{method} took longer than {:?}", self.timeout);
            Err(Error::new(ErrorCode::INTERNAL_ERROR, message))
        })
    }

    delegate_to_inner!();
}
