//! Visits to URLs: their ids, their end, and requests that need them first.

use std::time::Duration;

use pintle_model::{ElicitUrlParams, Error, ErrorCode, UrlElicitationRequired};
use pintle_runtime::{Answer, AskError, Context, Principal, VisitError, Visits};
use pintle_server::{Prompt, ProtocolError, Server, State, Tool};
use serde_json::{Value, json};

use crate::questions::peer::{LEGACY, MODERN, Peer, able, text, tool};

const URL: &str = "https://example.com/connect/";

/// Asks the user to connect, and waits until they have.
async fn connect(cx: Context, State(visits): State<Visits>) -> Result<String, AskError> {
    let visit = visits.begin(&cx, "connect").await?;
    let url = format!("{URL}{}", visit.id());
    if let Answer::Accepted(()) = visit.elicit("Connect", url).await? {
        visit.finished().await?;
        return Ok("connected".to_owned());
    }
    Ok("not connected".to_owned())
}

/// Needs the user to have connected before.
async fn work(cx: Context, State(visits): State<Visits>) -> Result<String, AskError> {
    let (one, other) = (
        visits.begin(&cx, "one").await?,
        visits.begin(&cx, "other").await?,
    );
    let url = |id: &str| format!("{URL}{id}");
    let (one, other) = tokio::join!(
        one.elicit("Connect one", url(one.id())).required(),
        other
            .elicit("Connect the other", url(other.id()))
            .required(),
    );
    Ok(format!("{:?} {:?}", one?, other?))
}

/// Says by an error that the user must go somewhere first; the id is left to the framework.
async fn by_hand() -> Result<(), ProtocolError> {
    let visit = ElicitUrlParams::new("Connect", URL);
    Err(ProtocolError(
        UrlElicitationRequired::new(vec![visit]).to_error(),
    ))
}

fn server(visits: &Visits) -> Server {
    Server::new("asks", "1.0.0")
        .state(visits.clone())
        .add_tool(Tool::new("connect").handler(connect))
        .add_tool(Tool::new("work").handler(work))
        .add_tool(Tool::new("by-hand").handler(by_hand))
        .add_tool(Tool::new("abroad").handler(async |cx: Context| {
            let asked = cx.elicit_url("Go", "http://example.com/").await;
            asked.map(|_| ())
        }))
        .add_prompt(
            Prompt::new("by-hand").handler(async || -> Result<String, ProtocolError> {
                by_hand().await.map(|()| String::new())
            }),
        )
}

async fn peer(visits: &Visits, revision: &'static str) -> Peer {
    Peer::connect(server(visits), revision, able()).await
}

fn consent() -> Value {
    json!({ "action": "accept" })
}

// spec: 2025-11-25 ELIC-12, ELIC-22, ELIC-27, ELIC-28, ELIC-29
#[tokio::test(start_paused = true)]
async fn the_client_that_was_asked_is_told_of_the_end_under_the_same_id() {
    let visits = Visits::default();
    let mut peer = peer(&visits, "2025-11-25").await;
    let mut other = Peer::connect(server(&visits), "2025-11-25", able()).await;
    let id = peer.begin("tools/call", tool("connect")).await;
    let asked = peer.receive().await;
    assert_eq!(asked["params"]["message"], "Connect");
    assert_eq!(asked["params"]["mode"], "url");
    let visit = asked["params"]["elicitationId"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(visit.len(), 32, "128 bits");
    assert_eq!(asked["params"]["url"], format!("{URL}{visit}"));
    peer.answer_to(&asked, consent()).await;

    assert_eq!(visits.finish(&visit, None), Ok(()));

    let notice = peer.receive().await;
    assert_eq!(notice["method"], "notifications/elicitation/complete");
    assert_eq!(notice["params"], json!({ "elicitationId": visit }));
    let answered = peer.receive().await;
    assert_eq!(
        (&answered["id"], text(&answered)),
        (&json!(id), "connected")
    );
    assert_eq!(visits.finish(&visit, None), Err(VisitError), "it is over");
    // Whatever comes next for either of them, it is not that notice again.
    for peer in [&mut peer, &mut other] {
        assert!(peer.request("ping", json!({})).await["result"].is_object());
    }
}

// spec: 2025-11-25 ELIC-39, ELIC-40, ELIC-51, ELIC-71, ELIC-72
// spec: 2026-07-28 N-ELIC-13, N-ELIC-17
// hardening: H-28
#[tokio::test(start_paused = true)]
async fn only_the_principal_that_began_a_visit_can_finish_it() {
    let visits = Visits::default();
    let ada = Principal::new("ada", ["any"]);
    let mut peer = peer(&visits, "2025-11-25").await;
    peer.begin("tools/call", tool("connect")).await;
    let asked = peer.receive().await;
    let visit = asked["params"]["elicitationId"].as_str().expect("an id");
    assert_eq!(visits.finish(visit, Some(&ada)), Err(VisitError));
    assert_eq!(visits.finish("0", None), Err(VisitError));
    let elsewhere = Visits::default();
    assert_eq!(elsewhere.finish(visit, None), Err(VisitError));
    tokio::time::advance(Duration::from_secs(1_801)).await;
    assert_eq!(
        visits.finish(visit, None),
        Err(VisitError),
        "it took too long"
    );
}

// spec: 2026-07-28 N-ELIC-07, N-ELIC-12, N-ELIC-20, N-ELIC-03
#[tokio::test(start_paused = true)]
async fn without_ids_the_retry_finds_out() {
    let visits = Visits::default();
    let mut peer = peer(&visits, MODERN).await;
    let visitor = visits.clone();
    let answered = peer
        .complete("tools/call", tool("connect"), |_, params| {
            assert_eq!(params.get("elicitationId"), None);
            let url = params["url"].as_str().expect("a URL");
            let visit = url.strip_prefix(URL).expect("our URL");
            visitor
                .finish(visit, None)
                .expect("it is the same visit in the retry");
            consent()
        })
        .await;
    assert_eq!(text(&answered), "connected");
    assert_eq!(peer.rounds, 1);
}

// spec: 2025-11-25 ELIC-33, ELIC-34, ELIC-35, ELIC-36, ELIC-49, MSG-17 (addresses)
#[tokio::test(start_paused = true)]
async fn a_request_that_needs_visits_first_fails_with_all_of_them() {
    let visits = Visits::default();
    let mut peer = peer(&visits, "2025-11-25").await;
    let failed = peer.request("tools/call", tool("work")).await;
    assert_eq!(failed["error"]["code"], -32042);
    let listed = failed["error"]["data"]["elicitations"]
        .as_array()
        .expect("a list");
    let messages: Vec<&Value> = listed.iter().map(|visit| &visit["message"]).collect();
    assert_eq!(messages, ["Connect one", "Connect the other"]);
    for visit in listed {
        let id = visit["elicitationId"].as_str().expect("an id");
        assert_eq!(
            (&visit["mode"], &visit["url"]),
            (&json!("url"), &json!(format!("{URL}{id}")))
        );
        visits.finish(id, None).expect("it was begun");
        let notice = peer.receive().await;
        assert_eq!(notice["params"], json!({ "elicitationId": id }));
    }
}

// spec: 2026-07-28 N-ERR-05 (addresses)
#[tokio::test(start_paused = true)]
async fn where_that_is_no_error_the_client_is_asked() {
    let visits = Visits::default();
    let mut peer = peer(&visits, MODERN).await;
    let answered = peer
        .complete("tools/call", tool("work"), |_, _| consent())
        .await;
    assert_eq!(text(&answered), "Accepted(()) Accepted(())");
    assert_eq!((peer.rounds, peer.asked.len()), (1, 2));
    for (method, params) in [
        ("tools/call", tool("by-hand")),
        ("prompts/get", json!({ "name": "by-hand" })),
    ] {
        let asked = peer.request(method, params).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let visit = &asked["result"]["inputRequests"]["first-0"]["params"];
        assert_eq!(
            (&visit["url"], &visit["elicitationId"]),
            (&json!(URL), &Value::Null)
        );
    }
    let no = |_: &str, _: &Value| json!({ "action": "decline" });
    let answered = peer.complete("tools/call", tool("by-hand"), no).await;
    assert_eq!(
        text(&answered),
        "the user will not visit the URL that this needs"
    );
}

#[tokio::test(start_paused = true)]
async fn the_error_can_be_made_by_hand_and_is_completed() {
    let mut peer = peer(&Visits::default(), "2025-11-25").await;
    for (method, params) in [
        ("tools/call", tool("by-hand")),
        ("prompts/get", json!({ "name": "by-hand" })),
    ] {
        let failed = peer.request(method, params).await;
        assert_eq!(failed["error"]["code"], -32042);
        let visit = &failed["error"]["data"]["elicitations"][0];
        assert_eq!(visit["url"], URL);
        assert_eq!(visit["elicitationId"].as_str().map(str::len), Some(32));
    }
    let other = Error::new(ErrorCode::INTERNAL_ERROR, "other");
    assert_eq!(UrlElicitationRequired::of_error(&other), None);
}

// spec: 2025-11-25 ELIC-09, ELIC-11, AMB-79
#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_go_there_is_not_sent_and_the_model_learns_it() {
    for revision in LEGACY {
        let forms = json!({ "elicitation": {} });
        let mut peer = Peer::connect(server(&Visits::default()), revision, forms).await;
        for name in ["connect", "work", "by-hand"] {
            let answered = peer.request("tools/call", tool(name)).await;
            assert_eq!(
                text(&answered),
                "the client does not support elicitation by a URL",
                "{revision} {name}"
            );
        }
    }
    let forms = json!({ "elicitation": {} });
    let mut peer = Peer::connect(server(&Visits::default()), MODERN, forms).await;
    for name in ["connect", "work", "by-hand"] {
        let refused = peer.request("tools/call", tool(name)).await;
        assert_eq!(refused["error"]["code"], -32021, "{name}");
    }
}

// spec: 2025-11-25 ELIC-23, ELIC-57
#[tokio::test(start_paused = true)]
async fn users_are_sent_to_no_url_that_a_careful_client_refuses() {
    for revision in ["2025-11-25", MODERN] {
        let mut peer = peer(&Visits::default(), revision).await;
        let answered = peer.request("tools/call", tool("abroad")).await;
        assert_eq!(
            text(&answered),
            "the question cannot be asked: the user is sent to https only, or to http on the loopback"
        );
    }
}
