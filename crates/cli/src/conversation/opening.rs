//! Opens a conversation, and opens it again after a sign-in.

use std::path::PathBuf;
use std::sync::Arc;

use pintle::client::{ConnectError, EraMode, OutputCheck};
use pintle::model::{ClientCapabilities, JsonObject};
use pintle::runtime::sync::Mutex;
use pintle::runtime::{BoxConnect, Connect as _};
use pintle_proxy::{PromptFilter, Proxy, ProxyOptions, ResourceFilter, ToolFilter};
use tokio::time::timeout;

use super::trace::{Trace, Traced};
use super::{Conversation, ConversationOptions, described, find_server, identity, judged};
use crate::access::{Access, Guide, PagePolicy, is_http, requires_sign_in};
use crate::ask::Prompter;
use crate::exit::CliError;
use crate::live::Live;
use crate::screen::Screen;
#[cfg(unix)]
use crate::shared::SharedOrOwn;
use pintle_hosts::{Endpoint, Program, Target};

/// The connector of a proxy, which can be replaced.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Mutex<BoxConnect>>);

impl Connector {
    fn new(connect: BoxConnect) -> Self {
        Self(Arc::new(Mutex::new(connect)))
    }

    fn current(&self) -> BoxConnect {
        self.0.lock().clone()
    }
}

/// Which tools, prompts and resources of a server a proxy serves.
#[derive(Clone)]
pub(crate) struct Filters {
    pub(crate) tools: ToolFilter,
    pub(crate) prompts: PromptFilter,
    pub(crate) resources: ResourceFilter,
}

/// A conversation to open, with the state that all attempts share.
pub(crate) struct Opening<'t> {
    options: ConversationOptions<'t>,
    screen: Screen,
    live: Arc<Live>,
    prompter: Arc<Prompter>,
    target: Target,
    access: Option<Access>,
    trace: Option<Arc<Trace>>,
}

impl<'t> Opening<'t> {
    /// Finds the server of the command line.
    ///
    /// # Errors
    ///
    /// If the server is unknown, a setting is invalid, or the file of the trace cannot be created.
    pub(crate) fn new(options: ConversationOptions<'t>, screen: Screen) -> Result<Self, CliError> {
        let live = Arc::new(Live::new(screen.notes));
        let prompter = Prompter::new(
            &options.settings.inputs,
            &options.settings.answers,
            screen,
            Arc::clone(&live),
        );
        let target = find_server::target(options.server, options.settings, &prompter)?;
        let access = Access::of(&target, &options.settings.access)?;
        let trace = match (&options.settings.trace, &target) {
            (Some(file), _) => Some(Arc::new(Trace::new(file, &live)?)),
            (None, Target::Program(_)) => Some(Arc::new(Trace::without_file(&live))),
            (None, Target::Url(_)) => None,
        };
        Ok(Self {
            options,
            screen,
            live,
            prompter,
            target,
            access,
            trace,
        })
    }

    /// Connects to the server, within `--timeout` if it is given.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, does not answer in time, or has no common revision.
    pub(crate) async fn open(&self) -> Result<Conversation, CliError> {
        let Some(limit) = self.options.settings.timeout else {
            return self.reach().await;
        };
        let late = |_| ConnectError::TimedOut {
            what: "the beginning of the conversation",
            timeout: limit,
        };
        timeout(limit, self.reach()).await.map_err(late)?
    }

    /// Returns a connector to the server.
    ///
    /// # Errors
    ///
    /// If a setting does not apply to the server.
    pub(crate) fn connector(&self) -> Result<BoxConnect, CliError> {
        let authorizer = self.access.as_ref().map(Access::authorizer);
        let target = self.target.clone();
        let connect = find_server::connect(target, self.options.settings, &self.live, authorizer)?;
        #[cfg(unix)]
        let connect = match self.options.uses_shared {
            true => SharedOrOwn::of(connect, &self.target),
            false => connect,
        };
        Ok(match &self.trace {
            Some(trace) => BoxConnect::new(Traced::new(connect, trace)),
            None => connect,
        })
    }

    /// Passes each line of the standard error of a program to a function.
    pub(crate) fn on_stderr(&self, listener: impl Fn(&str) + Send + Sync + 'static) {
        self.live.on_stderr(listener);
    }

    /// Returns the server for `pintle check`, with the token that it gets.
    ///
    /// # Errors
    ///
    /// If a setting does not apply to the server.
    pub(crate) fn judged(&self) -> Result<pintle_check::Target, CliError> {
        let target = match self.shown() {
            Some(endpoint) => Target::Url(endpoint),
            None => self.target.clone(),
        };
        // The check starts many processes, whose standard error is not that of the conversation.
        let live = Arc::new(Live::new(self.screen.notes));
        judged::target(target, self.options.settings, &live)
    }

    /// Returns the server with the settings of the command line.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Sets the working directory of a program that has none.
    pub(crate) fn run_in(&mut self, directory: PathBuf) {
        if let Target::Program(program) = &mut self.target {
            program.directory.get_or_insert(directory);
        }
    }

    /// Sets the working directory of a program that has none to that of another opening.
    pub(crate) fn run_as(&mut self, other: &Opening<'_>) {
        if let Target::Program(Program {
            directory: Some(directory),
            ..
        }) = &other.target
        {
            self.run_in(directory.clone());
        }
    }

    /// Connects a proxy to the server. A client on standard streams is known before: the first connection
    /// declares its capabilities. Tools are listed first where a side has headers that repeat arguments.
    ///
    /// # Errors
    ///
    /// As [`Opening::open`].
    pub(crate) async fn proxy(
        &self,
        client: Option<ClientCapabilities>,
        filter: Filters,
        mut options: ProxyOptions,
    ) -> Result<(Proxy, Connector), CliError> {
        let (connector, settings) = (Connector::new(self.connector()?), self.options.settings);
        let connect = connector.clone();
        let mode = settings.revision.map(EraMode::Pinned);
        let extension = settings.access.extension();
        options.list_tools_first = client.is_none() || matches!(self.target, Target::Url(_));
        if let Some(timeout) = settings.timeout {
            options.connect_timeout = timeout;
        }
        let proxy = Proxy::builder(move |mut client| {
            client = client.identity(identity());
            if let Some(mode) = mode {
                client = client.mode(mode);
            }
            if let Some(extension) = extension {
                client = client.extension(extension, JsonObject::new());
            }
            client.connect_lazily(connect.current())
        });
        let proxy = proxy.options(options).tools(filter.tools);
        let proxy = proxy.prompts(filter.prompts).resources(filter.resources);
        let proxy = proxy.first_client(client.unwrap_or_default());
        Ok((proxy.connect().await?, connector))
    }

    /// Replaces the connector of a proxy by one to this server.
    ///
    /// # Errors
    ///
    /// As [`Opening::open`].
    pub(crate) fn replace(&self, connector: &Connector) -> Result<(), CliError> {
        *connector.0.lock() = self.connector()?;
        Ok(())
    }

    async fn reach(&self) -> Result<Conversation, CliError> {
        let settings = self.options.settings;
        let connect = self.connector()?;
        let builder = described(self.options, connect.binding(), &self.prompter, &self.live)?;
        let builder = match self.options.checks_output {
            true => builder,
            false => builder.check_output(OutputCheck::Off),
        };
        let client = builder.connect(connect).await?;
        if let Some(level) = &settings.log {
            client.set_level(level.clone()).await?;
        }
        Ok(Conversation {
            client,
            screen: self.screen,
            format: self.options.format,
            live: Arc::clone(&self.live),
            prompter: Arc::clone(&self.prompter),
            timeout: settings.timeout,
        })
    }

    /// Returns true if the user can resolve the failure with a sign-in at this terminal.
    pub(crate) fn may_sign_in(&self, failure: &CliError) -> bool {
        self.access.is_some() && self.prompter.is_interactive() && requires_sign_in(failure)
    }

    /// Signs the user in for the last challenges of the server.
    ///
    /// # Errors
    ///
    /// As [`Access::sign_in`].
    pub(crate) async fn sign_in(&mut self) -> Result<(), CliError> {
        let Some(access) = &mut self.access else {
            return Ok(());
        };
        let policy = match self.options.settings.access.is_shown {
            true => PagePolicy::Shown,
            false => PagePolicy::Asked,
        };
        let challenges = access.authorizer().challenges();
        access
            .sign_in(&challenges, &Guide::new(&self.prompter, policy))
            .await
    }

    /// Returns the HTTP server of the command line, with the token that it gets: the configured one, or
    /// the stored one.
    pub(crate) fn shown(&self) -> Option<Endpoint> {
        let mut endpoint = match &self.target {
            Target::Url(endpoint) if is_http(&endpoint.url) => endpoint.clone(),
            _ => return None,
        };
        let kept = self
            .access
            .as_ref()
            .and_then(|access| access.issued_tokens().ok()?);
        // A bound token is not valid without a proof of its key.
        if let Some(issued) = kept.filter(|issued| !issued.tokens.is_bound) {
            endpoint.authorize(issued.tokens.access.reveal());
        }
        Some(endpoint)
    }

    /// Reports after a failure that the server wrote to its standard error, if this was not shown.
    pub(crate) fn report_hidden(&self) {
        if self.live.has_hidden() {
            self.live
                .note("The server wrote to its standard error; -v shows it.");
        }
    }

    /// Returns the server and the options of the conversation.
    pub(crate) fn options(&self) -> ConversationOptions<'t> {
        self.options
    }

    /// Returns the standard streams.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }
}
