//! Calls through the proxy, in every pair of eras.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle::client::{Client, ClientBuilder};
use pintle::model::{LoggingLevel, Revision};
use pintle::runtime::Service;
use serde_json::json;

use crate::server::{answering, chain, pairs, text};

#[tokio::test(start_paused = true)]
async fn the_description_of_the_server_is_the_same_behind_the_proxy() {
    for pair in pairs() {
        let chain = chain(Client::builder(), pair).await;
        let server = chain.client.server().expect("a server");
        assert_eq!(server.revision, pair.0);
        assert_eq!(server.instructions.as_deref(), Some("Ask for a seat."));
        assert_eq!(
            server
                .identity
                .map(|identity| identity.name.to_string())
                .as_deref(),
            Some("desk")
        );
        let tools = chain.client.list_tools().await.expect("a list");
        assert_eq!(tools.iter().count(), 6, "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_and_its_errors_pass_through() {
    for pair in pairs() {
        let chain = chain(Client::builder(), pair).await;
        let result = chain
            .client
            .call_tool("echo", json!({ "text": "hi" }))
            .await;
        assert_eq!(text(&result.expect("a result")), "hi", "{pair:?}");
        let unknown = chain.client.call_tool("unknown", json!({})).await;
        let code = unknown
            .expect_err("an unknown tool")
            .answer()
            .map(|error| error.code.0);
        assert_eq!(code, Some(-32602), "{pair:?}");
        let unknown = chain
            .client
            .request_raw("x/unknown", Default::default())
            .await;
        let code = unknown
            .expect_err("an unknown method")
            .answer()
            .map(|error| error.code.0);
        assert_eq!(code, Some(-32601), "{pair:?}");
        let read = chain
            .client
            .read_resource("memo:///a")
            .await
            .expect("a resource");
        assert_eq!(read.contents.len(), 1);
    }
}

// spec: 2026-07-28 N-RSRC-03
#[tokio::test(start_paused = true)]
async fn an_unknown_resource_has_the_code_of_the_clients_revision() {
    for pair in pairs() {
        // A client without capabilities, and one whose calls may be parked.
        for builder in [Client::builder(), answering()] {
            let chain = chain(builder, pair).await;
            let unknown = chain.client.read_resource("memo:///none").await;
            let error = unknown.expect_err("an unknown resource");
            let code = error.answer().map(|error| error.code.0);
            let expected = match pair.0 >= Revision::LATEST {
                true => -32602,
                false => -32002,
            };
            assert_eq!(code, Some(expected), "{pair:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_headers_of_tools_are_known_before_the_first_call() {
    for pair in pairs() {
        let chain = chain(Client::builder(), pair).await;
        let headers = |tool| chain.proxy.param_headers(tool, None);
        assert_eq!(&*headers("ship")[0].name, "Region", "{pair:?}");
        assert!(headers("echo").is_empty());
        chain.client.list_tools().await.expect("a list");
        chain.handle.remove_tool("ship");
        // The proxy lists the tools after the change.
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(headers("ship").is_empty(), "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn questions_reach_the_client_in_its_own_form() {
    for pair in pairs() {
        let chain = chain(answering(), pair).await;
        let result = chain.client.call_tool("book", ()).await.expect("a result");
        assert_eq!(text(&result), "1A 2A", "{pair:?}");
        let root = chain.client.call_tool("root", ()).await.expect("a result");
        assert_eq!(text(&root), "file:///src", "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_up_to_2025_11_25_is_called_once() {
    for pair in pairs()
        .into_iter()
        .filter(|pair| pair.1 < pintle::model::Revision::LATEST)
    {
        let chain = chain(answering(), pair).await;
        let result = chain.client.call_tool("book", ()).await;
        assert!(result.is_ok(), "{pair:?}");
        assert_eq!(chain.counts.bookings(), 1, "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_without_capabilities_is_not_asked() {
    for pair in pairs() {
        let chain = chain(Client::builder(), pair).await;
        let result = chain.client.call_tool("book", ()).await;
        assert!(!result.is_ok_and(|result| !result.has_failed()), "{pair:?}");
    }
}

fn logging(logs: &Arc<Mutex<Vec<String>>>) -> ClientBuilder {
    let logs = Arc::clone(logs);
    Client::builder().on_log(move |message| {
        logs.lock()
            .expect("no panic")
            .push(message.data.to_string());
    })
}

#[tokio::test(start_paused = true)]
async fn progress_and_logs_pass_through() {
    for pair in pairs() {
        let logs = Arc::default();
        let chain = chain(logging(&logs), pair).await;
        chain
            .client
            .set_level(LoggingLevel::Debug)
            .await
            .expect("a level");
        let steps = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&steps);
        let call = chain.client.call_tool("count", ());
        let call = call.on_progress(move |step| seen.lock().expect("no panic").push(step.progress));
        assert_eq!(text(&call.await.expect("a result")), "done");
        assert_eq!(
            *steps.lock().expect("no panic"),
            [1.0, 2.0, 3.0],
            "{pair:?}"
        );
        assert_eq!(*logs.lock().expect("no panic"), ["\"counted\""], "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    for pair in pairs() {
        let chain = chain(answering(), pair).await;
        let call = chain.client.call_tool("wait", ());
        let cancelled = tokio::time::timeout(Duration::from_secs(1), call).await;
        assert!(cancelled.is_err());
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(chain.counts.cancelled(), 1, "{pair:?}");
    }
}
