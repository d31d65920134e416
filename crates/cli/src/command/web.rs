//! `pintle web`: a page in the browser.

mod judge;
mod sign_in;
mod targets;

use std::fs::File;
use std::io::Read as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use pintle_web::{RecordingText, Web, WebError, WebOptions};

use super::tap::stop;
use crate::args::{ServerSpec, Settings};
use crate::ask::{Opener as _, System};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::screen::Screen;

use targets::CommandTargets;

/// The page to serve.
#[derive(Debug)]
pub(crate) struct Page {
    /// The port on loopback; 0 is any free port.
    pub(crate) port: u16,
    /// Whether a browser is opened.
    pub(crate) opens: bool,
    /// The file of a recording that the page shows.
    pub(crate) recording: Option<PathBuf>,
}

/// Maximum size of a recording that the page shows, in bytes.
const MAX_RECORDING_BYTES: u64 = 64 << 20;

/// Serves the page until this program is stopped.
pub(super) async fn run(
    page: Page,
    server: Option<ServerSpec>,
    settings: Settings,
) -> Result<(), CliError> {
    let address = (Ipv4Addr::LOCALHOST, page.port).into();
    let mut targets = CommandTargets::new(server, settings);
    if let Some(file) = &page.recording {
        targets = targets.with_recording(read(file)?);
    }
    let web = Web::bind(address, targets, WebOptions::default()).await?;
    let url = web.url();
    output::showing(&url);
    if page.opens
        && let Err(error) = System.open(&url)
    {
        let screen = Screen::look();
        output::warn(&screen, &format!("no browser opens: {error}; open the URL"));
    }
    web.serve(stop()?).await;
    Ok(())
}

/// Reads a recording. The page finds its messages.
fn read(file: &Path) -> Result<RecordingText, CliError> {
    let name = file.display();
    let invalid = |reason: String| CliError::new(Exit::Usage, format!("{name} {reason}"));
    let opened = File::open(file).map_err(|error| invalid(format!("cannot be read: {error}")))?;
    let mut text = String::new();
    let mut bounded = opened.take(MAX_RECORDING_BYTES + 1);
    let read = bounded.read_to_string(&mut text);
    read.map_err(|error| invalid(format!("cannot be read: {error}")))?;
    if text.len() as u64 > MAX_RECORDING_BYTES {
        let most = MAX_RECORDING_BYTES >> 20;
        return Err(invalid(format!("has more than {most} MiB")));
    }
    let name = file.file_name().unwrap_or(file.as_os_str());
    Ok(RecordingText::new(name.to_string_lossy(), text))
}

impl From<WebError> for CliError {
    fn from(error: WebError) -> Self {
        Self::new(Exit::Unreachable, error)
    }
}
