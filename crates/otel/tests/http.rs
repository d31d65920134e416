//! Spans of a client and a server over HTTP.

use opentelemetry::trace::SpanKind;
use pintle::client::{Client, EraMode};
use pintle::http::{HttpServer, ServeHttp as _};
use serde_json::json;

use crate::desk::{REVISIONS, Recorded, attribute, server};

#[tokio::test]
async fn spans_over_http_have_the_attributes_of_the_network() {
    for revision in REVISIONS {
        let recorded = Recorded::new();
        let service = server(&recorded).into_http().expect("a server");
        let served = HttpServer::bind(service, "127.0.0.1:0").await;
        let served = served.expect("a port");
        let address = served.address().expect("an address");
        let run = tokio::spawn(served.run());
        let builder = Client::builder().mode(EraMode::Pinned(revision));
        let builder = builder.observer(recorded.telemetry.client_observer());
        let url = format!("http://{address}/mcp");
        let client = builder.connect(url.as_str()).await.expect("a conversation");
        let sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await;
        sum.expect("a sum");
        client.close().await;
        run.abort();
        let sent = recorded.span(&SpanKind::Client, "tools/call add");
        let served = recorded.span(&SpanKind::Server, "tools/call add");
        for span in [&sent, &served] {
            let transport = attribute(span, "network.transport");
            assert_eq!(transport.as_deref(), Some("tcp"));
            let protocol = attribute(span, "network.protocol.name");
            assert_eq!(protocol.as_deref(), Some("http"));
        }
        let version = attribute(&served, "network.protocol.version");
        assert_eq!(version.as_deref(), Some("1.1"));
        let host = attribute(&sent, "server.address");
        assert_eq!(host.as_deref(), Some("127.0.0.1"));
        let port = attribute(&sent, "server.port");
        assert_eq!(port, Some(address.port().to_string()));
        let id = attribute(&sent, "jsonrpc.request.id");
        assert!(id.is_some());
        assert_eq!(id, attribute(&served, "jsonrpc.request.id"));
    }
}
