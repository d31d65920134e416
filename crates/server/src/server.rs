//! The description of a server, and its checks.

mod build_core;
mod choice;
mod hooks;
mod methods;
mod offers;
mod store;
#[cfg(feature = "tasks")]
mod tasks;

#[cfg(feature = "replicas")]
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::{Freshness, Icon, Implementation, JsonObject, ServerCapabilities};
use pintle_runtime::{BoxService, Extensions, IntoService, Service};
use tower_layer::Layer;

use crate::app::{App, ServiceLayer};
use crate::ask_code::AskCode;
use crate::core::TaskSetting;
use crate::entry::MountContext;
use crate::extension::ProtocolExtension;
use crate::handle::ServerHandle;
use crate::hooks::{HookList, STOP_TIMEOUT};
use crate::input::StateSeal;
use crate::prompt::PromptReply;
use crate::request::{PromptRequest, ReadRequest, ToolRequest};
use crate::resource::ReadReply;
use crate::start_error::StartError;
#[cfg(feature = "replicas")]
use crate::state_backend::StateBackend;
use crate::tags::TagRule;
use crate::tool::ToolReply;
use crate::typed_layer::{Next, TypedLayer, around};
use build_core::Checked;
use offers::Offers;
use store::StoreSetting;

pub use methods::Methods;

/// Default number of entries on a page of a list.
const PAGE_SIZE: usize = 500;
/// Default time of an operation of the store, because a client waits for it.
const STORE_TIME: Duration = Duration::from_secs(5);

/// Description of a server: its identity, its offers, its state and its layers.
///
/// ```
/// use pintle_server::{Server, Tool};
///
/// let server = Server::new("greeter", "1.0.0")
///     .add_tool(Tool::new("greet").description("Says hello.").handler(async || "hello"));
/// let app = server.build()?;
/// # Ok::<(), pintle_server::StartError>(())
/// ```
///
/// [`Server::build`] finds mistakes in a description before the first request.
pub struct Server {
    identity: Implementation,
    instructions: Option<String>,
    offers: Offers,
    state: Extensions,
    tool_layers: Vec<TypedLayer<ToolRequest, ToolReply>>,
    read_layers: Vec<TypedLayer<ReadRequest, ReadReply>>,
    prompt_layers: Vec<TypedLayer<PromptRequest, PromptReply>>,
    service_layers: Vec<ServiceLayer>,
    mounts: Vec<(String, Server)>,
    tag_rules: Vec<TagRule>,
    page_size: usize,
    freshness: Freshness,
    capabilities: ServerCapabilities,
    is_dynamic: bool,
    seal: Option<Arc<dyn StateSeal>>,
    is_state_single_use: bool,
    store: Option<StoreSetting>,
    #[cfg(feature = "replicas")]
    state_backend: Option<StoreSetting>,
    store_time: Duration,
    /// Present if a layer or a provider can return questions.
    ask_code: Option<AskCode>,
    tasks: Option<Box<dyn TaskSetting>>,
    handle: ServerHandle,
    hooks: HookList,
    stop_timeout: Duration,
}

impl Server {
    /// Describes a server. Its name and version are its author's: `env!("CARGO_PKG_VERSION")`.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let handle = ServerHandle::default();
        let mut state = Extensions::new();
        state.insert(handle.clone());
        Self {
            identity: Implementation::new(name, version),
            instructions: None,
            offers: Offers::default(),
            state,
            tool_layers: Vec::new(),
            read_layers: Vec::new(),
            prompt_layers: Vec::new(),
            service_layers: Vec::new(),
            mounts: Vec::new(),
            tag_rules: Vec::new(),
            page_size: PAGE_SIZE,
            freshness: Freshness::default(),
            capabilities: ServerCapabilities::default(),
            is_dynamic: false,
            seal: None,
            is_state_single_use: false,
            store: None,
            #[cfg(feature = "replicas")]
            state_backend: None,
            store_time: STORE_TIME,
            ask_code: None,
            tasks: None,
            handle,
            hooks: HookList::default(),
            stop_timeout: STOP_TIMEOUT,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.identity.title = Some(title.into());
        self
    }

    /// Sets the description of the server for people.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.identity.description = Some(description.into());
        self
    }

    /// Names the server's home page.
    #[must_use]
    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.identity.website_url = Some(url.into());
        self
    }

    /// Adds a picture to show for the server.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.identity.icons.get_or_insert_default().push(icon);
        self
    }

    /// Sets the instructions for the use of the server, for the model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Gives handlers a value to share: they take it as `State<T>`.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(value);
        self
    }

    /// Sets the first value of `Locked<T>`, which handlers change. Without it the value begins as `T::default()`. The
    /// type is exactly that of the parameter: for a `Locked<u64>` the value is `4_u64`, because `4` is an `i32`.
    #[must_use]
    pub fn locked<T: Default + Send + 'static>(self, value: T) -> Self {
        self.handle.locked_values().set(value);
        self
    }

    /// Offers everything that another server offers, its tools and prompts under
    /// `<prefix>_<name>`. Resources keep their URIs. The other server keeps its own state, handle
    /// and typed layers; its identity, instructions, page size and freshness are dropped. It must
    /// not have layers around every request.
    #[must_use]
    pub fn mount(mut self, prefix: impl Into<String>, other: Server) -> Self {
        self.mounts.push((prefix.into(), other));
        self
    }

    /// Puts a layer around every call of a tool; the first that is added is the outermost.
    #[must_use]
    pub fn on_tool_call<F, Fut>(mut self, layer: F) -> Self
    where
        F: Fn(ToolRequest, Next<ToolRequest, ToolReply>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ToolReply> + Send + 'static,
    {
        self.ask_code = Some(AskCode::LINKED);
        self.tool_layers.push(around(layer));
        self
    }

    /// Puts a layer around every read of a resource; the first that is added is the outermost.
    #[must_use]
    pub fn on_resource_read<F, Fut>(mut self, layer: F) -> Self
    where
        F: Fn(ReadRequest, Next<ReadRequest, ReadReply>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ReadReply> + Send + 'static,
    {
        self.ask_code = Some(AskCode::LINKED);
        self.read_layers.push(around(layer));
        self
    }

    /// Puts a layer around every retrieval of a prompt; the first that is added is the outermost.
    #[must_use]
    pub fn on_prompt_get<F, Fut>(mut self, layer: F) -> Self
    where
        F: Fn(PromptRequest, Next<PromptRequest, PromptReply>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = PromptReply> + Send + 'static,
    {
        self.ask_code = Some(AskCode::LINKED);
        self.prompt_layers.push(around(layer));
        self
    }

    /// Puts a layer around every request; the first that is added is the outermost. Typed layers
    /// such as [`Server::on_tool_call`] are inside of all these.
    #[must_use]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<BoxService, Service: Service> + Send + 'static,
    {
        self.service_layers
            .push(Box::new(move |inner| BoxService::new(layer.layer(inner))));
        self
    }

    /// Sets how many entries a page of a list has; 500 by default. A server with a size of 0 does not
    /// start: see [`StartError::EmptyPages`](crate::StartError::EmptyPages).
    #[must_use]
    pub fn page_size(mut self, size: usize) -> Self {
        self.page_size = size;
        self
    }

    /// Sets how long clients may cache lists; not at all by default.
    #[must_use]
    pub fn list_freshness(mut self, freshness: Freshness) -> Self {
        self.freshness = freshness;
        self
    }

    /// Sends log messages to clients that ask for them: [`Context::log`](pintle_runtime::Context::log)
    /// and [`forward_event`](crate::forward_event).
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.capabilities.logging = Some(JsonObject::new());
        self
    }

    /// Lets clients subscribe to changes of single resources, which
    /// [`Changes::resource`](crate::Changes::resource) announces.
    #[must_use]
    pub fn resource_updates(mut self) -> Self {
        self.capabilities
            .resources
            .get_or_insert_default()
            .subscribe = Some(true);
        self
    }

    /// Offers lists of tools, resources and prompts even while they are empty, and completion,
    /// because the server fills them as it runs: see [`Server::handle`].
    #[must_use]
    pub fn dynamic(mut self) -> Self {
        self.is_dynamic = true;
        self
    }

    /// Sets how states are sealed that clients carry between rounds of questions. Replicas of one
    /// server need the same keys, such as `Keys` of `pintle-keys`; by default only the process that sealed a
    /// state opens it.
    #[must_use]
    pub fn request_state(mut self, seal: impl StateSeal) -> Self {
        self.seal = Some(Arc::new(seal));
        self
    }

    /// Makes each state that clients carry between rounds of questions valid for one retry. A
    /// repeated retry does not repeat the effects of its answers.
    ///
    /// The price: a retry is used up even if its answer is lost on the way, and such a client must
    /// begin anew. Replicas need the same store to share the used states.
    ///
    /// Spec: [2026-07-28, Multi round-trip requests][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
    #[must_use]
    pub fn single_use_states(mut self) -> Self {
        self.is_state_single_use = true;
        self
    }

    /// Advertises an extension with its settings, and no more: see [`Server::extend`].
    #[must_use]
    pub fn extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        self.capabilities = self.capabilities.with_extension(id, settings);
        self
    }

    /// Adds an extension of the protocol: its methods, its resources, its notices.
    #[must_use]
    pub fn extend(mut self, extension: impl Into<ProtocolExtension>) -> Self {
        self.offers.extensions.push(extension.into());
        self
    }

    /// Returns the handle that changes the server while it runs.
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Checks the description.
    ///
    /// # Errors
    ///
    /// [`StartError`] for the first mistake.
    pub fn build(mut self) -> Result<App, StartError> {
        let layers = std::mem::take(&mut self.service_layers);
        let mut checked = Checked::default();
        self.check_offers(&MountContext::default(), "", &mut checked)?;
        let handles = std::mem::take(&mut checked.handles);
        Ok(App::new(self.into_core(checked)?, &handles, layers))
    }
}

impl IntoService for Server {
    type Service = App;
    type Error = StartError;

    fn into_service(self) -> Result<App, StartError> {
        self.build()
    }

    #[cfg(feature = "replicas")]
    fn accept_state(&mut self, state: &dyn Any) -> bool {
        let state = state.downcast_ref::<StateBackend>();
        state.is_some_and(|state| {
            self.state_backend = Some(StoreSetting::of_state(state.clone()));
            true
        })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}
