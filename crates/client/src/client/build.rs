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

/// Configuration of a client that has not connected yet.
///
/// The client declares a capability for each handler that is registered here.
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

    /// Sets the name and version that the client sends to servers; by default those of `pintle`.
    pub fn identity(mut self, identity: Implementation) -> Self {
        self.identity = identity;
        self
    }

    /// Sets the revisions that the client may speak; by default the newest that the server speaks.
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
    /// A call can fail because it requires visits first (-32042, 2025-11-25). The call then asks this
    /// handler, too. It waits up to [`ClientOptions::visit_timeout`] until the server or
    /// [`Client::complete_visit`] reports that the visits are done. Then it is sent once more.
    pub fn on_elicit_url<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(UrlQuestion) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer<()>> + Send + 'static,
    {
        self.handlers.visit = Some(handler(ask));
        self
    }

    /// Calls the closure when the user is done at an accepted URL, with the server's id of the visit.
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
    /// A conversation has its own tasks; they end with it. [`ClientOptions::max_client_tasks`]
    /// and the options after it bound their number, size and lifetime.
    ///
    /// Spec: [2025-11-25, Tasks][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
    pub fn answer_in_tasks(mut self) -> Self {
        self.handlers.answers_in_tasks = true;
        self
    }

    /// Does not declare support for tasks (2026-07-28). Servers then answer each call directly, however
    /// long it takes, or refuse calls that require a task.
    pub fn without_tasks(mut self) -> Self {
        self.handlers.ignores_tasks = true;
        self
    }

    /// Declares to servers that this client speaks an extension, with its settings; the client itself does
    /// nothing for it. So does one whose tokens come in a way of its own: `pintle_auth::Way::extension`.
    pub fn extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        self.handlers.declared.push((id.into(), settings));
        self
    }

    /// Sets the folders in which the server may work, as `file://` URIs.
    pub fn roots<R: Into<String>>(self, roots: impl IntoIterator<Item = R>) -> Self {
        self.named_roots(roots.into_iter().map(|root| Root::new(root.into())))
    }

    /// As [`ClientBuilder::roots`], with names.
    pub fn named_roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.roots = Some(roots.into_iter().collect());
        self
    }

    /// Calls the closure for each log message of the server. The closure must not block.
    pub fn on_log(mut self, hear: impl Fn(LogMessageParams) + Send + Sync + 'static) -> Self {
        self.handlers.log = Some(Arc::new(hear));
        self
    }

    /// Calls the closure for each change that a subscription of this client receives.
    ///
    /// Up to 2025-11-25 it also receives changes of lists without a subscription. The closure must not block.
    pub fn on_change(mut self, hear: impl Fn(Change) + Send + Sync + 'static) -> Self {
        self.handlers.change = Some(Arc::new(hear));
        self
    }

    /// Calls the closure for each notification that no other handler receives. The closure must not block.
    pub fn on_notice(mut self, hear: impl Fn(IncomingNotice) + Send + Sync + 'static) -> Self {
        self.handlers.notice = Some(Arc::new(hear));
        self
    }

    /// Sets when the structured content of tools is checked against their output schemas; default
    /// [`OutputCheck::Listed`]. Content that does not fit is
    /// [`Misbehavior::Output`](crate::Misbehavior::Output).
    pub fn check_output(mut self, check: OutputCheck) -> Self {
        self.check_output = check;
        self
    }

    /// Compares the listed tools with their approved forms: see
    /// [`ClientBuilder::on_changed_tool`]. Calls of changed tools are still sent.
    pub fn watch_tools(mut self, approvals: Approvals) -> Self {
        self.pins = Some(ToolPins {
            approvals,
            refuses: false,
        });
        self
    }

    /// As [`ClientBuilder::watch_tools`], and calls only tools that are unchanged since their approval.
    /// Any other call fails with [`CallError::NotApproved`](crate::CallError::NotApproved), and is not
    /// sent.
    ///
    /// The check uses the tool as it was last listed. The client lists the tools before a call in two
    /// cases: the tool was not yet found in this conversation, or the server has reported a change of
    /// its tools. Since 2026-07-28 the server reports changes to clients that listen
    /// ([`Client::listen`]) and to clients that cache lists. An unreported change is detected when the
    /// tool is next listed.
    pub fn pin_tools(mut self, approvals: Approvals) -> Self {
        self.pins = Some(ToolPins {
            approvals,
            refuses: true,
        });
        self
    }

    /// Calls the closure with the present form of a tool that differs from its approved form. This
    /// happens once for each change, when the tool is listed. The closure must not block.
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

    /// Returns a client that connects at its first call, and tries again at later calls. While the
    /// server is not available, calls fail with [`CallError::NotConnected`](crate::CallError::NotConnected).
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
