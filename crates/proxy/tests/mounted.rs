//! A proxy beside the tools of a server.

use pintle::client::{Client, EraMode, InProcess};
use pintle::model::Revision;
use pintle::prelude::*;
use pintle::runtime::IntoService;
use pintle_proxy::Proxy;
use serde_json::json;

use crate::server::{answering, pairs, server, text};

/// Returns the first word.
#[tool]
async fn first(text: String) -> String {
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// A client of a server with a tool of its own, beside the tools of a server of a revision.
async fn mounted(
    (of_client, of_server): (Revision, Revision),
) -> (Client, std::sync::Arc<crate::server::Counts>) {
    let (behind, counts, _) = server();
    let app = behind.into_service().expect("a valid server");
    let proxy = Proxy::connect(move |client| {
        let client = client.mode(EraMode::Pinned(of_server));
        client.connect_lazily(InProcess::new(app.clone()))
    });
    let proxy = proxy.await.expect("a server");
    let desk = Server::new("desk", "1.0.0").provider(proxy);
    let all = Server::new("all", "1.0.0")
        .tool::<first>()
        .mount("desk", desk);
    let client = answering().mode(EraMode::Pinned(of_client));
    let client = client.connect(InProcess::new(all.into_service().expect("valid")));
    (client.await.expect("a server"), counts)
}

#[tokio::test(start_paused = true)]
async fn a_mounted_server_has_its_tools_and_resources_beside_others() {
    for pair in pairs() {
        let (client, _) = mounted(pair).await;
        let tools = client.list_tools().await.expect("a list");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert!(
            names.contains(&"first") && names.contains(&"desk_echo"),
            "{names:?}"
        );
        for (tool, expected) in [("first", "a"), ("desk_echo", "a b")] {
            let result = client.call_tool(tool, json!({ "text": "a b" })).await;
            assert_eq!(text(&result.expect("a result")), expected, "{pair:?}");
        }
        let read = client.read_resource("memo:///a").await.expect("a resource");
        assert_eq!(read.contents.len(), 1, "{pair:?}");
        let unknown = client
            .call_tool("desk_unknown", ())
            .await
            .expect_err("unknown");
        assert_eq!(unknown.answer().map(|error| error.code.0), Some(-32602));
    }
}

#[tokio::test(start_paused = true)]
async fn a_mounted_server_asks_the_client() {
    for pair in pairs() {
        let (client, counts) = mounted(pair).await;
        let result = client.call_tool("desk_book", ()).await.expect("a result");
        assert_eq!(text(&result), "1A 2A", "{pair:?}");
        if pair.1 < Revision::LATEST {
            assert_eq!(counts.bookings(), 1, "{pair:?}");
        }
    }
}
