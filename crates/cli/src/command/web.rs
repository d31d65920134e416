//! `pintle web`: a page in the browser.

mod targets;

use std::net::Ipv4Addr;

use pintle_web::{Web, WebError, WebOptions};

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
}

/// Serves the page until this program is stopped.
pub(super) async fn run(
    page: Page,
    server: Option<ServerSpec>,
    settings: Settings,
) -> Result<(), CliError> {
    let address = (Ipv4Addr::LOCALHOST, page.port).into();
    let targets = CommandTargets::new(server, settings);
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

impl From<WebError> for CliError {
    fn from(error: WebError) -> Self {
        Self::new(Exit::Unreachable, error)
    }
}
