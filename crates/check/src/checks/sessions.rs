//! Sessions over HTTP, and the header of the revision.

use std::collections::BTreeSet;

use http::{HeaderValue, Method};
use pintle_model::Feature;
use serde_json::Value;

use super::{LEGACY_06, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, Stop, ensure, observed, skipped};
use crate::peer::{Peer, SESSION_ID, header};
use crate::wire::{Reply, Wait};

const SESSIONS: &[Feature] = &[Feature::HttpSessions];
/// Sessions that are compared.
const COUNT: usize = 8;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "session-id-characters",
        "A session id has visible ASCII characters only.",
        "Streamable HTTP: Session management",
        &[must(SESSIONS, &["TRANS-SESS-03"]).http()],
        run!(characters),
    ),
    Check::new(
        "session-id-unique",
        "Session ids are long, unique and not sequential.",
        "Streamable HTTP: Session management",
        &[
            should(SESSIONS, &["TRANS-SESS-02"]).http(),
            robust(SESSIONS, &["H-12"]).http(),
        ],
        run!(unique),
    ),
    Check::new(
        "session-missing",
        "A request without the id of its session has status 400.",
        "Streamable HTTP: Session management",
        &[should(SESSIONS, &["TRANS-SESS-06"]).http()],
        run!(missing),
    ),
    Check::new(
        "session-forged",
        "A request with the id of no session is rejected.",
        "SECURITY: sessions",
        &[robust(SESSIONS, &["H-13", "H-18"]).http()],
        run!(forged),
    ),
    Check::new(
        "session-fixation",
        "`initialize` with an id of the client does not open a session with this id.",
        "SECURITY: sessions",
        &[robust(SESSIONS, &["H-13"]).http()],
        run!(fixation),
    ),
    Check::new(
        "session-ended",
        "A request of a session that DELETE has ended has status 404.",
        "Streamable HTTP: Session management",
        &[
            must(SESSIONS, &["TRANS-SESS-08"]).http(),
            robust(SESSIONS, &["H-14"]).http(),
        ],
        run!(ended),
    ),
    Check::new(
        "session-ids-apart",
        "Two sessions can use the same id of a request.",
        "SECURITY: sessions",
        &[robust(SESSIONS, &["H-16"]).http()],
        run!(apart),
    ),
    Check::new(
        "version-header-invalid",
        "An unknown revision in `MCP-Protocol-Version` has status 400.",
        "Streamable HTTP: Protocol version header",
        &[
            must(LEGACY_06, &["TRANS-VER-04"]).http(),
            robust(LEGACY_06, &["H-59"]).http(),
        ],
        run!(version_invalid),
    ),
    Check::new(
        "version-header-missing",
        "A request of a session without `MCP-Protocol-Version` is served.",
        "Streamable HTTP: Protocol version header",
        &[
            should(LEGACY_06, &["TRANS-VER-03"]).http(),
            robust(LEGACY_06, &["H-60"]).http(),
        ],
        run!(version_missing),
    ),
];

fn session_of(peer: &Peer) -> Result<HeaderValue, Stop> {
    peer.session
        .clone()
        .ok_or_else(|| skipped("the server assigns no session id"))
}

async fn characters(peer: &mut Peer) -> Judgement {
    let id = session_of(peer)?;
    let is_visible = |byte: &u8| (0x21..=0x7e).contains(byte);
    match !id.is_empty() && id.as_bytes().iter().all(is_visible) {
        true => Ok(()),
        false => Err(observed(format!("the id is {id:?}"))),
    }
}

async fn unique(peer: &mut Peer) -> Judgement {
    let mut ids = BTreeSet::new();
    for _ in 0..COUNT {
        let other = peer.another().await?;
        let id = String::from_utf8_lossy(session_of(&other)?.as_bytes()).into_owned();
        if id.len() < 16 {
            return Err(observed(format!("the id {id:?} is short")));
        }
        if !ids.insert(id.clone()) {
            return Err(observed(format!("two sessions have the id {id:?}")));
        }
        end(other).await;
    }
    // The ids are sorted, so neighbours of a counter differ in the last character alone.
    let sorted: Vec<&String> = ids.iter().collect();
    let differs_last = |pair: &[&String]| {
        pair[0].len() == pair[1].len()
            && pair[0].get(..pair[0].len() - 1) == pair[1].get(..pair[1].len() - 1)
    };
    ensure(!sorted.windows(2).any(differs_last))
}

async fn ping_with(peer: &mut Peer, session: Option<&str>) -> Reply {
    let request = peer.request("ping", Value::Null);
    let headers = header(peer.headers_of(&request), "mcp-session-id", session);
    peer.send_with(&request, headers, Wait::Response).await
}

async fn missing(peer: &mut Peer) -> Judgement {
    session_of(peer)?;
    let reply = ping_with(peer, None).await;
    match reply.has_result() {
        true => Err(skipped("the server requires no session")),
        false => ensure(reply.status == Some(400)),
    }
}

async fn forged(peer: &mut Peer) -> Judgement {
    session_of(peer)?;
    for id in ["00000000-0000-0000-0000-000000000000", "1", "../../x"] {
        let reply = ping_with(peer, Some(id)).await;
        ensure(reply.is_rejected())?;
    }
    Ok(())
}

async fn fixation(peer: &mut Peer) -> Judgement {
    session_of(peer)?;
    let chosen = "pintle-check-chosen-by-the-client";
    let mut other = peer.unopened().await?;
    let request = other.initialize(peer.revision.as_str());
    let headers = header(other.headers_of(&request), "mcp-session-id", Some(chosen));
    let reply = other.send_with(&request, headers, Wait::Response).await;
    let assigned = reply.headers.get(SESSION_ID);
    ensure(assigned.is_none_or(|id| id != chosen))?;
    let reply = ping_with(&mut other, Some(chosen)).await;
    ensure(reply.is_rejected())
}

/// Ends a session by DELETE.
async fn end(mut peer: Peer) -> (Peer, Reply) {
    let headers = header(peer.headers_of(&Value::Null), "content-type", None);
    let reply = peer
        .exchange(Vec::new(), Method::DELETE, headers, Wait::Response)
        .await;
    (peer, reply)
}

async fn ended(peer: &mut Peer) -> Judgement {
    session_of(peer)?;
    let (mut other, deleted) = end(peer.another().await?).await;
    if deleted.status == Some(405) {
        return Err(skipped("clients may not end sessions"));
    }
    ensure(
        deleted
            .status
            .is_some_and(|status| (200..300).contains(&status)),
    )?;
    let request = other.request("ping", Value::Null);
    let reply = other.send(&request, Wait::Response).await;
    ensure(reply.status == Some(404))
}

async fn apart(peer: &mut Peer) -> Judgement {
    session_of(peer)?;
    let mut other = peer.another().await?;
    let id = serde_json::json!("same-id");
    let here = peer.request_with_id(id.clone(), "ping", Value::Null);
    let there = other.request_with_id(id, "pintle/check/unknown", serde_json::json!({}));
    let (here, there) = tokio::join!(peer.ask_message(&here), other.ask_message(&there));
    here?.result()?;
    there?.code()?;
    end(other).await;
    Ok(())
}

async fn version_invalid(peer: &mut Peer) -> Judgement {
    for version in ["9999-99-99", "nonsense"] {
        let request = peer.request("ping", Value::Null);
        let headers = header(
            peer.headers_of(&request),
            "mcp-protocol-version",
            Some(version),
        );
        let reply = peer.send_with(&request, headers, Wait::Response).await;
        ensure(reply.status == Some(400))?;
    }
    Ok(())
}

async fn version_missing(peer: &mut Peer) -> Judgement {
    let request = peer.request("ping", Value::Null);
    let headers = header(peer.headers_of(&request), "mcp-protocol-version", None);
    let reply = peer.send_with(&request, headers, Wait::Response).await;
    ensure(reply.has_result())
}
