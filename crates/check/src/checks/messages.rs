//! Requests and their responses: ids, unknown methods, unknown members.

use pintle_model::Feature;
use serde_json::{Value, json};

use super::{LEGACY, LEGACY_06, MODERN, run};
use crate::check::{Check, must, robust};
use crate::finding::{Judgement, ensure, observed};
use crate::peer::Peer;
use crate::text::shown;

const UNKNOWN: &str = "pintle/check/unknown";
/// 2025-03-26, the one revision whose text requires batches.
const BATCHES: &[Feature] = &[Feature::Batches, Feature::StreamableHttp];

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "id-text",
        "A response has the id of its request, which is a text.",
        "Base protocol: Responses",
        &[must(LEGACY, &["MSG-06"]), must(MODERN, &["N-BASE-04"])],
        run!(id_text),
    ),
    Check::new(
        "id-number",
        "A response has the id of its request, which is a number.",
        "Base protocol: Responses",
        &[must(LEGACY, &["MSG-06"]), must(MODERN, &["N-BASE-04"])],
        run!(id_number),
    ),
    Check::new(
        "id-of-error",
        "An error has the id of its request.",
        "Base protocol: Responses",
        &[must(LEGACY, &["MSG-08"]), must(MODERN, &["N-BASE-06"])],
        run!(id_of_error),
    ),
    Check::new(
        "id-odd",
        "Unusual ids are repeated exactly, or the request is rejected.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-98", "H-99", "H-136"]),
            robust(MODERN, &["H-98", "H-99", "H-136"]),
        ],
        run!(id_odd),
    ),
    Check::new(
        "id-invalid",
        "A request whose id is not a text or a number has no result.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-97"]), robust(MODERN, &["H-97"])],
        run!(id_invalid),
    ),
    Check::new(
        "method-unknown",
        "An unknown method is answered with error -32601.",
        "Base protocol: Error codes",
        &[must(LEGACY, &["MSG-17"]), must(MODERN, &["N-ERR-01"])],
        run!(method_unknown),
    ),
    Check::new(
        "method-unknown-status",
        "An unknown method has status 404.",
        "Streamable HTTP: Sending messages",
        &[must(MODERN, &["N-HTTP-21"]).http()],
        run!(method_unknown_status),
    ),
    Check::new(
        "method-of-handshake",
        "Methods of older revisions are unknown in a revision without a handshake.",
        "Changelog: Removed methods",
        &[must(MODERN, &["N-ERR-01"])],
        run!(removed_methods),
    ),
    Check::new(
        "method-of-notification",
        "A request with the method of a notification is answered with an error.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-109"]), robust(MODERN, &["H-109"])],
        run!(method_of_notification),
    ),
    Check::new(
        "params-unknown",
        "Unknown members of parameters are ignored.",
        "Versioning: Compatibility",
        &[
            must(LEGACY, &["GEN-08"]),
            robust(MODERN, &["N-VER-07", "H-101"]),
        ],
        run!(params_unknown),
    ),
    Check::new(
        "members-unknown",
        "Unknown members of a message are ignored.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-101"]), robust(MODERN, &["H-101"])],
        run!(members_unknown),
    ),
    Check::new(
        "meta-open",
        "A request may have any keys in `_meta`.",
        "Base protocol: `_meta`",
        &[must(LEGACY, &["META-02"])],
        run!(meta_open),
    ),
    Check::new(
        "params-list",
        "Parameters that are a list are rejected.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["AMB-04"]), robust(MODERN, &["H-135"])],
        run!(params_list),
    ),
    Check::new(
        "batch-answered",
        "A batch of requests is answered.",
        "Base protocol: Batching",
        &[must(BATCHES, &["D0326-01"])],
        run!(batch_answered),
    ),
    Check::new(
        "batch-refused",
        "A list of requests is not answered with results.",
        "Base protocol: Messages",
        &[robust(LEGACY_06, &["H-96"]), robust(MODERN, &["H-96"])],
        run!(batch_refused),
    ),
];

/// A request without effect, in every revision.
fn harmless(peer: &Peer) -> &'static str {
    match peer.is_modern() {
        true => "server/discover",
        false => "ping",
    }
}

async fn answered(peer: &mut Peer, id: Value) -> Judgement {
    let request = peer.request_with_id(id, harmless(peer), Value::Null);
    peer.ask_message(&request).await?.result().map(|_| ())
}

async fn id_text(peer: &mut Peer) -> Judgement {
    answered(peer, json!("check-1")).await?;
    answered(peer, json!("907")).await
}

async fn id_number(peer: &mut Peer) -> Judgement {
    answered(peer, json!(908)).await
}

async fn id_of_error(peer: &mut Peer) -> Judgement {
    let request = peer.request_with_id(json!("check-2"), UNKNOWN, json!({}));
    peer.ask_message(&request).await?.code().map(|_| ())
}

async fn id_odd(peer: &mut Peer) -> Judgement {
    for id in [
        json!(0),
        json!(-1),
        json!(9_007_199_254_740_993_i64),
        json!(i64::MIN),
        json!(""),
        json!("ä\u{1f600}\" \\"),
        json!("x".repeat(300)),
    ] {
        let request = peer.request_with_id(id.clone(), harmless(peer), Value::Null);
        let reply = peer.probe_message(&request).await?;
        let mut others = reply
            .messages
            .iter()
            .filter(|message| message.get("result").is_some() && message.get("id") != Some(&id));
        if let Some(other) = others.next() {
            return Err(observed(shown(other)));
        }
        if reply.messages.is_empty() && !reply.is_rejected() {
            return Err(observed(format!("no response to the id {}", shown(&id))));
        }
    }
    Ok(())
}

async fn id_invalid(peer: &mut Peer) -> Judgement {
    for id in [Value::Null, json!(true), json!({}), json!([1])] {
        let request = peer.request_with_id(id, harmless(peer), Value::Null);
        let reply = peer.probe_message(&request).await?;
        ensure(!reply.has_result())?;
    }
    Ok(())
}

async fn method_unknown(peer: &mut Peer) -> Judgement {
    peer.ask(UNKNOWN, json!({})).await?.has_code(&[-32601])
}

async fn method_unknown_status(peer: &mut Peer) -> Judgement {
    let answer = peer.ask(UNKNOWN, json!({})).await?;
    ensure(answer.reply.status == Some(404))
}

async fn removed_methods(peer: &mut Peer) -> Judgement {
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({ "level": "info" })),
        ("resources/subscribe", json!({ "uri": "file:///a" })),
        ("resources/unsubscribe", json!({ "uri": "file:///a" })),
    ] {
        peer.ask(method, params).await?.has_code(&[-32601])?;
    }
    Ok(())
}

async fn method_of_notification(peer: &mut Peer) -> Judgement {
    let request = peer.request(
        "notifications/progress",
        json!({ "progressToken": 1, "progress": 1 }),
    );
    let reply = peer.probe_message(&request).await?;
    ensure(!reply.has_result() && (reply.error().is_some() || reply.is_rejected()))
}

async fn params_unknown(peer: &mut Peer) -> Judgement {
    let params = json!({ "com.example/unknown": { "a": [1, null] } });
    let answer = peer.ask(harmless(peer), params).await?;
    answer.result().map(|_| ())
}

async fn members_unknown(peer: &mut Peer) -> Judgement {
    let mut request = peer.request(harmless(peer), json!({}));
    request["com.example/member"] = json!(true);
    peer.ask_message(&request).await?.result().map(|_| ())
}

async fn meta_open(peer: &mut Peer) -> Judgement {
    let meta = json!({ "com.example/a": [1], "b": null, "progressToken": "check" });
    let answer = peer.ask("ping", json!({ "_meta": meta })).await?;
    answer.result().map(|_| ())
}

async fn params_list(peer: &mut Peer) -> Judgement {
    let id = peer.next_id();
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": [1, 2] });
    let reply = peer.probe_message(&request).await?;
    ensure(!reply.has_result())
}

/// Returns the responses of a reply, also those in lists.
fn responses(messages: &[Value]) -> Vec<&Value> {
    let flat = messages.iter().flat_map(|message| match message {
        Value::Array(list) => list.iter().collect::<Vec<_>>(),
        message => vec![message],
    });
    flat.collect()
}

async fn batch_answered(peer: &mut Peer) -> Judgement {
    let batch = json!([
        peer.request("ping", Value::Null),
        peer.request("ping", Value::Null)
    ]);
    let reply = peer.probe_message(&batch).await?;
    let ids: Vec<_> = batch
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|it| it.get("id"))
        .collect();
    let found = responses(&reply.messages);
    let is_answered = |id: &&Value| {
        let mut found = found.iter();
        found.any(|response| response.get("id") == Some(*id) && response.get("result").is_some())
    };
    ensure(ids.iter().all(is_answered))
}

async fn batch_refused(peer: &mut Peer) -> Judgement {
    let method = harmless(peer);
    let batch = json!([
        peer.request(method, Value::Null),
        peer.request(method, Value::Null)
    ]);
    let reply = peer.probe_message(&batch).await?;
    let mut found = responses(&reply.messages).into_iter();
    ensure(!found.any(|response| response.get("result").is_some()))
}
