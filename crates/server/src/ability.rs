//! Extractors: parameters of a handler that the server provides beside the arguments.
//!
//! Abilities are recognised by their type, have no place in a schema, and are the same for tools,
//! prompts and resources.

use std::any::{TypeId, type_name};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use pintle_model::errors;
use pintle_runtime::{Context, Extensions, Principal};

/// An extractor: a parameter of a handler that the server provides.
///
/// Implement it for a type of your own, such as the signed-in user. In functions under
/// `#[tool]`, `#[prompt]` or `#[resource]` such a parameter is marked `#[ability]`.
///
/// ```
/// use pintle_server::{Ability, MissingAbilityError, ExtractContext};
///
/// struct ClientName(String);
///
/// impl Ability for ClientName {
///     fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError> {
///         let client = scope.context().terms().client.as_ref();
///         client.map(|client| Self(client.name.clone())).ok_or(MissingAbilityError::named("client name"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an ability: the server cannot provide it",
    label = "neither an ability nor an argument",
    note = "abilities are `Context`, `State<T>`, `Locked<T>` with a default, `Extension<T>`, `Principal`, `Option<Principal>`, and types that implement `Ability`"
)]
pub trait Ability: Sized {
    /// Extracts the value from the request or the state.
    ///
    /// # Errors
    ///
    /// [`MissingAbilityError`] if this request has no such value.
    fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError>;

    /// Returns the state that the server must hold, so that its absence is an error at start.
    fn need() -> Option<RequiredState> {
        None
    }
}

/// The sources of abilities: the request and the state of the server.
#[derive(Debug, Clone, Copy)]
pub struct ExtractContext<'a> {
    context: &'a Context,
    state: &'a Extensions,
}

impl<'a> ExtractContext<'a> {
    /// The scope of a request to a server that holds `state`.
    pub fn new(context: &'a Context, state: &'a Extensions) -> Self {
        Self { context, state }
    }

    /// Returns the context of the request.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Returns the state of the server.
    pub fn state(&self) -> &'a Extensions {
        self.state
    }
}

/// A type of which the server must hold a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequiredState {
    type_id: TypeId,
    type_name: &'static str,
}

impl RequiredState {
    /// The need of a value of `T` in the server's state.
    pub fn of<T: 'static>() -> Self {
        Self {
            type_id: TypeId::of::<T>(),
            type_name: type_name::<T>(),
        }
    }

    /// The type's name, for people.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Returns true if `state` has a value of the type.
    pub fn is_met_by(&self, state: &Extensions) -> bool {
        state.contains(self.type_id)
    }
}

errors! {
    /// The request has no value for an ability.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MissingAbilityError {
        what: &'static str,
        is_type: bool,
    } => "this request has no {what}";
}

impl MissingAbilityError {
    /// The absence of a `T`. The server logs the type's name; peers and models do not read it.
    pub fn of<T>() -> Self {
        Self {
            what: type_name::<T>(),
            is_type: true,
        }
    }

    /// The absence of something that peers and models may read of, such as `"authorized caller"`.
    pub fn named(what: &'static str) -> Self {
        Self {
            what,
            is_type: false,
        }
    }

    /// Whether `what` is the name of a type, which only the author of the server understands.
    pub(crate) fn is_type(&self) -> bool {
        self.is_type
    }

    /// Returns the name of the missing value.
    pub fn what(&self) -> &'static str {
        self.what
    }
}

impl Ability for Context {
    fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError> {
        Ok(scope.context.clone())
    }
}

impl Ability for Principal {
    fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError> {
        let principal = scope.context.principal().cloned();
        principal.ok_or(MissingAbilityError::named("authorized caller"))
    }
}

impl Ability for Option<Principal> {
    fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError> {
        Ok(scope.context.principal().cloned())
    }
}

/// An extractor of a value that the server holds, such as a pool of connections. All calls share the
/// value; a server without it does not start.
pub struct State<T>(pub Arc<T>);

impl<T: Send + Sync + 'static> Ability for State<T> {
    fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError> {
        scope
            .state
            .get()
            .map(Self)
            .ok_or(MissingAbilityError::of::<Self>())
    }

    fn need() -> Option<RequiredState> {
        Some(RequiredState::of::<T>())
    }
}

/// An extractor of a value that a transport or a layer attached to this request.
///
/// Over HTTP that includes the extensions of the request itself, where tower and axum put what
/// their layers find: `request.extensions_mut().insert(Tenant(…))`. What a layer of Pintle attached
/// comes first.
pub struct Extension<T>(pub Arc<T>);

impl<T: Clone + Send + Sync + 'static> Ability for Extension<T> {
    fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError> {
        let attached = scope.context.extension();
        attached
            .or_else(|| of_request(scope.context))
            .map(Self)
            .ok_or(MissingAbilityError::of::<Self>())
    }
}

/// A value among the extensions of the HTTP request.
#[cfg(feature = "http")]
fn of_request<T: Clone + Send + Sync + 'static>(cx: &Context) -> Option<Arc<T>> {
    let parts = cx.extension::<http::request::Parts>()?;
    parts.extensions.get().cloned().map(Arc::new)
}

#[cfg(not(feature = "http"))]
fn of_request<T>(_cx: &Context) -> Option<Arc<T>> {
    None
}

macro_rules! shared {
    ($($name:ident),+) => {
        $(
            impl<T> Deref for $name<T> {
                type Target = T;

                fn deref(&self) -> &T {
                    &self.0
                }
            }

            impl<T> Clone for $name<T> {
                fn clone(&self) -> Self {
                    Self(Arc::clone(&self.0))
                }
            }

            impl<T> From<T> for $name<T> {
                fn from(value: T) -> Self {
                    Self(Arc::new(value))
                }
            }

            impl<T: fmt::Debug> fmt::Debug for $name<T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.debug_tuple(stringify!($name)).field(&self.0).finish()
                }
            }
        )+
    };
}

shared!(State, Extension);
