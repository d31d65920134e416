//! Extensions of the protocol: methods, resources and notices that the core does not have.
//!
//! A [`ProtocolExtension`] is built by value, by a crate of its own or by a server's author, and
//! passed to [`Server::extend`](crate::Server::extend). Clients find it in
//! `capabilities.extensions`, in the revisions that have it; elsewhere its methods do not exist.

use std::fmt;

use pintle_model::method::{Method, Notice};
use pintle_model::{Feature, JsonObject};
use pintle_proto::Topic;
use pintle_runtime::Extensions;
use serde_json::Value;

use crate::resource::Resource;

mod call;
mod fault;
mod handler;
mod reply;
mod table;

pub use call::MethodCall;
pub use fault::ExtensionDefinitionError;
pub use handler::{FromMethod, MethodHandler, ViaParams};
pub use table::ExtensionMethod;

pub(crate) use table::{Extended, MountedExtension};

/// Description of an extension of the protocol: its id, settings, methods, notices and resources.
///
/// ```
/// use pintle_model::method::Method;
/// use pintle_server::{ProtocolExtension, Server, State};
///
/// /// `tides/get`: the height of the water.
/// enum GetTide {}
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Harbour {
///     harbour: String,
/// }
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Tide {
///     metres: f64,
/// }
///
/// impl Method for GetTide {
///     const NAME: &'static str = "tides/get";
///     type Params = Harbour;
///     type Result = Tide;
/// }
///
/// let tides = ProtocolExtension::new("com.example/tides")
///     .setting("unit", "m")
///     .state(vec![("hoek".to_owned(), 1.9)])
///     .method::<GetTide, _>(async |asked: Harbour, table: State<Vec<(String, f64)>>| {
///         let row = table.iter().find(|(name, _)| *name == asked.harbour);
///         row.map(|(_, metres)| Tide { metres: *metres })
///             .ok_or_else(|| pintle_model::Error::invalid_params("no such harbour"))
///     });
/// let app = Server::new("pilot", "1.0.0").extend(tides).build()?;
/// # Ok::<(), pintle_server::StartError>(())
/// ```
///
/// The server reports mistakes in an extension when it starts.
#[derive(Clone)]
pub struct ProtocolExtension {
    pub(crate) id: String,
    pub(crate) settings: JsonObject,
    pub(crate) needs: Feature,
    pub(crate) is_mutual: bool,
    pub(crate) methods: Vec<ExtensionMethod>,
    pub(crate) topics: Vec<Topic>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) state: Extensions,
}

impl ProtocolExtension {
    /// Begins an extension of this id: a prefix that belongs to its author, and a name, such as
    /// `com.example/tides`.
    ///
    /// Ids that begin with `io.modelcontextprotocol/` are reserved for extensions that the protocol
    /// has published.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            settings: JsonObject::new(),
            needs: Feature::Extensions,
            is_mutual: false,
            methods: Vec::new(),
            topics: Vec::new(),
            resources: Vec::new(),
            state: Extensions::new(),
        }
    }

    /// Adds a setting, for clients to read.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// Offers it only in revisions that have `feature`; by default in all that have extensions.
    /// In the others it is not advertised, and its methods do not exist. Its resources do.
    #[must_use]
    pub fn needs(mut self, feature: Feature) -> Self {
        self.needs = feature;
        self
    }

    /// Refuses its methods, with -32021, to clients that did not declare it on their part.
    #[must_use]
    pub fn mutual(mut self) -> Self {
        self.is_mutual = true;
        self
    }

    /// Answers a method with an async function of up to eight parameters: abilities, and at most
    /// one that is the method's parameters.
    #[must_use]
    pub fn method<M: Method, S>(self, handler: impl MethodHandler<M, S>) -> Self {
        self.add_method(ExtensionMethod::new::<M, S>(handler))
    }

    /// Answers a method that was made by hand.
    #[must_use]
    pub fn add_method(mut self, method: ExtensionMethod) -> Self {
        self.methods.push(method);
        self
    }

    /// Declares a notice, which [`Changes::notify`](crate::Changes::notify) sends to the clients
    /// that subscribe to it.
    ///
    /// A client subscribes by a member `topic` of the filter of `subscriptions/listen`: `true`, or a
    /// list of keys. Up to 2025-11-25 every session whose client declared the extension receives
    /// the notice, unless it has a key.
    #[must_use]
    pub fn notice<N: Notice>(mut self, topic: impl Into<Box<str>>) -> Self {
        self.topics
            .push(Topic::new(topic, N::NAME, self.id.as_str()));
        self
    }

    /// Adds a resource to the server.
    #[must_use]
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds a value that its handlers and readers share, as `State<T>`. They also have the state of
    /// the server; this value hides a value of the same type there.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(value);
        self
    }

    /// Returns the id of the extension.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Debug for ProtocolExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtocolExtension")
            .field("id", &self.id)
            .field("settings", &self.settings)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
