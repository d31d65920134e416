//! A document, and the choice of the operations that become tools.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use pintle_runtime::NetworkScope;
use serde_json::Value;

use crate::base::Base;
use crate::error::{OpenApiError, UnsupportedOperationError};
use crate::filter::{Filter, OperationFacts};
use crate::fixed::FixedParameter;
use crate::limits::OpenApiLimits;
use crate::operation::Operation;
use crate::parameter::Place;

/// A document of OpenAPI 3.0 or 3.1, and the choice of the operations that become tools.
///
/// ```
/// use pintle_openapi::OpenApi;
///
/// let api = OpenApi::parse(
///     r#"{
///         "openapi": "3.1.0",
///         "paths": { "/ships/{name}": { "get": {
///             "operationId": "get_ship",
///             "parameters": [{ "name": "name", "in": "path", "required": true, "schema": { "type": "string" } }]
///         } } }
///     }"#,
/// )?;
/// let operations = api.base_url("https://api.example.com").operations()?;
/// assert_eq!(operations[0].name(), "get_ship");
/// # Ok::<(), pintle_openapi::OpenApiError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OpenApi {
    pub(crate) document: Arc<Value>,
    pub(crate) base: Base,
    pub(crate) network: Option<NetworkScope>,
    pub(crate) limits: OpenApiLimits,
    pub(crate) fixed: Vec<FixedParameter>,
    pub(crate) filter: Filter,
    /// Operations that must be in the document.
    pub(crate) named: Vec<Box<str>>,
    pub(crate) scopes: Scopes,
    /// Tags of each operation, beside those of the document.
    pub(crate) added_tags: Vec<Box<str>>,
    pub(crate) skips_unsupported: bool,
}

/// The source of the scopes of operations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scopes {
    pub(crate) are_ignored: bool,
    pub(crate) members: Vec<Box<str>>,
}

impl OpenApi {
    /// Parses a document of JSON.
    ///
    /// # Errors
    ///
    /// [`OpenApiError`] if it is larger than [`OpenApiLimits::max_document_bytes`], not JSON, or of another version.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, OpenApiError> {
        let (text, limit) = (text.as_ref(), OpenApiLimits::default().max_document_bytes);
        Self::parse_within(text, limit)
    }

    /// Reads a document of JSON from a file.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`], and [`OpenApiError::File`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, OpenApiError> {
        let failed = |error| OpenApiError::File(Arc::new(error));
        let limit = OpenApiLimits::default().max_document_bytes;
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut text = Vec::new();
        let mut bounded = file.take(limit as u64 + 1);
        bounded.read_to_end(&mut text).map_err(failed)?;
        Self::parse_within(&text, limit)
    }

    /// Uses a document that the program parsed, for instance from YAML.
    ///
    /// # Errors
    ///
    /// [`OpenApiError::Version`].
    pub fn from_value(document: Value) -> Result<Self, OpenApiError> {
        let version = document["openapi"].as_str().unwrap_or("none");
        if !version.starts_with("3.0.") && !version.starts_with("3.1.") {
            return Err(OpenApiError::Version(version.chars().take(20).collect()));
        }
        Ok(Self {
            document: Arc::new(document),
            base: Base::Absent,
            network: None,
            limits: OpenApiLimits::default(),
            fixed: Vec::new(),
            filter: Filter::default(),
            named: Vec::new(),
            scopes: Scopes::default(),
            added_tags: Vec::new(),
            skips_unsupported: false,
        })
    }

    fn parse_within(text: &[u8], limit: usize) -> Result<Self, OpenApiError> {
        if text.len() > limit {
            return Err(OpenApiError::TooLarge(limit));
        }
        let document = serde_json::from_slice(text);
        Self::from_value(document.map_err(|error| OpenApiError::NotJson(Arc::new(error)))?)
    }

    /// Sets the base URL of the API, which replaces the servers of the document.
    ///
    /// The URL may be in the private network of this machine: see [`Self::network`].
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base = Base::Given(url.into());
        self
    }

    /// Accepts the first of `servers` in the document as the base URL. The author of the document then chooses the host, so
    /// only public addresses are reached: see [`Self::network`].
    #[must_use]
    pub fn server_of_document(mut self) -> Self {
        self.base = Base::OfDocument;
        self
    }

    /// Sets the addresses that requests may reach. By default these are all for [`Self::base_url`], and the public ones for
    /// [`Self::server_of_document`]. Addresses of the link, such as those of the metadata of clouds, are never reached.
    #[must_use]
    pub fn network(mut self, network: NetworkScope) -> Self {
        self.network = Some(network);
        self
    }

    /// Sets a header of each request, such as a key of the API. It replaces the parameter of this name.
    ///
    /// The token of a caller must not be passed to the API: it was issued for this server.
    #[must_use]
    pub fn header(self, name: impl Into<Box<str>>, value: impl Into<Box<str>>) -> Self {
        self.fix(Place::Header, name.into(), value.into())
    }

    /// Sets a parameter in the query of each request. It replaces the parameter of this name.
    #[must_use]
    pub fn query(self, name: impl Into<Box<str>>, value: impl Into<Box<str>>) -> Self {
        self.fix(Place::Query, name.into(), value.into())
    }

    fn fix(mut self, place: Place, name: Box<str>, value: Box<str>) -> Self {
        self.fixed.push(FixedParameter { place, name, value });
        self
    }

    /// Sets the bounds of operations, schemas and responses. The bound of the document is not used here, because the document is
    /// parsed already.
    #[must_use]
    pub fn limits(mut self, limits: OpenApiLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Leaves out operations for which the closure returns false. All filters must return true.
    ///
    /// ```
    /// # use pintle_openapi::OpenApi;
    /// # let api = OpenApi::parse(r#"{ "openapi": "3.1.0" }"#)?;
    /// let api = api.filter(|operation| operation.method == "GET" && !operation.is_deprecated);
    /// # let _ = api;
    /// # Ok::<(), pintle_openapi::OpenApiError>(())
    /// ```
    #[must_use]
    pub fn filter(
        mut self,
        rule: impl Fn(&OperationFacts<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.filter.add(rule);
        self
    }

    /// Leaves out operations without any of these tags.
    #[must_use]
    pub fn only_tags<T: Into<Box<str>>>(self, tags: impl IntoIterator<Item = T>) -> Self {
        let tags: Vec<Box<str>> = tags.into_iter().map(Into::into).collect();
        self.filter(move |operation| tags.iter().any(|tag| operation.has_tag(tag)))
    }

    /// Leaves out operations of other methods.
    #[must_use]
    pub fn only_methods<M: Into<Box<str>>>(self, methods: impl IntoIterator<Item = M>) -> Self {
        let methods: Vec<Box<str>> = methods.into_iter().map(Into::into).collect();
        self.filter(move |operation| {
            methods
                .iter()
                .any(|method| method.eq_ignore_ascii_case(operation.method))
        })
    }

    /// Leaves out operations with another `operationId`. An id that is not in the document is an error.
    #[must_use]
    pub fn only_operations<N: Into<Box<str>>>(mut self, ids: impl IntoIterator<Item = N>) -> Self {
        let ids: Vec<Box<str>> = ids.into_iter().map(Into::into).collect();
        self.named.extend(ids.iter().cloned());
        self.filter(move |operation| {
            operation
                .id
                .is_some_and(|id| ids.iter().any(|own| **own == *id))
        })
    }

    /// Adds a tag to each tool, for `ServerHandle::replace_tools`. The filters of tags read those of the document.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<Box<str>>) -> Self {
        self.added_tags.push(tag.into());
        self
    }

    /// Leaves out operations that cannot be a tool, and logs a warning for each. Without this, they are an error.
    #[must_use]
    pub fn skip_unsupported(mut self) -> Self {
        self.skips_unsupported = true;
        self
    }

    /// Also requires the scopes in this member of an operation, such as `x-scopes`: a list of texts, or a text with blanks.
    #[must_use]
    pub fn scopes_member(mut self, member: impl Into<Box<str>>) -> Self {
        self.scopes.members.push(member.into());
        self
    }

    /// Ignores the security requirements of the document. They are for callers of the API; use this if callers of this server have
    /// no scopes, for instance on standard streams.
    #[must_use]
    pub fn ignore_security(mut self) -> Self {
        self.scopes.are_ignored = true;
        self
    }

    /// Reports that an operation cannot be a tool, for code that turns operations into tools.
    ///
    /// # Errors
    ///
    /// [`OpenApiError::Unsupported`], unless [`Self::skip_unsupported`] is set; then it logs a warning.
    pub fn refuse(
        &self,
        operation: &Operation,
        reason: Arc<dyn std::error::Error + Send + Sync>,
    ) -> Result<(), OpenApiError> {
        let name = operation.name().into();
        self.leave_out(name, UnsupportedOperationError::Tool(reason))
    }

    pub(crate) fn leave_out(
        &self,
        operation: Box<str>,
        cause: UnsupportedOperationError,
    ) -> Result<(), OpenApiError> {
        if !self.skips_unsupported {
            return Err(OpenApiError::Unsupported { operation, cause });
        }
        tracing::warn!(%operation, %cause, "an operation of the OpenAPI document is left out");
        Ok(())
    }
}
