//! Bytes that are not a message.

use serde_json::{Value, json};

use super::{LEGACY, LEGACY_03, MODERN, run};
use crate::check::{Check, must, robust};
use crate::finding::{Judgement, ensure, observed};
use crate::peer::Peer;
use crate::text::clip_bytes;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "json-invalid",
        "A body that is not JSON has a status from 400.",
        "Streamable HTTP: Sending messages",
        &[
            robust(LEGACY_03, &["AMB-24"]).http(),
            must(MODERN, &["N-ERR-01"]).http(),
        ],
        run!(json_status),
    ),
    Check::new(
        "json-invalid-code",
        "An error about text that is not JSON has the code -32700 and no id.",
        "Base protocol: Error codes",
        &[must(LEGACY, &["MSG-17"]), must(MODERN, &["N-ERR-01"])],
        run!(json_code),
    ),
    Check::new(
        "json-invalid-survived",
        "Text that is not JSON does not end the conversation.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-94", "H-116"]),
            robust(MODERN, &["H-94", "H-116"]),
        ],
        run!(json_survived),
    ),
    Check::new(
        "message-invalid",
        "JSON that is not a message has no result, and an error about it has the code -32600.",
        "Base protocol: Error codes",
        &[
            robust(LEGACY, &["H-95", "H-100", "H-124"]),
            robust(MODERN, &["H-95", "H-100", "H-124"]),
        ],
        run!(message_invalid),
    ),
    Check::new(
        "utf8-invalid",
        "Bytes that are not UTF-8 are not read as a message.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-106", "H-120"]),
            robust(MODERN, &["H-106", "H-120"]),
        ],
        run!(utf8),
    ),
    Check::new(
        "members-of-other-case",
        "Members in another case are not read as members of the protocol.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-102", "H-128"]),
            robust(MODERN, &["H-102", "H-128"]),
        ],
        run!(other_case),
    ),
    Check::new(
        "members-duplicate",
        "A message with a duplicate member has no result.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-103"]), robust(MODERN, &["H-103"])],
        run!(duplicate),
    ),
    Check::new(
        "nesting-deep",
        "Deeply nested JSON does not end the conversation.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-104"]), robust(MODERN, &["H-104"])],
        run!(deep),
    ),
    Check::new(
        "message-large",
        "A message of 3 MiB is answered, or rejected without an end of the conversation.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-105", "H-122"]),
            robust(MODERN, &["H-105", "H-122"]),
        ],
        run!(large),
    ),
    Check::new(
        "responses-unexpected",
        "A response that the server did not await has no effect.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-107"]), robust(MODERN, &["H-107"])],
        run!(responses),
    ),
];

const NOT_JSON: &[&[u8]] = &[
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":",
    b"{\"jsonrpc\":\"2.0\",}",
    b"not json",
];

async fn json_status(peer: &mut Peer) -> Judgement {
    for bytes in NOT_JSON {
        let headers = peer.headers_of(&Value::Null);
        let reply = peer.probe(bytes.to_vec(), headers).await?;
        ensure(reply.status.is_some_and(|status| status >= 400))?;
    }
    Ok(())
}

async fn json_code(peer: &mut Peer) -> Judgement {
    for bytes in NOT_JSON {
        let headers = peer.headers_of(&Value::Null);
        let reply = peer.probe(bytes.to_vec(), headers).await?;
        let mut errors = reply
            .messages
            .iter()
            .filter(|message| message.get("error").is_some());
        // The id of a text that is not JSON may still be readable.
        let is_other = |error: &&Value| error.pointer("/error/code") != Some(&json!(-32700));
        ensure(!errors.any(|error| is_other(&error)))?;
    }
    Ok(())
}

async fn json_survived(peer: &mut Peer) -> Judgement {
    for bytes in NOT_JSON {
        let headers = peer.headers_of(&Value::Null);
        peer.probe(bytes.to_vec(), headers).await?;
        peer.is_alive().await?;
    }
    Ok(())
}

async fn message_invalid(peer: &mut Peer) -> Judgement {
    for message in [
        json!(5),
        json!("ping"),
        json!(true),
        json!({}),
        json!({ "jsonrpc": "2.0", "id": 700 }),
        json!({ "jsonrpc": "1.0", "id": 701, "method": "ping" }),
        json!({ "jsonrpc": 2.0, "id": 702, "method": "ping" }),
        json!({ "id": 703, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": 704, "method": 5 }),
    ] {
        let reply = peer.probe_message(&message).await?;
        ensure(!reply.has_result())?;
        // Headers may be compared with the body before it is read as a message.
        let is_known = |code| matches!(code, -32600 | -32700 | -32602 | -32020);
        ensure(reply.code().is_none_or(is_known))?;
    }
    peer.is_alive().await
}

async fn utf8(peer: &mut Peer) -> Judgement {
    for bytes in [
        &b"\xff"[..],
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf5\x80\x80\x80",
    ] {
        let request = peer.request(harmless(peer), json!({ "x": "MARK" }));
        let headers = peer.headers_of(&request);
        let text = request.to_string();
        let (before, after) = text.split_once("MARK").unwrap_or_default();
        let body = [before.as_bytes(), bytes, after.as_bytes()].concat();
        let reply = peer.probe(body, headers).await?;
        ensure(!reply.has_result())?;
    }
    peer.is_alive().await
}

fn harmless(peer: &Peer) -> &'static str {
    match peer.is_modern() {
        true => "server/discover",
        false => "ping",
    }
}

async fn other_case(peer: &mut Peer) -> Judgement {
    for member in ["Method", "METHOD", "method\\u0000"] {
        let request = peer.request(harmless(peer), json!({}));
        let headers = peer.headers_of(&request);
        let text = request
            .to_string()
            .replace("\"method\":", &format!("\"{member}\":"));
        let reply = peer.probe(text.into_bytes(), headers).await?;
        ensure(!reply.has_result())?;
    }
    Ok(())
}

async fn duplicate(peer: &mut Peer) -> Judgement {
    let request = peer.request(harmless(peer), json!({}));
    let headers = peer.headers_of(&request);
    let text = request
        .to_string()
        .replacen('{', "{\"method\":\"tools/list\",", 1);
    let reply = peer.probe(text.into_bytes(), headers).await?;
    ensure(!reply.has_result())
}

async fn deep(peer: &mut Peer) -> Judgement {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [200, 5_000, 100_000] {
            let inner = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            let request = peer.request(harmless(peer), json!({ "x": "MARK" }));
            let headers = peer.headers_of(&request);
            let body = request.to_string().replace("\"MARK\"", &inner).into_bytes();
            peer.be_patient();
            peer.probe(body, headers).await?;
            peer.is_alive().await?;
        }
    }
    Ok(())
}

async fn large(peer: &mut Peer) -> Judgement {
    let padding = "x".repeat(3 << 20);
    let request = peer.request(harmless(peer), json!({ "padding": padding }));
    let headers = peer.headers_of(&request);
    peer.be_patient();
    let reply = peer
        .probe(request.to_string().into_bytes(), headers)
        .await?;
    peer.is_alive().await?;
    let is_answered = !reply.messages.is_empty() || reply.status.is_some_and(|it| it >= 400);
    match is_answered {
        true => Ok(()),
        false => Err(observed(format!(
            "no response: {}",
            clip_bytes(reply.text().as_bytes())
        ))),
    }
}

async fn responses(peer: &mut Peer) -> Judgement {
    for message in [
        json!({ "jsonrpc": "2.0", "id": 99_999, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": "none", "error": { "code": 1, "message": "m" } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {}, "error": { "code": 1, "message": "m" } }),
        json!({ "jsonrpc": "2.0", "id": null, "result": {} }),
    ] {
        let reply = peer.probe_message(&message).await?;
        ensure(!reply.has_result())?;
        ensure(
            reply
                .status
                .is_none_or(|status| status == 202 || (400..500).contains(&status)),
        )?;
        peer.is_alive().await?;
    }
    Ok(())
}
