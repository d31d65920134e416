//! `--share`: one process of a server for all hosts of this machine.
//!
//! The first host starts a *sharer*: this program once more, with the same command line and a process group of its
//! own. It serves at a Unix socket in a folder that only this user can open. Each host has a process that passes
//! bytes between its standard streams and the socket. The sharer ends after a time without a host.

mod attach;
mod key;
mod sharer;

use std::env;
use std::time::Duration;

use pintle_serving::Serving;

use super::Proxied;
use super::proxy::opening;
use crate::args::{ServerSpec, Settings};
use crate::exit::{CliError, Exit};
use crate::shared::{Files, Folder};

/// The variable that turns this program into a sharer. It has the path of the socket.
const SOCKET: &str = "PINTLE_SHARE_SOCKET";

/// Connects the host of this process to the sharer, or is the sharer.
pub(super) async fn run(
    (server, settings): (&ServerSpec, &Settings),
    (serving, idle): (Serving, Duration),
    proxied: &Proxied,
) -> Result<(), CliError> {
    let mut opening = opening(server, settings)?;
    if let Some(socket) = env::var_os(SOCKET) {
        let files = Files::beside(socket.into());
        return sharer::run(&mut opening, (serving, idle), proxied, &files).await;
    }
    let folder = Folder::open().map_err(|error| CliError::new(Exit::Usage, error))?;
    let key = key::of(&opening, proxied)?;
    let files = Files::beside(folder.path(&key));
    attach::run(&files).await
}
