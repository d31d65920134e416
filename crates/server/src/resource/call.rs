//! One read on its way to its function.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use pintle_model::Error;
use pintle_runtime::Context;

use crate::ability::{Ability, Scope};
use crate::rejection::Rejection;

use super::result::{Finish, IntoReadResult, ReadReply, unreadable};
use super::template::{FromVariable, Template, Variables};

/// A read at work.
pub type ReadFuture = Pin<Box<dyn Future<Output = ReadReply> + Send>>;

/// Whatever begins a read.
pub(super) type Run = dyn Fn(&ReadCall<'_>, Finish) -> Result<ReadFuture, Rejection> + Send + Sync;

/// Hides the type of a function and of its future: the one allocation a read costs by itself.
pub(super) fn erase<F, Fut>(start: F) -> Arc<Run>
where
    F: Fn(&ReadCall<'_>) -> Result<Fut, Rejection> + Send + Sync + 'static,
    Fut: Future<Output: IntoReadResult> + Send + 'static,
{
    Arc::new(move |call: &ReadCall<'_>, finish: Finish| {
        let future = start(call)?;
        let finished = async move { finish.finish(future.await.into_read_result()) };
        Ok(Box::pin(finished) as ReadFuture)
    })
}

/// The error for a resource that nothing reads; servers refuse to start with one.
pub(super) fn idle() -> Rejection {
    Rejection::Protocol(Error::internal())
}

/// A read: what the parameters of its reader are taken from.
pub struct ReadCall<'a> {
    uri: &'a str,
    variables: &'a Variables,
    template: Option<&'a Template>,
    scope: Scope<'a>,
    /// How many variables have been taken by their order.
    taken: Cell<usize>,
}

impl<'a> ReadCall<'a> {
    pub(super) fn new(
        uri: &'a str,
        variables: &'a Variables,
        template: Option<&'a Template>,
        scope: Scope<'a>,
    ) -> Self {
        Self {
            uri,
            variables,
            template,
            scope,
            taken: Cell::new(0),
        }
    }

    /// The URI that is read, as the client wrote it.
    pub fn uri(&self) -> &'a str {
        self.uri
    }

    /// The variables of the template that the URI has, decoded.
    pub fn variables(&self) -> &'a Variables {
        self.variables
    }

    /// The request this read came with.
    pub fn context(&self) -> &'a Context {
        self.scope.context()
    }

    /// Takes a variable.
    ///
    /// # Errors
    ///
    /// Resource not found, if the URI lacks the variable or has something else in its place: there
    /// is nothing at such a URI.
    pub fn variable<T: FromVariable>(&self, name: &str) -> Result<T, Rejection> {
        let revision = self.context().terms().revision;
        self.variables
            .get(name)
            .map_err(|error| unreadable(self.uri, revision, &error))
    }

    /// Takes a variable that the URI may leave out.
    ///
    /// # Errors
    ///
    /// Resource not found, if something else is in its place.
    pub fn optional<T: FromVariable>(&self, name: &str) -> Result<Option<T>, Rejection> {
        self.variable(name)
    }

    /// Takes an ability.
    ///
    /// # Errors
    ///
    /// [`Rejection::Missing`] if it is not there for this request.
    pub fn ability<A: Ability>(&self) -> Result<A, Rejection> {
        Ok(A::from_scope(&self.scope)?)
    }

    /// Takes the variable that the template has next.
    pub(super) fn next_variable<T: FromVariable>(&self) -> Result<T, Rejection> {
        let place = self.taken.replace(self.taken.get() + 1);
        let name = self
            .template
            .and_then(|template| template.variables().nth(place));
        self.variable(name.ok_or_else(idle)?)
    }
}

impl fmt::Debug for ReadCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadCall")
            .field("uri", &self.uri)
            .field("variables", &self.variables)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
