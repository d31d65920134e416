//! `pintle replay` and `pintle mock`: servers with recorded or fixed answers.

use std::sync::Arc;

use pintle::http::{HttpOptions, HttpServer, ServeHttp as _};
use pintle::runtime::{PipeOptions, Shutdown, ShutdownHandle, serve_stdio};
use pintle::server::Server;
use pintle_tap::{Mock, Recording, Replay, ReplayMisses};

use super::tap;
use crate::args::{MockArgs, ReplayArgs, WhereArgs};
use crate::exit::{CliError, Exit};
use crate::output;

/// Serves a recording until the client disconnects, the program is stopped, or a request has no answer.
pub(crate) async fn run(args: ReplayArgs) -> Result<(), CliError> {
    let invalid = |error| CliError::new(Exit::Usage, error);
    let recording = Recording::open(&args.file).map_err(invalid)?;
    let (server, misses) = Replay::server(&recording);
    let strict = args.strict.then(|| misses.clone());
    serve(server, &args.place, strict).await?;
    match misses.first_so_far().filter(|_| args.strict) {
        Some(miss) => Err(CliError::new(Exit::Failed, miss.to_string())),
        None => Ok(()),
    }
}

/// Serves a file with fixed answers until the client disconnects, or the program is stopped.
pub(crate) async fn mock(args: MockArgs) -> Result<(), CliError> {
    let mock = Mock::open(&args.file).map_err(|error| CliError::new(Exit::Usage, error))?;
    serve(mock.server(), &args.place, None).await
}

async fn serve(
    server: Server,
    place: &WhereArgs,
    misses: Option<ReplayMisses>,
) -> Result<(), CliError> {
    let end = end(misses)?;
    match place.http {
        Some(address) => {
            let service = server.into_http_with(HttpOptions::default())?;
            let server = HttpServer::bind(service, address).await?;
            output::serving_at(server.address()?);
            server.run_until(begun(end)).await;
        }
        None => {
            let mut options = PipeOptions::default();
            options.shutdown = end;
            serve_stdio(Arc::new(server.build()?), options).await?;
        }
    }
    Ok(())
}

/// Returns the signal to end: a signal of the system, or the first miss.
fn end(misses: Option<ReplayMisses>) -> Result<Shutdown, CliError> {
    let (shutdown, end) = ShutdownHandle::new();
    let stop = tap::stop()?;
    tokio::spawn(async move {
        tokio::select! {
            () = stop => {}
            () = first_miss(misses) => {}
        }
        shutdown.begin();
    });
    Ok(end)
}

async fn begun(mut end: Shutdown) {
    end.begun().await;
}

async fn first_miss(misses: Option<ReplayMisses>) {
    match misses {
        Some(mut misses) => drop(misses.first().await),
        None => std::future::pending().await,
    }
}
