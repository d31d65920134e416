//! Functions as handlers of methods: any async function of up to eight parameters.

use std::future::Future;

use pintle_model::method::Method;

use crate::ability::{Ability, RequiredState};
use crate::failure::BoxError;
use crate::rejection::Rejection;
use crate::tool::ViaAbility;
use crate::tuples::all_tuples;

use super::call::MethodCall;

/// Handler of a method of an extension: an async function or closure of up to eight parameters.
///
/// Every parameter is an ability ([`Context`](pintle_runtime::Context), [`State`](crate::State), …)
/// except at most one, which is the method's parameters. It returns the method's result, or an
/// error. A protocol [`Error`](pintle_model::Error) is sent unchanged; for any other error the peer
/// learns only that there was one.
///
/// `S` distinguishes functions of different parameters and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot answer the method `{M}`",
    label = "no handler of this method",
    note = "a handler is an async function of up to 8 parameters; all but one are abilities, one is the method's `Params`",
    note = "it returns `Result<Result of the method, any error>`, and its future is `Send`"
)]
pub trait MethodHandler<M: Method, S>: Send + Sync + 'static {
    /// Error of the function.
    type Error: Into<BoxError>;
    /// Future of the answer to one request.
    type Future: Future<Output = Result<M::Result, Self::Error>> + Send + 'static;

    /// Returns the state that the parameters need.
    fn needs() -> Vec<RequiredState>;

    /// Fills the parameters and begins to answer.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if a parameter cannot be filled.
    fn start(&self, call: &MethodCall<'_>) -> Result<Self::Future, Rejection>;
}

/// A parameter of a [`MethodHandler`]: an [`Ability`], or the method's parameters.
///
/// `Via` distinguishes these implementations and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a handler of `{M}`",
    label = "neither an ability nor the parameters of the method"
)]
pub trait FromMethod<M: Method, Via>: Sized {
    /// Returns the state that the server must hold for the parameter.
    fn need() -> Option<RequiredState>;

    /// Takes the parameter out of a request.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if it is not in there.
    fn from_method(call: &MethodCall<'_>) -> Result<Self, Rejection>;
}

/// Marks the parameter that is the method's parameters.
#[derive(Debug)]
pub enum ViaParams {}

impl<M: Method, A: Ability> FromMethod<M, ViaAbility> for A {
    fn need() -> Option<RequiredState> {
        A::need()
    }

    fn from_method(call: &MethodCall<'_>) -> Result<Self, Rejection> {
        call.ability()
    }
}

impl<M: Method> FromMethod<M, ViaParams> for M::Params {
    fn need() -> Option<RequiredState> {
        None
    }

    fn from_method(call: &MethodCall<'_>) -> Result<Self, Rejection> {
        call.params::<M>()
    }
}

macro_rules! handlers {
    ($($param:ident $via:ident),*) => {
        impl<M, F, Fut, E, $($param, $via),*> MethodHandler<M, (E, $(($via, $param),)*)> for F
        where
            M: Method,
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<M::Result, E>> + Send + 'static,
            E: Into<BoxError>,
            $($param: FromMethod<M, $via>,)*
        {
            type Error = E;
            type Future = Fut;

            fn needs() -> Vec<RequiredState> {
                let needs: Vec<Option<RequiredState>> = vec![$($param::need()),*];
                needs.into_iter().flatten().collect()
            }

            #[allow(unused_variables)]
            fn start(&self, call: &MethodCall<'_>) -> Result<Fut, Rejection> {
                Ok(self($($param::from_method(call)?),*))
            }
        }
    };
}

all_tuples!(handlers, up to 8);
