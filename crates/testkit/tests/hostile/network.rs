//! Lost sessions, slow heads and bodies, and a `DELETE` without an answer.

use std::time::Duration;

use pintle_client::{CallError, Client};
use pintle_proto::TransportErrorKind;
use pintle_testkit::HostileServer;
use pintle_testkit::fake_http::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, courtesy, empty, json, result, stream,
    welcome_to, with,
};
use serde_json::json;
use tokio::time::Instant;

use crate::hostile::{loss, visit, within};

const SECOND: Duration = Duration::from_secs(1);

fn legacy(
    answer: impl Fn(&SeenRequest, usize) -> Option<FakeResponse> + Send + Sync + 'static,
) -> FakeServer {
    FakeServer::new(move |seen, count| match seen {
        seen if seen.is("server/discover") => empty(404),
        seen => answer(seen, count)
            .or_else(|| courtesy(seen))
            .unwrap_or_else(|| json(200, &result(seen))),
    })
}

// hardening: H-160
#[tokio::test(start_paused = true)]
async fn a_forgotten_session_is_reopened_once() {
    // Every session is valid for one call.
    let forgetful = legacy(|seen, count| {
        if seen.is("initialize") {
            return Some(welcome_to(
                seen,
                &[("mcp-session-id", &format!("s-{count}"))],
            ));
        }
        (seen.is("tools/call") || seen.is("tools/list")).then(|| empty(404))
    });
    let client = visit(&forgetful).await.expect("a conversation");
    let error = within(client.list_tools()).await.unwrap_err();
    assert_eq!(loss(&error), TransportErrorKind::SessionLost, "{error}");
    assert_eq!(
        (forgetful.count("initialize"), forgetful.count("tools/list")),
        (2, 2),
        "once more, in a session of its own"
    );
    let listed = forgetful
        .seen()
        .into_iter()
        .filter(|seen| seen.is("tools/list"));
    let sessions: Vec<_> = listed
        .map(|seen| seen.header("mcp-session-id").map(str::to_owned))
        .collect();
    assert_ne!(sessions[0], sessions[1]);
}

// hardening: H-164
#[tokio::test(start_paused = true)]
async fn heads_and_bodies_that_dribble_do_not_hold_a_call_beyond_its_time() {
    for dribbles_head in [true, false] {
        let origin = legacy(move |seen, _| {
            seen.is("tools/call").then(|| {
                let head = b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n";
                let at = if dribbles_head { 0 } else { head.len() };
                let mut answer = vec![BodyPart::Bytes(head[..at].to_vec())];
                let rest = head[at..].iter().chain(std::iter::repeat_n(&b' ', 900));
                answer.extend(rest.flat_map(|byte| [BodyPart::Bytes(vec![*byte]), BodyPart::Wait(SECOND)]));
                answer
            })
        });
        let client = visit(&origin).await.expect("a conversation");
        let began = Instant::now();
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        assert_eq!(began.elapsed().as_secs(), 60);
    }
}

// hardening: H-173
#[tokio::test(start_paused = true)]
async fn a_client_ends_within_five_seconds_whatever_becomes_of_its_session() {
    let cases: [fn() -> FakeResponse; 5] = [
        || vec![BodyPart::Hang],
        || empty(405),
        || empty(404),
        || vec![BodyPart::Wait(60 * SECOND), BodyPart::Cut],
        || vec![BodyPart::Cut],
    ];
    for ending in cases {
        let origin = legacy(move |seen, _| (seen.verb == "DELETE").then(ending));
        let client = visit(&origin).await.expect("a conversation");
        within(client.list_tools()).await.expect("a list");
        let began = Instant::now();
        within(client.close()).await;
        assert!(began.elapsed() <= 5 * SECOND, "{:?}", began.elapsed());
        assert_eq!(origin.count("DELETE"), 1);
    }
}

// spec: 2026-07-28 N-HDR-12
// hardening: H-159
#[tokio::test(start_paused = true)]
async fn an_error_status_is_a_typed_error_and_is_not_retried() {
    for status in [400, 405, 406, 413, 415, 422, 429, 431, 500, 502, 503] {
        let origin = legacy(move |seen, _| seen.is("tools/call").then(|| empty(status)));
        let client = visit(&origin).await.expect("a conversation");
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert_eq!(loss(&error), TransportErrorKind::Status(status));
        assert_eq!(origin.count("tools/call"), 1, "{status}");
        within(client.list_tools())
            .await
            .expect("the session is well");
    }
}

// spec: 2025-11-25 LIFE-13, LIFE-22, TRANS-HTTP-37
#[tokio::test(start_paused = true)]
async fn requests_after_initialize_name_the_revision_and_close_ends_them() {
    let origin = legacy(|seen, _| match seen.verb.as_str() {
        "GET" => {
            let mut answer = stream(&[]);
            answer.push(BodyPart::Hang);
            Some(answer)
        }
        _ => None,
    });
    let client = visit(&origin).await.expect("a conversation");
    within(client.list_tools()).await.expect("a list");
    within(client.set_level(pintle_model::LoggingLevel::Debug))
        .await
        .expect("a result");
    within(client.close()).await;
    drop(client);
    tokio::time::sleep(SECOND).await;
    let seen = origin.seen();
    let after = seen
        .iter()
        .skip_while(|seen| !seen.is("initialize"))
        .skip(1);
    let after: Vec<_> = after.collect();
    assert!(after.len() >= 5, "{after:?}");
    for seen in &after {
        assert_eq!(
            seen.header("mcp-protocol-version"),
            Some("2025-11-25"),
            "{seen:?}"
        );
    }
    assert!(after.iter().any(|seen| seen.verb == "GET"));
    let mut closed = origin.closed();
    closed.sort_unstable();
    let opened = origin.connections().len();
    assert_eq!(
        closed,
        (0..opened).collect::<Vec<_>>(),
        "the stream of the session, too"
    );
}

// spec: 2026-07-28 N-HDR-08
#[tokio::test(start_paused = true)]
async fn names_of_headers_are_read_in_any_case_and_values_are_sent_in_their_own() {
    let server = HostileServer::modern(|_, _| {});
    let discovering = server.origin();
    let origin = FakeServer::new(move |seen, count| {
        if seen.is("server/discover") {
            return discovering.answer(seen, count);
        }
        let good = json!({ "jsonrpc": "2.0", "id": seen.id(), "result": crate::hostile::good() });
        with(
            200,
            &[("CONTENT-Type", "Application/JSON; charset=UTF-8")],
            good.to_string(),
        )
    });
    let client = visit(&origin).await.expect("a conversation");
    within(client.call_tool("MixedCase", ()))
        .await
        .expect("a result");
    let seen = origin.first("tools/call");
    assert_eq!(seen.header("mcp-method"), Some("tools/call"));
    assert_eq!(seen.header("mcp-name"), Some("MixedCase"));
}

// spec: 2026-07-28 N-XHDR-07, N-STDIO-13
#[tokio::test(start_paused = true)]
async fn a_tool_with_an_invalid_header_is_left_out_over_http_only() {
    let server = HostileServer::modern(|out, message| {
        let annotated = |kind: &str| json!({ "type": "object", "properties": { "a": { "type": kind, "x-mcp-header": "A" } } });
        let tools = json!([
            { "name": "good", "inputSchema": annotated("string") },
            { "name": "bad", "inputSchema": annotated("object") },
        ]);
        match message["method"].as_str() {
            Some("tools/list") => {
                out.reply(message, json!({ "resultType": "complete", "tools": tools }))
            }
            _ => out.reply(message, crate::hostile::good()),
        }
    });
    let client = crate::hostile::meet(&server, crate::hostile::Ground::Http).await;
    let tools = within(client.list_tools()).await.expect("a list");
    assert_eq!(
        tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        ["good"]
    );
    let reasons: Vec<_> = tools
        .spoiled
        .iter()
        .map(|spoiled| spoiled.name.as_deref())
        .collect();
    assert_eq!(reasons, [Some("bad")]);
    let client = crate::hostile::meet(&server, crate::hostile::Ground::Pipe).await;
    let tools = within(client.list_tools()).await.expect("a list");
    assert_eq!(
        (tools.len(), tools.spoiled.len()),
        (2, 0),
        "there are no headers"
    );
    within(client.call_tool("good", json!({ "a": "x" })))
        .await
        .expect("a result");
    let received = server.received();
    let call = received
        .iter()
        .find(|message| message["method"] == "tools/call")
        .expect("a call");
    assert_eq!(call["params"]["arguments"], json!({ "a": "x" }));
}

#[tokio::test]
async fn an_origin_that_listens_on_a_port_is_reached_there() {
    let server = HostileServer::modern(|out, message| {
        out.reply(message, json!({ "resultType": "complete", "tools": [] }));
    });
    let address = server.origin().listen().await.expect("a port");
    let target =
        pintle_http::client::HttpConnect::to(&format!("http://{address}/mcp")).expect("a URL");
    let client = within(Client::connect(target))
        .await
        .expect("a conversation");
    within(client.list_tools()).await.expect("a list");
    assert_eq!(server.count("tools/list"), 1);
}
