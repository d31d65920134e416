//! A server on a Unix socket: the permissions of the file decide which users may connect.

/// Only Unix has these sockets.
#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
use {
    pintle::prelude::*,
    pintle::runtime::{PipeOptions, ShutdownHandle, serve_unix},
    std::sync::Arc,
    tokio::net::UnixListener,
};

/// Knocks at the door.
#[cfg(unix)]
#[tool(read_only)]
async fn knock() -> &'static str {
    "who is there?"
}

#[cfg(unix)]
async fn serve(listener: UnixListener, options: PipeOptions) -> pintle::Result<()> {
    let app = Server::new("door", env!("CARGO_PKG_VERSION"))
        .tool::<knock>()
        .build()?;
    serve_unix(Arc::new(app), listener, options).await?;
    Ok(())
}

#[cfg(unix)]
#[tokio::main]
async fn main() -> pintle::Result<()> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("usage: unix_socket PATH")?;
    let mut options = PipeOptions::default();
    let (shutdown, hears) = ShutdownHandle::new();
    options.shutdown = hears;
    // Ends after an hour, even with connected clients: running requests are answered first.
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(3_600)).await;
        shutdown.begin();
    });
    serve(UnixListener::bind(path)?, options).await
}

#[cfg(all(test, unix))]
mod tests {
    use pintle_examples::Client;
    use serde_json::json;
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn two_clients_are_served_until_the_end_begins() -> pintle::Result<()> {
        let path = std::env::temp_dir().join(format!("pintle-door-{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut options = PipeOptions::default();
        let (shutdown, hears) = ShutdownHandle::new();
        options.shutdown = hears;
        let served = tokio::spawn(serve(UnixListener::bind(&path)?, options));
        for _ in 0..2 {
            let (reader, writer) = UnixStream::connect(&path).await?.into_split();
            assert_eq!(
                Client::new(reader, writer).call("knock", json!({})).await?,
                "who is there?"
            );
        }
        shutdown.begin();
        std::fs::remove_file(&path)?;
        served.await?
    }
}
