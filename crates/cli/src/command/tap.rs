//! `pintle tap`: shows and records the messages between a host and a server.

use std::io::{self, stderr};
use std::net::SocketAddr;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use pintle::http::client::HttpClientOptions;
use pintle::process::{ChildOptions, Command, SpawnError};
use pintle::runtime::standard_streams;
use pintle_hosts::without_query;
use pintle_tap::{
    Display, HttpTap, HttpTapError, Recorder, Tap, TapEnd, TapOptions, TapTransport, tap_stdio,
};

use crate::args::TapArgs;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::screen::Screen;

/// Maximum wait at the end for the display and the recording.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Passes the bytes until the server ends, and returns its exit code.
pub(crate) async fn run(args: TapArgs) -> Result<ExitCode, CliError> {
    if let (Some(url), Some(address)) = (&args.url, args.http) {
        return over_http(&args, url, address).await;
    }
    let (tap, end) = start(&args, TapTransport::Stdio)?;
    let (input, output) = standard_streams()?;
    let exit = tap_stdio(&command(&args.command), &tap, input, output, stop()?).await;
    // The runtime has nothing left to do, so that its thread may wait.
    end.close(CLOSE_TIMEOUT);
    Ok(exit_code(exit?.status()))
}

/// Passes requests to a URL until this program is stopped.
async fn over_http(args: &TapArgs, url: &str, address: SocketAddr) -> Result<ExitCode, CliError> {
    let (tap, end) = start(args, TapTransport::Http)?;
    let proxy = HttpTap::bind(url, address, tap, &HttpClientOptions::default()).await?;
    output::tapping(&proxy.url()?, without_query(url));
    proxy.serve(stop()?).await;
    end.close(CLOSE_TIMEOUT);
    Ok(Exit::Done.into())
}

fn start(args: &TapArgs, transport: TapTransport) -> Result<(Tap, TapEnd), CliError> {
    let mut options = TapOptions::default();
    options.keeps_secrets = args.secrets;
    options.display = match (args.quiet, args.json) {
        (true, _) => Display::None,
        (_, true) => Display::Json,
        _ if Screen::look().notes.has_color => Display::Color,
        _ => Display::Text,
    };
    let recorder = match &args.record {
        Some(file) => Some(Recorder::create(file, args.record_limit).map_err(|error| {
            let text = format!("{} cannot be written: {error}", file.display());
            CliError::new(Exit::Usage, text)
        })?),
        None => None,
    };
    Ok(Tap::start(transport, options, stderr(), recorder)?)
}

/// Returns the server. It runs as if the host had started it.
fn command(words: &[std::ffi::OsString]) -> Command {
    let (program, arguments) = words
        .split_first()
        .map_or((Default::default(), &[][..]), |(program, rest)| {
            (program.clone(), rest)
        });
    let mut options = ChildOptions::default();
    // A stop of this program is a signal of the host, which has waited already.
    options.exit_timeout = Duration::ZERO;
    Command::new(program)
        .args(arguments)
        .inherit_all_env()
        .inherit_stderr()
        .options(options)
}

/// Waits for a signal that ends this program.
#[cfg(unix)]
pub(super) fn stop() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

/// Waits for a signal that ends this program.
#[cfg(not(unix))]
pub(super) fn stop() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

/// Returns the exit code of the server; after a signal 128 and its number, as shells do.
fn exit_code(status: Option<ExitStatus>) -> ExitCode {
    let code = status.and_then(|status| status.code().or_else(|| signal_code(status)));
    let code = code.unwrap_or(1);
    // Systems keep the lowest byte of a code. A failure must not become a success.
    let byte = u8::try_from(code & 0xff).unwrap_or(1);
    ExitCode::from(if code != 0 { byte.max(1) } else { 0 })
}

#[cfg(unix)]
fn signal_code(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal)
}

#[cfg(not(unix))]
fn signal_code(_: ExitStatus) -> Option<i32> {
    None
}

impl From<HttpTapError> for CliError {
    fn from(error: HttpTapError) -> Self {
        let exit = match error {
            HttpTapError::Listen(_) => Exit::Unreachable,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

impl From<SpawnError> for CliError {
    fn from(error: SpawnError) -> Self {
        Self::new(Exit::Unreachable, error)
    }
}
