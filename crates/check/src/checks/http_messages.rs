//! HTTP methods, statuses, media types and event streams.

use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use pintle_model::Feature;
use serde_json::{Value, json};

use super::{LEGACY_03, MODERN, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, Stop, ensure, observed, observed_after, skipped};
use crate::log::Exchange;
use crate::peer::{Headers, Peer, header};
use crate::text::shown;
use crate::wire::{End, Reply, Wait, media_type};

/// Those with a session and a stream for messages without a request.
const SESSIONS: &[Feature] = &[Feature::HttpSessions];

/// How long a stream without a request is read.
const LISTENING: Duration = Duration::from_millis(700);

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "http-post",
        "A request by POST has a response at the endpoint.",
        "Streamable HTTP: Sending messages",
        &[
            must(LEGACY_03, &["TRANS-HTTP-01"]).http(),
            must(MODERN, &["N-HTTP-01"]).http(),
        ],
        run!(post),
    ),
    Check::new(
        "http-response-type",
        "The response to a request is one JSON object or an event stream.",
        "Streamable HTTP: Sending messages",
        &[
            must(LEGACY_03, &["TRANS-HTTP-13"]).http(),
            must(MODERN, &["N-HTTP-10"]).http(),
        ],
        run!(response_type),
    ),
    Check::new(
        "http-get",
        "GET opens an event stream, or has status 405.",
        "Streamable HTTP: Listening for messages",
        &[must(SESSIONS, &["TRANS-HTTP-31"]).http()],
        run!(get),
    ),
    Check::new(
        "http-get-without-response",
        "The stream of a GET has no responses to requests of other streams.",
        "Streamable HTTP: Listening for messages",
        &[must(SESSIONS, &["TRANS-HTTP-34", "TRANS-HTTP-39"]).http()],
        run!(get_without_response),
    ),
    Check::new(
        "http-get-modern",
        "GET and DELETE have status 405 on a server without older revisions.",
        "Streamable HTTP: Compatibility",
        &[should(MODERN, &["N-COMPAT-01"]).http()],
        run!(get_modern),
    ),
    Check::new(
        "http-method-unknown",
        "Other HTTP methods have a status from 400 to 499, or 501.",
        "SECURITY: HTTP",
        &[
            robust(LEGACY_03, &["H-8"]).http(),
            robust(MODERN, &["H-8"]).http(),
        ],
        run!(other_methods),
    ),
    Check::new(
        "http-content-type",
        "A body that is not `application/json` is not executed.",
        "SECURITY: HTTP",
        &[
            robust(LEGACY_03, &["H-7"]).http(),
            robust(MODERN, &["H-7"]).http(),
        ],
        run!(content_type),
    ),
    Check::new(
        "http-stream-ends",
        "The event stream of a request ends after the response.",
        "Streamable HTTP: Sending messages",
        &[
            should(LEGACY_03, &["TRANS-HTTP-24"]).http(),
            should(MODERN, &["N-HTTP-14"]).http(),
        ],
        run!(stream_ends),
    ),
    Check::new(
        "http-stream-buffering",
        "An event stream has the header `X-Accel-Buffering: no`.",
        "Streamable HTTP: Sending messages",
        &[should(MODERN, &["N-HTTP-15"]).http()],
        run!(buffering),
    ),
    Check::new(
        "http-stream-ids",
        "Events have no ids, because streams are not resumed.",
        "Streamable HTTP: Sending messages",
        &[must(MODERN, &["N-HTTP-18"]).http()],
        run!(no_event_ids),
    ),
    Check::new(
        "http-event-ids-unique",
        "Ids of events are unique across the streams of a session.",
        "Streamable HTTP: Resumability",
        &[must(SESSIONS, &["TRANS-RESUME-02"]).http()],
        run!(event_ids_unique),
    ),
    Check::new(
        "http-resume-own-stream",
        "A resumed stream repeats neither earlier messages nor messages of other streams.",
        "Streamable HTTP: Resumability",
        &[must(SESSIONS, &["TRANS-RESUME-06", "TRANS-RESUME-07"]).http()],
        run!(resume_own_stream),
    ),
    Check::new(
        "http-stream-has-response",
        "The event stream of a request does not end without the response.",
        "Streamable HTTP: Sending messages",
        &[should(SESSIONS, &["TRANS-HTTP-20"]).http()],
        run!(stream_has_response),
    ),
    Check::new(
        "http-error-bodies",
        "A rejected request reveals no stack trace and no path of a source file.",
        "SECURITY: HTTP",
        &[
            robust(LEGACY_03, &["H-9"]).http(),
            robust(MODERN, &["H-9"]).http(),
        ],
        run!(error_bodies),
    ),
];

fn harmless(peer: &mut Peer) -> Value {
    match peer.is_modern() {
        true => peer.request("server/discover", Value::Null),
        false => peer.request("ping", Value::Null),
    }
}

async fn post(peer: &mut Peer) -> Judgement {
    let request = harmless(peer);
    let answer = peer.ask_message(&request).await?;
    answer.result()?;
    ensure(answer.reply.status == Some(200))
}

async fn response_type(peer: &mut Peer) -> Judgement {
    for exchange in peer.exchanges() {
        let media = media_type(&exchange.reply);
        let is_known = matches!(media.as_str(), "application/json" | "text/event-stream");
        if exchange.answer().is_some() && !is_known {
            return Err(observed(format!("the media type is {media:?}")));
        }
    }
    Ok(())
}

/// The head of a GET or DELETE.
fn head_of(peer: &Peer, accept: &'static str) -> Headers {
    let headers = peer.headers_of(&Value::Null);
    let headers = header(headers, "content-type", None);
    header(headers, "accept", Some(accept))
}

async fn open_stream(peer: &mut Peer) -> Reply {
    let headers = head_of(peer, "text/event-stream");
    // A stream has nothing to send, so only its head is read.
    peer.exchange(Vec::new(), Method::GET, headers, Wait::Messages(0))
        .await
}

async fn get(peer: &mut Peer) -> Judgement {
    let reply = open_stream(peer).await;
    match reply.status {
        Some(200) => ensure(reply.is_stream),
        status => ensure(status == Some(405)),
    }
}

async fn get_without_response(peer: &mut Peer) -> Judgement {
    let mut other = peer.beside()?;
    other.wait_at_most(LISTENING);
    let headers = head_of(peer, "text/event-stream");
    let listening = other.exchange(Vec::new(), Method::GET, headers, Wait::Messages(64));
    let asking = async {
        let mut ids = Vec::new();
        for _ in 0..3 {
            let request = peer.request("ping", Value::Null);
            peer.ask_message(&request).await?;
            ids.extend(request.get("id").cloned());
        }
        Ok(ids)
    };
    let (listened, asked) = tokio::join!(listening, asking);
    let ids: Vec<Value> = asked?;
    match listened.status {
        Some(405) => Err(skipped("the server has no such stream")),
        _ => ensure(ids.iter().all(|id| listened.answer(id).is_none())),
    }
}

async fn get_modern(peer: &mut Peer) -> Judgement {
    let mut legacy = peer.unopened().await?;
    legacy.revision = pintle_model::Revision::LATEST_LEGACY;
    if legacy.open().await.is_ok() {
        return Err(skipped("the server serves older revisions, too"));
    }
    for method in [Method::GET, Method::DELETE] {
        let headers = head_of(peer, "text/event-stream");
        let reply = peer
            .exchange(Vec::new(), method, headers, Wait::Messages(0))
            .await;
        ensure(reply.status == Some(405))?;
    }
    Ok(())
}

async fn other_methods(peer: &mut Peer) -> Judgement {
    for method in [Method::PUT, Method::PATCH, Method::TRACE] {
        let request = harmless(peer);
        let headers = peer.headers_of(&request);
        let body = match method {
            Method::TRACE => Vec::new(),
            _ => request.to_string().into_bytes(),
        };
        let reply = peer.exchange(body, method, headers, Wait::Response).await;
        ensure(reply.is_rejected() || reply.status == Some(501))?;
    }
    peer.is_alive().await
}

async fn content_type(peer: &mut Peer) -> Judgement {
    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let request = harmless(peer);
        let mut headers = peer.headers_of(&request);
        headers.retain(|(name, _)| name != CONTENT_TYPE);
        headers.push((CONTENT_TYPE, HeaderValue::from_static(media)));
        let reply = peer.send_with(&request, headers, Wait::Response).await;
        ensure(!reply.has_result())?;
    }
    Ok(())
}

/// Returns the replies that were event streams with a response. The answer to a handshake is one of another era.
fn streams(peer: &Peer) -> Vec<Reply> {
    let is_modern = peer.is_modern();
    let exchanges = peer.exchanges().into_iter();
    exchanges
        .filter(|exchange| !is_modern || exchange.method() != Some("initialize"))
        .filter(|exchange| exchange.reply.is_stream && exchange.answer().is_some())
        .map(|exchange| exchange.reply)
        .collect()
}

async fn stream_ends(peer: &mut Peer) -> Judgement {
    let mut was_seen = false;
    for exchange in peer.exchanges() {
        if exchange.reply.is_stream && exchange.answer().is_some() {
            was_seen = true;
            if !exchange.reply.ended_after_answer {
                let sent = exchange.request.as_ref().map(shown).unwrap_or_default();
                return Err(observed_after(
                    sent,
                    "the stream is open after the response",
                ));
            }
        }
    }
    match was_seen {
        true => Ok(()),
        false => Err(skipped("no response was an event stream")),
    }
}

async fn buffering(peer: &mut Peer) -> Judgement {
    let streams = streams(peer);
    match streams.is_empty() {
        true => Err(skipped("no response was an event stream")),
        false => ensure(
            streams
                .iter()
                .all(|reply| reply.header("x-accel-buffering") == Some("no")),
        ),
    }
}

async fn no_event_ids(peer: &mut Peer) -> Judgement {
    let streams = streams(peer);
    match streams.iter().find_map(|reply| reply.event_ids.first()) {
        Some(id) => Err(observed(format!("an event has the id {id:?}"))),
        None if streams.is_empty() => Err(skipped("no response was an event stream")),
        None => Ok(()),
    }
}

async fn event_ids_unique(peer: &mut Peer) -> Judgement {
    let mut known = std::collections::BTreeSet::new();
    let mut other = peer.another().await?;
    for _ in 0..4 {
        let request = other.request("ping", json!({}));
        let answer = other.ask_message(&request).await?;
        let mut ids = answer.reply.event_ids.clone();
        ids.dedup();
        for id in ids {
            if !known.insert(id.clone()) {
                return Err(observed(format!("two events have the id {id:?}")));
            }
        }
    }
    match known.is_empty() {
        true => Err(skipped("no event had an id")),
        false => Ok(()),
    }
}

/// Returns a request of the survey that was answered by events with ids, with a new id.
fn streamed(peer: &mut Peer) -> Result<Value, Stop> {
    let is_repeatable = |exchange: &Exchange| match exchange.method() {
        Some("tools/list" | "resources/list" | "prompts/list") => true,
        _ => exchange.request.as_ref().is_some_and(|request| {
            let id = request.get("id").and_then(Value::as_str);
            id.is_some_and(|id| id.starts_with("sample-"))
        }),
    };
    let exchanges = peer.exchanges().into_iter();
    let mut streams = exchanges
        .filter(|exchange| !exchange.reply.event_ids.is_empty() && is_repeatable(exchange));
    let Some(mut request) = streams.find_map(|exchange| exchange.request) else {
        return Err(skipped("no event had an id"));
    };
    request["id"] = peer.next_id();
    Ok(request)
}

async fn resume_own_stream(peer: &mut Peer) -> Judgement {
    let mut other = peer.another().await?;
    let first = streamed(peer)?;
    let ids = other.ask_message(&first).await?.reply.event_ids;
    let Some(last) = ids.last() else {
        return Err(skipped("no event had an id"));
    };
    let second = streamed(peer)?;
    other.ask_message(&second).await?;
    let headers = header(
        head_of(&other, "text/event-stream"),
        "last-event-id",
        Some(last),
    );
    other.wait_at_most(LISTENING);
    let resumed = other
        .exchange(Vec::new(), Method::GET, headers, Wait::Messages(64))
        .await;
    if !resumed.is_stream {
        return Err(skipped("the server does not resume the stream"));
    }
    for request in [first, second] {
        let id = request.get("id").unwrap_or(&Value::Null);
        if let Some(message) = resumed.answer(id) {
            return Err(observed(format!(
                "after the event {last:?}: {}",
                shown(message)
            )));
        }
    }
    Ok(())
}

async fn stream_has_response(peer: &mut Peer) -> Judgement {
    // Other requests may be cancelled, or be without a response on purpose.
    let is_plain = |exchange: &Exchange| {
        let method = exchange.method();
        let id = exchange
            .request
            .as_ref()
            .and_then(|request| request.get("id"));
        let is_list = matches!(
            method,
            Some("tools/list" | "resources/list" | "prompts/list")
        );
        exchange.reply.is_stream && is_list && id.is_some()
    };
    let streams: Vec<Exchange> = peer.exchanges().into_iter().filter(is_plain).collect();
    let mut without = streams
        .iter()
        .filter(|exchange| exchange.answer().is_none() && exchange.reply.end == End::Ended);
    match without.next() {
        None if streams.is_empty() => Err(skipped("no response was an event stream")),
        None => Ok(()),
        Some(exchange) => {
            let sent = exchange.request.as_ref().map(shown).unwrap_or_default();
            Err(observed_after(sent, exchange.reply.text()))
        }
    }
}

async fn error_bodies(peer: &mut Peer) -> Judgement {
    const SIGNS: [&str; 6] = [
        "Traceback (most recent",
        "node_modules",
        "panicked at",
        ".rs:",
        "site-packages",
        "at Object.<anonymous>",
    ];
    for exchange in peer.exchanges() {
        let reply = &exchange.reply;
        let text = reply.text();
        let is_rejected = reply.status.is_some_and(|status| status >= 400);
        if let Some(sign) = SIGNS
            .into_iter()
            .find(|sign| is_rejected && text.contains(sign))
        {
            return Err(observed(format!("a body contains {sign:?}: {text}")));
        }
    }
    Ok(())
}
