//! A test of a whole server, without a process, a port or a sleep: the two ends of a pipe in
//! memory, and a clock that only moves when every task waits.

use std::sync::Arc;
use std::time::Duration;

use pintle::prelude::*;
use pintle::runtime::{PipeOptions, serve_pipe};
use pintle_examples::Client;
use serde_json::json;

/// Boils an egg. Takes six minutes, and not one second in a test.
#[tool(timeout = "10m")]
async fn boil(
    /// The time in minutes.
    #[arg(default = 6, min = 1, max = 20)]
    minutes: u64,
) -> String {
    tokio::time::sleep(Duration::from_secs(60 * minutes)).await;
    format!("boiled for {minutes} minutes")
}

/// A client of a server, in one process.
fn client_of(
    server: Server,
) -> pintle::Result<Client<impl tokio::io::AsyncRead, impl tokio::io::AsyncWrite>> {
    let app = Arc::new(server.build()?);
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(serve_pipe(app, reader, writer, PipeOptions::default()));
    let (reader, writer) = tokio::io::split(near);
    Ok(Client::new(reader, writer))
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> pintle::Result<()> {
    let mut client = client_of(Server::new("kitchen", "1.0.0").tool::<boil>())?;
    // The handler waits six minutes of virtual time.
    assert_eq!(
        client.call("boil", json!({})).await?,
        "boiled for 6 minutes"
    );
    // Longer than the timeout: the result is an error for the model.
    assert!(
        client
            .call("boil", json!({ "minutes": 15 }))
            .await?
            .contains("took longer")
    );
    // The argument does not match the schema, and the error names it for the model.
    assert!(
        client
            .call("boil", json!({ "minutes": 0 }))
            .await?
            .contains("/minutes")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_egg_is_boiled() -> pintle::Result<()> {
        super::main()
    }
}
