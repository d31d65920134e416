//! The `main` of a server: which transport, by its command line.

use std::ffi::OsString;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use pintle_runtime::{IntoService, PipeOptions, serve_stdio};

use crate::Result;

/// Serves until the peer is gone, on the transport that the command line names.
pub trait Run: IntoService + Sized + Send {
    /// Serves on standard streams, or over HTTP with `--http ADDRESS` (`--http 127.0.0.1:8000`;
    /// the endpoint is `/mcp`).
    ///
    /// If the program has set up no subscriber for `tracing`, warnings and errors of these crates
    /// go to standard error: at most 100 lines a minute, of at most 4 KiB each.
    ///
    /// # Errors
    ///
    /// Whatever the server's description got wrong, a command line that is not understood, and
    /// whatever the transport fails with.
    fn run(self) -> impl Future<Output = Result<()>> + Send;
}

impl<T: IntoService + Send> Run for T {
    async fn run(self) -> Result<()> {
        crate::fallback::install();
        match Transport::named(std::env::args_os().skip(1))? {
            Transport::Stdio => {
                let service = Arc::new(self.into_service()?);
                serve_stdio(service, PipeOptions::default()).await?;
                Ok(())
            }
            Transport::Http(address) => serve_http(self, address).await,
        }
    }
}

#[cfg(feature = "http")]
async fn serve_http(server: impl IntoService + Send, address: SocketAddr) -> Result<()> {
    use pintle_http::ServeHttp;
    Ok(server.serve_http(address).await?)
}

#[cfg(not(feature = "http"))]
async fn serve_http(_server: impl IntoService + Send, _address: SocketAddr) -> Result<()> {
    Err(
        "this program was built without HTTP; enable the feature `http` of the crate `pintle`"
            .into(),
    )
}

/// A transport that a command line names.
#[derive(Debug, PartialEq, Eq)]
enum Transport {
    Stdio,
    Http(SocketAddr),
}

impl Transport {
    fn named(arguments: impl IntoIterator<Item = OsString>) -> Result<Self> {
        let mut arguments = arguments.into_iter();
        let Some(argument) = arguments.next() else {
            return Ok(Self::Stdio);
        };
        let transport = match argument.to_str() {
            Some("--stdio") => Self::Stdio,
            Some("--http") => {
                let address = arguments
                    .next()
                    .ok_or("--http needs an address, such as 127.0.0.1:8000")?;
                Self::Http(
                    address
                        .to_string_lossy()
                        .parse()
                        .map_err(|_| "--http needs an address, such as 127.0.0.1:8000")?,
                )
            }
            _ => return Err(usage(&argument)),
        };
        match arguments.next() {
            Some(surplus) => Err(usage(&surplus)),
            None => Ok(transport),
        }
    }
}

fn usage(argument: &OsString) -> crate::Error {
    format!(
        "{} is not understood; usage: [--stdio | --http ADDRESS]",
        argument.display()
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_runs_on_a_task_of_its_own() {
        fn can_be_spawned(_: impl Future<Output: Send> + Send + 'static) {}
        can_be_spawned(pintle_server::Server::new("spawned", "1").run());
    }

    fn named(line: &str) -> Result<Transport> {
        Transport::named(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn the_command_line_names_the_transport() {
        assert_eq!(named("").expect("no arguments"), Transport::Stdio);
        assert_eq!(named("--stdio").expect("stdio"), Transport::Stdio);
        let address = "127.0.0.1:8000".parse().expect("an address");
        assert_eq!(
            named("--http 127.0.0.1:8000").expect("http"),
            Transport::Http(address)
        );
        for line in ["--http", "--http here", "--other", "--stdio more"] {
            assert!(named(line).is_err(), "{line}");
        }
    }
}
