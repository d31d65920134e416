//! Extensions of the protocol: methods, resources and notices that the core does not have.
//!
//! A [`ProtocolExtension`] is built by value, by a crate of its own or by a server's author, and
//! given to [`Server::extend`](crate::Server::extend). Clients read of it in
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

pub(crate) use table::{Extended, Seated};

/// An extension of the protocol, described: its id and settings, and what it brings.
///
/// ```
/// use pintle_model::method::Method;
/// use pintle_server::{ProtocolExtension, Server, State};
///
/// /// `tides/get`: how high the water stands.
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
/// What is wrong with an extension is found when the server starts.
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
    /// Begins an extension of this id: a prefix that is its author's, and a name, such as
    /// `com.example/tides`.
    ///
    /// Ids that begin with `io.modelcontextprotocol/` are the protocol's own; use them for what it
    /// has published only.
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

    /// Sends a notice to whoever wants to hear it: see
    /// [`Changes::notify`](crate::Changes::notify).
    ///
    /// Clients that listen say so by a member `topic` of the filter of `subscriptions/listen`:
    /// `true`, or a list of what they want to hear about. Up to 2025-11-25 every session whose
    /// client declared the extension hears it, unless it is about something in particular.
    #[must_use]
    pub fn notice<N: Notice>(mut self, topic: impl Into<Box<str>>) -> Self {
        self.topics
            .push(Topic::new(topic, N::NAME, self.id.as_str()));
        self
    }

    /// Brings a resource along.
    #[must_use]
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(resource);
        self
    }

    /// Gives its handlers and readers a value to share, as `State<T>`. Everything else the server
    /// holds is there for them, too; a value of the same type is hidden by this one.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(value);
        self
    }

    /// Its id.
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
