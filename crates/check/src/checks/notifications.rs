//! Notifications of a client, cancellations among them.

use serde_json::{Value, json};

use super::{LEGACY, LEGACY_03, MODERN, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, Stop, ensure, observed};
use crate::peer::Peer;
use crate::text::shown;
use crate::wire::{Reply, is_response};

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "notification-unanswered",
        "A notification has no response.",
        "Base protocol: Notifications",
        &[must(LEGACY, &["MSG-15"]), must(MODERN, &["N-BASE-08"])],
        run!(unanswered),
    ),
    Check::new(
        "notification-accepted",
        "An accepted notification has status 202 and no body.",
        "Streamable HTTP: Sending messages",
        &[
            must(LEGACY_03, &["TRANS-HTTP-10"]).http(),
            must(MODERN, &["N-HTTP-09"]).http(),
        ],
        run!(accepted),
    ),
    Check::new(
        "notification-unknown",
        "An unknown notification is ignored.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-108"]), robust(MODERN, &["H-108"])],
        run!(unknown),
    ),
    Check::new(
        "notifications-many",
        "500 unknown notifications do not end the conversation.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-133", "H-151"]),
            robust(MODERN, &["H-133", "H-151"]),
        ],
        run!(many),
    ),
    Check::new(
        "cancel-unknown",
        "A cancellation of an unknown request is ignored.",
        "Cancellation: Error handling",
        &[should(LEGACY, &["CANC-14"]), should(MODERN, &["N-CANC-11"])],
        run!(cancel_unknown),
    ),
    Check::new(
        "cancel-malformed",
        "A malformed cancellation is ignored.",
        "Cancellation: Error handling",
        &[should(LEGACY, &["CANC-14"]), should(MODERN, &["N-CANC-11"])],
        run!(cancel_malformed),
    ),
    Check::new(
        "cancel-finished",
        "A cancellation that arrives after the response has no effect.",
        "Cancellation: Timing",
        &[must(LEGACY, &["CANC-10"]), must(MODERN, &["N-CANC-10"])],
        run!(cancel_finished),
    ),
];

fn notification(peer: &Peer, method: &str, params: Value) -> Value {
    let params = match peer.is_modern() && peer.is_http() {
        true => peer.with_envelope(params),
        false => params,
    };
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// Sends a notification.
///
/// # Errors
///
/// The check fails if a response comes.
async fn notify(peer: &mut Peer, method: &str, params: Value) -> Result<Reply, Stop> {
    let message = notification(peer, method, params);
    let reply = peer.probe_message(&message).await?;
    // The body of a rejection over HTTP may have an error without an id.
    let is_answer = |message: &&Value| {
        is_response(message)
            && (reply.status.is_none() || !message.get("id").is_none_or(Value::is_null))
    };
    match reply.messages.iter().find(is_answer) {
        Some(response) => Err(observed(shown(response))),
        None => Ok(reply),
    }
}

async fn unanswered(peer: &mut Peer) -> Judgement {
    notify(
        peer,
        "notifications/cancelled",
        json!({ "requestId": "none" }),
    )
    .await?;
    notify(peer, "notifications/pintle_check", json!({})).await?;
    Ok(())
}

async fn accepted(peer: &mut Peer) -> Judgement {
    let reply = notify(
        peer,
        "notifications/cancelled",
        json!({ "requestId": "none" }),
    )
    .await?;
    let is_accepted = reply.status == Some(202) && reply.bytes == 0;
    ensure(is_accepted || reply.status.is_some_and(|status| status >= 400))
}

async fn unknown(peer: &mut Peer) -> Judgement {
    let reply = notify(peer, "notifications/pintle_check", json!({ "a": 1 })).await?;
    ensure(
        reply
            .status
            .is_none_or(|status| status == 202 || (400..500).contains(&status)),
    )?;
    peer.is_alive().await
}

async fn many(peer: &mut Peer) -> Judgement {
    let message = notification(peer, "notifications/pintle_check", json!({})).to_string();
    match peer.is_http() {
        true => {
            let headers = peer.headers_of(&json!({ "method": "notifications/pintle_check" }));
            for _ in 0..500 {
                peer.probe(message.clone().into_bytes(), headers.clone())
                    .await?;
            }
        }
        false => {
            let lines = vec![message; 500].join("\n");
            peer.be_patient();
            peer.probe(lines.into_bytes(), Vec::new()).await?;
        }
    }
    peer.is_alive().await
}

async fn cancel_unknown(peer: &mut Peer) -> Judgement {
    for id in [json!("none"), json!(123_456), json!(-1)] {
        notify(
            peer,
            "notifications/cancelled",
            json!({ "requestId": id, "reason": "check" }),
        )
        .await?;
    }
    peer.is_alive().await
}

async fn cancel_malformed(peer: &mut Peer) -> Judgement {
    for params in [
        json!({}),
        json!({ "requestId": {} }),
        json!({ "requestId": null, "reason": 5 }),
    ] {
        notify(peer, "notifications/cancelled", params).await?;
    }
    peer.is_alive().await
}

async fn cancel_finished(peer: &mut Peer) -> Judgement {
    let method = match peer.is_modern() {
        true => "server/discover",
        false => "ping",
    };
    let request = peer.request(method, Value::Null);
    peer.ask_message(&request).await?;
    let id = request.get("id").cloned().unwrap_or_default();
    notify(peer, "notifications/cancelled", json!({ "requestId": id })).await?;
    peer.is_alive().await
}
