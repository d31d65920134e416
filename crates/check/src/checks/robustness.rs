//! Sizes and numbers at which fragile servers fail.

use serde_json::{Value, json};

use super::{LEGACY, LEGACY_03, MODERN, run};
use crate::check::{Check, robust};
use crate::finding::{Judgement, ensure};
use crate::peer::{Peer, header};
use crate::wire::{End, Wait};

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "request-id-reused",
        "An id that is used again does not end the conversation.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["AMB-05"]), robust(MODERN, &["N-BASE-03"])],
        run!(id_reused),
    ),
    Check::new(
        "params-wrong-types",
        "Parameters of wrong types are rejected, and the next request is answered.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-135"]), robust(MODERN, &["H-135"])],
        run!(wrong_types),
    ),
    Check::new(
        "client-name-hostile",
        "The identity of a client is data only.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-150"]), robust(MODERN, &["H-150"])],
        run!(client_name),
    ),
    Check::new(
        "completion-hostile",
        "A completion of 50 KB of braces is answered in time.",
        "SECURITY: URI templates",
        &[robust(LEGACY, &["H-89"]), robust(MODERN, &["H-89"])],
        run!(completion),
    ),
    Check::new(
        "header-large",
        "A header of 1 MB does not stop the server.",
        "SECURITY: HTTP",
        &[
            robust(LEGACY_03, &["H-63"]).http(),
            robust(MODERN, &["H-63"]).http(),
        ],
        run!(header_large),
    ),
];

async fn id_reused(peer: &mut Peer) -> Judgement {
    let method = match peer.is_modern() {
        true => "server/discover",
        false => "ping",
    };
    for _ in 0..2 {
        let request = peer.request_with_id(json!("reused"), method, Value::Null);
        peer.probe_message(&request).await?;
    }
    peer.is_alive().await
}

async fn wrong_types(peer: &mut Peer) -> Judgement {
    for (method, params) in [
        ("tools/call", json!({ "name": 5, "arguments": "x" })),
        ("tools/call", json!({ "name": { "a": 1 } })),
        ("resources/read", json!({ "uri": ["a"] })),
        ("prompts/get", json!({ "name": null, "arguments": [] })),
        ("completion/complete", json!({ "ref": [], "argument": 1 })),
    ] {
        let request = peer.request(method, params);
        let reply = peer.probe_message(&request).await?;
        let is_error = |result: &Value| result.get("isError") == Some(&Value::Bool(true));
        let mut results = reply
            .messages
            .iter()
            .filter_map(|message| message.get("result"));
        ensure(results.all(is_error))?;
    }
    peer.is_alive().await
}

async fn client_name(peer: &mut Peer) -> Judgement {
    let name = format!(
        "\r\nX-Injected: 1\u{1b}[2J<script>%s%n{{}}{}",
        "x".repeat(100_000)
    );
    let info = json!({ "name": name, "version": "\u{0}" });
    let mut other = peer.unopened().await?;
    let request = match peer.is_modern() {
        true => {
            let meta = json!({ "io.modelcontextprotocol/clientInfo": info });
            other.request("server/discover", json!({ "_meta": meta }))
        }
        false => {
            let mut request = other.initialize(peer.revision.as_str());
            request["params"]["clientInfo"] = info;
            request
        }
    };
    let reply = other.probe_without_sync(&request).await;
    ensure(reply.headers.get("x-injected").is_none())?;
    ensure(!matches!(reply.end, End::Lost(_) | End::TimedOut))?;
    peer.is_alive().await
}

async fn completion(peer: &mut Peer) -> Judgement {
    let value = "{a}".repeat(16_000);
    let params = json!({ "ref": { "type": "ref/resource", "uri": value },
        "argument": { "name": "a", "value": value } });
    let request = peer.request("completion/complete", params);
    peer.probe_message(&request).await?;
    peer.is_alive().await
}

async fn header_large(peer: &mut Peer) -> Judgement {
    let wire = peer.endpoint()?.wire(&peer.options);
    let mut other = peer.with_wire(Box::new(wire));
    let value = "x".repeat(1 << 20);
    let headers = header(
        other.headers_of(&Value::Null),
        "x-pintle-check",
        Some(&value),
    );
    // The server may close the connection instead of an answer.
    other
        .exchange(b"{}".to_vec(), http::Method::POST, headers, Wait::Response)
        .await;
    peer.is_alive().await
}
