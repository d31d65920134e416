//! `pintle serve`: serves the showcase until the command is stopped.

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;

use pintle::auth::resource::RequireBearerError;
use pintle::http::ServeError;
use pintle::server::StartError;
use pintle::{StateError, StateErrorKind};
use pintle_showcase::{
    BearerPolicy, Exposure, Observation, ObservationError, OtlpTarget, Serving, ServingError,
    Transport, serve,
};

use crate::args::ServeArgs;
use crate::exit::{CliError, Exit};
use crate::output;

impl From<ServeArgs> for Serving {
    fn from(args: ServeArgs) -> Self {
        Self {
            page_size: args.page_size,
            state: args.state.clone(),
            health: args.health,
            observation: Observation {
                audit: args.audit.clone(),
                metrics: args.metrics,
                otlp: args.otlp.clone().map(|url| match url.is_empty() {
                    true => OtlpTarget::Environment,
                    false => OtlpTarget::Url(url),
                }),
            },
            transport: args.into(),
        }
    }
}

impl From<ServeArgs> for Transport {
    fn from(args: ServeArgs) -> Self {
        if args.stdio {
            return Self::Stdio;
        }
        let exposure = match (args.auth_issuer, args.audience) {
            (Some(issuer), Some(audience)) => Exposure::TokenHolders(BearerPolicy {
                issuer,
                audience,
                scopes: args.require_scope,
            }),
            _ if args.allow_insecure_bind => Exposure::AnyClient,
            _ => Exposure::Loopback,
        };
        Self::Http {
            address: args.http,
            exposure,
        }
    }
}

/// Serves until the peer disconnects, Ctrl-C, or SIGTERM.
pub(crate) async fn run(serving: Serving) -> Result<(), CliError> {
    Ok(serve(serving, output::serving).await?)
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
            ServingError::Start(error) => error.into(),
            ServingError::State(error) => error.into(),
            ServingError::Bearer(error) => error.into(),
            ServingError::Http(error) => error.into(),
            ServingError::Observation(error) => error.into(),
            ServingError::Io(error) => error.into(),
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
