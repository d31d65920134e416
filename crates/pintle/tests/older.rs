//! A client of servers that have only the transport of 2024-11-05, over real sockets.

use std::time::Duration;

use pintle::client::{Client, EraMode};
use pintle::http::client::HttpConnect;
use pintle::http::{HttpServer, ServeHttp};
use pintle::model::Revision;
use pintle::prelude::*;
use serde_json::json;
use tokio::time::timeout;

/// A timeout after which a test fails instead of waiting without end.
const PATIENCE: Duration = Duration::from_secs(30);

async fn within<T>(future: impl IntoFuture<Output = T>) -> T {
    timeout(PATIENCE, future.into_future())
        .await
        .expect("in time")
}

/// Adds two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64, ctx: Context) -> i64 {
    ctx.progress(1.0, None, ()).await;
    a + b
}

/// Asks for the roots.
#[tool]
async fn ask(ctx: Context) -> Result<String> {
    let roots = ctx.list_roots().await?;
    Ok(roots.into_iter().map(|root| root.uri).collect())
}

/// A server on its own port; returns the URL of its stream.
async fn serve() -> (String, pintle::server::ServerHandle) {
    let server = Server::new("old", "1.0.0").tools::<(add, ask)>();
    let handle = server.handle();
    let service = server.into_http().expect("a good server");
    let server = HttpServer::bind(service, "127.0.0.1:0")
        .await
        .expect("a port")
        .with_sse();
    let address = server.address().expect("an address");
    tokio::spawn(server.run());
    (format!("http://{address}/sse"), handle)
}

// spec: 2025-11-25 TRANS-COMPAT-02, TRANS-COMPAT-03
// spec: 2026-07-28 N-ERA-13
#[tokio::test]
async fn a_server_with_two_endpoints_is_found_by_itself_and_talked_to() {
    let (url, handle) = serve().await;
    for mode in [
        EraMode::Auto,
        EraMode::Legacy,
        EraMode::Pinned(Revision::V2024_11_05),
    ] {
        let target = HttpConnect::to(&url).expect("a URL");
        let builder = Client::builder().roots(["file:///src"]).mode(mode);
        let client = within(builder.connect(target)).await;
        let client = client.unwrap_or_else(|why| panic!("{mode:?}: {why}"));
        let progress = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let seen = std::sync::Arc::clone(&progress);
        let call = client
            .call_tool("add", json!({ "a": 20, "b": 22 }))
            .on_progress(move |_| {
                seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            });
        let sum = within(call).await.expect("a result");
        assert_eq!(json!(sum)["content"][0]["text"], "42", "{mode:?}");
        assert_eq!(progress.load(std::sync::atomic::Ordering::SeqCst), 1);
        let asked = within(client.call_tool("ask", ())).await.expect("a result");
        assert_eq!(
            json!(asked)["content"][0]["text"],
            "file:///src",
            "{mode:?}"
        );
        assert!(within(client.list_tools()).await.expect("a list").len() >= 2);
        within(client.ping()).await.expect("it is there");

        let mut filter = pintle::model::SubscriptionFilter::new();
        filter.tools_list_changed = Some(true);
        let mut subscription = within(client.listen(filter)).await.expect("a subscription");
        let name = format!("late-{}", handle_name(mode));
        handle
            .add_tool(Tool::new(name).handler(async || "better"))
            .expect("a tool");
        assert_eq!(
            within(subscription.next()).await,
            Some(pintle::proto::Change::Tools),
            "{mode:?}"
        );
        within(client.close()).await;
    }
}

fn handle_name(mode: EraMode) -> String {
    format!("{mode:?}")
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect()
}
