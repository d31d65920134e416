//! The question whether to visit a URL of a server.

use std::io;
use std::process::{Command, Stdio};

use pintle::runtime::Answer;

use super::dialogue::Dialogue;
use super::field::yes_or_no;
use crate::page::Page;
use crate::screen::Style;
use crate::text;

/// Opens a URL in a browser.
pub(crate) trait Opener {
    /// Opens `url`, and does not wait for the browser.
    ///
    /// # Errors
    ///
    /// The browser cannot be started.
    fn open(&mut self, url: &str) -> io::Result<()>;
}

/// Opens URLs with the system's program and one argument, without a shell.
pub(crate) struct System;

impl Opener for System {
    fn open(&mut self, url: &str) -> io::Result<()> {
        browser(url).spawn().map(drop)
    }
}

/// Returns the command that opens `url` outside of this process.
pub(super) fn browser(url: &str) -> Command {
    let (program, before): (_, &[&str]) = if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if cfg!(target_os = "macos") {
        ("open", &[])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(url);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// A URL to visit. The caller has checked that it is https, or http on this machine, and has no
/// credentials.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address<'u> {
    /// The whole URL.
    pub(crate) url: &'u str,
    /// The host of the URL, as it is written there.
    pub(crate) host: &'u str,
    /// Whether the host may look like another host.
    pub(crate) is_suspicious: bool,
}

/// Shows a URL and asks whether to visit it. It is opened only on a yes.
pub(crate) fn visit(
    server: &str,
    message: &str,
    address: Address<'_>,
    dialogue: &mut dyn Dialogue,
    opener: &mut dyn Opener,
) -> Answer<()> {
    let look = dialogue.look();
    let mut page = Page::new(look);
    let server = look.paint(Style::Name, &text::line(server));
    page.line(&format!("\n{server} asks you to visit an address:"));
    page.paragraphs(2, message);
    let (url, host) = (text::line(address.url), text::line(address.host));
    let host = look.paint(Style::Marked, &host);
    page.line(&format!("  {}", url.replacen(address.host, &host, 1)));
    page.line(&format!("  at the host {host}"));
    if address.is_suspicious {
        let warning = "The name of this host encodes letters that are not shown here.";
        page.line(&look.paint(Style::Bad, warning));
    }
    dialogue.show(&page.into_text());
    decide(address.url, dialogue, opener)
}

fn decide(url: &str, dialogue: &mut dyn Dialogue, opener: &mut dyn Opener) -> Answer<()> {
    loop {
        let question = "Open it in a browser? [yes/no/visited/cancel] > ";
        let Some(typed) = dialogue.ask(question) else {
            return Answer::Cancelled;
        };
        match (yes_or_no(&typed), typed.trim().to_lowercase().as_str()) {
            (Some(true), _) => match opener.open(url) {
                Ok(()) => return Answer::Accepted(()),
                Err(error) => {
                    let reason =
                        format!("no browser opens: {error}; visit it, then answer `visited`\n");
                    dialogue.show(&reason);
                }
            },
            (Some(false), _) | (_, "/decline" | "decline") => return Answer::Declined,
            (_, "v" | "visited") => return Answer::Accepted(()),
            (_, "c" | "cancel" | "/cancel") => return Answer::Cancelled,
            _ => {}
        }
    }
}
