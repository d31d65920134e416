//! Headers that repeat the body, in a revision without a handshake.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use pintle_model::Revision;
use pintle_schema::header_bindings;
use serde_json::{Value, json};

use super::{MODERN, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, Stop, ensure, observed, skipped};
use crate::peer::{Headers, Peer, header, is_read_only};
use crate::wire::{Reply, Wait};

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "header-version-mismatch",
        "A revision in the header that is not the one of the body is rejected with 400 and -32020.",
        "Streamable HTTP: Protocol version header",
        &[must(MODERN, &["N-HDR-02"]).http()],
        run!(version_mismatch),
    ),
    Check::new(
        "header-version-missing",
        "A request without `MCP-Protocol-Version` is rejected with 400 and -32020.",
        "Streamable HTTP: Protocol version header",
        &[must(MODERN, &["N-HDR-11"]).http()],
        run!(version_missing),
    ),
    Check::new(
        "header-method-missing",
        "A request without `Mcp-Method` is rejected with 400 and -32020.",
        "Streamable HTTP: Standard request headers",
        &[must(MODERN, &["N-HDR-06"]).http()],
        run!(method_missing),
    ),
    Check::new(
        "header-method-mismatch",
        "An `Mcp-Method` that is not the method of the body is rejected with 400 and -32020.",
        "Streamable HTTP: Standard request headers",
        &[must(MODERN, &["N-HDR-06"]).http()],
        run!(method_mismatch),
    ),
    Check::new(
        "header-name-missing",
        "A call without `Mcp-Name` is rejected with 400 and -32020.",
        "Streamable HTTP: Standard request headers",
        &[must(MODERN, &["N-HDR-06"]).http()],
        run!(name_missing),
    ),
    Check::new(
        "header-name-mismatch",
        "An `Mcp-Name` that is not the name of the body is rejected with 400 and -32020.",
        "Streamable HTTP: Standard request headers",
        &[must(MODERN, &["N-HDR-06"]).http()],
        run!(name_mismatch),
    ),
    Check::new(
        "header-name-encoded",
        "An encoded `Mcp-Name` is decoded before it is compared.",
        "Streamable HTTP: Value encoding",
        &[must(MODERN, &["N-HDR-07"]).http()],
        run!(name_encoded),
    ),
    Check::new(
        "header-name-encoding-invalid",
        "An `Mcp-Name` with an invalid encoding is rejected with 400 and -32020.",
        "Streamable HTTP: Value encoding",
        &[
            must(MODERN, &["N-HDR-07"]).http(),
            robust(MODERN, &["H-52"]).http(),
        ],
        run!(encoding_invalid),
    ),
    Check::new(
        "header-value-case",
        "The values of headers are compared with case.",
        "Streamable HTTP: Standard request headers",
        &[must(MODERN, &["N-HDR-08"]).http()],
        run!(value_case),
    ),
    Check::new(
        "header-blanks",
        "Blanks around the value of a header are ignored.",
        "Streamable HTTP: Standard request headers",
        &[must(MODERN, &["N-HDR-09"]).http()],
        run!(blanks),
    ),
    Check::new(
        "header-duplicate",
        "A header that repeats the body and occurs twice is rejected.",
        "SECURITY: HTTP",
        &[robust(MODERN, &["N-HDR-13"]).http()],
        run!(duplicate),
    ),
    Check::new(
        "header-param-missing",
        "A call without the header of an annotated argument is rejected with 400 and -32020.",
        "Streamable HTTP: Custom headers from tool parameters",
        &[must(MODERN, &["N-XHDR-11"]).http()],
        run!(param_missing),
    ),
    Check::new(
        "header-session-ignored",
        "A session id has no effect, and none is returned.",
        "Streamable HTTP: Compatibility",
        &[should(MODERN, &["N-COMPAT-02"]).http()],
        run!(session_ignored),
    ),
    Check::new(
        "header-last-event-ignored",
        "`Last-Event-ID` has no effect.",
        "Streamable HTTP: Compatibility",
        &[should(MODERN, &["N-COMPAT-03"]).http()],
        run!(last_event_ignored),
    ),
];

/// Sends `server/discover` with changed headers.
async fn discover(peer: &mut Peer, change: impl FnOnce(Headers) -> Headers) -> Reply {
    let request = peer.request("server/discover", Value::Null);
    let headers = change(peer.headers_of(&request));
    peer.send_with(&request, headers, Wait::Response).await
}

fn is_mismatch(reply: &Reply) -> Judgement {
    ensure(reply.status == Some(400) && reply.code() == Some(-32020))
}

async fn version_mismatch(peer: &mut Peer) -> Judgement {
    let other = Revision::LATEST_LEGACY.as_str();
    let reply = discover(peer, |headers| {
        header(headers, "mcp-protocol-version", Some(other))
    })
    .await;
    is_mismatch(&reply)
}

async fn version_missing(peer: &mut Peer) -> Judgement {
    let mut legacy = peer.unopened().await?;
    legacy.revision = Revision::UNNAMED;
    if legacy.open().await.is_ok() {
        return Err(skipped("the server serves revisions without this header"));
    }
    let reply = discover(peer, |headers| {
        header(headers, "mcp-protocol-version", None)
    })
    .await;
    is_mismatch(&reply)
}

async fn method_missing(peer: &mut Peer) -> Judgement {
    let reply = discover(peer, |headers| header(headers, "mcp-method", None)).await;
    is_mismatch(&reply)
}

async fn method_mismatch(peer: &mut Peer) -> Judgement {
    let reply = discover(peer, |headers| {
        header(headers, "mcp-method", Some("tools/list"))
    })
    .await;
    is_mismatch(&reply)
}

/// Calls an unknown tool with changed headers.
async fn call(peer: &mut Peer, change: impl FnOnce(Headers) -> Headers) -> Result<Reply, Stop> {
    if peer.survey.capability("tools").is_none() {
        return Err(skipped("the server declares no tools"));
    }
    let request = peer.request("tools/call", json!({ "name": NAME, "arguments": {} }));
    let headers = change(peer.headers_of(&request));
    Ok(peer.send_with(&request, headers, Wait::Response).await)
}

const NAME: &str = "pintle_check_no_such_tool";

async fn name_missing(peer: &mut Peer) -> Judgement {
    let reply = call(peer, |headers| header(headers, "mcp-name", None)).await?;
    is_mismatch(&reply)
}

async fn name_mismatch(peer: &mut Peer) -> Judgement {
    let reply = call(peer, |headers| header(headers, "mcp-name", Some("other"))).await?;
    is_mismatch(&reply)
}

async fn name_encoded(peer: &mut Peer) -> Judgement {
    let encoded = format!("=?base64?{}?=", STANDARD.encode(NAME));
    let reply = call(peer, |headers| header(headers, "mcp-name", Some(&encoded))).await?;
    ensure(reply.code() != Some(-32020) && !reply.messages.is_empty())
}

async fn encoding_invalid(peer: &mut Peer) -> Judgement {
    for value in ["=?base64?!!!?=", "=?base64?//4=?="] {
        let reply = call(peer, |headers| header(headers, "mcp-name", Some(value))).await?;
        is_mismatch(&reply)?;
    }
    Ok(())
}

async fn value_case(peer: &mut Peer) -> Judgement {
    let reply = discover(peer, |headers| {
        header(headers, "mcp-method", Some("SERVER/DISCOVER"))
    })
    .await;
    is_mismatch(&reply)
}

async fn blanks(peer: &mut Peer) -> Judgement {
    let reply = discover(peer, |headers| {
        header(headers, "mcp-method", Some("  server/discover "))
    })
    .await;
    ensure(reply.has_result())
}

async fn duplicate(peer: &mut Peer) -> Judgement {
    let reply = discover(peer, |mut headers| {
        let name = http::HeaderName::from_static("mcp-method");
        headers.push((name, HeaderValue::from_static("tools/list")));
        headers
    })
    .await;
    ensure(!reply.has_result())
}

async fn param_missing(peer: &mut Peer) -> Judgement {
    let survey = std::sync::Arc::clone(&peer.survey);
    for tool in survey.entries("tools/list")? {
        let schema = tool.get("inputSchema").and_then(Value::as_object);
        let bindings = schema.and_then(|schema| header_bindings(schema).ok());
        let bound = bindings.into_iter().flatten().find(|binding| {
            // An integer would have to match the rest of its schema.
            binding.path.len() == 1 && matches!(binding.kind, pintle_schema::HeaderKind::String)
        });
        let Some(bound) = bound.filter(|_| is_read_only(tool)) else {
            continue;
        };
        let arguments = json!({ bound.path[0].as_str(): "check" });
        let params = json!({ "name": tool.get("name"), "arguments": arguments });
        let request = peer.request("tools/call", params);
        let headers = peer.headers_of(&request);
        let reply = peer.send_with(&request, headers, Wait::Response).await;
        return is_mismatch(&reply);
    }
    Err(skipped("no read-only tool has an annotated argument"))
}

async fn session_ignored(peer: &mut Peer) -> Judgement {
    let reply = discover(peer, |headers| {
        header(headers, "mcp-session-id", Some("check"))
    })
    .await;
    ensure(reply.has_result())?;
    match reply.header("mcp-session-id") {
        None => Ok(()),
        Some(id) => Err(observed(format!("the response has the session id {id:?}"))),
    }
}

async fn last_event_ignored(peer: &mut Peer) -> Judgement {
    let reply = discover(peer, |headers| {
        header(headers, "last-event-id", Some("check-1"))
    })
    .await;
    ensure(reply.has_result())
}
