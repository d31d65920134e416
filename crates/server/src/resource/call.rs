//! One read on its way to its function.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;

use pintle_model::Error;
use pintle_runtime::Context;

use crate::ability::{Ability, ExtractContext};
use crate::erase::{Finish, HandlerKind};
use crate::rejection::Rejection;

use super::Resource;
use super::result::{IntoReadResult, ReadFinish, ReadReply, unreadable};
use super::template::{FromVariable, Variables};

/// A read at work.
pub type ReadFuture = Pin<Box<dyn Future<Output = ReadReply> + Send>>;

impl HandlerKind for Resource {
    type Call<'a> = ReadCall<'a>;
    type Memo = ReadFinish;
    type Reply = ReadReply;

    fn memo(call: &ReadCall<'_>) -> ReadFinish {
        ReadFinish::new(call)
    }
}

impl<T: IntoReadResult> Finish<T> for Resource {
    fn finish(read: ReadFinish, output: T) -> ReadReply {
        read.finish(output.into_read_result())
    }
}

/// The error for a resource that nothing reads; servers refuse to start with one.
pub(super) fn idle() -> Rejection {
    Rejection::Protocol(Error::internal())
}

/// A read: what the parameters of its reader are taken from.
pub struct ReadCall<'a> {
    resource: &'a Resource,
    uri: &'a str,
    variables: &'a Variables,
    scope: ExtractContext<'a>,
    /// How many variables have been taken by their order.
    taken: Cell<usize>,
}

impl<'a> ReadCall<'a> {
    pub(super) fn new(
        resource: &'a Resource,
        uri: &'a str,
        variables: &'a Variables,
        scope: ExtractContext<'a>,
    ) -> Self {
        Self {
            resource,
            uri,
            variables,
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

    /// The resource that is read.
    pub(super) fn resource(&self) -> &'a Resource {
        self.resource
    }

    /// Takes the variable that the template has next.
    pub(super) fn next_variable<T: FromVariable>(&self) -> Result<T, Rejection> {
        let place = self.taken.replace(self.taken.get() + 1);
        let name = self
            .resource
            .pattern()
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
