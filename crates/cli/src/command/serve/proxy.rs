//! `pintle serve SERVER`: serves any server to clients of every revision.

use std::future::pending;

use pintle::model::ClientCapabilities;
use pintle::runtime::BoxService;
use pintle_hosts::Target;
use pintle_proxy::{Proxy, ProxyError, ProxyOptions, ToolFilter};
use pintle_serving::{Serving, Stdio, Transport, serve, serve_stdio};
use pintle_surface::Surface;

use super::Proxied;
use super::watch::Watch;
use crate::args::{Format, ServerSpec, Settings, UsageError};
use crate::command::attempt::{SIGN_INS, or_interrupted};
use crate::command::lock;
use crate::conversation::{Connector, ConversationOptions, Filters, Opening};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::screen::Screen;

/// Connects to the server, and serves it until the peer disconnects, Ctrl-C, or SIGTERM. On standard streams the
/// first message of the client comes first, so that the connection has the capabilities of the client.
pub(super) async fn run(
    serving: Serving,
    proxied: &Proxied,
    server: &ServerSpec,
    settings: &Settings,
) -> Result<(), CliError> {
    let mut opening = opening(server, settings)?;
    let watch = Watch::of(&proxied.watch, &opening)?;
    let is_stdio = serving.transport == Transport::Stdio;
    let mut stdio = match is_stdio {
        true => Some(Stdio::take()?),
        false => None,
    };
    let capabilities = match &mut stdio {
        Some(stdio) => Some(stdio.first_client().await?),
        None => None,
    };
    let (proxy, connector) = connect(&mut opening, capabilities, proxied).await?;
    let service = BoxService::new(proxy.clone());
    let served = match stdio {
        Some(stdio) => serve_stdio(service, stdio, serving.observation, output::serving_proxy),
        None => {
            output::served(&proxy.server());
            serve(service, serving, output::serving_proxy)
        }
    };
    tokio::select! {
        served = served => Ok(served?),
        () = follow(watch, &opening, &proxy, &connector) => Ok(()),
    }
}

/// Finds the server of the command line.
///
/// # Errors
///
/// As [`Opening::new`].
pub(super) fn opening<'o>(
    server: &'o ServerSpec,
    settings: &'o Settings,
) -> Result<Opening<'o>, CliError> {
    let conversation = ConversationOptions {
        server,
        settings,
        format: Format::Text,
        checks_output: false,
        watches_cache: false,
        uses_shared: false,
    };
    Opening::new(conversation, Screen::look())
}

impl Proxied {
    /// Returns the filters of the command line.
    ///
    /// # Errors
    ///
    /// If the lock file is not usable.
    fn filters(&self) -> Result<Filters, CliError> {
        Ok(Filters {
            tools: self.tools()?,
            prompts: self.filter.prompts(),
            resources: self.filter.resources(),
        })
    }

    /// Returns the filter of tools, with its lock file.
    ///
    /// # Errors
    ///
    /// If the lock file is not usable.
    fn tools(&self) -> Result<ToolFilter, CliError> {
        let filter = self.filter.filter();
        let Some(file) = &self.filter.lock else {
            return Ok(filter);
        };
        let locked = Surface::open(file).map_err(|error| lock::of_file(file, error))?;
        Ok(filter.approved(locked.approvals()))
    }

    fn options(&self) -> ProxyOptions {
        let mut options = ProxyOptions::default();
        let most = self.filter.max_result;
        options.max_result_bytes = most.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        options.max_connection_age = self.max_age;
        options.is_shared = self.share.is_some();
        options
    }
}

/// Connects to the server, after a sign-in where it requires one and a user can sign in.
pub(super) async fn connect(
    opening: &mut Opening<'_>,
    first: Option<ClientCapabilities>,
    proxied: &Proxied,
) -> Result<(Proxy, Connector), CliError> {
    let filters = proxied.filters()?;
    if proxied.max_age.is_some() && !matches!(opening.target(), Target::Program(_)) {
        let text = "--max-age requires a program as the server";
        return Err(UsageError(text.to_owned()).into());
    }
    for _ in 0..SIGN_INS {
        let connecting = opening.proxy(first.clone(), filters.clone(), proxied.options());
        match or_interrupted(connecting).await {
            Err(failure) if opening.may_sign_in(&failure) => {
                or_interrupted(opening.sign_in()).await?;
            }
            done => return done,
        }
    }
    or_interrupted(opening.proxy(first, filters, proxied.options())).await
}

/// Replaces the server after each change of the watched files. Without any, it waits without end.
pub(super) async fn follow(
    watch: Option<Watch>,
    opening: &Opening<'_>,
    proxy: &Proxy,
    connector: &Connector,
) {
    let Some(mut watch) = watch else {
        return pending().await;
    };
    loop {
        watch.changed().await;
        match replace(opening, proxy, connector).await {
            Ok(()) => output::replaced(&proxy.server()),
            Err(failure) => output::not_replaced(&failure),
        }
    }
}

/// Finds the server again, because its definition may have changed, and replaces it.
async fn replace(
    opening: &Opening<'_>,
    proxy: &Proxy,
    connector: &Connector,
) -> Result<(), CliError> {
    let mut found = Opening::new(opening.options(), Screen::look())?;
    found.run_as(opening);
    found.replace(connector)?;
    Ok(proxy.replace().await?)
}

impl From<ProxyError> for CliError {
    fn from(error: ProxyError) -> Self {
        match error {
            ProxyError::Client(error) => error.into(),
            ProxyError::Connect(error) => error.into(),
            error @ ProxyError::Names { .. } => Self::new(Exit::Usage, error),
            error => Self::new(Exit::Unreachable, error),
        }
    }
}
