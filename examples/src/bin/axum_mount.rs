//! An MCP endpoint among the routes of an axum application, with axum's graceful shutdown.

use std::future::Future;

use axum::Router;
use axum::routing::get;
use pintle::prelude::*;
use tokio::net::TcpListener;

/// Reports the state of the application.
#[tool(read_only)]
async fn status() -> &'static str {
    "all is well"
}

/// Serves until `signal` is ready and every connection has ended.
async fn serve(
    listener: TcpListener,
    signal: impl Future<Output = ()> + Send + 'static,
) -> pintle::Result<()> {
    let endpoint = Server::new("status", env!("CARGO_PKG_VERSION"))
        .tool::<status>()
        .into_http()?;
    // axum waits for every connection, and an open stream keeps its connection until the endpoint closes.
    let shutdown = endpoint.close_after(signal);
    let app = Router::new()
        .route("/health", get(async || "ok"))
        .route_service("/mcp", endpoint);
    axum::serve(listener, app)
        .with_graceful_shutdown(shutdown)
        .await?;
    Ok(())
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:8000").await?;
    let interrupted = async { drop(tokio::signal::ctrl_c().await) };
    serve(listener, interrupted).await
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    /// A timeout that nothing here needs.
    const LONGEST: Duration = Duration::from_secs(30);

    /// The running application.
    struct Running {
        address: SocketAddr,
        end: oneshot::Sender<()>,
        task: JoinHandle<pintle::Result<()>>,
    }

    async fn start() -> pintle::Result<Running> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (end, ended) = oneshot::channel();
        let task = tokio::spawn(super::serve(listener, async { drop(ended.await) }));
        Ok(Running { address, end, task })
    }

    impl Running {
        async fn send(&self, request: &str) -> pintle::Result<TcpStream> {
            let mut stream = TcpStream::connect(self.address).await?;
            stream.write_all(request.as_bytes()).await?;
            Ok(stream)
        }

        async fn stop(self) -> pintle::Result<()> {
            self.end.send(()).expect("the application runs");
            timeout(LONGEST, self.task).await??
        }
    }

    /// A request of 2026-07-28.
    fn request(method: &str, name: Option<&str>, mut params: Value) -> String {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let body = body.to_string();
        let name = name.map_or(String::new(), |name| format!("mcp-name: {name}\r\n"));
        format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: {method}\r\n{name}content-length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    /// Reads until the response contains `text`, or to its end; returns everything read.
    async fn read_to(stream: &mut TcpStream, text: &str) -> pintle::Result<String> {
        let mut all = Vec::new();
        let reading = async {
            while !String::from_utf8_lossy(&all).contains(text) {
                if stream.read_buf(&mut all).await? == 0 {
                    break;
                }
            }
            Ok::<_, std::io::Error>(())
        };
        timeout(LONGEST, reading).await??;
        Ok(String::from_utf8(all)?)
    }

    #[tokio::test]
    async fn both_routes_are_served() -> pintle::Result<()> {
        let app = start().await?;
        let mut health = app
            .send("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .await?;
        let came = read_to(&mut health, "\r\n\r\nok").await?;
        assert!(came.starts_with("HTTP/1.1 200"), "{came}");
        let call = request("tools/call", Some("status"), json!({ "name": "status" }));
        let came = read_to(&mut app.send(&call).await?, "all is well").await?;
        assert!(came.contains("\"text\":\"all is well\""), "{came}");
        Ok(())
    }

    #[tokio::test]
    async fn graceful_shutdown_ends_open_streams() -> pintle::Result<()> {
        let app = start().await?;
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let listen = request("subscriptions/listen", None, filter);
        let mut listening = app.send(&listen).await?;
        let opened = read_to(&mut listening, "notifications/subscriptions/acknowledged").await?;
        assert!(opened.starts_with("HTTP/1.1 200"), "{opened}");
        app.stop().await?;
        let rest = read_to(&mut listening, "\r\n0\r\n\r\n").await?;
        assert!(
            rest.contains("\"result\""),
            "the listener has its result: {rest}"
        );
        Ok(())
    }

    #[tokio::test]
    async fn graceful_shutdown_ends_the_stream_of_a_session() -> pintle::Result<()> {
        let app = start().await?;
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let body = body.to_string();
        let initialize = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let came = read_to(&mut app.send(&initialize).await?, "\"serverInfo\"").await?;
        let id = came
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        let id = id.expect("a session");
        let get = format!(
            "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\
             mcp-session-id: {id}\r\n\r\n"
        );
        let mut stream = app.send(&get).await?;
        let opened = read_to(&mut stream, "text/event-stream").await?;
        assert!(opened.starts_with("HTTP/1.1 200"), "{opened}");
        app.stop().await
    }
}
