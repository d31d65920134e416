//! `pintle serve`: serves a server, or the showcase, until the command is stopped.

mod proxy;
#[cfg(unix)]
mod share;
mod watch;

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use pintle::auth::resource::RequireBearerError;
use pintle::http::ServeError;
use pintle::server::StartError;
use pintle::{StateError, StateErrorKind};
use pintle_serving::{
    BearerPolicy, Exposure, Observation, ObservationError, OtlpTarget, RequestQuota, Serving,
    ServingError, Transport, serve,
};
use pintle_showcase::{ShowcaseError, ShowcaseOptions};

use crate::args::{FilterArgs, ReachArgs, ServeArgs, ServerSpec, Settings};
use crate::exit::{CliError, Exit};
use crate::output;

/// The arguments of `pintle serve`, apart from those about the server.
#[derive(Debug)]
pub(crate) struct Serve {
    pub(crate) serving: Serving,
    showcase: ShowcaseOptions,
    proxied: Proxied,
}

/// The options of a server behind a proxy.
#[derive(Debug, Default)]
pub(crate) struct Proxied {
    filter: FilterArgs,
    /// The paths to watch; an empty one stands for those of the command line.
    watch: Vec<PathBuf>,
    /// How long a process of the program is used.
    max_age: Option<Duration>,
    /// How long a shared server runs without a host; `None` shares no server.
    share: Option<Duration>,
}

impl Serve {
    /// Splits the arguments.
    pub(super) fn of(args: ServeArgs) -> (Self, ReachArgs) {
        let transport = transport(&args);
        let mut serving = Serving::new(transport);
        serving.health = args.health;
        serving.sse = args.sse;
        serving.quota = args.quota.map(|requests| RequestQuota {
            requests,
            interval: args.quota_interval,
        });
        serving.observation = Observation {
            audit: args.audit,
            metrics: args.metrics,
            otlp: args.otlp.map(|url| match url.is_empty() {
                true => OtlpTarget::Environment,
                false => OtlpTarget::Url(url),
            }),
        };
        let mut showcase = ShowcaseOptions::default();
        (showcase.page_size, showcase.state) = (args.page_size, args.state);
        let proxied = Proxied {
            filter: args.filter,
            watch: args.watch,
            max_age: args.max_age,
            #[cfg(unix)]
            share: args.share.then_some(args.idle),
            #[cfg(not(unix))]
            share: None,
        };
        let serve = Self {
            serving,
            showcase,
            proxied,
        };
        (serve, args.reach)
    }
}

fn transport(args: &ServeArgs) -> Transport {
    if args.stdio {
        return Transport::Stdio;
    }
    #[cfg(unix)]
    if let Some(path) = &args.unix {
        return Transport::Unix(path.clone());
    }
    let exposure = match (&args.auth_issuer, &args.audience) {
        (Some(issuer), Some(audience)) => Exposure::TokenHolders(BearerPolicy {
            issuer: issuer.clone(),
            audience: audience.clone(),
            scopes: args.require_scope.clone(),
        }),
        _ if args.allow_insecure_bind => Exposure::AnyClient,
        _ => Exposure::Loopback,
    };
    Transport::Http {
        address: args.http,
        exposure,
    }
}

/// Serves until the peer disconnects, Ctrl-C, or SIGTERM.
pub(crate) async fn run(
    options: Serve,
    server: Option<&ServerSpec>,
    settings: &Settings,
) -> Result<(), CliError> {
    match server {
        Some(server) => {
            #[cfg(unix)]
            if let Some(idle) = options.proxied.share {
                let (server, serving) = ((server, settings), (options.serving, idle));
                return share::run(server, serving, &options.proxied).await;
            }
            proxy::run(options.serving, &options.proxied, server, settings).await
        }
        None => {
            let service = pintle_showcase::service(options.showcase).await?;
            Ok(serve(service, options.serving, output::serving_showcase).await?)
        }
    }
}

/// An address that is not loopback.
#[derive(Debug)]
struct ExposedAddressError {
    address: SocketAddr,
}

impl fmt::Display for ExposedAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        write!(
            f,
            "{address} is not a loopback address, so any client that reaches it could use the server; \
             add --auth-issuer and --audience to require a token, or --allow-insecure-bind to accept \
             every client"
        )
    }
}

impl Error for ExposedAddressError {}

impl From<ServingError> for CliError {
    fn from(error: ServingError) -> Self {
        match error {
            ServingError::Bearer(error) => error.into(),
            ServingError::Http(error) => error.into(),
            ServingError::Observation(error) => error.into(),
            ServingError::Io(error) => error.into(),
            error => Self::new(Exit::Unreachable, error),
        }
    }
}

impl From<ShowcaseError> for CliError {
    fn from(error: ShowcaseError) -> Self {
        match error {
            ShowcaseError::Start(error) => error.into(),
            ShowcaseError::State(error) => error.into(),
        }
    }
}

impl From<ObservationError> for CliError {
    fn from(error: ObservationError) -> Self {
        let exit = match error {
            ObservationError::Metrics { .. } => Exit::Unreachable,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

impl From<StateError> for CliError {
    fn from(error: StateError) -> Self {
        let exit = match error.kind() {
            StateErrorKind::Engine(_) => Exit::Unreachable,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

impl From<RequireBearerError> for CliError {
    fn from(error: RequireBearerError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Exposed { address } => {
                Self::new(Exit::Usage, ExposedAddressError { address })
            }
            error => Self::new(Exit::Unreachable, error),
        }
    }
}
