//! Clients that cache results and watch for changes automatically (2026-07-28).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_client::{Client, ClientOptions};
use pintle_proto::TransportErrorKind;
use pintle_testkit::{HostileReply, HostileServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::{connect, within};

const SECOND: Duration = Duration::from_secs(1);
const LISTEN: &str = "subscriptions/listen";

/// A result of any kind that may be cached for an hour.
fn kept() -> Value {
    json!({ "resultType": "complete", "tools": [], "prompts": [], "resources": [], "contents": [],
        "ttlMs": 3_600_000, "cacheScope": "private" })
}

fn tagged(id: &Value, mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
    params
}

fn acknowledge(out: &mut HostileReply, message: &Value) {
    let granted = message["params"]["notifications"].clone();
    let params = tagged(&message["id"], json!({ "notifications": granted }));
    out.notify("notifications/subscriptions/acknowledged", params);
}

/// A server that grants every subscription. A call of a tool sends the notice that `changes` returns
/// for the tool's name to the latest listener.
fn telling(changes: fn(&str) -> (&'static str, Value)) -> HostileServer {
    let listen = Mutex::new(Value::Null);
    HostileServer::modern(move |out, message| match message["method"].as_str() {
        Some(LISTEN) => {
            *listen.lock().expect("no panic") = message["id"].clone();
            acknowledge(out, message);
        }
        Some("tools/call") => {
            let (method, params) = changes(message["params"]["name"].as_str().expect("a name"));
            let id = listen.lock().expect("no panic").clone();
            out.notify(method, tagged(&id, params));
            out.reply(message, crate::client::good());
        }
        _ => out.reply(message, kept()),
    })
}

fn change(name: &str) -> (&'static str, Value) {
    match name {
        "tools" => ("notifications/tools/list_changed", json!({})),
        uri => ("notifications/resources/updated", json!({ "uri": uri })),
    }
}

/// The requested notifications, in order.
fn asked(server: &HostileServer) -> Vec<Value> {
    let received = server.received().into_iter();
    let listens = received.filter(|message| message["method"] == LISTEN);
    listens
        .map(|message| message["params"]["notifications"].clone())
        .collect()
}

// spec: 2026-07-28 N-CACHE-11, N-SUBS-01, N-SUBS-08
#[tokio::test(start_paused = true)]
async fn a_cached_list_is_dropped_when_the_server_reports_a_change() {
    let server = telling(change);
    let changes = Arc::new(AtomicUsize::new(0));
    let observer = Arc::clone(&changes);
    let builder = Client::builder().on_change(move |_| {
        observer.fetch_add(1, Ordering::SeqCst);
    });
    let client = within(builder.connect(server.clone()))
        .await
        .expect("it opens");
    within(client.list_tools()).await.expect("a list");
    sleep(SECOND).await;
    let everything = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
    assert_eq!(asked(&server), [everything]);
    // The list may have changed before the server began to send changes.
    within(client.list_tools()).await.expect("a list");
    assert_eq!(server.count("tools/list"), 2);
    sleep(60 * SECOND).await;
    within(client.list_tools()).await.expect("a list");
    assert_eq!(server.count("tools/list"), 2);
    within(client.call_tool("tools", ()))
        .await
        .expect("a result");
    within(client.list_tools()).await.expect("a list");
    assert_eq!(server.count("tools/list"), 3);
    assert_eq!(changes.load(Ordering::SeqCst), 0, "nobody else subscribed");
}

// spec: 2026-07-28 N-CACHE-11, N-SUBS-09, N-SUBS-10
#[tokio::test(start_paused = true)]
async fn resources_that_are_kept_are_asked_for_as_they_come() {
    let server = telling(change);
    let client = connect(&server).await;
    for uris in [&["a:1"][..], &["a:2", "a:3"]] {
        for uri in uris {
            read(&client, uri).await;
        }
        sleep(2 * SECOND).await;
    }
    assert_eq!(uris(&server), [vec!["a:1"], vec!["a:1", "a:2", "a:3"]]);
    assert_eq!(server.count("notifications/cancelled"), 1, "one at a time");
    for uri in ["a:1", "a:2", "a:3"] {
        read(&client, uri).await;
    }
    sleep(2 * SECOND).await;
    let before = server.count("resources/read");
    within(client.call_tool("a:2", ())).await.expect("a result");
    for uri in ["a:1", "a:2", "a:3"] {
        read(&client, uri).await;
    }
    assert_eq!(server.count("resources/read") - before, 1);
    assert_eq!(server.count(LISTEN), 2);
}

async fn read(client: &Client, uri: &str) {
    let read = within(client.read_resource(uri)).await;
    read.expect("a resource");
}

/// The requested resources of each listener, sorted by name.
fn uris(server: &HostileServer) -> Vec<Vec<String>> {
    let uris = asked(server).into_iter().map(|asked| {
        let uris = asked["resourceSubscriptions"].clone();
        let mut uris: Vec<String> = serde_json::from_value(uris).unwrap_or_default();
        uris.sort();
        uris
    });
    uris.collect()
}

#[tokio::test(start_paused = true)]
async fn as_many_resources_as_the_limit_are_watched() {
    let server = telling(change);
    let mut options = ClientOptions::default();
    options.max_watched_resources = 2;
    let builder = Client::builder().options(options);
    let client = within(builder.connect(server.clone()))
        .await
        .expect("it opens");
    for uri in ["a:1", "a:2", "a:3"] {
        read(&client, uri).await;
        sleep(5 * SECOND).await;
    }
    // The resources that were cached last.
    assert_eq!(
        uris(&server),
        [vec!["a:1"], vec!["a:1", "a:2"], vec!["a:2", "a:3"]]
    );
}

// spec: 2026-07-28 N-SUBS-14, N-SUBS-15
#[tokio::test(start_paused = true)]
async fn a_lost_watch_restarts_with_growing_delays_and_drops_cached_results() {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let server = HostileServer::modern(move |out, message| {
        if message["method"] != LISTEN {
            return out.reply(message, kept());
        }
        if down.load(Ordering::SeqCst) {
            return out.lose(message, TransportErrorKind::Unreachable);
        }
        acknowledge(out, message);
        let end = tagged(&message["id"], json!({ "resultType": "complete" }));
        let end = json!({ "jsonrpc": "2.0", "id": message["id"], "result": end });
        out.send_after(10 * SECOND, end);
    });
    let client = connect(&server).await;
    within(client.list_tools()).await.expect("a list");
    sleep(SECOND / 2).await;
    within(client.list_tools()).await.expect("a list");
    is_down.store(true, Ordering::SeqCst);
    sleep(10 * SECOND).await;
    assert_eq!(server.count(LISTEN), 1, "it has only just ended");
    // After 1, 2, 4, 8, 16, 30, 30 ... seconds.
    sleep(63 * SECOND).await;
    assert_eq!(server.count(LISTEN), 7);
    within(client.list_tools()).await.expect("it is fresh");
    assert_eq!(server.count("tools/list"), 2);
    is_down.store(false, Ordering::SeqCst);
    sleep(31 * SECOND).await;
    within(client.list_tools()).await.expect("a list");
    assert_eq!(
        server.count("tools/list"),
        3,
        "it may have changed meanwhile"
    );
}

// spec: 2026-07-28 N-SUBS-06, A-34
#[tokio::test(start_paused = true)]
async fn a_watch_that_the_server_refuses_is_not_requested_again() {
    let refuses = HostileServer::modern(|out, message| match message["method"] == LISTEN {
        true => out.fail(message, -32601, "no"),
        false => out.reply(message, kept()),
    });
    let grants_nothing = HostileServer::modern(|out, message| match message["method"] == LISTEN {
        true => out.notify(
            "notifications/subscriptions/acknowledged",
            tagged(&message["id"], json!({ "notifications": {} })),
        ),
        false => out.reply(message, kept()),
    });
    for server in [refuses, grants_nothing] {
        let client = connect(&server).await;
        for _ in 0..3 {
            within(client.list_tools()).await.expect("a list");
            within(client.list_prompts()).await.expect("a list");
            sleep(100 * SECOND).await;
        }
        assert_eq!((server.count("tools/list"), server.count(LISTEN)), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_requested_only_if_it_is_useful() {
    let offers_nothing =
        HostileServer::new(
            |out, message| match message["method"] == "server/discover" {
                true => out.reply(
                    message,
                    json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {}, "resources": {}, "prompts": {} } }),
                ),
                false => out.reply(message, kept()),
            },
        );
    let keeps_nothing = HostileServer::modern(|out, message| {
        let mut result = kept();
        result["ttlMs"] = json!(0);
        out.reply(message, result);
    });
    let legacy = HostileServer::legacy(|out, message| out.reply(message, kept()));
    for server in [offers_nothing, keeps_nothing, legacy] {
        let client = connect(&server).await;
        within(client.list_tools()).await.expect("a list");
        sleep(100 * SECOND).await;
        assert_eq!(server.count(LISTEN), 0);
    }
    let server = telling(change);
    let mut options = ClientOptions::default();
    options.watch_cache = false;
    let builder = Client::builder().options(options);
    let client = within(builder.connect(server.clone()))
        .await
        .expect("it opens");
    within(client.list_tools()).await.expect("a list");
    sleep(100 * SECOND).await;
    assert_eq!(server.count(LISTEN), 0, "it was not wanted");
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_its_conversation() {
    let server = telling(change);
    let client = connect(&server).await;
    within(client.list_tools()).await.expect("a list");
    sleep(SECOND).await;
    within(client.close()).await;
    sleep(1_000 * SECOND).await;
    assert_eq!((server.count(LISTEN), server.conversations()), (1, 1));
}
