//! Data of one principal does not exist for another, over real HTTP and with real tokens.

use http_body_util::BodyExt as _;
use serde_json::json;

use crate::guard::ask::{Ask, call, initialize, legacy, verb};
use crate::guard::site::Site;

/// Tokens of two users who both may enter.
async fn both(site: &Site) -> [String; 2] {
    let token = |subject: &str| site.token().subject(subject).sign();
    [token("ada"), token("eve")]
}

pub(crate) async fn opened(site: &Site, token: &str) -> String {
    let opened = initialize().bearer(token).of(site.address).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    let session = opened.header("mcp-session-id").to_owned();
    let ready = crate::guard::ask::post(
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    );
    let ready = ready.with("mcp-session-id", &session).bearer(token);
    assert_eq!(ready.of(site.address).await.status, 202);
    session
}

// spec: 2025-11-25 SEC-16, SEC-19
// spec: 2026-07-28 N-AUTH-04
// hardening: H-17, H-20
#[tokio::test]
async fn a_session_belongs_to_its_owner_even_if_others_know_its_id() {
    let site = Site::new().await;
    let [ada, eve] = both(&site).await;
    let session = opened(&site, &ada).await;
    let forged = "0123456789abcdef0123456789abcdef";
    let whoami = || legacy("tools/call", json!({ "name": "whoami", "arguments": {} }));
    let asks: [fn(&str) -> Ask; 4] = [
        |id| {
            legacy("tools/call", json!({ "name": "whoami", "arguments": {} }))
                .with("mcp-session-id", id)
        },
        |id| {
            verb("GET", "/mcp")
                .with("accept", "text/event-stream")
                .with("mcp-session-id", id)
        },
        |id| {
            verb("GET", "/mcp")
                .with("accept", "text/event-stream")
                .with("mcp-session-id", id)
                .with("last-event-id", "1-1")
        },
        |id| verb("DELETE", "/mcp").with("mcp-session-id", id),
    ];
    for ask in asks {
        let unknown = ask(forged).bearer(&eve).of(site.address).await;
        let foreign = ask(&session).bearer(&eve).of(site.address).await;
        assert_eq!((foreign.status, &foreign.body), (404, &unknown.body));
        // A session id alone does not authenticate a request.
        assert_eq!(ask(&session).of(site.address).await.status, 401);
    }
    assert_eq!(site.runs(), 0);
    let own = whoami()
        .with("mcp-session-id", &session)
        .bearer(&ada)
        .of(site.address)
        .await;
    assert_eq!(own.status, 200, "{own:?}");
    // Another token of the same principal has the same rights.
    let renewed = site.token().subject("ada").scopes("safe").sign();
    let own = whoami().with("mcp-session-id", &session).bearer(&renewed);
    assert_eq!(own.of(site.address).await.status, 200);
}

// hardening: H-20
#[tokio::test]
async fn a_request_that_names_a_foreign_session_is_logged() {
    let log = crate::guard::secrets::Log::default();
    let _here = log.listen();
    let site = Site::new().await;
    let [ada, eve] = both(&site).await;
    let session = opened(&site, &ada).await;
    let noted = || {
        log.text()
            .matches("a session was named by another principal")
            .count()
    };
    let list = |token: &str| legacy("tools/list", json!({})).bearer(token);
    let forged = "0123456789abcdef0123456789abcdef";
    for (token, id) in [(&ada, &*session), (&eve, forged)] {
        list(token)
            .with("mcp-session-id", id)
            .of(site.address)
            .await;
    }
    assert_eq!(noted(), 0, "what does not exist is nobody's");
    list(&eve)
        .with("mcp-session-id", &session)
        .of(site.address)
        .await;
    assert_eq!(noted(), 1);
    assert!(!log.text().contains(&session), "its name is not in the log");
}

// The same user through another client is another principal: one application cannot continue a
// session of another.
#[tokio::test]
async fn a_session_is_its_applications_too() {
    let site = Site::new().await;
    let token = |client: &str| site.token().claim("client_id", json!(client)).sign();
    let session = opened(&site, &token("one")).await;
    let list = legacy("tools/list", json!({})).with("mcp-session-id", &session);
    let other = list.clone().bearer(&token("two")).of(site.address).await;
    assert_eq!(other.status, 404);
    assert_eq!(
        list.bearer(&token("one")).of(site.address).await.status,
        200
    );
}

// hardening: H-24
#[tokio::test]
async fn notices_during_a_call_reach_only_its_caller() {
    let site = Site::new().await;
    let [ada, eve] = both(&site).await;
    let (hers, others) = (opened(&site, &ada).await, opened(&site, &eve).await);
    let listen = |session: &str, token: &str| {
        let get = verb("GET", "/mcp").with("accept", "text/event-stream");
        get.with("mcp-session-id", session).bearer(token)
    };
    let stream = listen(&others, &eve).open(site.address).await;
    assert_eq!(stream.status(), 200);
    let chat = |session: &str, token: &str| {
        let meta = json!({ "progressToken": "same" });
        let params = json!({ "name": "chat", "arguments": {}, "_meta": meta });
        let ask = legacy("tools/call", params);
        ask.with("mcp-session-id", session).bearer(token)
    };
    // Both calls have the same id and the same progress token, at the same time.
    let (one, two) = (chat(&hers, &ada), chat(&others, &eve));
    let (one, two) = tokio::join!(one.of(site.address), two.of(site.address));
    for came in [one, two] {
        assert_eq!(
            came.body.matches("notifications/progress").count(),
            1,
            "{came:?}"
        );
        assert_eq!(came.text(), "done");
    }
    let end = verb("DELETE", "/mcp")
        .with("mcp-session-id", &others)
        .bearer(&eve);
    assert_eq!(end.of(site.address).await.status, 200);
    let received = stream
        .into_body()
        .collect()
        .await
        .expect("its end")
        .to_bytes();
    let received = String::from_utf8_lossy(&received);
    assert!(!received.contains("notifications/progress"), "{received}");
}

// spec: 2025-11-25 TASK-79, TASK-84
// hardening: H-21
#[tokio::test]
async fn a_task_does_not_exist_for_others() {
    let site = Site::new().await;
    let [ada, eve] = both(&site).await;
    let (hers, others) = (opened(&site, &ada).await, opened(&site, &eve).await);
    let ask = async |who: usize, method: &str, params: serde_json::Value| {
        let (session, token) = [(&hers, &ada), (&others, &eve)][who];
        let ask = legacy(method, params).with("mcp-session-id", session);
        ask.bearer(token).of(site.address).await.json()
    };
    let call = json!({ "name": "endless", "arguments": {}, "task": { "ttl": 60_000 } });
    let created = ask(0, "tools/call", call).await;
    let id = json!({ "taskId": created["result"]["task"]["taskId"] });
    assert!(id["taskId"].is_string(), "{created}");
    let unknown = json!({ "taskId": "0123456789abcdef0123456789abcdef" });
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let foreign = ask(1, method, id.clone()).await;
        let missing = ask(1, method, unknown.clone()).await;
        assert_eq!(foreign["error"]["code"], -32602, "{method}: {foreign}");
        assert_eq!(foreign["error"], missing["error"], "{method}");
    }
    let listed = |answer: &serde_json::Value| answer["result"]["tasks"].as_array().map(Vec::len);
    assert_eq!(listed(&ask(1, "tasks/list", json!({})).await), Some(0));
    assert_eq!(listed(&ask(0, "tasks/list", json!({})).await), Some(1));
    let own = ask(0, "tasks/get", id).await;
    assert_eq!(
        own["result"]["status"], "working",
        "nobody else cancelled it"
    );
}

// The same in the revision without sessions, where tasks are an extension.
//
// spec: 2026-07-28 X-TASK-12
// hardening: H-21
#[tokio::test]
async fn a_task_without_a_session_does_not_exist_for_others_either() {
    let site = Site::new().await;
    let [ada, eve] = both(&site).await;
    let able = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let ask = async |token: &str, method: &str, params: serde_json::Value| {
        let ask = crate::guard::ask::able_to(&able, method, params.clone());
        let ask = match params["taskId"].as_str() {
            Some(id) => ask.with("mcp-name", id),
            None => ask,
        };
        ask.bearer(token).of(site.address).await.json()
    };
    let call = json!({ "name": "endless", "arguments": {} });
    let created = ask(&ada, "tools/call", call).await;
    let id = created["result"]["taskId"].clone();
    assert!(id.is_string(), "{created}");
    let unknown = json!("0123456789abcdef0123456789abcdef");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = |id: &serde_json::Value| json!({ "taskId": id, "inputResponses": {} });
        let foreign = ask(&eve, method, params(&id)).await;
        let missing = ask(&eve, method, params(&unknown)).await;
        assert_eq!(foreign["error"]["code"], -32602, "{method}: {foreign}");
        assert_eq!(foreign["error"], missing["error"], "{method}");
    }
    let own = ask(&ada, "tasks/get", json!({ "taskId": id })).await;
    assert_eq!(
        own["result"]["status"], "working",
        "nobody cancelled it: {own}"
    );
}

// The state between rounds belongs to its principal, even if the principal has a new token.
//
// spec: 2026-07-28 N-MRTR-11
#[tokio::test]
async fn the_state_of_a_request_is_rejected_for_other_principals() {
    let site = Site::new().await;
    let [ada, eve] = both(&site).await;
    let able = json!({ "elicitation": { "form": {} } });
    let hello = |more: serde_json::Value| {
        let mut params = json!({ "name": "hello", "arguments": {} });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        crate::guard::ask::able_to(&able, "tools/call", params)
    };
    let asked = hello(json!({})).bearer(&ada).of(site.address).await.json();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let answers = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
    let state = &asked["result"]["requestState"];
    let retry = hello(json!({ "requestState": state, "inputResponses": answers }));
    let stolen = retry.clone().bearer(&eve).of(site.address).await.json();
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    let renewed = site.token().subject("ada").sign();
    let own = retry.bearer(&renewed).of(site.address).await;
    assert_eq!(own.text(), "hello Ada");
}

#[tokio::test]
async fn each_request_is_authorized_by_its_own_token() {
    let site = Site::new().await;
    let [ada, eve] = both(&site).await;
    for (token, name) in [(&ada, "ada"), (&eve, "eve"), (&ada, "ada")] {
        let came = call("whoami").bearer(token).of(site.address).await;
        assert!(came.text().contains(name), "{came:?}");
    }
}
