//! Describing a client.

use std::future::Future;
use std::sync::Arc;

use pintle_model::{
    CreateMessageParams, CreateMessageResult, Implementation, JsonObject, LogMessageParams, Root,
    Tool,
};
use pintle_proto::{Change, IncomingNotice, Limits};
use pintle_runtime::{Answer, BoxConnect, Connect as _};

use crate::into_connect::IntoConnect;

use super::Client;
use crate::approvals::{Approvals, ToolPins};
use crate::cache::Cache;
use crate::era::{EraCache, EraMode};
use crate::error::{ConnectError, SamplingError};
use crate::handlers::{Handlers, Roots, check_root, handler};
use crate::options::ClientOptions;
use crate::output_schema::OutputCheck;
use crate::question_types::{FormQuestion, UrlQuestion};
use crate::state::ClientState;
use crate::tool_cache::ToolCache;

/// A client that has not connected yet. What is registered here is what the client says it can do.
#[derive(Debug, Clone)]
#[must_use = "a client is made by connecting it"]
pub struct ClientBuilder {
    identity: Implementation,
    handlers: Handlers,
    mode: EraMode,
    eras: EraCache,
    options: ClientOptions,
    check_output: OutputCheck,
    pins: Option<ToolPins>,
    roots: Option<Vec<Root>>,
}

impl ClientBuilder {
    pub(super) fn new() -> Self {
        Self {
            identity: Implementation::new("pintle", env!("CARGO_PKG_VERSION")),
            handlers: Handlers::default(),
            mode: EraMode::Auto,
            eras: EraCache::new(),
            options: ClientOptions::default(),
            check_output: OutputCheck::default(),
            pins: None,
            roots: None,
        }
    }

    /// Says who the client is: `pintle` otherwise.
    pub fn identity(mut self, identity: Implementation) -> Self {
        self.identity = identity;
        self
    }

    /// Says which revisions are spoken: the newest that the server speaks, otherwise.
    pub fn mode(mut self, mode: EraMode) -> Self {
        self.mode = mode;
        self
    }

    /// Remembers the eras of servers here.
    pub fn eras(mut self, eras: EraCache) -> Self {
        self.eras = eras;
        self
    }

    /// Sets the bounds.
    pub fn options(mut self, options: ClientOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the bounds of each conversation.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = Arc::new(limits);
        self
    }

    /// Lets the server ask the user to fill in a form.
    ///
    /// Fields that the answer leaves out are set to the form's defaults, unless
    /// [`ClientBuilder::fill_form_defaults`] is off; an answer that does not fit the form is not
    /// sent. Show who asks, let the user look at the answer before it goes, and offer to
    /// decline.
    ///
    /// Spec: [2026-07-28, Elicitation][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
    pub fn on_elicit<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(FormQuestion) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer<JsonObject>> + Send + 'static,
    {
        self.handlers.form = Some(handler(ask));
        self
    }

    /// Whether an accepted answer gets the form's default for each field that it leaves out; default
    /// true. Turn it off where users may leave a field empty although it has a default: the handler
    /// then shows [`FormQuestion::defaults`] itself.
    pub fn fill_form_defaults(mut self, fills: bool) -> Self {
        self.handlers.leaves_defaults = !fills;
        self
    }

    /// Lets the server send the user to a URL. `Accepted` is the user's consent, after which the
    /// handler has opened it.
    ///
    /// A call that fails because visits must come first (-32042, 2025-11-25) asks this handler, too,
    /// waits up to [`ClientOptions::visit_timeout`] until the server or [`Client::visited`] says that
    /// they are done, and is made once more.
    pub fn on_elicit_url<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(UrlQuestion) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer<()>> + Send + 'static,
    {
        self.handlers.visit = Some(handler(ask));
        self
    }

    /// Hears that the user is done at a URL that was accepted, by the server's name for it.
    pub fn on_visit_complete(mut self, hear: impl Fn(String) + Send + Sync + 'static) -> Self {
        self.handlers.visited = Some(Arc::new(hear));
        self
    }

    /// Lets the server ask a model, without tools.
    pub fn on_sample<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(CreateMessageParams) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, SamplingError>> + Send + 'static,
    {
        self.handlers.sample = Some(handler(ask));
        self.handlers.takes_tools = false;
        self
    }

    /// Lets the server ask a model, and give it tools.
    pub fn on_sample_with_tools<F, Fut>(self, ask: F) -> Self
    where
        F: Fn(CreateMessageParams) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, SamplingError>> + Send + 'static,
    {
        let mut described = self.on_sample(ask);
        described.handlers.takes_tools = true;
        described
    }

    /// Lets the server make tasks of its questions (2025-11-25): it is answered at once, and asks for
    /// the answer later. Its handlers are the same.
    ///
    /// A conversation has its own tasks; they end with it. How many, how large and how long:
    /// [`ClientOptions::max_client_tasks`] and what follows it.
    ///
    /// Spec: [2025-11-25, Tasks][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
    pub fn answer_in_tasks(mut self) -> Self {
        self.handlers.answers_in_tasks = true;
        self
    }

    /// Does not tell servers that this client knows tasks (2026-07-28): they answer calls, however
    /// long it takes, or refuse those that take a task.
    pub fn without_tasks(mut self) -> Self {
        self.handlers.ignores_tasks = true;
        self
    }

    /// Tells servers that this client speaks an extension, with its settings; the client itself does
    /// nothing for it. So does one whose tokens come in a way of its own: `pintle_auth::Way::extension`.
    pub fn extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        self.handlers.declared.push((id.into(), settings));
        self
    }

    /// Tells the server in which folders it may work: `file://` URIs.
    pub fn roots<R: Into<String>>(self, roots: impl IntoIterator<Item = R>) -> Self {
        self.named_roots(roots.into_iter().map(|root| Root::new(root.into())))
    }

    /// As [`ClientBuilder::roots`], with names.
    pub fn named_roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.roots = Some(roots.into_iter().collect());
        self
    }

    /// Hears the server's log messages. The closure must not block.
    pub fn on_log(mut self, hear: impl Fn(LogMessageParams) + Send + Sync + 'static) -> Self {
        self.handlers.log = Some(Arc::new(hear));
        self
    }

    /// Hears of changes: those that any subscription of this client is told, and up to 2025-11-25
    /// those of lists also without one. The closure must not block.
    pub fn on_change(mut self, hear: impl Fn(Change) + Send + Sync + 'static) -> Self {
        self.handlers.change = Some(Arc::new(hear));
        self
    }

    /// Hears every notification that nobody else hears. The closure must not block.
    pub fn on_notice(mut self, hear: impl Fn(IncomingNotice) + Send + Sync + 'static) -> Self {
        self.handlers.notice = Some(Arc::new(hear));
        self
    }

    /// Says when the structured content of tools is checked against their output schemas:
    /// [`OutputCheck::Listed`] otherwise. What does not fit is
    /// [`Misbehavior::Output`](crate::Misbehavior::Output).
    pub fn check_output(mut self, check: OutputCheck) -> Self {
        self.check_output = check;
        self
    }

    /// Compares the tools that are listed with what was approved of them: see
    /// [`ClientBuilder::on_changed_tool`]. Calls are made all the same.
    pub fn watch_tools(mut self, approvals: Approvals) -> Self {
        self.pins = Some(ToolPins {
            approvals,
            refuses: false,
        });
        self
    }

    /// As [`ClientBuilder::watch_tools`], and calls only what is approved as it is: anything else is
    /// [`CallError::NotApproved`](crate::CallError::NotApproved) before the server hears of it.
    ///
    /// A tool is what it was when it was last listed. It is looked for in the list before it is called
    /// when it was not found there in this conversation, and when the server has said that its tools
    /// changed: since 2026-07-28 it says so to whoever listens ([`Client::listen`]), and to a client
    /// that keeps its lists. One that changes without a word is found out the next time that it is
    /// listed.
    pub fn pin_tools(mut self, approvals: Approvals) -> Self {
        self.pins = Some(ToolPins {
            approvals,
            refuses: true,
        });
        self
    }

    /// Hears of a tool that is not what was approved, as it is now: once of each change, when it is
    /// listed. The closure must not block.
    pub fn on_changed_tool(mut self, hear: impl Fn(Tool) + Send + Sync + 'static) -> Self {
        self.handlers.changed_tool = Some(Arc::new(hear));
        self
    }

    /// Connects to a server: finds its era, agrees on a revision, and reads its capabilities.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the attempt.
    pub async fn connect<Kind>(
        self,
        target: impl IntoConnect<Kind>,
    ) -> Result<Client, ConnectError> {
        let client = self.connect_lazily(target)?;
        let opened = client.0.open_first().await;
        opened.map_err(|error| (*error).clone())?;
        Ok(client)
    }

    /// A client that connects when it is first called, as often as it takes: the calls of a server
    /// that is not there fail with [`CallError::NotConnected`](crate::CallError::NotConnected).
    ///
    /// # Errors
    ///
    /// [`ConnectError::InvalidConfig`] for a target that does not name a server, for roots that are not files, and for
    /// approvals of another server's tools.
    pub fn connect_lazily<Kind>(
        mut self,
        target: impl IntoConnect<Kind>,
    ) -> Result<Client, ConnectError> {
        let target = target.into_connect();
        let target = target.map_err(|error| ConnectError::InvalidConfig(error.to_string()))?;
        if let Some(roots) = self.roots.take() {
            roots
                .iter()
                .try_for_each(check_root)
                .map_err(ConnectError::InvalidConfig)?;
            let kept = Roots::default();
            kept.set(roots);
            self.handlers.roots = Some(kept);
        }
        if let (Some(pins), Some(server)) = (&self.pins, target.key()) {
            let bound = pins.approvals.bind(&server);
            bound.map_err(ConnectError::InvalidConfig)?;
        }
        let inner = ClientState {
            connect: BoxConnect::new(target),
            identity: self.identity,
            handlers: self.handlers,
            mode: self.mode,
            eras: self.eras,
            known: ToolCache::default(),
            told: Arc::default(),
            cache: Arc::new(Cache::new(
                self.options.max_cached_results,
                self.options.max_cached_bytes,
            )),
            options: self.options,
            check_output: self.check_output,
            pins: self.pins,
            state: pintle_runtime::sync::Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        };
        Ok(Client(Arc::new(inner)))
    }
}
