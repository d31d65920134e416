//! `subscriptions/listen`.

use std::time::Duration;

use serde_json::{Value, json};

use super::{MODERN, run};
use crate::check::{Check, must, robust};
use crate::finding::{Judgement, Stop, ensure, observed, skipped};
use crate::peer::Peer;
use crate::text::shown;
use crate::wire::{Reply, Wait};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// How long a subscription is read.
const LISTENING: Duration = Duration::from_millis(700);
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "listen-acknowledged",
        "The first message of a subscription is its acknowledgement.",
        "Subscriptions: Acknowledgement",
        &[must(MODERN, &["N-SUBS-03"])],
        run!(acknowledged),
    ),
    Check::new(
        "listen-tagged",
        "Messages of a subscription have its id, of the same JSON type.",
        "Subscriptions: Correlation",
        &[must(MODERN, &["N-SUBS-07", "N-META-07"])],
        run!(tagged),
    ),
    Check::new(
        "listen-subset",
        "An acknowledgement has no more than was requested and declared.",
        "Subscriptions: Acknowledgement",
        &[must(MODERN, &["N-SUBS-02", "N-SUBS-04"])],
        run!(subset),
    ),
    Check::new(
        "listen-stream",
        "A subscription is answered with an event stream.",
        "Streamable HTTP: Subscriptions",
        &[must(MODERN, &["N-HTTP-26"]).http()],
        run!(stream),
    ),
    Check::new(
        "listen-quiet",
        "The stream of a subscription has no progress and no log messages.",
        "Streamable HTTP: Subscriptions",
        &[must(MODERN, &["N-SUBS-16", "N-LOG-04"]).http()],
        run!(quiet),
    ),
    Check::new(
        "listen-cancelled",
        "After its cancellation a subscription sends no more, and the conversation goes on.",
        "Subscriptions: Cancellation",
        &[must(MODERN, &["N-SUBS-11", "N-CANC-05"]).stdio()],
        run!(cancelled),
    ),
    Check::new(
        "listen-without-filter",
        "A subscription without `notifications` is rejected.",
        "Subscriptions: Request",
        &[robust(MODERN, &["A-14"])],
        run!(without_filter),
    ),
    Check::new(
        "listen-unknown-filter",
        "Unknown members of a filter are ignored.",
        "Subscriptions: Request",
        &[robust(MODERN, &["A-14", "H-101"])],
        run!(unknown_filter),
    ),
];

/// Returns true if the server declares notifications that a client can subscribe to.
fn is_subscribable(peer: &Peer) -> bool {
    let lists = ["tools", "prompts", "resources"];
    lists
        .into_iter()
        .any(|name| peer.survey.declares(name, "listChanged"))
        || peer.survey.declares("resources", "subscribe")
}

/// Opens a subscription on a connection of its own, and reads its first message.
async fn listen(peer: &mut Peer, id: Value, filter: Value) -> Result<(Peer, Reply), Stop> {
    if !is_subscribable(peer) {
        return Err(skipped("the server declares no notifications of changes"));
    }
    let mut other = peer.another().await?;
    let params = json!({ "notifications": filter });
    let request = other.request_with_id(id, "subscriptions/listen", params);
    let reply = other.send(&request, Wait::Messages(1)).await;
    match reply.messages.is_empty() {
        true => Err(observed(reply.text())),
        false => Ok((other, reply)),
    }
}

fn everything() -> Value {
    json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true })
}

async fn acknowledged(peer: &mut Peer) -> Judgement {
    let (_, reply) = listen(peer, json!("listen-1"), everything()).await?;
    let first = reply
        .messages
        .first()
        .and_then(|message| message.get("method"));
    ensure(first == Some(&json!(ACKNOWLEDGED)))
}

async fn tagged(peer: &mut Peer) -> Judgement {
    for id in [json!("listen-2"), json!(4_242)] {
        let (_, reply) = listen(peer, id.clone(), everything()).await?;
        let meta = reply
            .messages
            .first()
            .and_then(|message| message.pointer("/params/_meta"));
        ensure(meta.and_then(|meta| meta.get(SUBSCRIPTION)) == Some(&id))?;
    }
    Ok(())
}

async fn subset(peer: &mut Peer) -> Judgement {
    let (_, reply) = listen(peer, json!("listen-3"), json!({ "toolsListChanged": true })).await?;
    let granted = reply
        .messages
        .first()
        .and_then(|message| message.pointer("/params/notifications"));
    let Some(granted) = granted.and_then(Value::as_object) else {
        return Err(observed(
            "`notifications` of the acknowledgement is not an object",
        ));
    };
    let is_declared = peer.survey.declares("tools", "listChanged");
    for (name, value) in granted {
        let is_granted =
            value == &Value::Bool(true) || value.as_array().is_some_and(|list| !list.is_empty());
        if is_granted && (name != "toolsListChanged" || !is_declared) {
            return Err(observed(format!("`{name}` is {}", shown(value))));
        }
    }
    Ok(())
}

async fn stream(peer: &mut Peer) -> Judgement {
    let (_, reply) = listen(peer, json!("listen-4"), everything()).await?;
    ensure(reply.is_stream)
}

async fn quiet(peer: &mut Peer) -> Judgement {
    let survey = std::sync::Arc::clone(&peer.survey);
    let callable = survey.callable(&peer.options);
    let Some((tool, arguments)) = callable.first().filter(|_| is_subscribable(peer)) else {
        return Err(skipped("no tool may be called, or no change is declared"));
    };
    let mut other = peer.another().await?;
    other.wait_at_most(LISTENING);
    let params = json!({ "notifications": everything() });
    let request = other.request_with_id(json!("listen-7"), "subscriptions/listen", params);
    let listening = other.send(&request, Wait::Messages(64));
    let meta = json!({ "progressToken": "listen-7-progress", "io.modelcontextprotocol/logLevel": "debug" });
    let params = json!({ "name": tool.get("name"), "arguments": arguments, "_meta": meta });
    let (listened, _) = tokio::join!(listening, peer.ask("tools/call", params));
    let is_other = |message: &&Value| {
        let method = message.get("method").and_then(Value::as_str);
        matches!(
            method,
            Some("notifications/progress" | "notifications/message")
        )
    };
    match listened.messages.iter().find(is_other) {
        None => Ok(()),
        Some(message) => Err(observed(shown(message))),
    }
}

async fn cancelled(peer: &mut Peer) -> Judgement {
    let (mut other, _) = listen(peer, json!("listen-5"), everything()).await?;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": "listen-5" } });
    other.probe_message(&cancel).await?;
    let reply = other.probe_message(&cancel).await?;
    let is_tagged = |message: &Value| {
        let meta = message
            .pointer("/params/_meta")
            .and_then(|meta| meta.get(SUBSCRIPTION));
        meta == Some(&json!("listen-5")) || message.get("id") == Some(&json!("listen-5"))
    };
    match reply.messages.iter().find(|message| is_tagged(message)) {
        None => other.is_alive().await,
        Some(message) => Err(observed(shown(message))),
    }
}

async fn without_filter(peer: &mut Peer) -> Judgement {
    if !is_subscribable(peer) {
        return Err(skipped("the server declares no notifications of changes"));
    }
    let mut other = peer.another().await?;
    let request = other.request("subscriptions/listen", json!({}));
    let reply = other.send(&request, Wait::Messages(1)).await;
    ensure(reply.code().is_some())
}

async fn unknown_filter(peer: &mut Peer) -> Judgement {
    let filter = json!({ "com.example/unknown": true });
    let (_, reply) = listen(peer, json!("listen-6"), filter).await?;
    let first = reply
        .messages
        .first()
        .and_then(|message| message.get("method"));
    ensure(first == Some(&json!(ACKNOWLEDGED)))
}
