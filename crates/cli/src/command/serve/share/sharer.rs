//! The process that serves all hosts.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pintle::runtime::{BoxService, Service as _};
use pintle_hosts::Target;
use pintle_proxy::Proxy;
use pintle_serving::{Serving, ServingEvent, Transport, serve};
use tokio::time::sleep;

use crate::command::serve::Proxied;
use crate::command::serve::proxy::{connect, follow};
use crate::command::serve::watch::Watch;
use crate::conversation::Opening;
use crate::exit::CliError;
use crate::shared::{Files, Folder, depends_on, of_target};

/// Largest size of the log, in bytes. A larger one is emptied.
const MAX_LOG_BYTES: u64 = 1 << 20;
/// Time between two looks at the number of hosts.
const INTERVAL: Duration = Duration::from_millis(250);

/// Serves the server at the socket, until no host has been connected for a time.
pub(super) async fn run(
    opening: &mut Opening<'_>,
    (mut serving, idle): (Serving, Duration),
    proxied: &Proxied,
    files: &Files,
) -> Result<(), CliError> {
    let here = env::current_dir()?;
    let link = link(opening, proxied, &here);
    if !depends_on(opening.target(), &here)
        && let Some(home) = env::home_dir()
    {
        opening.run_in(home);
    }
    let watch = Watch::of(&proxied.watch, opening)?;
    let (proxy, connector) = connect(opening, None, proxied).await?;
    if let Some(link) = &link {
        files.link(link)?;
    }
    serving.transport = Transport::Unix(files.socket.clone());
    let service = BoxService::new(proxy.clone());
    let served = serve(service, serving, |_: ServingEvent| {});
    tokio::select! {
        served = served => Ok(served?),
        () = unused(&proxy, idle, files, link.as_deref()) => {
            proxy.stop().await;
            Ok(())
        }
        () = follow(watch, opening, &proxy, &connector) => Ok(()),
    }
}

/// Returns the link by which commands find the process of a whole program: one without a filter.
fn link(opening: &Opening<'_>, proxied: &Proxied, here: &Path) -> Option<PathBuf> {
    let is_whole = proxied.filter.first().is_none();
    let is_program = matches!(opening.target(), Target::Program(_));
    let folder = Folder::existing().filter(|_| is_whole && is_program)?;
    Some(folder.path(&of_target(opening.target(), here)))
}

/// Empties the log above its limit. It is written at its end, wherever that is.
fn limit_log(path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.len() > MAX_LOG_BYTES) {
        let _ = fs::File::options().write(true).truncate(true).open(path);
    }
}

/// Waits until no host has been connected for a time, and removes the socket. A host connects while it has the lock,
/// so a host that found the socket is served first.
async fn unused(proxy: &Proxy, idle: Duration, files: &Files, link: Option<&Path>) {
    let mut since = Duration::ZERO;
    let mut is_removed = false;
    loop {
        sleep(INTERVAL).await;
        limit_log(&files.log);
        since = match proxy.clients() {
            0 => since + INTERVAL,
            _ => Duration::ZERO,
        };
        let is_due = since >= if is_removed { 2 * INTERVAL } else { idle };
        if is_due && is_removed {
            return;
        }
        if is_due && let Ok(_lock) = files.try_locked() {
            // A socket that stays is replaced by the next sharer.
            let _ = fs::remove_file(&files.socket);
            if let Some(link) = link {
                files.unlink(link);
            }
            is_removed = true;
            since = Duration::ZERO;
        }
    }
}
