//! Clients that take less than everything.

use serde_json::json;

use crate::common::{
    Ask, body_json, endpoint, initialize, legacy, listen, messages, modern, modern_tool, open,
    piece, post,
};

fn tool(id: i64, name: &str) -> Ask {
    let params = json!({ "name": name, "arguments": {}, "_meta": { "progressToken": "t" } });
    legacy(id, "tools/call", params)
}

// spec: 2025-11-25 TRANS-HTTP-08, AMB-25
// spec: 2026-07-28 N-HTTP-06, N-HTTP-10
#[tokio::test(start_paused = true)]
async fn a_client_that_accepts_json_is_answered() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let asks = [
        || initialize("2025-11-25"),
        || modern_tool(0, "echo", json!({})),
        || modern_tool(0, "progress", json!({ "steps": 3 })),
    ];
    for ask in asks {
        for accept in [
            None,
            Some("*/*"),
            Some("application/json"),
            Some("application/*"),
        ] {
            let bare = ask().without("accept");
            let ask = match accept {
                Some(accept) => bare.with("accept", accept),
                None => bare,
            };
            let response = ask.of(&endpoint).await;
            assert_eq!(response.status(), 200, "{accept:?}");
            assert_eq!(body_json(response).await["id"], 0, "{accept:?}");
        }
    }
    for accept in ["text/event-stream", "text/html", "application/jsonfoo"] {
        let ask = tool(1, "echo")
            .in_session(&session)
            .having("accept", accept);
        assert_eq!(ask.of(&endpoint).await.status(), 406, "{accept}");
    }
}

// spec: 2025-11-25 AMB-37
#[tokio::test(start_paused = true)]
async fn a_client_that_takes_json_alone_gets_the_answer_and_is_asked_elsewhere() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let alone = |ask: Ask| {
        ask.in_session(&session)
            .having("accept", "application/json")
    };
    for (nth, name) in ["progress", "chat", "slow", "part"].iter().enumerate() {
        let response = alone(tool(nth as i64, name)).of(&endpoint).await;
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(body_json(response).await["id"], nth, "{name}");
    }
    let mut stream = listen(&endpoint, &session).await;
    let answering = async {
        let asked = messages(&piece(&mut stream).await.expect("the question"));
        assert_eq!(asked[0]["method"], "roots/list");
        let answer = json!({ "jsonrpc": "2.0", "id": asked[0]["id"], "result": { "roots": [] } });
        let posted = post(answer.to_string()).in_session(&session);
        assert_eq!(posted.of(&endpoint).await.status(), 202);
    };
    let asking = alone(tool(9, "roots")).json(&endpoint);
    let ((_, answer), ()) = tokio::join!(asking, answering);
    assert_eq!(answer["result"]["content"][0]["text"], "0 roots");
}

// spec: 2025-11-25 AMB-43
#[tokio::test(start_paused = true)]
async fn a_json_only_client_receives_an_error_for_a_cancelled_request() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let hang = tool(1, "hang").having("accept", "application/json");
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let cancelling = async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let posted = post(cancelled.to_string()).in_session(&session);
        posted.of(&endpoint).await.status()
    };
    let hanging = hang.in_session(&session).json(&endpoint);
    let ((status, answer), accepted) = tokio::join!(hanging, cancelling);
    assert_eq!((status, accepted.as_u16()), (200, 202));
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(-32000))
    );
}

// spec: 2026-07-28 N-HTTP-26
#[tokio::test(start_paused = true)]
async fn changes_cannot_be_listened_to_in_one_body() {
    let listen = modern(1, "subscriptions/listen", json!({ "notifications": {} }));
    let ask = listen.having("accept", "application/json");
    assert_eq!(ask.of(&endpoint()).await.status(), 406);
}
