//! The servers of the page: that of the command line, those of the hosts, and URLs that the user types.

use std::env;
use std::sync::Arc;

use pintle::model::Root;
use pintle::runtime::{BoxFuture, Connect as _};
use pintle_hosts::{Environment, LocalFiles, Platform, ServerRegistry, without_query};
use pintle_web::{RecordingText, ServerOutput, SignInSteps, TargetError, TargetName, Targets};
use tokio::task::spawn_blocking;

use super::judge::{CommandJudge, failure};
use super::sign_in;
use crate::access::is_http;
use crate::args::{Format, ServerSpec, Settings};
use crate::conversation::{ConversationOptions, Opening, options, plain, roots};
use crate::exit::CliError;
use crate::screen::Screen;

/// Maximum number of servers of hosts that the page offers.
const MAX_NAMES: usize = 500;

/// The servers that the page offers.
pub(super) struct CommandTargets {
    /// The server of the command line, with its settings.
    given: Option<(ServerSpec, Arc<Settings>)>,
    /// The settings of other servers, which have no headers, variables and tokens of the command line.
    others: Arc<Settings>,
    recording: Option<RecordingText>,
}

impl CommandTargets {
    pub(super) fn new(server: Option<ServerSpec>, settings: Settings) -> Self {
        let others = Settings {
            config: settings.config.clone(),
            timeout: settings.timeout,
            shows_stderr: settings.shows_stderr,
            ..Settings::default()
        };
        Self {
            given: server.map(|server| (server, Arc::new(settings))),
            others: Arc::new(others),
            recording: None,
        }
    }

    /// Sets the recording that the page shows.
    pub(super) fn with_recording(mut self, recording: RecordingText) -> Self {
        self.recording = Some(recording);
        self
    }

    /// Returns the server of a name. A name of the page never is a program.
    fn spec(&self, name: &str) -> Result<(ServerSpec, Arc<Settings>), TargetError> {
        if let Some((server, settings)) = &self.given
            && label(server) == name
        {
            return Ok((server.clone(), Arc::clone(settings)));
        }
        let others = Arc::clone(&self.others);
        match name.strip_prefix('@') {
            Some(name) if !name.is_empty() => Ok((ServerSpec::Named(name.to_owned()), others)),
            None if is_http(name) => Ok((ServerSpec::Url(name.to_owned()), others)),
            _ => Err(TargetError::new(format!(
                "{name:?} is not a server: a URL begins with http:// or https://"
            ))),
        }
    }
}

impl Targets for CommandTargets {
    fn names(&self) -> Vec<TargetName> {
        let given = self.given.iter().map(|(server, _)| {
            let label = label(server);
            TargetName::new(label.clone(), label).given()
        });
        given.chain(names_of_hosts(&self.others)).collect()
    }

    fn accepts_urls(&self) -> bool {
        true
    }

    fn find<'t>(&'t self, name: &'t str) -> BoxFuture<'t, Result<pintle_web::Target, TargetError>> {
        Box::pin(async move {
            let (server, settings) = self.spec(name)?;
            // The terminal may ask for consent, or for inputs of a file.
            let prepared = spawn_blocking(move || prepared(&server, &settings)).await;
            let prepared = prepared.map_err(|error| TargetError::new(error.to_string()))?;
            prepared.map_err(|error| failure(&error))
        })
    }

    fn can_sign_in(&self) -> bool {
        true
    }

    fn sign_in<'t>(
        &'t self,
        name: &'t str,
        steps: SignInSteps,
    ) -> BoxFuture<'t, Result<(), TargetError>> {
        Box::pin(async move {
            let (server, settings) = self.spec(name)?;
            let signed_in = sign_in::sign_in(server, settings, steps).await;
            signed_in.map_err(|error| failure(&error))
        })
    }

    fn recording(&self) -> Option<&RecordingText> {
        self.recording.as_ref()
    }
}

/// Returns the servers in the files of hosts. Their definitions are not expanded, and nothing is started.
fn names_of_hosts(settings: &Settings) -> Vec<TargetName> {
    let Ok(here) = env::current_dir() else {
        return Vec::new();
    };
    let var = |name: &str| env::var(name).ok();
    let environment = Environment {
        platform: Platform::HERE,
        here: &here,
        env: &var,
        disk: &LocalFiles,
    };
    let registry = match &settings.config {
        Some(file) => ServerRegistry::of_file(&environment, file).ok(),
        None => Some(ServerRegistry::open(&environment)),
    };
    let servers = registry.map(|registry| registry.servers);
    let addresses = servers.into_iter().flatten().map(|server| server.address());
    addresses
        .take(MAX_NAMES)
        .map(|name| TargetName::new(name.clone(), name))
        .collect()
}

/// Prepares the connection. It blocks while the terminal asks a question.
fn prepared(server: &ServerSpec, settings: &Settings) -> Result<pintle_web::Target, CliError> {
    let conversation = ConversationOptions {
        server,
        settings,
        format: Format::Text,
        checks_output: true,
        watches_cache: false,
        uses_shared: false,
    };
    let opening = Opening::new(conversation, Screen::look())?;
    let output = ServerOutput::default();
    let lines = output.clone();
    opening.on_stderr(move |line| lines.line(line));
    let connect = opening.connector()?;
    let mut limits = options(conversation, connect.binding());
    // The page shows the present answers of the server.
    limits.max_cached_results = 0;
    let mut target = pintle_web::Target::new(label(server), connect);
    target.client = plain(settings, limits);
    target.roots = roots(settings)?.into_iter().map(Root::new).collect();
    target.timeout = settings.timeout;
    target.words = words(server);
    if let pintle_hosts::Target::Url(endpoint) = opening.target() {
        target.url = Some(without_query(&endpoint.url).to_owned());
        target.sign_in = sign_in_command(server);
    }
    target.judge = Some(Arc::new(CommandJudge::new(opening.judged()?)));
    target.output = Some(output);
    Ok(target)
}

fn label(server: &ServerSpec) -> String {
    match server {
        ServerSpec::Named(name) => format!("@{name}"),
        ServerSpec::Url(url) => url.clone(),
        ServerSpec::Program(words) => words.join(" "),
    }
}

fn words(server: &ServerSpec) -> Vec<String> {
    match server {
        ServerSpec::Program(words) => {
            let dashes = std::iter::once("--".to_owned());
            dashes.chain(words.iter().cloned()).collect()
        }
        server => vec![label(server)],
    }
}

fn sign_in_command(server: &ServerSpec) -> Option<String> {
    match server {
        ServerSpec::Named(name) => Some(format!("pintle login @{name}")),
        ServerSpec::Url(url) => Some(format!("pintle login {}", without_query(url))),
        ServerSpec::Program(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(server: Option<ServerSpec>) -> CommandTargets {
        let settings = Settings {
            headers: vec![("x-key".to_owned(), "secret".into())],
            ..Settings::default()
        };
        CommandTargets::new(server, settings)
    }

    #[test]
    fn headers_of_the_command_line_reach_its_server_only() {
        let url = "https://a.example/mcp";
        let targets = targets(Some(ServerSpec::Url(url.to_owned())));
        let headers = |name: &str| targets.spec(name).expect("a server").1.headers.len();
        assert_eq!(headers(url), 1);
        assert_eq!(headers("https://b.example/mcp"), 0);
        assert_eq!(headers("@other"), 0);
    }

    #[test]
    fn the_page_starts_only_the_program_of_the_command_line() {
        let words = ["some-server".to_owned(), "--flag".to_owned()];
        let targets = targets(Some(ServerSpec::Program(words.to_vec())));
        let (found, _) = targets.spec("some-server --flag").expect("the given one");
        assert_eq!(found, ServerSpec::Program(words.to_vec()));
        for other in [
            "rm -rf",
            "-- rm",
            "",
            "@",
            "unix:///tmp/x",
            "tcp://a:1",
            "file:///x",
        ] {
            assert!(targets.spec(other).is_err(), "{other}");
        }
    }
}
