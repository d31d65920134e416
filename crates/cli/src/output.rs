//! All printing. Results go to standard output, everything else to standard error.
//!
//! Standard output belongs to the protocol while the showcase is served on it, so serving prints
//! to standard error only.

#![allow(
    clippy::print_stderr,
    reason = "printing happens here, and nowhere else"
)]

mod saving;

use std::env;
use std::io::{self, ErrorKind, Write as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use pintle::client::ServerInfo;
use pintle_serving::ServingEvent;
use pintle_showcase::{NAME, log_events};
use serde::Serialize;
use serde_json::{Value, json};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt, registry};

use crate::args::{Format, Verbosity};
use crate::exit::{CliError, Exit};
use crate::screen::{Screen, Style};
use crate::show::Part;
use crate::text;

use saving::Outcome;
pub(crate) use saving::Saving;

/// Whether a part of a result was printed.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Prints a result. The caller has made it safe to print.
pub(crate) fn result(bytes: &[u8]) -> Result<(), CliError> {
    HAS_PRINTED.store(true, Ordering::Relaxed);
    let mut output = io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        // The reader has closed the pipe, for example `head`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

/// Prints a result as JSON.
pub(crate) fn json(screen: &Screen, value: &impl Serialize) -> Result<(), CliError> {
    let mut json = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    json.push('\n');
    match screen.output.is_terminal {
        true => result(text::clean_json(&json).as_bytes()),
        false => result(json.as_bytes()),
    }
}

/// Prints the parts of a result. Media are drawn, saved or written as bytes.
pub(crate) fn parts(
    screen: &Screen,
    parts: Vec<Part>,
    mut saving: Saving<'_>,
) -> Result<(), CliError> {
    for part in parts {
        match part {
            Part::Text(text) => result(text.as_bytes())?,
            Part::Media(media) => match saving.outcome(screen, &media)? {
                Outcome::Bytes => result(&media.bytes)?,
                Outcome::Text(text) => result(text.as_bytes())?,
            },
        }
    }
    Ok(())
}

/// Prints a warning.
pub(crate) fn warn(screen: &Screen, warning: &dyn std::fmt::Display) {
    let warning = warning.to_string();
    let head = screen.notes.paint(Style::Bad, "pintle:");
    eprintln!("{head} {}", text::clean(&warning));
}

/// Prints an error of the command line, or the requested help.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    // A failure to print cannot be printed.
    let _ = error.print();
    match error.use_stderr() {
        true => Exit::Usage,
        false => Exit::Done,
    }
}

/// Reports why a run failed: on standard error, and for programs on standard output as well, unless a
/// result was printed there.
pub(crate) fn failed(failure: &CliError, format: Format) -> Exit {
    let texts = causes(failure).join(": ");
    let hint = failure.hint();
    eprintln!("pintle: {}", text::clean(&texts));
    if let Some(hint) = hint {
        eprintln!("{}", text::clean(hint));
    }
    if format == Format::Json && !HAS_PRINTED.load(Ordering::Relaxed) {
        let error = json!({ "error": {
            "exit": failure.exit() as u8, "message": texts, "hint": hint } });
        // Standard error has the failure already, so one of standard output changes nothing.
        let _ = result(format!("{}\n", text::clean_json(&error.to_string())).as_bytes());
    }
    failure.exit()
}

/// Returns the texts of a failure and its causes, without a text that its neighbour contains: as the
/// beginning of the next text, or as the end of the previous one.
pub(crate) fn causes(failure: &dyn std::error::Error) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut cause = Some(failure);
    while let Some(error) = cause {
        let text = error.to_string();
        cause = error.source();
        let ending = format!(": {text}");
        if texts.last().is_some_and(|last| last.ends_with(&ending)) {
            continue;
        }
        if texts.last().is_some_and(|last| text.starts_with(last)) {
            texts.pop();
        }
        texts.push(text);
    }
    texts
}

/// Shows `tracing` events on standard error, and those of the showcase also to its clients.
pub(crate) fn trace(verbosity: Verbosity, is_server: bool) {
    let level = match verbosity {
        Verbosity::Warnings => LevelFilter::WARN,
        Verbosity::Calls => LevelFilter::DEBUG,
        Verbosity::Everything => LevelFilter::TRACE,
    };
    if is_server {
        return log_events(level);
    }
    let to_people = fmt::layer().with_ansi(false).with_writer(io::stderr);
    // Times and targets belong in a log; they only distract a user of one command.
    let to_people = match verbosity {
        Verbosity::Calls | Verbosity::Everything => to_people.with_filter(level).boxed(),
        Verbosity::Warnings => to_people
            .without_time()
            .with_target(false)
            .with_filter(level)
            .boxed(),
    };
    registry().with(to_people).init();
}

/// Prints an event of the showcase that this process serves.
pub(crate) fn serving_showcase(event: ServingEvent) {
    match event {
        ServingEvent::StdioStarted => serving_stdio(),
        ServingEvent::HttpStarted(address) => serving_http(address),
        event => serving(event),
    }
}

/// Prints an event of a server that this process serves to its clients.
pub(crate) fn serving_proxy(event: ServingEvent) {
    match event {
        // A host shows what its servers print, most of them as an error.
        ServingEvent::StdioStarted => {}
        ServingEvent::HttpStarted(address) => serving_at(address),
        event => serving(event),
    }
}

/// Prints an event that is the same for all servers.
fn serving(event: ServingEvent) {
    match event {
        #[cfg(unix)]
        ServingEvent::UnixStarted(path) => {
            eprintln!(
                "Connect clients to unix://{}.",
                text::line(&path.to_string_lossy())
            );
        }
        ServingEvent::MetricsStarted(address) => {
            eprintln!("The metrics are served at http://{address}/metrics.");
        }
        ServingEvent::Ended => ended(),
        _ => {}
    }
}

/// Prints which server this process serves.
pub(crate) fn served(server: &ServerInfo) {
    let name = match &server.identity {
        Some(identity) => format!("{} {}", identity.name, identity.version),
        None => "A server without a name".to_owned(),
    };
    eprintln!(
        "{}, which speaks {}, is served to clients of every revision.",
        text::line(&name),
        server.revision
    );
}

/// Reports that a changed program serves now.
pub(crate) fn replaced(server: &ServerInfo) {
    let name = server.identity.as_ref();
    let name = name.map_or("server", |identity| &identity.name);
    eprintln!("The new version of {} is served.", text::line(name));
}

/// Reports that a changed program cannot be served.
pub(crate) fn not_replaced(failure: &CliError) {
    let texts = causes(failure).join(": ");
    eprintln!(
        "The new version cannot be served, and the earlier one stays: {}",
        text::clean(&texts)
    );
}

/// Prints the address of a server over HTTP.
pub(crate) fn serving_at(address: SocketAddr) {
    eprintln!("Connect clients to http://{address}/mcp.");
}

/// Prints the URL of the page. It is alone on its line, so that terminals and scripts find it.
pub(crate) fn showing(url: &str) {
    eprintln!("The page is at this URL. Ctrl-C ends it.\n{url}");
}

/// Prints the address of a reverse proxy, and the server behind it.
pub(crate) fn tapping(url: &str, server: &str) {
    eprintln!(
        "Connect clients to {url}. Requests pass on to {}.",
        text::line(server)
    );
}

/// Prints how to connect a host to the showcase on standard streams.
fn serving_stdio() {
    eprintln!("The showcase is served on standard input and output.");
    eprintln!(
        "For a host that starts its servers:\n\n{}\n",
        pretty(&stdio_host())
    );
}

/// Prints how to connect a host to the showcase over HTTP.
fn serving_http(address: SocketAddr) {
    let url = format!("http://{address}/mcp");
    eprintln!("The showcase is served at {url}, to clients of every revision.\n");
    eprintln!("Claude Code:   claude mcp add --transport http {NAME} {url}");
    eprintln!(
        "VS Code:       code --add-mcp '{}'",
        json!({ "name": NAME, "type": "http", "url": url })
    );
    eprintln!(
        "Other hosts:   {}\n",
        json!({ "mcpServers": { NAME: { "url": url } } })
    );
    eprintln!(
        "For a host that starts its servers:\n\n{}\n",
        pretty(&stdio_host())
    );
    eprintln!("Ctrl-C ends it.");
}

/// Prints that the server has ended.
fn ended() {
    eprintln!("Ended.");
}

fn stdio_host() -> Value {
    let program =
        env::current_exe().map_or_else(|_| "pintle".into(), |path| path.display().to_string());
    json!({ "mcpServers": { NAME: { "command": program, "args": ["serve", "--stdio"] } } })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: &'static str,
        source: Option<Box<dyn Error>>,
    }

    fn chain(texts: &[&'static str]) -> Option<Box<dyn Error>> {
        let (text, rest) = texts.split_first()?;
        let source = chain(rest);
        Some(Box::new(Link { text, source }))
    }

    #[test]
    fn a_cause_is_not_repeated() {
        for (texts, expected) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["a", "a: b"], &["a: b"]),
            (
                &["lost: no program x", "no program x"],
                &["lost: no program x"],
            ),
            (&["lost", "lost"], &["lost"]),
            (&["xa", "a"], &["xa", "a"]),
        ] {
            let first = chain(texts).expect("a cause");
            assert_eq!(causes(&*first), expected, "{texts:?}");
        }
    }
}
