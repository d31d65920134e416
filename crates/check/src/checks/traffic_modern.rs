//! All messages of a revision without a handshake.

use serde_json::{Value, json};

use super::{MODERN, run};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, observed, observed_after, skipped};
use crate::log::Exchange;
use crate::peer::Peer;
use crate::text::shown;
use crate::value::Fault;
use crate::wire::is_server_request;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "result-type",
        "Each result has a `resultType`.",
        "Base protocol: Results",
        &[must(MODERN, &["N-BASE-09"])],
        run!(result_type),
    ),
    Check::new(
        "result-type-known",
        "`resultType` is `complete`, `input_required`, or of a negotiated extension.",
        "Base protocol: Results",
        &[must(MODERN, &["N-EXT-11", "X-TASK-03"])],
        run!(result_type_known),
    ),
    Check::new(
        "result-server-info",
        "Each result has the identity of the server.",
        "Base protocol: `_meta`",
        &[should(MODERN, &["N-META-04"])],
        run!(server_info),
    ),
    Check::new(
        "no-server-requests",
        "The server sends no requests.",
        "Patterns: Overview",
        &[
            must(MODERN, &["N-BASE-14"]),
            must(MODERN, &["N-STDIO-05"]).stdio(),
            must(MODERN, &["N-HTTP-13"]).http(),
        ],
        run!(no_requests),
    ),
    Check::new(
        "error-codes-reserved",
        "Codes from -32099 to -32020 are those of the specification.",
        "Base protocol: Error codes",
        &[must(MODERN, &["N-ERR-04"])],
        run!(reserved),
    ),
    Check::new(
        "error-codes-retired",
        "The codes -32002 and -32042 are not used.",
        "Base protocol: Error codes",
        &[must(MODERN, &["N-ERR-05"])],
        run!(retired),
    ),
    Check::new(
        "error-codes-old-range",
        "Codes from -32019 to -32000 are not used.",
        "Base protocol: Error codes",
        &[should(MODERN, &["N-ERR-02"])],
        run!(old_range),
    ),
    Check::new(
        "input-required-methods",
        "Only `tools/call`, `prompts/get` and `resources/read` require input.",
        "Multi round-trip requests: Supported requests",
        &[must(MODERN, &["N-MRTR-03"])],
        run!(input_methods),
    ),
    Check::new(
        "input-required-shape",
        "A result that requires input has requests or a state, and no caching hints.",
        "Multi round-trip requests: Input required results",
        &[must(
            MODERN,
            &["N-MRTR-04", "N-MRTR-05", "N-MRTR-06", "N-MRTR-30"],
        )],
        run!(input_shape),
    ),
    Check::new(
        "input-required-undeclared",
        "A server does not ask a client without capabilities.",
        "Multi round-trip requests: Capabilities",
        &[must(MODERN, &["N-MRTR-07", "N-ELIC-02", "N-EXT-08"])],
        run!(input_undeclared),
    ),
    Check::new(
        "capability-required",
        "Error -32021 lists the missing capabilities.",
        "Base protocol: Error codes",
        &[must(MODERN, &["N-EXT-09"])],
        run!(capability_required),
    ),
    Check::new(
        "capability-required-status",
        "Error -32021 has status 400.",
        "Base protocol: Error codes",
        &[must(MODERN, &["N-HTTP-24"]).http()],
        run!(capability_status),
    ),
    Check::new(
        "notifications-of-request",
        "Notifications before a response belong to its request.",
        "Streamable HTTP: Sending messages",
        &[
            must(MODERN, &["N-HTTP-12"]).http(),
            must(MODERN, &["N-PAT-03"]),
        ],
        run!(of_request),
    ),
    Check::new(
        "cancelled-not-sent",
        "The server sends no cancellation, except to end a subscription.",
        "Cancellation: Overview",
        &[must(MODERN, &["N-CANC-07"])],
        run!(no_cancellation),
    ),
];

/// Judges each result together with its exchange.
fn each_result(peer: &Peer, judge: impl Fn(&Exchange, &Value) -> Fault) -> Judgement {
    for exchange in peer.exchanges() {
        let results = exchange
            .reply
            .messages
            .iter()
            .filter_map(|message| message.get("result"));
        for result in results {
            // Results of older revisions come for their handshake, and for a request without metadata.
            let is_handshake = result.get("protocolVersion").is_some();
            if let Some(fault) = judge(&exchange, result).filter(|_| !is_handshake) {
                let sent = exchange.request.as_ref().map(shown).unwrap_or_default();
                return Err(observed_after(sent, fault));
            }
        }
    }
    Ok(())
}

async fn result_type(peer: &mut Peer) -> Judgement {
    each_result(peer, |_, result| {
        let kind = result.get("resultType");
        (!kind.is_some_and(Value::is_string)).then(|| shown(result))
    })
}

async fn result_type_known(peer: &mut Peer) -> Judgement {
    each_result(peer, |exchange, result| {
        let kind = result.get("resultType")?.as_str()?;
        let declared = exchange.request.as_ref().and_then(|request| {
            request
                .pointer("/params/_meta")?
                .get("io.modelcontextprotocol/clientCapabilities")
        });
        let has_extensions = declared.is_some_and(|declared| declared.get("extensions").is_some());
        let is_known = matches!(kind, "complete" | "input_required") || has_extensions;
        (!is_known).then(|| shown(result))
    })
}

async fn server_info(peer: &mut Peer) -> Judgement {
    each_result(peer, |_, result| {
        let info = result
            .get("_meta")
            .and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
        info.is_none().then(|| shown(result))
    })
}

/// Judges each message.
fn each(peer: &Peer, judge: impl Fn(&Value) -> bool) -> Judgement {
    for exchange in peer.exchanges() {
        if let Some(message) = exchange
            .reply
            .messages
            .iter()
            .find(|message| !judge(message))
        {
            let sent = exchange.request.as_ref().map(shown).unwrap_or_default();
            return Err(observed_after(sent, shown(message)));
        }
    }
    Ok(())
}

async fn no_requests(peer: &mut Peer) -> Judgement {
    each(peer, |message| !is_server_request(message))
}

fn code(message: &Value) -> Option<i64> {
    message.pointer("/error/code")?.as_i64()
}

async fn reserved(peer: &mut Peer) -> Judgement {
    each(peer, |message| {
        let is_free = |code| !(-32_099..=-32_020).contains(&code);
        code(message).is_none_or(|code| {
            is_free(code) || matches!(code, -32_022..=-32_020) || code == -32_042
        })
    })
}

async fn retired(peer: &mut Peer) -> Judgement {
    each(peer, |message| {
        !matches!(code(message), Some(-32_002 | -32_042))
    })
}

async fn old_range(peer: &mut Peer) -> Judgement {
    each(peer, |message| {
        code(message).is_none_or(|code| code == -32_002 || !(-32_019..=-32_000).contains(&code))
    })
}

fn is_input_required(result: &Value) -> bool {
    result.get("resultType") == Some(&json!("input_required"))
}

async fn input_methods(peer: &mut Peer) -> Judgement {
    each_result(peer, |exchange, result| {
        let may_ask = matches!(
            exchange.method(),
            Some("tools/call" | "prompts/get" | "resources/read")
        );
        (is_input_required(result) && !may_ask).then(|| shown(result))
    })
}

/// Returns the results that require input.
fn inputs(peer: &Peer) -> Result<Vec<Value>, crate::finding::Stop> {
    let exchanges = peer.exchanges().into_iter();
    let results = exchanges.filter_map(|exchange| exchange.answer()?.get("result").cloned());
    let inputs: Vec<Value> = results.filter(is_input_required).collect();
    match inputs.is_empty() {
        true => Err(skipped("no result required input")),
        false => Ok(inputs),
    }
}

async fn input_shape(peer: &mut Peer) -> Judgement {
    let is_request = |request: &Value| {
        let method = request.get("method").and_then(Value::as_str);
        matches!(
            method,
            Some("elicitation/create" | "sampling/createMessage" | "roots/list")
        ) && request.get("id").is_none()
    };
    for result in inputs(peer)? {
        let requests = result.get("inputRequests");
        let state = result.get("requestState");
        let is_valid = (requests.is_some() || state.is_some())
            && state.is_none_or(Value::is_string)
            && requests.is_none_or(|requests| {
                requests
                    .as_object()
                    .is_some_and(|requests| requests.values().all(is_request))
            })
            && result.get("ttlMs").is_none();
        if !is_valid {
            return Err(observed(shown(&result)));
        }
    }
    Ok(())
}

async fn input_undeclared(peer: &mut Peer) -> Judgement {
    if inputs(peer).is_err() && missing_capabilities(peer).is_err() {
        return Err(skipped("no request needed a client"));
    }
    each_result(peer, |_, result| {
        let asks = result.get("inputRequests").and_then(Value::as_object);
        asks.is_some_and(|asks| !asks.is_empty())
            .then(|| shown(result))
    })
}

/// Returns the exchanges with error -32021.
fn missing_capabilities(peer: &Peer) -> Result<Vec<Exchange>, crate::finding::Stop> {
    let exchanges = peer.exchanges().into_iter();
    let found: Vec<Exchange> = exchanges
        .filter(|exchange| exchange.reply.code() == Some(-32_021))
        .collect();
    match found.is_empty() {
        true => Err(skipped("no request needed a capability of the client")),
        false => Ok(found),
    }
}

async fn capability_required(peer: &mut Peer) -> Judgement {
    for exchange in missing_capabilities(peer)? {
        let data = exchange
            .reply
            .error()
            .and_then(|error| error.pointer("/data/requiredCapabilities"));
        let is_listed = data
            .and_then(Value::as_object)
            .is_some_and(|data| !data.is_empty());
        if !is_listed {
            return Err(observed(exchange.reply.text()));
        }
    }
    Ok(())
}

async fn capability_status(peer: &mut Peer) -> Judgement {
    for exchange in missing_capabilities(peer)? {
        let is_late = exchange.reply.is_stream;
        if exchange.reply.status != Some(400) && !is_late {
            return Err(observed(exchange.reply.text()));
        }
    }
    Ok(())
}

async fn of_request(peer: &mut Peer) -> Judgement {
    for exchange in peer.exchanges() {
        if exchange.method() == Some("subscriptions/listen") {
            continue;
        }
        let others = exchange.reply.messages.iter().filter(|message| {
            let method = message
                .get("method")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let is_tagged = message
                .pointer("/params/_meta")
                .is_some_and(|meta| meta.get("io.modelcontextprotocol/subscriptionId").is_some());
            method.ends_with("list_changed") && !is_tagged
        });
        if let Some(message) = others.into_iter().next() {
            return Err(observed(shown(message)));
        }
    }
    Ok(())
}

/// Returns true for a cancellation of one of these subscriptions, by which a server ends it.
fn ends_subscription(message: &Value, listens: &[Value]) -> bool {
    let id = message.pointer("/params/requestId");
    id.is_some_and(|id| listens.contains(id))
}

async fn no_cancellation(peer: &mut Peer) -> Judgement {
    let listens = peer.exchanges().into_iter();
    let listens = listens.filter(|exchange| exchange.method() == Some("subscriptions/listen"));
    let listens: Vec<Value> = listens
        .filter_map(|exchange| exchange.request?.get("id").cloned())
        .collect();
    each(peer, |message| {
        message.get("method") != Some(&json!("notifications/cancelled"))
            || ends_subscription(message, &listens)
    })
}
