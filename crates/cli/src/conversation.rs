//! A conversation with one server: how the tool connects to it, and how it answers its questions.

mod find_server;
mod judged;
mod opening;
mod sample;
mod stderr;
mod trace;

use std::io::{self, Read as _};
use std::sync::Arc;
use std::time::Duration;

use pintle::client::{
    Call, Client, ClientBuilder, ClientOptions, CompleteList, EraMode, Item, List,
};
use pintle::model::{Implementation, JsonObject};
use pintle::proto::lifecycle::Binding;

use crate::args::{Format, ServerSpec, Settings};
use crate::ask::Prompter;
use crate::exit::CliError;
use crate::live::Live;
use crate::screen::Screen;

pub(crate) use find_server::{config_file, target};
pub(crate) use judged::judged_target;
pub(crate) use opening::{Connector, Filters, Opening};

/// Maximum size of an argument from a file or from standard input, in bytes. It exceeds the largest
/// message.
const ARGUMENT_BYTES: u64 = 32 * 1024 * 1024;

/// A server, and the options of the conversation with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConversationOptions<'o> {
    /// The server from the command line.
    pub(crate) server: &'o ServerSpec,
    /// The settings from the command line.
    pub(crate) settings: &'o Settings,
    /// The form of results.
    pub(crate) format: Format,
    /// Whether results must match the output schemas of tools.
    pub(crate) checks_output: bool,
    /// Whether the client subscribes to changes of cached results.
    pub(crate) watches_cache: bool,
    /// Whether the shared process of the server is used, if one runs.
    pub(crate) uses_shared: bool,
}

/// An open conversation with the outputs for its results and notes. Clones share it.
#[derive(Clone)]
pub(crate) struct Conversation {
    /// The client of this conversation.
    pub(crate) client: Client,
    /// The streams of this process.
    pub(crate) screen: Screen,
    /// The form of results.
    pub(crate) format: Format,
    /// Progress, log messages and warnings, on standard error.
    pub(crate) live: Arc<Live>,
    prompter: Arc<Prompter>,
    timeout: Option<Duration>,
}

impl Conversation {
    /// Makes a call, shows its progress, and waits for its result.
    ///
    /// # Errors
    ///
    /// Those of the call.
    pub(crate) async fn make<R: Send + 'static>(&self, call: Call<R>) -> Result<R, CliError> {
        let live = Arc::clone(&self.live);
        let call = self
            .bounded(call)
            .on_progress(move |progress| live.progress(&progress));
        let made = self.wait_for(call).await;
        self.live.clear();
        Ok(made?)
    }

    /// Waits for a call. Meanwhile the user sees which visits to URLs the call waits for.
    pub(crate) async fn wait_for<C: IntoFuture>(&self, call: C) -> C::Output {
        tokio::select! {
            made = call => made,
            never = self.prompter.follow_visits(&self.client) => match never {},
        }
    }

    /// Limits a call to `--timeout`, if it is given.
    pub(crate) fn bounded<R>(&self, call: Call<R>) -> Call<R> {
        match self.timeout {
            Some(timeout) => call.timeout(timeout),
            None => call,
        }
    }

    /// Requests all pages of a list, within `--timeout`.
    ///
    /// # Errors
    ///
    /// Those of the call.
    pub(crate) async fn complete_list<T: Item>(
        &self,
        list: List<T>,
    ) -> Result<CompleteList<T>, CliError> {
        Ok(self.bounded_list(list).await?)
    }

    /// Limits the requests for a list to `--timeout`, if it is given.
    pub(crate) fn bounded_list<T: Item>(&self, list: List<T>) -> List<T> {
        match self.timeout {
            Some(timeout) => list.timeout(timeout),
            None => list,
        }
    }

    /// Returns the same conversation with another form of results.
    pub(crate) fn with_format(&self, format: Format) -> Self {
        Self {
            format,
            ..self.clone()
        }
    }

    /// Cancels the open questions, because the user interrupts the call.
    pub(crate) fn interrupt(&self) {
        self.prompter.cancel_questions();
    }

    /// Closes the conversation. A server process of this conversation has ended afterwards.
    pub(crate) async fn close(&self) {
        self.client.close().await;
    }
}

/// Returns the identity that servers receive.
fn identity() -> Implementation {
    Implementation::new("pintle-cli", env!("CARGO_PKG_VERSION")).with_title("Pintle")
}

/// Returns a client without handlers: its identity, options, revision and extensions.
pub(crate) fn plain(settings: &Settings, options: ClientOptions) -> ClientBuilder {
    let mut builder = Client::builder().identity(identity()).options(options);
    if let Some(revision) = settings.revision {
        builder = builder.mode(EraMode::Pinned(revision));
    }
    match settings.access.extension() {
        Some(extension) => builder.extension(extension, JsonObject::new()),
        None => builder,
    }
}

/// Returns the URIs of the roots.
///
/// # Errors
///
/// If a directory does not exist.
pub(crate) fn roots(settings: &Settings) -> Result<Vec<String>, CliError> {
    let roots = settings.roots.iter();
    roots.map(|root| find_server::file_uri(root)).collect()
}

fn described(
    conversation: ConversationOptions<'_>,
    binding: Binding,
    prompter: &Arc<Prompter>,
    live: &Arc<Live>,
) -> Result<ClientBuilder, CliError> {
    let settings = conversation.settings;
    let notes = Arc::clone(live);
    let options = options(conversation, binding);
    let mut builder = plain(settings, options).on_log(move |message| notes.log(&message));
    if !settings.roots.is_empty() {
        builder = builder.roots(roots(settings)?);
    }
    if let Some(command) = &settings.sample_with {
        builder = sample::with(builder, command)?;
    }
    Ok(Prompter::register(prompter, builder))
}

/// Returns the options of the client. `--timeout` limits visits and the opening.
///
/// The opening may then take longer than by default, because a package runner may download the server.
/// On a pipe the probe gets half of the time. So a server that ignores the probe still gets a handshake.
pub(crate) fn options(conversation: ConversationOptions<'_>, binding: Binding) -> ClientOptions {
    let mut options = ClientOptions::default();
    if let Some(timeout) = conversation.settings.timeout {
        options.connect_timeout = timeout;
        options.probe_timeout = match binding {
            Binding::Pipe => timeout / 2,
            _ => timeout,
        };
        options.visit_timeout = timeout;
    }
    // One command needs no notifications about its cached results.
    options.watch_cache = conversation.watches_cache;
    options
}

/// Reads an argument from a file, or without one from standard input.
///
/// # Errors
///
/// Those of the system; [`io::ErrorKind::FileTooLarge`] above 32 MiB.
pub(crate) fn read_argument(file: Option<&str>) -> io::Result<String> {
    let mut text = String::new();
    match file {
        Some(file) => std::fs::File::open(file)?
            .take(ARGUMENT_BYTES + 1)
            .read_to_string(&mut text)?,
        None => io::stdin()
            .lock()
            .take(ARGUMENT_BYTES + 1)
            .read_to_string(&mut text)?,
    };
    match text.len() as u64 > ARGUMENT_BYTES {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(text),
    }
}
