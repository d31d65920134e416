//! One request of an extension on its way to its function.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use pintle_model::Error;
use pintle_model::method::Method;
use pintle_proto::Params;
use pintle_runtime::Context;

use crate::ability::{Ability, Scope};
use crate::failure::{AnyError, fail};
use crate::rejection::Rejection;

use super::reply::Body;

/// How a method ended: a rendered result, or a protocol error.
pub(super) type Answered = Result<Body, Error>;

/// A method at work.
pub(super) type Running = Pin<Box<dyn Future<Output = Answered> + Send>>;

/// Whatever begins to answer.
pub(super) type Run = dyn Fn(&MethodCall<'_>) -> Result<Running, Rejection> + Send + Sync;

/// Hides the type of a function and of its future: the one allocation a call costs by itself.
pub(super) fn erase<M, F, Fut, E>(start: F) -> Arc<Run>
where
    M: Method,
    F: Fn(&MethodCall<'_>) -> Result<Fut, Rejection> + Send + Sync + 'static,
    Fut: Future<Output = Result<M::Result, E>> + Send + 'static,
    E: Into<AnyError>,
{
    Arc::new(move |call: &MethodCall<'_>| {
        let future = start(call)?;
        Ok(Box::pin(async move {
            let result = future.await.map_err(|error| fail(M::NAME, &error.into()))?;
            Body::of(&result)
        }) as Running)
    })
}

/// A request of an extension: what the parameters of its handler are taken from.
pub struct MethodCall<'a> {
    params: &'a Params,
    scope: Scope<'a>,
}

impl<'a> MethodCall<'a> {
    pub(super) fn new(params: &'a Params, scope: Scope<'a>) -> Self {
        Self { params, scope }
    }

    /// The parameters as they came: a JSON object.
    pub fn raw_params(&self) -> &'a str {
        self.params.text()
    }

    /// The request itself.
    pub fn context(&self) -> &'a Context {
        self.scope.context()
    }

    /// Reads the parameters of the method.
    ///
    /// # Errors
    ///
    /// -32602 with the reason, if they are no such parameters.
    pub fn params<M: Method>(&self) -> Result<M::Params, Rejection> {
        self.params.decode().map_err(Rejection::Protocol)
    }

    /// Takes an ability.
    ///
    /// # Errors
    ///
    /// [`Rejection::Missing`] if it is not there for this request.
    pub fn ability<A: Ability>(&self) -> Result<A, Rejection> {
        Ok(A::from_scope(&self.scope)?)
    }
}

impl fmt::Debug for MethodCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parameters may be anybody's secrets.
        f.debug_struct("MethodCall")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
