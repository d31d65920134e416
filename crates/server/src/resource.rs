//! Resources: what a client can read, at fixed URIs and at those of templates.
//!
//! A [`Resource`] is a definition and the function that reads it. It is built by value and has no
//! identity of its own: servers hold it by its URI or its template.

use std::fmt;
use std::future::ready;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use pintle_model as model;
use pintle_model::{Annotations, CacheScope, CompleteParams, Freshness, Icon};
use serde_json::Value;

use crate::ability::{Ability, ExtractContext, RequiredState};
use crate::ask_code::AskCode;
use crate::completion::{CompleteFuture, Completer, Completers};
use crate::rejection::Rejection;

mod call;
mod fault;
mod reader;
mod result;
pub(crate) mod template;

pub use call::{ReadCall, ReadFuture};
pub use fault::ResourceDefinitionError;
pub use reader::{FromRead, Reader, ViaVariable, ViaVariables};
pub(crate) use result::HERE;
pub(crate) use result::is_not_found;
pub use result::{IntoReadResult, NotFound, ReadError, ReadOutcome, ReadReply, resource_not_found};
pub(crate) use template::percent_encoded;
pub use template::{
    FromVariable, PathSegment, RelativePath, Template, TemplateError, VariableError,
    VariableErrorKind, VariableValue, Variables,
};

use crate::erase::{Run, erase};

/// A resource, or many of them under one template: its definition, and what reads it.
///
/// `#[resource]` on a function makes one; this is the same by hand:
///
/// ```
/// use pintle_server::{NotFound, PathSegment, Resource};
///
/// let doc = Resource::new("docs://{slug}", "doc")
///     .description("A page of the handbook.")
///     .mime("text/markdown")
///     .complete("slug", ["intro", "install"])
///     .reader(async |slug: PathSegment| match slug.as_str() {
///         "intro" => Ok("# Welcome"),
///         "install" => Ok("# Install"),
///         _ => Err(NotFound),
///     });
/// assert!(doc.check().is_ok());
/// ```
///
/// The server checks a resource with [`Resource::check`] when it starts.
#[derive(Clone)]
pub struct Resource {
    /// Of a template, too: its pattern stands for the URI.
    definition: model::Resource,
    /// Made of `definition` when it is first asked for.
    template_definition: OnceLock<model::ResourceTemplate>,
    template: Option<Result<Arc<Template>, TemplateError>>,
    run: Option<Arc<Run<Self>>>,
    /// Present if the reader can return questions.
    pub(crate) ask_code: Option<AskCode>,
    completers: Completers,
    freshness: Option<Freshness>,
    scopes: Vec<Box<str>>,
    pub(crate) tags: Vec<Box<str>>,
    needs: Vec<RequiredState>,
    /// How many variables its reader takes by their order.
    taken: usize,
}

impl Resource {
    /// Begins a resource at a URI, or at every URI of an RFC 6570 template such as `docs://{slug}`.
    pub fn new(uri_or_template: impl Into<String>, name: impl Into<String>) -> Self {
        let definition = model::Resource::new(uri_or_template, name);
        let is_template = definition.uri.contains(['{', '}']);
        let template = is_template.then(|| Template::parse(&definition.uri).map(Arc::new));
        Self {
            definition,
            template_definition: OnceLock::new(),
            template,
            run: None,
            ask_code: None,
            completers: Completers::default(),
            freshness: None,
            scopes: Vec::new(),
            tags: Vec::new(),
            needs: Vec::new(),
            taken: 0,
        }
    }

    /// A text that is always the same.
    pub fn text(
        uri: impl Into<String>,
        name: impl Into<String>,
        text: impl Into<Arc<str>>,
    ) -> Self {
        let text: Arc<str> = text.into();
        Self::new(uri, name)
            .mime("text/plain")
            .size(text.len() as u64)
            .on_read(move |_: &ReadCall<'_>| Ok(ready(text.to_string())))
    }

    /// Bytes that are always the same.
    pub fn bytes(
        uri: impl Into<String>,
        name: impl Into<String>,
        bytes: impl Into<Bytes>,
        mime: impl Into<String>,
    ) -> Self {
        let bytes: Bytes = bytes.into();
        Self::new(uri, name)
            .mime(mime)
            .size(bytes.len() as u64)
            .on_read(move |_: &ReadCall<'_>| Ok(ready(bytes.clone())))
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.define(|definition| definition.title = Some(title.into()))
    }

    /// Sets the description of the resource for the model.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.define(|definition| definition.description = Some(description.into()))
    }

    /// Sets the media type; for a template, that of every resource it matches. Contents without a
    /// media type get this one.
    #[must_use]
    pub fn mime(self, mime: impl Into<String>) -> Self {
        self.define(|definition| definition.mime_type = Some(mime.into()))
    }

    /// Sets the size, in bytes before any encoding. Templates have none.
    #[must_use]
    pub fn size(self, size_bytes: u64) -> Self {
        self.define(|definition| definition.size = Some(size_bytes))
    }

    /// Adds a picture to show for it.
    #[must_use]
    pub fn icon(self, icon: Icon) -> Self {
        self.define(|definition| definition.icons.get_or_insert_default().push(icon))
    }

    /// Sets the audience, the priority and the time of the last change.
    #[must_use]
    pub fn annotations(self, annotations: Annotations) -> Self {
        self.define(|definition| definition.annotations = Some(annotations))
    }

    /// Adds a member to `_meta`, or replaces it.
    #[must_use]
    pub fn meta(self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.define(|definition| {
            definition.meta.get_or_insert_default().insert(key, value);
        })
    }

    /// Lets only callers with all these scopes see and read it.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Lets a client cache the contents for `ttl`. The cache is private to the caller unless
    /// [`Resource::cache_scope`] sets another scope.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.freshness.get_or_insert_default().ttl = ttl;
        self
    }

    /// Sets the callers to which a cache may serve the contents.
    #[must_use]
    pub fn cache_scope(mut self, scope: CacheScope) -> Self {
        self.freshness.get_or_insert_default().scope = scope;
        self
    }

    /// Completes a variable of the template: see [`Completer`].
    #[must_use]
    pub fn complete<M, C: Completer<M>>(
        mut self,
        variable: impl Into<Box<str>>,
        completer: C,
    ) -> Self {
        self.needs.extend(C::needs());
        self.completers.add(variable, completer);
        self
    }

    /// Asks the server for an ability, so that its absence is an error at start.
    #[must_use]
    pub fn needs<A: Ability>(mut self) -> Self {
        self.needs.extend(A::need());
        self
    }

    /// Reads it with a function: see [`Reader`].
    #[must_use]
    pub fn reader<M, R: Reader<M>>(self, reader: R) -> Self {
        R::describe(self).on_read(move |call: &ReadCall<'_>| reader.start(call))
    }

    /// Reads the resource with a function that extracts its parameters from the call itself and
    /// returns the future of the rest. [`Resource::reader`] and `#[resource]` expand to this.
    #[must_use]
    pub fn on_read<F, Fut>(mut self, start: F) -> Self
    where
        F: Fn(&ReadCall<'_>) -> Result<Fut, Rejection> + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoReadResult,
    {
        self.run = Some(erase::<Self, _, _>(start));
        self.ask_code = Fut::Output::ASK_CODE;
        match Fut::Output::mime() {
            Some(mime) if self.definition.mime_type.is_none() => self.mime(mime),
            _ => self,
        }
    }

    fn define(mut self, change: impl FnOnce(&mut model::Resource)) -> Self {
        change(&mut self.definition);
        self.template_definition.take();
        self
    }

    fn take_variable(mut self) -> Self {
        self.taken += 1;
        self
    }
}

impl Resource {
    /// Its programmatic name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Its URI, or its template as it was written.
    pub fn uri(&self) -> &str {
        &self.definition.uri
    }

    /// Returns true if the resource is a template.
    pub fn is_template(&self) -> bool {
        self.template.is_some()
    }

    /// The definition that is listed, if it has a fixed URI.
    pub fn definition(&self) -> &model::Resource {
        &self.definition
    }

    /// The definition that is listed, if it is a template.
    pub fn template_definition(&self) -> &model::ResourceTemplate {
        self.template_definition.get_or_init(|| {
            let of = &self.definition;
            let mut template = model::ResourceTemplate::new(&of.uri, &of.name);
            template.title.clone_from(&of.title);
            template.description.clone_from(&of.description);
            template.mime_type.clone_from(&of.mime_type);
            template.icons.clone_from(&of.icons);
            template.annotations.clone_from(&of.annotations);
            template.meta.clone_from(&of.meta);
            template
        })
    }

    /// The scopes a caller needs to see and read it.
    pub fn required_scopes(&self) -> &[Box<str>] {
        &self.scopes
    }

    /// Returns the state that the server must hold for the resource.
    pub fn required_state(&self) -> &[RequiredState] {
        &self.needs
    }

    /// The same resource under another name; its URI stays.
    #[must_use]
    pub fn renamed(self, name: impl Into<String>) -> Self {
        self.define(|definition| definition.name = name.into())
    }

    /// Whether something can be completed.
    pub fn has_completers(&self) -> bool {
        !self.completers.is_empty()
    }

    /// Whether a URI is its own, or one of its template.
    pub fn is_match(&self, uri: &str) -> bool {
        self.variables(uri).is_some()
    }

    /// Checks that the resource can be offered.
    ///
    /// # Errors
    ///
    /// The first [`ResourceDefinitionError`]; the author of the resource must correct it.
    pub fn check(&self) -> Result<(), ResourceDefinitionError> {
        fault::check(self)
    }

    /// Reads it at a URI.
    ///
    /// # Errors
    ///
    /// - Resource not found (-32602 since 2026-07-28, -32002 before, with `data.uri`). Causes: the
    ///   URI does not match, or a variable does not have the type that the reader takes. Or the reader
    ///   returns not found, or there are no contents.
    /// - -32603 if the reader fails; the peer does not learn the cause.
    /// - The [`ProtocolError`](crate::ProtocolError) that the reader returned.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the reader.
    ///
    /// Spec: [2026-07-28, Resources, Error handling][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
    pub fn read(&self, uri: &str, scope: ExtractContext<'_>) -> ReadFuture {
        let started = self.start(uri, scope);
        started.unwrap_or_else(|rejection| Box::pin(ready(Err(rejection.into_error()))))
    }

    /// Completes a variable. One without a completer has no values.
    pub fn completion(&self, params: &CompleteParams, scope: ExtractContext<'_>) -> CompleteFuture {
        self.completers.complete(params, scope)
    }

    fn start(&self, uri: &str, scope: ExtractContext<'_>) -> Result<ReadFuture, Rejection> {
        let not_found = || resource_not_found(uri, scope.context().terms().revision);
        let variables = self
            .variables(uri)
            .ok_or_else(|| Rejection::Protocol(not_found()))?;
        let call = ReadCall::new(self, uri, &variables, scope);
        let run = self.run.as_ref().ok_or_else(call::idle)?;
        run(&call)
    }

    fn variables(&self, uri: &str) -> Option<Variables> {
        match &self.template {
            None => (uri == self.definition.uri).then(Variables::new),
            Some(_) => self.pattern()?.matches(uri),
        }
    }

    fn pattern(&self) -> Option<&Template> {
        self.template.as_ref()?.as_deref().ok()
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource")
            .field("definition", &self.definition)
            .field("completers", &self.completers)
            .field("freshness", &self.freshness)
            .field("scopes", &self.scopes)
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
