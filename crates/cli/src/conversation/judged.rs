//! Prepares the server that `pintle check` judges. Its conversations are not those of a client.

use std::sync::Arc;

use pintle::http::client::BoxIo;
use pintle_check::Target;
use pintle_hosts::{Endpoint, Target as Found};
use tokio::net::TcpStream;

use super::find_server::{self, command, http_options, refuse, usage_error};
use super::stderr;
use crate::args::{ServerSpec, Settings};
use crate::ask::Prompter;
use crate::exit::CliError;
use crate::live::Live;
use crate::screen::Screen;

/// Returns the server of the command line, to be judged.
///
/// # Errors
///
/// If the server is unknown, or a setting does not apply to it.
pub(crate) fn judged_target(server: &ServerSpec, settings: &Settings) -> Result<Target, CliError> {
    let screen = Screen::look();
    let live = Arc::new(Live::new(screen.notes));
    let prompter = Prompter::new(
        &settings.inputs,
        &settings.answers,
        screen,
        Arc::clone(&live),
    );
    self::target(
        find_server::target(server, settings, &prompter)?,
        settings,
        &live,
    )
}

/// Returns a server that was found, to be judged.
///
/// # Errors
///
/// If a setting does not apply to it.
pub(super) fn target(
    found: Found,
    settings: &Settings,
    live: &Arc<Live>,
) -> Result<Target, CliError> {
    match found {
        Found::Program(program) => {
            refuse(settings.headers.is_empty(), "--header", "a URL")?;
            let command = command(program, settings);
            Ok(Target::program(match settings.shows_stderr {
                true => stderr::shown(command, live),
                false => stderr::hidden(command, live),
            }))
        }
        Found::Url(endpoint) => over_network(&endpoint, settings),
    }
}

fn over_network(endpoint: &Endpoint, settings: &Settings) -> Result<Target, CliError> {
    refuse(settings.env.is_empty(), "--env", "a program")?;
    if let Some(address) = endpoint.url.strip_prefix("tcp://") {
        let address = address.to_owned();
        return Ok(Target::pipe(move || {
            let address = address.clone();
            Box::pin(async move { Ok(BoxIo::new(TcpStream::connect(address).await?)) })
        }));
    }
    #[cfg(unix)]
    if let Some(path) = endpoint.url.strip_prefix("unix://") {
        let path = path.to_owned();
        return Ok(Target::pipe(move || {
            let path = path.clone();
            let open = async move { Ok(BoxIo::new(tokio::net::UnixStream::connect(path).await?)) };
            Box::pin(open)
        }));
    }
    Target::http(&endpoint.url, &http_options(endpoint)?).map_err(usage_error)
}
