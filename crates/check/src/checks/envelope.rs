//! The metadata that each request of a revision without a handshake has.

use serde_json::{Value, json};

use super::{MODERN, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, Stop, ensure, observed};
use crate::peer::Peer;
use crate::wire::Reply;

const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "meta-missing",
        "A request without `_meta` is answered with error -32602.",
        "Base protocol: Request metadata",
        &[must(MODERN, &["N-META-02"])],
        run!(missing),
    ),
    Check::new(
        "meta-without-capabilities",
        "A request without client capabilities is answered with error -32602.",
        "Base protocol: Request metadata",
        &[must(MODERN, &["N-META-02"])],
        run!(without_capabilities),
    ),
    Check::new(
        "meta-status",
        "A request without client capabilities has status 400.",
        "Base protocol: Request metadata",
        &[must(MODERN, &["N-HTTP-23"]).http()],
        run!(status),
    ),
    Check::new(
        "meta-wrong-types",
        "A request whose metadata has wrong types is rejected.",
        "Base protocol: Request metadata",
        &[robust(MODERN, &["H-56", "H-134"])],
        run!(wrong_types),
    ),
    Check::new(
        "meta-without-client-info",
        "A request without the identity of the client is served.",
        "Base protocol: Request metadata",
        &[should(MODERN, &["N-META-05"])],
        run!(without_client_info),
    ),
    Check::new(
        "meta-unknown-keys",
        "Unknown keys in the metadata of a request are ignored.",
        "Base protocol: `_meta`",
        &[robust(MODERN, &["H-101"])],
        run!(unknown_keys),
    ),
    Check::new(
        "meta-trace-context",
        "A malformed trace context does not fail the request.",
        "Base protocol: Trace context",
        &[robust(MODERN, &["N-TRACE-02"])],
        run!(trace_context),
    ),
];

/// Sends `server/discover` with this metadata; without any if it is null.
async fn discover_with(peer: &mut Peer, meta: Value) -> Result<Reply, Stop> {
    let id = peer.next_id();
    let params = match meta.is_null() {
        true => json!({}),
        false => json!({ "_meta": meta }),
    };
    let request =
        json!({ "jsonrpc": "2.0", "id": id, "method": "server/discover", "params": params });
    peer.probe_message(&request).await
}

async fn missing(peer: &mut Peer) -> Judgement {
    peer.ask("server/discover", Value::Null).await?.result()?;
    let reply = discover_with(peer, Value::Null).await?;
    // A server for both eras may read the request as one before a handshake.
    ensure(matches!(reply.code(), Some(-32602..=-32600)) && !reply.has_result())?;
    match peer.is_http() {
        true => ensure(reply.code() == Some(-32602)),
        false => Ok(()),
    }
}

async fn without_capabilities(peer: &mut Peer) -> Judgement {
    let reply = discover_with(peer, json!({ REVISION: peer.revision.as_str() })).await?;
    ensure(reply.code() == Some(-32602))
}

async fn status(peer: &mut Peer) -> Judgement {
    let reply = discover_with(peer, json!({ REVISION: peer.revision.as_str() })).await?;
    ensure(reply.status == Some(400))
}

async fn wrong_types(peer: &mut Peer) -> Judgement {
    let revision = peer.revision.as_str();
    for meta in [
        json!("text"),
        json!([]),
        json!({ REVISION: 5, CAPABILITIES: {} }),
        json!({ REVISION: revision, CAPABILITIES: "all" }),
        json!({ REVISION: revision, CAPABILITIES: [] }),
    ] {
        let shown = meta.to_string();
        let reply = discover_with(peer, meta).await?;
        if reply.has_result() {
            return Err(observed(format!("a result for `_meta` {shown}")));
        }
    }
    Ok(())
}

async fn without_client_info(peer: &mut Peer) -> Judgement {
    let meta = json!({ REVISION: peer.revision.as_str(), CAPABILITIES: {} });
    let reply = discover_with(peer, meta).await?;
    ensure(reply.has_result())
}

async fn unknown_keys(peer: &mut Peer) -> Judgement {
    let meta = json!({ "com.example/unknown": [1], "plain": null, "com.example/": {} });
    let answer = peer
        .ask("server/discover", json!({ "_meta": meta }))
        .await?;
    answer.result().map(|_| ())
}

async fn trace_context(peer: &mut Peer) -> Judgement {
    let meta = json!({ "traceparent": "not a trace", "tracestate": "==,", "baggage": ";;" });
    let answer = peer
        .ask("server/discover", json!({ "_meta": meta }))
        .await?;
    answer.result().map(|_| ())
}
