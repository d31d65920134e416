//! The client of this workspace, over both transports.

use std::error::Error;
use std::time::Duration;

use pintle_check::{CheckOptions, Report, StdioServer, Visitor, check_client};
use pintle_client::{Client, ClientBuilder};
use pintle_http::client::{BoxIo, EndpointUrl, HttpClientOptions, HttpConnect};
use pintle_model::Revision;
use pintle_proto::TransportError;
use pintle_runtime::{Answer, Connect, StreamTransport};
use serde_json::json;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

use super::{assert_clean, never_made};

/// Connects to a scripted server in memory.
struct ToServer(StdioServer);

impl Connect for ToServer {
    type Transport = StreamTransport<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        let (near, far) = duplex(1 << 16);
        let server = self.0.clone();
        tokio::spawn(async move { server.serve(BoxIo::new(far)).await });
        let (reader, writer) = split(near);
        Ok(StreamTransport::new(reader, writer))
    }
}

/// The checks about features that the test does not use or declare.
const UNUSED: [&str; 6] = [
    "client-completion-params",
    "client-listen-params",
    "client-log-level",
    "client-roots-undeclared",
    "client-sampling",
    "client-trace-context",
];

fn client() -> ClientBuilder {
    Client::builder()
        .roots(["file:///src"])
        .on_elicit(|_| async {
            Answer::Accepted(
                json!({ "name": "Ada" })
                    .as_object()
                    .expect("an object")
                    .clone(),
            )
        })
}

/// Uses each feature once.
async fn use_everything(client: &Client) -> Result<(), Box<dyn Error + Send + Sync>> {
    client.list_tools().await?;
    let offers_more = client
        .server()
        .is_some_and(|server| server.capabilities.prompts.is_some());
    if offers_more {
        client.list_prompts().await?;
        client.list_resources().await?;
        client.get_prompt("größe", ()).await?;
        client.read_resource("pintle://greeting").await?;
    }
    client.call_tool("echo", json!({ "text": "a" })).await?;
    client
        .call_tool("region", json!({ "region": " ü " }))
        .await?;
    client.call_tool("ask", ()).await?;
    let slow = client.call_tool("slow", ()).on_progress(|_| {});
    // The call is cancelled, because its future is dropped.
    drop(tokio::time::timeout(Duration::from_millis(20), slow).await);
    client.call_tool("echo", json!({ "text": "b" })).await?;
    Ok(())
}

async fn done(client: Client) -> bool {
    let used = use_everything(&client).await;
    client.close().await;
    used.is_ok()
}

fn requirements(report: &Report) -> usize {
    let ids = report.requirements();
    let ids: std::collections::BTreeSet<_> = ids.into_iter().map(|(_, id)| id).collect();
    ids.len()
}

#[tokio::test(start_paused = true)]
async fn the_own_client_passes_each_check_over_stdio() {
    let visitor = Visitor::stdio(|server| {
        Box::pin(async move {
            match client().connect(ToServer(server)).await {
                Ok(client) => done(client).await,
                Err(_) => false,
            }
        })
    });
    let report = check_client(&visitor, CheckOptions::default())
        .await
        .expect("a report");
    assert_clean(&report);
    assert_eq!(report.revisions, Revision::ALL);
    assert!(requirements(&report) >= 120, "{}", requirements(&report));
    assert_eq!(never_made(&report), UNUSED, "the other checks were made");
}

#[tokio::test]
async fn the_own_client_passes_each_check_over_http() {
    let visitor = Visitor::http(|url| {
        Box::pin(async move {
            let url = EndpointUrl::parse(&url).expect("a URL");
            let target = HttpConnect::new(url, &HttpClientOptions::default()).expect("a target");
            match client().connect(target).await {
                Ok(client) => done(client).await,
                Err(_) => false,
            }
        })
    });
    let mut options = CheckOptions::default();
    options.revisions = vec![Revision::V2025_11_25, Revision::V2026_07_28];
    let report = check_client(&visitor, options).await.expect("a report");
    assert_clean(&report);
    assert_eq!(report.revisions.len(), 2, "{:?}", report.not_served);
    assert!(requirements(&report) >= 120, "{}", requirements(&report));
    let mut unused = UNUSED.to_vec();
    // A call over HTTP is cancelled by the end of its connection.
    unused.insert(3, "client-notifications");
    assert_eq!(never_made(&report), unused, "the other checks were made");
}
