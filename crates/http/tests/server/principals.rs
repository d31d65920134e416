//! What belongs to one principal does not exist for another.

use http::Response;
use pintle_http::ResponseBody;
use pintle_runtime::Principal;
use serde_json::json;

use crate::common::{
    Ask, Endpoint, ask, body_json, endpoint, get, initialize, legacy, messages, modern_tool,
    notice, piece,
};

/// A caller, perhaps anonymous.
#[derive(Debug, Clone, Copy)]
struct Somebody(Option<&'static str>, &'static str);

const ALICE: Somebody = Somebody(Some("alice"), "read");
const BOB: Somebody = Somebody(Some("bob"), "read");
const NOBODY: Somebody = Somebody(None, "");

impl Somebody {
    async fn asks(self, endpoint: &Endpoint, ask: Ask) -> Response<ResponseBody> {
        let mut request = ask.request();
        if let Somebody(Some(name), scope) = self {
            let principal = Principal::new(name, [scope]);
            request.extensions_mut().insert(principal);
        }
        endpoint.call(request).await
    }

    async fn opens(self, endpoint: &Endpoint) -> String {
        let opened = self.asks(endpoint, initialize("2025-11-25")).await;
        let id = opened.headers()["mcp-session-id"].to_str();
        let id = id.expect("text").to_owned();
        let confirmed = notice("notifications/initialized").in_session(&id);
        assert_eq!(self.asks(endpoint, confirmed).await.status(), 202);
        id
    }
}

// spec: 2025-11-25 TRANS-SESS-08, RES-20
// hardening: H-17, H-20
#[tokio::test(start_paused = true)]
async fn a_session_of_another_principal_does_not_exist() {
    let endpoint = endpoint();
    let id = ALICE.opens(&endpoint).await;
    let chat = json!({ "name": "chat", "arguments": {}, "_meta": { "progressToken": 1 } });
    let chat = legacy(1, "tools/call", chat).in_session(&id);
    let mut body = ALICE.asks(&endpoint, chat).await.into_body();
    let first = piece(&mut body).await.expect("progress");
    let last = first.lines().rfind(|line| line.starts_with("id: "));
    let last = last.expect("a name").trim_start_matches("id: ").to_owned();
    drop(body);
    let forged = "0123456789abcdef0123456789abcdef";
    let asks: [&dyn Fn(&str) -> Ask; 5] = [
        &|id| legacy(2, "tools/list", json!({})).in_session(id),
        &|id| notice("notifications/cancelled").in_session(id),
        &|id| get().in_session(id),
        &|id| get().in_session(id).with("last-event-id", &last),
        &|id| ask("DELETE").in_session(id),
    ];
    for ask in asks {
        let unknown = ALICE.asks(&endpoint, ask(forged)).await;
        let unknown = (unknown.status(), body_json(unknown).await);
        assert_eq!(unknown.0, 404);
        for other in [BOB, NOBODY] {
            let answer = other.asks(&endpoint, ask(&id)).await;
            assert_eq!((answer.status(), body_json(answer).await), unknown);
        }
    }
    let resumed = get().in_session(&id).with("last-event-id", &last);
    let mut body = ALICE.asks(&endpoint, resumed).await.into_body();
    let answer = messages(&piece(&mut body).await.expect("the answer"));
    assert_eq!(answer[0]["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn an_anonymous_session_does_not_exist_for_a_principal() {
    let endpoint = endpoint();
    let id = NOBODY.opens(&endpoint).await;
    let list = legacy(2, "tools/list", json!({})).in_session(&id);
    assert_eq!(ALICE.asks(&endpoint, list.clone()).await.status(), 404);
    assert_eq!(NOBODY.asks(&endpoint, list).await.status(), 200);
}

// spec: 2026-07-28 N-XHDR-11
// hardening: H-54
#[tokio::test(start_paused = true)]
async fn the_headers_of_a_hidden_tool_do_not_betray_it() {
    let endpoint = endpoint();
    let call = || modern_tool(1, "regional", json!({ "region": "north" }));
    let seen = ALICE.asks(&endpoint, call()).await;
    assert_eq!(body_json(seen).await["error"]["code"], -32020);
    let other = Somebody(Some("bob"), "write");
    let hidden = body_json(other.asks(&endpoint, call()).await).await;
    assert_ne!(hidden["error"]["code"], -32020, "{hidden}");
}
