//! Cached results of a server, and their lifetime (2026-07-28).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_client::{Client, ClientOptions};
use pintle_model::SubscriptionFilter;
use pintle_proto::TransportErrorKind;
use pintle_runtime::Answer;
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

use crate::client::{connect, within};

fn list() -> Value {
    json!({ "resultType": "complete", "tools": [], "ttlMs": 60_000, "cacheScope": "private" })
}

// spec: 2026-07-28 N-CACHE-04, N-CACHE-05, N-CACHE-07
#[tokio::test(start_paused = true)]
async fn a_list_is_asked_for_again_when_it_is_stale_and_not_before() {
    let server = HostileServer::modern(|out, message| out.reply(message, list()));
    let client = connect(&server).await;
    for _ in 0..3 {
        within(client.list_tools()).await.expect("a list");
    }
    assert_eq!(server.count("tools/list"), 1);
    within(client.list_tools().page(None).no_cache())
        .await
        .expect("a page");
    assert_eq!(server.count("tools/list"), 2);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(server.count("tools/list"), 2, "nobody asked");
    within(client.list_tools()).await.expect("a list");
    assert_eq!(server.count("tools/list"), 3);
    // Servers with a handshake state no freshness, so members of that name are ignored.
    let server = HostileServer::legacy(|out, message| out.reply(message, list()));
    let client = connect(&server).await;
    within(client.list_tools()).await.expect("a list");
    within(client.list_tools()).await.expect("a list");
    assert_eq!(server.count("tools/list"), 2);
}

// spec: 2026-07-28 N-CACHE-11
#[tokio::test(start_paused = true)]
async fn a_notice_makes_a_list_stale_at_once() {
    let listen = Arc::new(Mutex::new(Value::Null));
    let server = HostileServer::modern(move |out, message| {
        let tag = |id: &Value| json!({ "io.modelcontextprotocol/subscriptionId": id });
        match message["method"].as_str() {
            Some("subscriptions/listen") => {
                *listen.lock().expect("no panic") = message["id"].clone();
                let granted = json!({ "notifications": { "toolsListChanged": true }, "_meta": tag(&message["id"]) });
                out.notify("notifications/subscriptions/acknowledged", granted);
            }
            Some("tools/call") => {
                let id = listen.lock().expect("no panic").clone();
                out.notify(
                    "notifications/tools/list_changed",
                    json!({ "_meta": tag(&id) }),
                );
                out.reply(message, crate::client::good());
            }
            _ => out.reply(message, list()),
        }
    });
    // The caller's own subscription, and no other.
    let mut options = ClientOptions::default();
    options.watch_cache = false;
    let builder = Client::builder().options(options);
    let client = within(builder.connect(server.clone())).await;
    let client = client.expect("it opens");
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    let mut subscription = within(client.listen(filter)).await.expect("a subscription");
    within(client.list_tools()).await.expect("a list");
    within(client.call_tool("t", ())).await.expect("a result");
    within(subscription.next()).await.expect("a change");
    within(client.list_tools()).await.expect("a list");
    assert_eq!(server.count("tools/list"), 2);
}

// spec: 2026-07-28 N-CACHE-03, N-MRTR-29, N-MRTR-30
// hardening: H-26
#[tokio::test(start_paused = true)]
async fn an_answer_that_took_questions_is_not_kept() {
    let rounds = AtomicUsize::new(0);
    let server = HostileServer::modern(move |out, message| {
        if rounds.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) {
            let schema = json!({ "type": "object", "properties": {} });
            let question = json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": schema } });
            return out.reply(message, json!({ "resultType": "input_required", "inputRequests": { "a": question }, "ttlMs": 60_000, "cacheScope": "public" }));
        }
        out.reply(message, json!({ "resultType": "complete", "contents": [], "ttlMs": 60_000, "cacheScope": "public" }));
    });
    let builder = Client::builder().on_elicit(async |form| Answer::Accepted(form.defaults));
    let client = within(builder.connect(server.clone()))
        .await
        .expect("it opens");
    for _ in 0..2 {
        within(client.read_resource("a:1"))
            .await
            .expect("a resource");
    }
    assert_eq!(server.count("resources/read"), 4);
}

// spec: 2026-07-28 N-CACHE-08
#[tokio::test(start_paused = true)]
async fn a_stale_result_is_returned_only_on_request() {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let server = HostileServer::modern(move |out, message| {
        if down.load(Ordering::SeqCst) {
            return out.lose(message, TransportErrorKind::Status(503));
        }
        out.reply(message, json!({ "resultType": "complete", "contents": [], "ttlMs": 1_000, "cacheScope": "private" }));
    });
    let client = connect(&server).await;
    within(client.read_resource("a:1"))
        .await
        .expect("a resource");
    is_down.store(true, Ordering::SeqCst);
    within(client.read_resource("a:1"))
        .await
        .expect("it is fresh");
    tokio::time::sleep(Duration::from_secs(1)).await;
    within(client.read_resource("a:1")).await.unwrap_err();
    within(client.read_resource("a:1").allow_stale())
        .await
        .expect("it was asked for");
    within(client.read_resource("a:2").allow_stale())
        .await
        .unwrap_err();
}

/// A page of one tool, named after the time of the server's start.
fn page_of(start: usize, number: usize) -> Value {
    let tool = json!({ "name": format!("{start}-{number}"), "inputSchema": { "type": "object" } });
    let mut page = list();
    page["tools"] = json!([tool]);
    if number == 1 {
        page["nextCursor"] = json!(format!("{start}-2"));
    } else {
        page["ttlMs"] = json!(0);
    }
    page
}

// spec: 2026-07-28 N-CACHE-15
#[tokio::test(start_paused = true)]
async fn a_list_begins_again_when_the_cursor_of_a_cached_page_is_refused() {
    let starts = Arc::new(AtomicUsize::new(1));
    let start = Arc::clone(&starts);
    let server = HostileServer::modern(move |out, message| {
        let start = start.load(Ordering::SeqCst);
        match message["params"]["cursor"].as_str() {
            None => out.reply(message, page_of(start, 1)),
            Some(cursor) if cursor == format!("{start}-2") => out.reply(message, page_of(start, 2)),
            Some(_) => out.fail(message, -32602, "no such cursor"),
        }
    });
    let client = connect(&server).await;
    for (start, requests) in [(1, 2), (1, 3), (2, 6), (2, 7)] {
        starts.store(start, Ordering::SeqCst);
        let tools = within(client.list_tools()).await.expect("a list");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(names, [format!("{start}-1"), format!("{start}-2")]);
        assert_eq!(server.count("tools/list"), requests);
    }
}

// spec: 2026-07-28 N-CACHE-15
#[tokio::test(start_paused = true)]
async fn a_list_begins_again_only_once() {
    let server = HostileServer::modern(|out, message| {
        if message["params"]["cursor"].is_string() {
            return out.fail(message, -32602, "no such cursor");
        }
        out.reply(message, page_of(1, 1));
    });
    let client = connect(&server).await;
    within(client.list_tools()).await.unwrap_err();
    assert_eq!(server.count("tools/list"), 4);
    let mut pages = client.list_tools().pages();
    within(pages.next()).await.expect("a page").expect("tools");
    within(pages.next()).await.expect("an end").unwrap_err();
    assert!(within(pages.next()).await.is_none());
    assert_eq!(server.count("tools/list"), 6);
}
