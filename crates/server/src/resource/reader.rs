//! Functions as readers: any async function of up to eight parameters that a read can fill.

use crate::ability::Ability;
use crate::rejection::Rejection;
use crate::tool::ViaAbility;
use crate::tuples::all_tuples;

use super::Resource;
use super::call::ReadCall;
use super::result::IntoReadResult;
use super::template::{FromVariable, Variables};

/// A reader of a resource: an async function or closure of up to eight parameters.
///
/// Every parameter is an ability ([`Context`](pintle_runtime::Context), [`State`](crate::State), …),
/// a variable of the template as a type that implements [`FromVariable`], or [`Variables`]: all of
/// them. Variables are taken in the order in which the template has them.
///
/// `M` tells functions of different parameters apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the reader of a resource",
    label = "no reader",
    note = "a reader is an async function of up to 8 parameters: abilities, and the variables of the template in their order",
    note = "it returns something that implements `IntoReadResult`, and its future is `Send`"
)]
pub trait Reader<M>: Send + Sync + 'static {
    /// One read.
    type Future: Future<Output: IntoReadResult> + Send + 'static;

    /// Tells the resource what the parameters ask of it.
    fn describe(resource: Resource) -> Resource;

    /// Fills the parameters and begins a read.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if a parameter cannot be filled.
    fn start(&self, call: &ReadCall<'_>) -> Result<Self::Future, Rejection>;
}

/// A parameter of a [`Reader`]: an [`Ability`], a variable, or all [`Variables`].
///
/// `Via` tells these apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a reader",
    label = "neither an ability nor readable from a variable",
    note = "variables are text, whole numbers, `bool`, `PathSegment`, `RelativePath`, `Vec<String>`, or an `Option` of these"
)]
pub trait FromRead<Via>: Sized {
    /// Tells the resource what this parameter asks of it.
    fn describe(resource: Resource) -> Resource;

    /// Takes the parameter out of a read.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if it is not in there.
    fn from_read(call: &ReadCall<'_>) -> Result<Self, Rejection>;
}

/// Marks parameters that are a variable.
#[derive(Debug)]
pub enum ViaVariable {}

/// Marks parameters that are all variables.
#[derive(Debug)]
pub enum ViaVariables {}

impl<A: Ability> FromRead<ViaAbility> for A {
    fn describe(resource: Resource) -> Resource {
        resource.needs::<A>()
    }

    fn from_read(call: &ReadCall<'_>) -> Result<Self, Rejection> {
        call.ability()
    }
}

impl<T: FromVariable> FromRead<ViaVariable> for T {
    fn describe(resource: Resource) -> Resource {
        resource.take_variable()
    }

    fn from_read(call: &ReadCall<'_>) -> Result<Self, Rejection> {
        call.next_variable()
    }
}

impl FromRead<ViaVariables> for Variables {
    fn describe(resource: Resource) -> Resource {
        resource
    }

    fn from_read(call: &ReadCall<'_>) -> Result<Self, Rejection> {
        Ok(call.variables().clone())
    }
}

macro_rules! readers {
    ($($param:ident $via:ident),*) => {
        impl<F, Fut, $($param, $via),*> Reader<($(($via, $param),)*)> for F
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoReadResult> + Send + 'static,
            $($param: FromRead<$via>,)*
        {
            type Future = Fut;

            fn describe(resource: Resource) -> Resource {
                $(let resource = $param::describe(resource);)*
                resource
            }

            #[allow(unused_variables)]
            fn start(&self, call: &ReadCall<'_>) -> Result<Fut, Rejection> {
                Ok(self($($param::from_read(call)?),*))
            }
        }
    };
}

all_tuples!(readers, up to 8);
