//! Tasks of a server whose proxy is beside the tools of another server.

use std::time::Duration;

use pintle::client::{Client, ClientBuilder, EraMode, InProcess};
use pintle::model::{ErrorCode, Revision};
use pintle::prelude::*;
use pintle::runtime::IntoService;
use pintle_proxy::Proxy;
use serde_json::json;

use crate::server::{answering, pairs, text};
use crate::tasks::{Dropped, server_with_tasks};

/// Returns its argument.
#[tool]
async fn local(text: String) -> String {
    text
}

/// A client of a server with a tool of its own, beside the tools of a server with tasks.
async fn mounted(
    builder: ClientBuilder,
    (of_client, of_server): (Revision, Revision),
) -> (Client, std::sync::Arc<Dropped>) {
    let (server, dropped) = server_with_tasks();
    let app = server.into_service().expect("a valid server");
    let proxy = Proxy::connect(move |client| {
        let client = client.mode(EraMode::Pinned(of_server));
        client.connect_lazily(InProcess::new(app.clone()))
    });
    let desk = Server::new("desk", "1.0.0").provider(proxy.await.expect("a server"));
    let all = Server::new("all", "1.0.0").tool::<local>();
    let all = all.mount("desk", desk).into_service().expect("valid");
    let client = builder.mode(EraMode::Pinned(of_client));
    let client = client.connect(InProcess::new(all)).await;
    (client.expect("a server"), dropped)
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_mounted_server_waits_for_the_end_of_its_task() {
    for pair in pairs() {
        let (client, _) = mounted(answering(), pair).await;
        for (tool, arguments, expected) in [
            ("local", json!({ "text": "here" }), "here"),
            ("desk_simple", json!({}), "plain"),
            ("desk_work", json!({ "seconds": 30 }), "done"),
            ("desk_strict", json!({}), "strict"),
            ("desk_reserve", json!({}), "1A 2A"),
        ] {
            let result = client.call_tool(tool, arguments).await;
            let result = result.unwrap_or_else(|error| panic!("{pair:?} {tool}: {error}"));
            assert_eq!(text(&result), expected, "{pair:?} {tool}");
        }
        let refused = client.call_tool("desk_refuse", ()).await;
        let refused = refused.expect_err("an error");
        let code = refused.answer().map(|error| error.code);
        assert_eq!(code, Some(ErrorCode(-32050)), "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn tools_of_a_mounted_server_do_not_run_as_tasks() {
    for pair in pairs() {
        let (client, _) = mounted(Client::builder(), pair).await;
        let tools = client.list_tools().await.expect("a list");
        assert!(tools.iter().any(|tool| tool.name == "desk_strict"));
        for tool in tools {
            assert!(tool.execution.is_none(), "{pair:?} {tool:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_of_a_mounted_server_cancels_its_task() {
    for pair in pairs() {
        let (client, dropped) = mounted(Client::builder(), pair).await;
        let call = client.call_tool("desk_work", json!({ "seconds": 3_000 }));
        let cut = tokio::time::timeout(Duration::from_secs(5), call.into_future()).await;
        assert!(cut.is_err(), "{pair:?}");
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(dropped.count(), 1, "{pair:?}");
    }
}
