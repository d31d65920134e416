//! One request of an extension on its way to its function.

use std::fmt;
use std::marker::PhantomData;

use pintle_model::Error;
use pintle_model::method::Method;
use pintle_proto::Params;
use pintle_runtime::Context;

use crate::ability::{Ability, ExtractContext};
use crate::erase::{Finish, HandlerKind};
use crate::failure::{BoxError, fail};
use crate::rejection::Rejection;
use pintle_runtime::BoxFuture;

use super::reply::Body;

/// How a method ended: a rendered result, or a protocol error.
pub(super) type Answered = Result<Body, Error>;

/// A method at work.
pub(super) type Running = BoxFuture<'static, Answered>;

/// A handler of hidden type, whatever its method is.
pub(super) type Run = dyn Fn(&MethodCall<'_>) -> Result<Running, Rejection> + Send + Sync;

/// The handlers of one method.
pub(super) struct MethodKind<M>(PhantomData<M>);

impl<M: Method> HandlerKind for MethodKind<M> {
    type Call<'a> = MethodCall<'a>;
    type Memo = ();
    type Reply = Answered;

    fn memo(_: &MethodCall<'_>) {}
}

impl<M: Method, E: Into<BoxError>> Finish<Result<M::Result, E>> for MethodKind<M> {
    fn finish((): (), output: Result<M::Result, E>) -> Answered {
        let result = output.map_err(|error| fail(M::NAME, &error.into()))?;
        Body::of(&result)
    }
}

/// A request of an extension: what the parameters of its handler are taken from.
pub struct MethodCall<'a> {
    params: &'a Params,
    scope: ExtractContext<'a>,
}

impl<'a> MethodCall<'a> {
    pub(super) fn new(params: &'a Params, scope: ExtractContext<'a>) -> Self {
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
    /// -32602 with the reason, if the parameters are not those of the method.
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
        // The parameters are omitted, because they may be secrets.
        f.debug_struct("MethodCall")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
