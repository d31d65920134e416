//! Sessions that are forgotten, heads and bodies that dribble, ends that are not answered.

use std::time::Duration;

use pintle_client::{CallError, Client};
use pintle_proto::Loss;
use pintle_testkit::Hostile;
use pintle_testkit::fake_http::{
    Answer, Origin, Part, Seen, courtesy, empty, json, result, welcome_to,
};
use serde_json::json;
use tokio::time::Instant;

use crate::{loss, visit, within};

const SECOND: Duration = Duration::from_secs(1);

fn legacy(answer: impl Fn(&Seen, usize) -> Option<Answer> + Send + Sync + 'static) -> Origin {
    Origin::new(move |seen, count| match seen {
        seen if seen.is("server/discover") => empty(404),
        seen => answer(seen, count)
            .or_else(|| courtesy(seen))
            .unwrap_or_else(|| json(200, &result(seen))),
    })
}

// hardening: H-160
#[tokio::test(start_paused = true)]
async fn a_forgotten_session_is_opened_anew_once_and_not_for_ever() {
    // Every session is good for one call.
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
    assert_eq!(loss(&error), Loss::SessionLost, "{error}");
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
                let mut answer = vec![Part::Bytes(head[..at].to_vec())];
                let rest = head[at..].iter().chain(std::iter::repeat_n(&b' ', 900));
                answer.extend(rest.flat_map(|byte| [Part::Bytes(vec![*byte]), Part::Wait(SECOND)]));
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
    let cases: [fn() -> Answer; 5] = [
        || vec![Part::Hang],
        || empty(405),
        || empty(404),
        || vec![Part::Wait(60 * SECOND), Part::Cut],
        || vec![Part::Cut],
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

// hardening: H-159
#[tokio::test(start_paused = true)]
async fn a_status_that_says_no_is_a_typed_error_and_nothing_is_asked_again() {
    for status in [400, 405, 406, 415, 422, 429, 500, 502, 503] {
        let origin = legacy(move |seen, _| seen.is("tools/call").then(|| empty(status)));
        let client = visit(&origin).await.expect("a conversation");
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert_eq!(loss(&error), Loss::Status(status));
        assert_eq!(origin.count("tools/call"), 1, "{status}");
        within(client.list_tools())
            .await
            .expect("the session is well");
    }
}

#[tokio::test]
async fn an_origin_that_listens_on_a_port_is_reached_there() {
    let server = Hostile::modern(|mouth, said| {
        mouth.reply(said, json!({ "resultType": "complete", "tools": [] }));
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
