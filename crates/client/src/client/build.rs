//! The builder of a client: identity, handlers, limits and rules, then the connection.

use std::future::Future;
use std::sync::Arc;

use pintle_model::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, Error, Implementation,
    InputRequest, InputResponse, JsonObject, LogMessageParams, Root, Tool,
};
use pintle_proto::{Change, IncomingNotice, Limits};
use pintle_runtime::{Answer, BoxConnect, BoxFuture, CallObserver, Connect as _};

use crate::into_connect::IntoConnect;

use super::Client;
use crate::approvals::{Approvals, ToolPins};
use crate::cache::Cache;
use crate::era::{EraCache, EraMode};
use crate::error::{ConnectError, SamplingError};
use crate::handlers::{AnyQuestion, Handlers, Roots, check_root, handler};
use crate::options::ClientOptions;
use crate::output_schema::OutputCheck;
use crate::question_types::{FormQuestion, UrlQuestion};
use crate::state::ClientState;
use crate::tool_cache::ToolCache;

/// Configuration of a client that has not connected yet.
///
/// The client declares a capability for each registered handler of questions (forms, URLs,
/// sampling), and for roots if they are set. Handlers of notifications need no capability.
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
    observer: Option<Arc<dyn CallObserver>>,
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
            observer: None,
        }
    }

    /// Passes each request and each conversation to an observer, such as the telemetry of `pintle-otel`. A later
    /// observer replaces an earlier one.
    pub fn observer(mut self, observer: impl CallObserver) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Sets the name and version that the client sends to servers. The default is `pintle` and its
    /// version.
    pub fn identity(mut self, identity: Implementation) -> Self {
        self.identity = identity;
        self
    }

    /// Sets the revisions that the client may use; default [`EraMode::Auto`]: the newest revision
    /// that the server and the client support.
    pub fn mode(mut self, mode: EraMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the cache of the eras of servers; clients may share one. By default each client has an
    /// empty cache.
    pub fn eras(mut self, eras: EraCache) -> Self {
        self.eras = eras;
        self
    }

    /// Sets all limits, timeouts and intervals, including those of [`ClientBuilder::limits`].
    pub fn options(mut self, options: ClientOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the limits of each conversation: [`ClientOptions::limits`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = Arc::new(limits);
        self
    }

    /// Registers the handler that asks the user to fill in a form of the server.
    ///
    /// Fields that an accepted answer leaves out are set to the form's defaults, unless
    /// [`ClientBuilder::fill_form_defaults`] is off. An answer that does not fit the form is not
    /// sent; the question then fails. Show which server asks, let the user review the answer before
    /// you return it, and offer to decline.
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

    /// Registers one handler for all questions, in place of the others, and declares these capabilities.
    /// The handler receives each question as the server sent it, and its answer is sent unchecked. Use it to
    /// pass questions on to another client.
    pub fn on_question<F, Fut>(mut self, declared: ClientCapabilities, ask: F) -> Self
    where
        F: Fn(InputRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<InputResponse, Error>> + Send + 'static,
    {
        self.handlers.any = Some(AnyQuestion {
            capabilities: declared,
            answer: handler(ask),
        });
        self
    }

    /// Sets whether each field that an accepted answer leaves out gets the form's default; default
    /// true. Turn it off if users may leave a field with a default empty. The handler then shows
    /// [`FormQuestion::defaults`] itself.
    pub fn fill_form_defaults(mut self, fills: bool) -> Self {
        self.handlers.leaves_defaults = !fills;
        self
    }

    /// Registers the handler that asks the user to visit a URL. It returns `Accepted` after the
    /// user has agreed and the handler has opened the URL.
    ///
    /// A call can fail because it requires visits first (-32042, 2025-11-25). The client then
    /// passes these visits to this handler, too. The call waits up to
    /// [`ClientOptions::visit_timeout`] until the server or [`Client::complete_visit`] reports that
    /// the visits are done. Then it is sent once more.
    pub fn on_elicit_url<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(UrlQuestion) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer<()>> + Send + 'static,
    {
        self.handlers.visit = Some(handler(ask));
        self
    }

    /// Calls the closure when the server reports that the user is done at an accepted URL. The
    /// argument is the server's id of the visit. The closure must not block.
    pub fn on_visit_complete(mut self, receive: impl Fn(String) + Send + Sync + 'static) -> Self {
        self.handlers.visited = Some(Arc::new(receive));
        self
    }

    /// Registers the handler that passes a sampling request of the server to a model. The client
    /// does not declare support for tools in such requests.
    pub fn on_sample<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(CreateMessageParams) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, SamplingError>> + Send + 'static,
    {
        self.handlers.sample = Some(handler(ask));
        self.handlers.takes_tools = false;
        self
    }

    /// As [`ClientBuilder::on_sample`], and declares that sampling requests may contain tools.
    pub fn on_sample_with_tools<F, Fut>(self, ask: F) -> Self
    where
        F: Fn(CreateMessageParams) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, SamplingError>> + Send + 'static,
    {
        let mut described = self.on_sample(ask);
        described.handlers.takes_tools = true;
        described
    }

    /// Lets the server turn its questions into tasks (2025-11-25). The client then answers a
    /// question at once with a task, and the server requests the result later. The same handlers
    /// answer these questions. The client declares this only if it has a handler for forms, URLs or
    /// sampling.
    ///
    /// The tasks belong to one conversation and end with it. [`ClientOptions::max_client_tasks`]
    /// and the options after it limit their number, size and lifetime.
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

    /// Declares an extension with its settings to servers. The client itself does nothing for it.
    /// Declare with it also the extension that `pintle_auth::GrantFlow::extension` names.
    pub fn extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        self.handlers.declared.push((id.into(), settings));
        self
    }

    /// Sets the folders in which the server may work, as `file://` URIs.
    pub fn roots<R: Into<String>>(self, roots: impl IntoIterator<Item = R>) -> Self {
        self.named_roots(roots.into_iter().map(|root| Root::new(root.into())))
    }

    /// As [`ClientBuilder::roots`], with display names.
    pub fn named_roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.roots = Some(roots.into_iter().collect());
        self
    }

    /// Calls the closure for each log message of the server. The closure must not block.
    pub fn on_log(mut self, receive: impl Fn(LogMessageParams) + Send + Sync + 'static) -> Self {
        self.handlers.log = Some(Arc::new(receive));
        self
    }

    /// Calls the closure for each change that a subscription of this client receives.
    ///
    /// Up to 2025-11-25 it is called for every change that the server reports, also without a
    /// subscription. The closure must not block.
    pub fn on_change(mut self, receive: impl Fn(Change) + Send + Sync + 'static) -> Self {
        self.handlers.change = Some(Arc::new(receive));
        self
    }

    /// Calls the closure for each change of a task's status, and for each notification of a method
    /// that this client does not process. The closure must not block.
    pub fn on_notice(mut self, receive: impl Fn(IncomingNotice) + Send + Sync + 'static) -> Self {
        self.handlers.notice = Some(Arc::new(receive));
        self
    }

    /// Sets when the client checks the structured content of tools against their output schemas;
    /// default [`OutputCheck::Listed`]. A call whose content violates the schema fails with
    /// [`Misbehavior::Output`](crate::Misbehavior::Output).
    pub fn check_output(mut self, check: OutputCheck) -> Self {
        self.check_output = check;
        self
    }

    /// Compares each listed tool with its approved definition, and passes changed tools to
    /// [`ClientBuilder::on_changed_tool`]. Calls of changed tools are still sent.
    pub fn watch_tools(mut self, approvals: Approvals) -> Self {
        self.pins = Some(ToolPins {
            approvals,
            refuses: false,
        });
        self
    }

    /// As [`ClientBuilder::watch_tools`], and sends only calls of tools whose definition equals the
    /// approved one. Any other call fails with
    /// [`CallError::NotApproved`](crate::CallError::NotApproved).
    ///
    /// The check uses the tool as it was last listed. The client lists the tools before a call in
    /// three cases: it has not yet listed this tool in this conversation; the server has reported a
    /// change of its tools; the last two listed definitions of the tool differ. Since 2026-07-28
    /// servers report changes only to clients that listen ([`Client::listen`]) or cache lists. A
    /// change without a report is detected when the tool is next listed.
    pub fn pin_tools(mut self, approvals: Approvals) -> Self {
        self.pins = Some(ToolPins {
            approvals,
            refuses: true,
        });
        self
    }

    /// Calls the closure with the listed definition of a tool that differs from the approved one:
    /// once for each new definition. It requires [`ClientBuilder::watch_tools`] or
    /// [`ClientBuilder::pin_tools`]. The closure must not block.
    pub fn on_changed_tool(mut self, receive: impl Fn(Tool) + Send + Sync + 'static) -> Self {
        self.handlers.changed_tool = Some(Arc::new(receive));
        self
    }

    /// Connects to a server: finds its era, agrees on a revision, and reads its capabilities.
    ///
    /// # Errors
    ///
    /// [`ConnectError::InvalidConfig`] as for [`ClientBuilder::connect_lazily`]; any other
    /// [`ConnectError`] if the conversation cannot be opened.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the attempt.
    pub async fn connect<Kind>(
        self,
        target: impl IntoConnect<Kind>,
    ) -> Result<Client, ConnectError> {
        opened(self.connect_lazily(target)?).await
    }

    /// Returns a client that connects at its first call. After a failure, later calls try again,
    /// with a pause of [`ClientOptions::reconnect_delay`] or more between attempts. Meanwhile calls
    /// fail with [`CallError::NotConnected`](crate::CallError::NotConnected).
    ///
    /// # Errors
    ///
    /// [`ConnectError::InvalidConfig`] if the target does not name a server, or if the approvals belong
    /// to another server. Also if a root is not a `file://` URI, or contains `..` or a zero byte.
    pub fn connect_lazily<Kind>(
        self,
        target: impl IntoConnect<Kind>,
    ) -> Result<Client, ConnectError> {
        let target = target.into_connect();
        let target = target.map_err(|error| ConnectError::InvalidConfig(error.to_string()))?;
        self.build(BoxConnect::new(target))
    }

    // Not generic, so that other crates do not compile it again.
    fn build(mut self, target: BoxConnect) -> Result<Client, ConnectError> {
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
            connect: target,
            identity: self.identity,
            handlers: self.handlers,
            mode: self.mode,
            eras: self.eras,
            tool_cache: ToolCache::default(),
            task_events: Arc::default(),
            cache: Arc::new(Cache::new(
                self.options.max_cached_results,
                self.options.max_cached_bytes,
            )),
            options: self.options,
            check_output: self.check_output,
            pins: self.pins,
            observer: self.observer,
            state: pintle_runtime::sync::Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        };
        Ok(Client(Arc::new(inner)))
    }
}

// Not generic, so that other crates do not compile it again.
fn opened(client: Client) -> BoxFuture<'static, Result<Client, ConnectError>> {
    Box::pin(async move {
        let opened = client.0.open_first().await;
        opened.map_err(|error| (*error).clone())?;
        Ok(client)
    })
}
