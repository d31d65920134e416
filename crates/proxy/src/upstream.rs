//! The server behind the proxy, and the clients in front of it.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Weak};

use pintle::client::{
    Client, ClientBuilder, ClientOptions, ConnectError, EraMode, OutputCheck, ServerInfo,
};
use pintle::model::method::{ListPrompts, ListResourceTemplates, ListResources, ListTools, Method};
use pintle::model::{
    ClientCapabilities, Error, Feature, Implementation, Revision, TASKS_EXTENSION,
};
use pintle::proto::{Change, Limits, Reply, ServerProfile};
use pintle::runtime::sync::Mutex;
use pintle::runtime::{Context, EngineHandle};
use serde_json::value::RawValue;

use crate::filter::{Filters, ToolFilter};
use crate::options::ProxyOptions;
use crate::remainders::Remainders;
use crate::reply::reply_of;
use crate::task_form::{TaskForm, declare, has_core, offered};
use crate::tools::Tools;

/// Returns a client that connects to the server.
pub(crate) type Connect = dyn Fn(ClientBuilder) -> Result<Client, ConnectError> + Send + Sync;

/// The server behind the proxy, and the clients in front of it.
pub(crate) struct Upstream {
    pub(crate) connect: Box<Connect>,
    pub(crate) options: ProxyOptions,
    /// Replaced together with the connections.
    server: Mutex<ServerInfo>,
    /// The identity of the server as the proxy adds it to each result.
    identity: Mutex<Box<str>>,
    pub(crate) tools: Tools,
    pub(crate) filter: Filters,
    pub(crate) remainders: Remainders,
    /// The conversations with clients.
    attached: Mutex<Vec<Weak<dyn EngineHandle>>>,
}

impl Upstream {
    pub(crate) fn new(
        connect: Box<Connect>,
        (options, mut filter): (ProxyOptions, Filters),
        server: ServerInfo,
    ) -> Self {
        let remainders = Remainders::new(&options);
        if remainders.is_used() {
            filter.tools.hide_output();
        }
        Self {
            filter,
            remainders,
            connect,
            tools: Tools::new(options.max_header_tools),
            options,
            identity: Mutex::new(short_identity(&server)),
            server: Mutex::new(server),
            attached: Mutex::default(),
        }
    }

    pub(crate) fn server(&self) -> ServerInfo {
        self.server.lock().clone()
    }

    /// Returns a part of the server's description.
    pub(crate) fn described<T>(&self, read: impl FnOnce(&ServerInfo) -> T) -> T {
        read(&self.server.lock())
    }

    pub(crate) fn set_server(&self, server: ServerInfo) {
        *self.identity.lock() = short_identity(&server);
        *self.server.lock() = server;
    }

    /// Whether the server has sessions, as up to 2025-11-25.
    pub(crate) fn is_stateful(&self) -> bool {
        self.server.lock().revision.has(Feature::Handshake)
    }

    /// Whether each session of a client has a connection of its own.
    pub(crate) fn has_sessions(&self) -> bool {
        self.is_stateful() && !self.options.is_shared
    }

    /// Returns the capabilities that a connection declares for a client. A shared one declares none, because an
    /// earlier server does not name the call of a question; requests of 2026-07-28 state those of their clients.
    pub(crate) fn declared<'c>(
        &self,
        of_client: &'c ClientCapabilities,
    ) -> Cow<'c, ClientCapabilities> {
        match self.options.is_shared {
            true => Cow::Owned(ClientCapabilities::default()),
            false => declared(of_client),
        }
    }

    /// Whether the server has log messages.
    pub(crate) fn has_logs(&self) -> bool {
        self.server.lock().capabilities.logging.is_some()
    }

    /// Whether clients have resources only because results are cut.
    pub(crate) fn has_only_remainders(&self) -> bool {
        self.remainders.is_used() && self.server.lock().capabilities.resources.is_none()
    }

    /// Returns the reply to a client with a result of the server, whose connection has the revision `from`.
    pub(crate) fn reply(
        &self,
        from: Option<Revision>,
        method: &str,
        mut raw: Box<RawValue>,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let to = cx.terms().revision;
        let from = from.unwrap_or(to);
        raw = self.listed(method, raw, cx)?;
        let raw = self.remainders.cut(method, raw, cx)?;
        reply_of(method, &raw, (from, to), &self.identity.lock())
    }

    /// Returns a page of a list as clients see it; another result stays as it is.
    fn listed(
        &self,
        method: &str,
        raw: Box<RawValue>,
        cx: &Context,
    ) -> Result<Box<RawValue>, Error> {
        match method {
            ListTools::NAME => {
                self.tools.read(&raw);
                let listed = self.filter.tools.list(raw)?;
                match self.task_form(cx) {
                    TaskForm::OfExtension => offered(&listed),
                    TaskForm::Same | TaskForm::OfCore => Ok(listed),
                }
            }
            ListPrompts::NAME => self.filter.prompts.list(raw),
            ListResources::NAME => self.filter.resources.list(raw),
            ListResourceTemplates::NAME => self.filter.resources.list_templates(raw),
            _ => Ok(raw),
        }
    }

    /// Lists the tools of the server, where the headers of its clients are verified.
    pub(crate) async fn list_tools(&self, client: &Client) {
        let has_tools = self.server.lock().capabilities.tools.is_some();
        if self.options.list_tools_first && has_tools {
            self.tools.list(client).await;
        }
    }

    /// Returns how the tasks of the server reach the client of a request.
    pub(crate) fn task_form(&self, cx: &Context) -> TaskForm {
        let terms = cx.terms();
        self.described(|server| {
            let (revision, offered) = (server.revision, &server.capabilities);
            if revision.has(Feature::CoreTasks) && terms.has(Feature::TasksExtension) {
                return match has_core(offered) {
                    true => TaskForm::OfCore,
                    false => TaskForm::Same,
                };
            }
            let is_extension = offered.extension(TASKS_EXTENSION).is_some();
            match is_extension && revision.has(Feature::TasksExtension) {
                true if terms.has(Feature::CoreTasks) => TaskForm::OfExtension,
                _ => TaskForm::Same,
            }
        })
    }

    /// Returns the configuration of a client of the server. The era of the server is known.
    pub(crate) fn client(&self) -> ClientBuilder {
        let client = client_of(&self.options, &self.filter.tools);
        match self.is_stateful() {
            true => client.mode(EraMode::Legacy),
            false => client,
        }
    }

    /// Adds a conversation with a client.
    pub(crate) fn attach(&self, handle: Weak<dyn EngineHandle>) {
        let mut attached = self.attached.lock();
        attached.retain(|handle| handle.strong_count() > 0);
        attached.push(handle);
    }

    /// Returns the conversations with clients.
    pub(crate) fn attached(&self) -> Vec<Arc<dyn EngineHandle>> {
        self.attached
            .lock()
            .iter()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// Returns the conversations that listen to changes.
    pub(crate) fn listening(&self) -> Vec<Arc<dyn EngineHandle>> {
        let mut attached = self.attached();
        attached.retain(|handle| {
            let mut listens = false;
            handle.engine(&mut |engine| listens |= engine.has_listeners());
            listens
        });
        attached
    }

    /// Sends a change to all clients.
    pub(crate) fn publish(&self, change: &Change) {
        for handle in self.attached() {
            handle.engine(&mut |engine| engine.publish(change));
        }
    }

    /// Returns the server's description of itself, as clients of the proxy receive it.
    pub(crate) fn profile(&self) -> ServerProfile {
        let server = self.server();
        let identity = match &server.identity {
            Some(identity) => Implementation::clone(identity),
            None => Implementation::new("pintle-proxy", env!("CARGO_PKG_VERSION")),
        };
        let mut capabilities = (*server.capabilities).clone();
        if self.has_only_remainders() {
            capabilities.resources = Some(Default::default());
        }
        declare(&mut capabilities);
        ServerProfile::new(identity, capabilities)
            .with_instructions(server.instructions)
            .with_passed_settings()
    }
}

/// Returns the JSON text of an identity in `_meta` of a result: without icons and description.
fn short_identity(server: &ServerInfo) -> Box<str> {
    let identity = server.identity.as_ref().map(|identity| {
        let mut short = Implementation::new(&*identity.name, &*identity.version);
        short.title.clone_from(&identity.title);
        short
    });
    serde_json::to_string(&identity).unwrap_or_default().into()
}

/// The capabilities of a client that the proxy declares to the server.
pub(crate) fn declared(of_client: &ClientCapabilities) -> Cow<'_, ClientCapabilities> {
    if of_client.tasks.is_none() {
        return Cow::Borrowed(of_client);
    }
    let mut declared = of_client.clone();
    // The proxy holds no tasks for the questions of the server.
    declared.tasks = None;
    Cow::Owned(declared)
}

/// Returns the configuration of a client that passes everything on: without a cache and without checks.
pub(crate) fn client_of(options: &ProxyOptions, filter: &ToolFilter) -> ClientBuilder {
    let mut client = ClientOptions::default();
    (client.max_cached_results, client.watch_cache) = (0, false);
    client.connect_timeout = options.connect_timeout;
    client.probe_timeout = options.connect_timeout / 2;
    let mut limits = Limits::default();
    limits.max_calls = options.max_calls;
    limits.question_timeout = options.question_timeout;
    client.limits = Arc::new(limits);
    let builder = Client::builder().options(client);
    let builder = builder.check_output(OutputCheck::Off);
    match filter.approvals() {
        Some(approvals) => builder.pin_tools(approvals.clone()),
        None => builder,
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("server", &self.server())
            .finish_non_exhaustive()
    }
}
