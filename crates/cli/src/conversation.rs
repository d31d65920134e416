//! A conversation with the server that was meant: who is reached and how, and who answers its
//! questions.

mod opening;
mod reach;
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

pub(crate) use opening::Opening;
pub(crate) use reach::target;

/// How many bytes are read from a file or from standard input as an argument; more than the
/// largest message.
const ARGUMENT_BYTES: u64 = 32 * 1024 * 1024;

/// A server, and the options of the conversation with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConversationOptions<'o> {
    /// The server that was typed.
    pub(crate) server: &'o ServerSpec,
    /// The settings that were typed.
    pub(crate) settings: &'o Settings,
    /// The form of results.
    pub(crate) format: Format,
    /// Whether results must match the output schemas of tools.
    pub(crate) checks_output: bool,
    /// Whether the client subscribes to changes of cached results.
    pub(crate) watches_cache: bool,
}

/// A conversation, and where its results and notes go. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Conversation {
    /// The server.
    pub(crate) client: Client,
    /// The streams of this process.
    pub(crate) screen: Screen,
    /// For whom results are printed.
    pub(crate) format: Format,
    /// Standard error.
    pub(crate) live: Arc<Live>,
    desk: Arc<Prompter>,
    timeout: Option<Duration>,
}

impl Conversation {
    /// Makes a call, shows its progress, and waits for its result.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) async fn make<R: Send + 'static>(&self, call: Call<R>) -> Result<R, CliError> {
        let live = Arc::clone(&self.live);
        let call = self
            .bounded(call)
            .on_progress(move |progress| live.progress(&progress));
        let made = self.waited(call).await;
        self.live.clear();
        Ok(made?)
    }

    /// The outcome of a call. Meanwhile it is shown what the call waits for after a visit to a URL.
    pub(crate) async fn waited<C: IntoFuture>(&self, call: C) -> C::Output {
        tokio::select! {
            made = call => made,
            never = self.desk.follow_visits(&self.client) => match never {},
        }
    }

    /// A call that is waited for as long as was said.
    pub(crate) fn bounded<R>(&self, call: Call<R>) -> Call<R> {
        match self.timeout {
            Some(timeout) => call.timeout(timeout),
            None => call,
        }
    }

    /// Asks for all of a list.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) async fn patient<T: Item>(
        &self,
        list: List<T>,
    ) -> Result<CompleteList<T>, CliError> {
        Ok(self.patiently(list).await?)
    }

    /// A list that is waited for as long as was said.
    pub(crate) fn patiently<T: Item>(&self, list: List<T>) -> List<T> {
        match self.timeout {
            Some(timeout) => list.timeout(timeout),
            None => list,
        }
    }

    /// The same conversation, with results for somebody else.
    pub(crate) fn with_format(&self, format: Format) -> Self {
        Self {
            format,
            ..self.clone()
        }
    }

    /// Takes back the questions that are being asked, because whoever is asked wants to go on.
    pub(crate) fn interrupt(&self) {
        self.desk.cancel_questions();
    }

    /// Says goodbye, and waits until the server is gone that was started for this.
    pub(crate) async fn close(&self) {
        self.client.close().await;
    }
}

fn described(
    wanted: ConversationOptions<'_>,
    binding: Binding,
    desk: &Arc<Prompter>,
    live: &Arc<Live>,
) -> Result<ClientBuilder, CliError> {
    let settings = wanted.settings;
    let identity = Implementation::new("pintle-cli", env!("CARGO_PKG_VERSION"));
    let notes = Arc::clone(live);
    let mut builder = Client::builder()
        .identity(identity.with_title("Pintle"))
        .options(options(wanted, binding))
        .on_log(move |message| notes.log(&message));
    if let Some(revision) = settings.revision {
        builder = builder.mode(EraMode::Pinned(revision));
    }
    if !settings.roots.is_empty() {
        let roots: Result<Vec<_>, _> = settings
            .roots
            .iter()
            .map(|root| reach::file_uri(root))
            .collect();
        builder = builder.roots(roots?);
    }
    if let Some(extension) = settings.access.extension() {
        builder = builder.extension(extension, JsonObject::new());
    }
    if let Some(command) = &settings.sample_with {
        builder = sample::with(builder, command)?;
    }
    Ok(Prompter::register(desk, builder))
}

/// A time-out bounds the wait for the end of visits, and the opening, which may take longer than usual then: a package runner may have to
/// download a server. On a pipe half of it is for the probe, so that a server that ignores the probe is
/// still asked for a handshake.
fn options(wanted: ConversationOptions<'_>, binding: Binding) -> ClientOptions {
    let mut options = ClientOptions::default();
    if let Some(timeout) = wanted.settings.timeout {
        options.connect_timeout = timeout;
        options.probe_timeout = match binding {
            Binding::Pipe => timeout / 2,
            _ => timeout,
        };
        options.visit_timeout = timeout;
    }
    // Nobody watches what is kept for one command.
    options.watch_cache = wanted.watches_cache;
    options
}

/// What a word of the command line refers to: a file, or standard input.
///
/// # Errors
///
/// Whatever the system says; [`io::ErrorKind::FileTooLarge`].
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
