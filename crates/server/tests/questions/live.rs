//! Up to 2025-11-25: questions are requests to the client.

use std::time::Duration;

use pintle_runtime::{AskError, Context};
use pintle_server::{Server, Tool};
use serde_json::{Value, json};

use crate::questions::peer::{LEGACY, Peer, able, text, tool};

fn server() -> Server {
    let roots = async |cx: Context| -> Result<String, AskError> {
        let roots = cx.list_roots().await?;
        Ok(roots.into_iter().map(|root| root.uri).collect())
    };
    let visit = async |cx: Context| -> Result<String, AskError> {
        let answer = cx.elicit_url("Sign in", "https://example.com/in").await?;
        Ok(format!("{answer:?}"))
    };
    Server::new("asks", "1.0.0")
        .add_tool(Tool::new("roots").handler(roots))
        .add_tool(Tool::new("visit").handler(visit))
}

// spec: 2025-11-25 ROOT-02
#[tokio::test(start_paused = true)]
async fn a_handler_waits_for_the_answer_in_every_revision_with_a_handshake() {
    for revision in LEGACY {
        let mut peer = Peer::connect(server(), revision, able()).await;
        let answer = |_: &str, _: &Value| json!({ "roots": [{ "uri": "file:///a" }] });
        let answered = peer.complete("tools/call", tool("roots"), answer).await;
        assert_eq!(text(&answered), "file:///a", "{revision}");
        assert_eq!(peer.asked[0].0, "roots/list");
    }
}

// spec: 2025-11-25 ROOT-12 (capability), ELIC-11, GEN-05 (server asks)
#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_is_not_and_the_model_learns_it() {
    for revision in LEGACY {
        let mut peer = Peer::connect(server(), revision, json!({})).await;
        let answered = peer.request("tools/call", tool("roots")).await;
        assert_eq!(text(&answered), "the client does not support roots");
        assert_eq!(answered["result"]["isError"], true);
    }
    let forms_only = json!({ "elicitation": {} });
    let mut peer = Peer::connect(server(), "2025-11-25", forms_only).await;
    let answered = peer.request("tools/call", tool("visit")).await;
    assert_eq!(
        text(&answered),
        "the client does not support elicitation by a URL"
    );
}

// spec: 2025-11-25 ELIC-22, ELIC-24
#[tokio::test(start_paused = true)]
async fn a_url_is_asked_for_under_an_id_of_its_own() {
    let mut peer = Peer::connect(server(), "2025-11-25", able()).await;
    for _ in 0..2 {
        let consent = |_: &str, _: &Value| json!({ "action": "accept" });
        let answered = peer.complete("tools/call", tool("visit"), consent).await;
        assert_eq!(text(&answered), "Accepted(())");
    }
    let [(_, first), (_, second)] = peer.asked.as_slice() else {
        panic!("two questions");
    };
    assert_eq!(
        (&first["mode"], &first["url"]),
        (&json!("url"), &json!("https://example.com/in"))
    );
    assert!(first["elicitationId"].is_string());
    assert_ne!(first["elicitationId"], second["elicitationId"]);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_client_and_an_answer_that_is_none_are_for_the_model() {
    let mut peer = Peer::connect(server(), "2025-11-25", able()).await;
    let id = peer.begin("tools/call", tool("roots")).await;
    let asked = peer.receive().await;
    peer.send(&json!({ "jsonrpc": "2.0", "id": asked["id"],
        "error": { "code": -1, "message": "no" } }))
        .await;
    let answered = peer.receive().await;
    assert_eq!(answered["id"], id);
    assert_eq!(
        text(&answered),
        "the client did not answer the question: the peer answered with an error: no (-1)"
    );

    let nonsense = |_: &str, _: &Value| json!({ "roots": 7 });
    let answered = peer.complete("tools/call", tool("roots"), nonsense).await;
    assert!(text(&answered).starts_with("the client's answer does not fit the question"));
}

#[tokio::test(start_paused = true)]
async fn people_get_ten_minutes_and_the_question_is_taken_back_then() {
    let mut peer = Peer::connect(server(), "2025-11-25", able()).await;
    let began = tokio::time::Instant::now();
    peer.begin("tools/call", tool("roots")).await;
    let asked = peer.receive().await;
    let taken_back = peer.receive().await;
    assert_eq!(taken_back["method"], "notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    assert!(text(&peer.receive().await).contains("600s"));
    assert_eq!(began.elapsed(), Duration::from_secs(600));
}

// spec: 2025-11-25 CANC-01
#[tokio::test(start_paused = true)]
async fn a_cancelled_call_takes_its_questions_back() {
    let mut peer = Peer::connect(server(), "2025-11-25", able()).await;
    let id = peer.begin("tools/call", tool("roots")).await;
    let asked = peer.receive().await;
    peer.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": id } }),
    )
    .await;
    let taken_back = peer.receive().await;
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
}
