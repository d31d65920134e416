//! Subscriptions, and servers that break their rules.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pintle_client::{CallError, Misbehavior};
use pintle_model::SubscriptionFilter;
use pintle_proto::{Change, TransportErrorKind};
use pintle_testkit::{HostileReply, HostileServer};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::client::{connect, misbehavior, within};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const TOOLS: &str = "notifications/tools/list_changed";

fn tools() -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    filter
}

fn tagged(message: &Value, mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
    params
}

fn acknowledge(out: &mut HostileReply, message: &Value, granted: Value) {
    out.notify(
        ACKNOWLEDGED,
        tagged(message, json!({ "notifications": granted })),
    );
}

// spec: 2026-07-28 N-SUBS-06, N-SUBS-08, N-SUBS-12, N-SUBS-13 (client accepts), A-01
#[tokio::test(start_paused = true)]
async fn a_subscription_receives_its_own_notices_until_the_server_ends_it() {
    let ends: [fn(&mut HostileReply, &Value); 3] = [
        |out, message| {
            out.reply(
                message,
                tagged(message, json!({ "resultType": "complete" })),
            )
        },
        |out, message| {
            out.notify(
                "notifications/cancelled",
                json!({ "requestId": message["id"] }),
            )
        },
        |out, message| {
            out.notify(
                "notifications/cancelled",
                json!({ "requestId": message["id"] }),
            );
            out.reply(
                message,
                tagged(message, json!({ "resultType": "complete" })),
            );
        },
    ];
    for end in ends {
        let server = HostileServer::modern(move |out, message| {
            if message["method"] != "subscriptions/listen" {
                return;
            }
            out.notify(TOOLS, tagged(&json!({ "id": 99 }), json!({})));
            out.notify(TOOLS, json!({}));
            acknowledge(out, message, json!({ "toolsListChanged": true }));
            out.notify(
                TOOLS,
                tagged(&json!({ "id": message["id"].to_string() }), json!({})),
            );
            out.notify(TOOLS, tagged(message, json!({})));
            end(out, message);
            out.notify(TOOLS, tagged(message, json!({})));
        });
        let client = connect(&server).await;
        let mut subscription = within(client.listen(tools()))
            .await
            .expect("a subscription");
        assert!(subscription.granted().wants_tools());
        assert_eq!(within(subscription.next()).await, Some(Change::Tools));
        assert_eq!(within(subscription.next()).await, None);
        assert_eq!(subscription.failure(), None);
        drop(subscription);
        assert_eq!(server.count("notifications/cancelled"), 0, "it had ended");
    }
}

// spec: 2026-07-28 N-SUBS-04, A-14
#[tokio::test(start_paused = true)]
async fn a_server_that_grants_more_than_was_asked_is_left() {
    let server = HostileServer::modern(|out, message| {
        if message["method"] == "subscriptions/listen" {
            acknowledge(
                out,
                message,
                json!({ "toolsListChanged": true, "promptsListChanged": true }),
            );
        }
    });
    let client = connect(&server).await;
    let error = within(client.listen(tools())).await.unwrap_err();
    assert!(matches!(
        misbehavior(error),
        Misbehavior::ExcessiveAcknowledgement
    ));
    within(tokio::time::sleep(std::time::Duration::from_secs(1))).await;
    assert_eq!(server.count("notifications/cancelled"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_acknowledges_nothing_is_left() {
    let server = HostileServer::modern(|_, _| {});
    let client = connect(&server).await;
    let error = within(client.listen(tools())).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
}

// spec: 2026-07-28 N-SUBS-10, N-SUBS-14, N-SUBS-15
#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_dropped_or_lost_ends() {
    let server = HostileServer::modern(|out, message| match message["method"].as_str() {
        Some("subscriptions/listen") => acknowledge(out, message, json!({})),
        Some("tools/call") => out.lose_all(TransportErrorKind::Disconnected),
        _ => {}
    });
    let client = connect(&server).await;
    let first = within(client.listen(tools())).await.expect("one");
    assert!(!first.granted().wants_tools(), "less than was asked");
    drop(first);
    let mut second = within(client.listen(tools())).await.expect("another");
    within(client.call_tool("t", ())).await.unwrap_err();
    assert_eq!(within(second.next()).await, None);
    assert!(second.failure().is_some());
    let third = within(client.listen(tools()))
        .await
        .expect("on another conversation");
    assert_eq!(
        (server.conversations(), server.count("subscriptions/listen")),
        (2, 3)
    );
    drop(third);
    let received = server.received();
    let listen = received
        .iter()
        .find(|message| message["method"] == "subscriptions/listen");
    let cancelled = received
        .iter()
        .find(|message| message["method"] == "notifications/cancelled");
    let (listen, cancelled) = (listen.expect("one"), cancelled.expect("one"));
    assert_eq!(cancelled["params"]["requestId"], listen["id"]);
}

const UPDATED: &str = "notifications/resources/updated";

/// A server of a session that answers `resources/unsubscribe` after `pause`, and sends an update of
/// a resource when it is pinged.
fn forgetful(pause: Duration) -> HostileServer {
    HostileServer::legacy(move |out, message| match message["method"].as_str() {
        Some("resources/unsubscribe") => {
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} });
            out.send_after(pause, answer);
        }
        Some("ping") => {
            out.notify(UPDATED, json!({ "uri": "desk://hours" }));
            out.reply(message, json!({}));
        }
        _ => out.reply(message, json!({})),
    })
}

/// The methods about resources that the client called, in order.
fn said_of_resources(server: &HostileServer) -> Vec<String> {
    let received = server.received();
    let methods = received
        .iter()
        .filter_map(|message| message["method"].as_str());
    let methods = methods.filter_map(|method| method.strip_prefix("resources/"));
    methods.map(str::to_owned).collect()
}

// spec: 2025-11-25 RES-05
#[tokio::test(start_paused = true)]
async fn a_subscription_waits_until_the_one_before_is_gone() {
    let pause = Duration::from_secs(5);
    let server = forgetful(pause);
    let client = connect(&server).await;
    let first = within(client.subscribe("desk://hours")).await.expect("one");
    drop(first);
    // The request to unsubscribe is sent before the next subscription begins.
    within(client.ping()).await.expect("an answer");
    let began = Instant::now();
    let mut second = within(client.subscribe("desk://hours"))
        .await
        .expect("another");
    assert_eq!(began.elapsed(), pause);
    assert_eq!(
        said_of_resources(&server),
        ["subscribe", "unsubscribe", "subscribe"]
    );
    within(client.ping()).await.expect("an answer");
    let change = Change::Resource("desk://hours".to_owned());
    assert_eq!(within(second.next()).await, Some(change));
}

// spec: 2025-11-25 RES-05
#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_given_up_ends_after_it_has_begun() {
    let pause = Duration::from_secs(5);
    let server = HostileServer::legacy(move |out, message| match message["method"].as_str() {
        Some("resources/subscribe") => {
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} });
            out.send_after(pause, answer);
        }
        _ => out.reply(message, json!({})),
    });
    let client = connect(&server).await;
    let given_up = tokio::time::timeout(pause / 5, client.subscribe("desk://hours"));
    within(given_up).await.unwrap_err();
    within(tokio::time::sleep(pause / 2)).await;
    assert_eq!(said_of_resources(&server), ["subscribe"]);
    assert_eq!(server.count("notifications/cancelled"), 0);
    within(tokio::time::sleep(pause / 2)).await;
    assert_eq!(said_of_resources(&server), ["subscribe", "unsubscribe"]);
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_is_subscribed_again_is_not_unsubscribed() {
    let server = forgetful(Duration::ZERO);
    let client = connect(&server).await;
    for _ in 0..3 {
        let gone = within(client.subscribe("desk://hours")).await.expect("one");
        drop(gone);
    }
    let last = within(client.subscribe("desk://hours")).await.expect("one");
    within(client.ping()).await.expect("an answer");
    let message = said_of_resources(&server);
    assert_eq!(
        message.last().map(String::as_str),
        Some("subscribe"),
        "{message:?}"
    );
    drop(last);
    within(tokio::time::sleep(Duration::from_secs(1))).await;
    let message = said_of_resources(&server);
    assert_eq!(
        message.last().map(String::as_str),
        Some("unsubscribe"),
        "{message:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn many_abandoned_subscriptions_are_unsubscribed_once() {
    let server = HostileServer::legacy(|out, message| match message["method"].as_str() {
        Some("resources/subscribe" | "resources/unsubscribe") => {}
        _ => out.reply(message, json!({})),
    });
    let client = connect(&server).await;
    for _ in 0..100 {
        let wait = Duration::from_millis(1);
        let given_up = tokio::time::timeout(wait, client.subscribe("desk://hours"));
        within(given_up).await.unwrap_err();
    }
    within(tokio::time::sleep(Duration::from_secs(3_600))).await;
    assert_eq!(server.count("resources/unsubscribe"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_meets_a_lost_session_is_made_on_the_next() {
    let is_lost = AtomicBool::new(false);
    let server = HostileServer::legacy(move |out, message| match message["method"].as_str() {
        Some("resources/subscribe") if !is_lost.swap(true, Ordering::Relaxed) => {
            out.lose_all(TransportErrorKind::SessionLost);
        }
        _ => out.reply(message, json!({})),
    });
    let client = connect(&server).await;
    let mut subscription = within(client.subscribe("desk://hours")).await.expect("one");
    assert_eq!((server.conversations(), subscription.failure()), (2, None));
    within(client.close()).await;
    assert_eq!(within(subscription.next()).await, None);
}
