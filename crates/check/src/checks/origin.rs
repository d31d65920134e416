//! `Origin`, `Host` and CORS: requests that a web page causes.

use http::Method;
use serde_json::Value;

use super::{LEGACY_03, LEGACY_11, MODERN, run};
use crate::check::{Check, must, robust};
use crate::finding::{Judgement, Stop, ensure, observed, skipped};
use crate::peer::{Peer, header};
use crate::wire::{Reply, Wait};

const FOREIGN: &str = "http://evil.example";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "origin-foreign",
        "A local server rejects a request with the origin of another site.",
        "Streamable HTTP: Security warning",
        &[
            must(LEGACY_03, &["TRANS-HTTP-02"]).http(),
            must(MODERN, &["N-HTTP-02"]).http(),
        ],
        run!(foreign),
    ),
    Check::new(
        "origin-foreign-status",
        "The rejection of a foreign origin has status 403.",
        "Streamable HTTP: Security warning",
        &[
            must(LEGACY_11, &["TRANS-HTTP-03"]).http(),
            must(MODERN, &["N-HTTP-02"]).http(),
        ],
        run!(foreign_status),
    ),
    Check::new(
        "origin-look-alike",
        "Origins are compared as a whole.",
        "SECURITY: HTTP",
        &[
            robust(LEGACY_03, &["H-2"]).http(),
            robust(MODERN, &["H-2"]).http(),
        ],
        run!(look_alike),
    ),
    Check::new(
        "origin-absent",
        "A request without an origin is served.",
        "SECURITY: HTTP",
        &[
            robust(LEGACY_03, &["AMB-26"]).http(),
            robust(MODERN, &["A-36"]).http(),
        ],
        run!(absent),
    ),
    Check::new(
        "host-foreign",
        "A local server rejects a request for the host of another site.",
        "SECURITY: HTTP",
        &[
            robust(LEGACY_03, &["H-3", "H-4"]).http(),
            robust(MODERN, &["H-3", "H-4"]).http(),
        ],
        run!(host),
    ),
    Check::new(
        "cors-closed",
        "A foreign origin gets no permission to read responses.",
        "SECURITY: HTTP",
        &[
            robust(LEGACY_03, &["H-6"]).http(),
            robust(MODERN, &["H-6"]).http(),
        ],
        run!(cors),
    ),
];

/// Skips the check for a server that is not on this machine: it decides which sites it serves.
fn needs_local(peer: &Peer) -> Judgement {
    match peer.endpoint()?.is_local() {
        true => Ok(()),
        false => Err(skipped("a public server decides which sites it serves")),
    }
}

async fn with_origin(peer: &mut Peer, origin: Option<&str>) -> Reply {
    let method = match peer.is_modern() {
        true => "server/discover",
        false => "ping",
    };
    let request = peer.request(method, Value::Null);
    let headers = header(peer.headers_of(&request), "origin", origin);
    peer.send_with(&request, headers, Wait::Response).await
}

async fn foreign(peer: &mut Peer) -> Judgement {
    needs_local(peer)?;
    let reply = with_origin(peer, Some(FOREIGN)).await;
    ensure(reply.is_rejected() && !reply.has_result())
}

async fn foreign_status(peer: &mut Peer) -> Judgement {
    needs_local(peer)?;
    let reply = with_origin(peer, Some(FOREIGN)).await;
    match reply.is_rejected() {
        true => ensure(reply.status == Some(403)),
        false => Err(skipped("the origin is not rejected")),
    }
}

async fn look_alike(peer: &mut Peer) -> Judgement {
    needs_local(peer)?;
    let own = peer.endpoint()?.authority().to_owned();
    let origins = [
        "http://localhost.evil.example".to_owned(),
        format!("http://{own}.evil.example"),
        "http://evil.example#localhost".to_owned(),
    ];
    for origin in origins {
        let reply = with_origin(peer, Some(&origin)).await;
        if reply.has_result() {
            return Err(observed(format!("a result for the origin {origin:?}")));
        }
    }
    Ok(())
}

async fn absent(peer: &mut Peer) -> Judgement {
    let reply = with_origin(peer, None).await;
    ensure(reply.has_result())
}

async fn host(peer: &mut Peer) -> Judgement {
    needs_local(peer)?;
    let wire = peer
        .endpoint()?
        .wire_for_host("evil.example", &peer.options);
    let Some(wire) = wire else {
        return Err(skipped("the host of an https URL cannot be replaced"));
    };
    let mut other = peer.with_wire(Box::new(wire));
    let reply = opened(&mut other).await?;
    ensure(reply.is_rejected() && !reply.has_result())
}

/// Sends the first request of a conversation.
async fn opened(peer: &mut Peer) -> Result<Reply, Stop> {
    let request = match peer.is_modern() {
        true => peer.request("server/discover", Value::Null),
        false => {
            let revision = peer.revision;
            peer.initialize(revision.as_str())
        }
    };
    Ok(peer.send(&request, Wait::Response).await)
}

async fn cors(peer: &mut Peer) -> Judgement {
    needs_local(peer)?;
    let headers = vec![];
    let headers = header(headers, "origin", Some(FOREIGN));
    let headers = header(headers, "access-control-request-method", Some("POST"));
    let headers = header(
        headers,
        "access-control-request-headers",
        Some("content-type"),
    );
    let reply = peer
        .exchange(Vec::new(), Method::OPTIONS, headers, Wait::Response)
        .await;
    let plain = with_origin(peer, Some(FOREIGN)).await;
    for reply in [reply, plain] {
        if let Some(allowed) = reply.header("access-control-allow-origin")
            && matches!(allowed, "*" | FOREIGN)
        {
            return Err(observed(format!(
                "`Access-Control-Allow-Origin: {allowed}`"
            )));
        }
    }
    Ok(())
}
