//! Access: every request is authorized separately, independent of the one before.

use http::StatusCode;
use pintle::http::ServeHttp as _;
use pintle::prelude::*;
use pintle::server::{App, Extension};
use serde_json::{Value, json};

use crate::over_http::guest::{self, Guest, MODERN, REVISIONS};
use crate::over_http::text;

/// Opens the safe.
#[tool(scopes("safe"))]
async fn open(who: Principal) -> String {
    format!("opened for {}", who.id())
}

/// Returns the opening hours, which every caller may read.
#[tool]
async fn hours(who: Option<Principal>) -> String {
    who.map_or("nobody".into(), |who| who.id().to_owned())
}

fn server() -> Server {
    Server::new("bank", "1")
        .tools::<(open, hours)>()
        .add_resource(Resource::text("bank://safe", "safe", "gold").scopes(["safe"]))
        .add_resource(Resource::text("bank://hours", "hours", "nine"))
        .add_prompt(
            Prompt::new("safe")
                .scopes(["safe"])
                .handler(async || "Count."),
        )
        .add_prompt(Prompt::new("hours").handler(async || "When?"))
}

fn teller() -> Principal {
    Principal::new("teller", ["safe"])
}

async fn names(guest: &mut Guest, list: &str, member: &str, name: &str) -> Vec<String> {
    let mut answer = guest.ask(list, json!({})).await.pop().expect("answered");
    let entries = answer["result"][member].take();
    let entries = entries.as_array().expect("a list").iter();
    entries
        .map(|entry| entry[name].as_str().expect("a name").to_owned())
        .collect()
}

// spec: 2025-11-25 TOOL-30, RES-18, RES-20, PROM-12 (server access)
// spec: 2026-07-28 N-CACHE-16, N-TOOL-02, N-TOOL-18 (access), N-PROMPT-08 (server access)
#[tokio::test]
async fn an_item_that_a_caller_may_not_use_does_not_exist_for_it() {
    for revision in REVISIONS {
        let service = guest::service(server());
        for (who, sees) in [
            (Some(teller()), true),
            (Some(Principal::new("guest", ["x"])), false),
            (None, false),
        ] {
            let who_lacks = who.is_some() && !sees;
            let mut guest = Guest::of_principal(service.clone(), revision, who).await;
            for (list, member, name, safe) in [
                ("tools/list", "tools", "name", "open"),
                ("resources/list", "resources", "uri", "bank://safe"),
                ("prompts/list", "prompts", "name", "safe"),
            ] {
                let names = names(&mut guest, list, member, name).await;
                assert_eq!(names.len(), if sees { 2 } else { 1 }, "{revision} {list}");
                assert_eq!(
                    names.iter().any(|name| name == safe),
                    sees,
                    "{revision} {list}"
                );
            }
            for (method, params) in [
                ("tools/call", json!({ "name": "open" })),
                ("resources/read", json!({ "uri": "bank://safe" })),
                ("prompts/get", json!({ "name": "safe" })),
            ] {
                if who_lacks {
                    let request = guest.request(method, params);
                    let response = guest.post(&request).await;
                    assert_eq!(response.status(), 403, "{revision} {method}");
                    let asked = response.headers()["www-authenticate"]
                        .to_str()
                        .expect("text");
                    let expected = r#"Bearer error="insufficient_scope", scope="safe""#;
                    assert_eq!(asked, expected, "{revision} {method}");
                    continue;
                }
                let answer = guest.ask(method, params).await.pop().expect("answered");
                assert_eq!(
                    answer.get("result").is_some(),
                    sees,
                    "{revision} {method}: {answer}"
                );
            }
        }
    }
}

// spec: 2026-07-28 N-STATE-09, N-STATE-10
#[tokio::test]
async fn each_request_belongs_to_its_own_principal() {
    let service: pintle::http::HttpService<App> = guest::service(server());
    let mut guest = Guest::of_principal(service, MODERN, Some(teller())).await;
    for (who, status, said) in [
        (Some(teller()), StatusCode::OK, Some("opened for teller")),
        (None, StatusCode::OK, None),
        (
            Some(Principal::new("guest", ["x"])),
            StatusCode::FORBIDDEN,
            None,
        ),
        (Some(teller()), StatusCode::OK, Some("opened for teller")),
    ] {
        guest.becomes(who);
        let request = guest.request("tools/call", json!({ "name": "open" }));
        let response = guest.post(&request).await;
        assert_eq!(response.status(), status);
        if status == StatusCode::FORBIDDEN {
            continue;
        }
        let answer: Value = guest::messages(response).await.pop().expect("answered");
        assert_eq!(
            answer["result"]["content"][0]["text"].as_str(),
            said,
            "{answer}"
        );
    }
}

// Scopes do not matter for a missing item, so a caller learns nothing by asking for it.
#[tokio::test]
async fn a_missing_item_needs_no_scopes() {
    let service = guest::service(server());
    let who = Some(Principal::new("guest", ["x"]));
    let mut guest = Guest::of_principal(service, MODERN, who).await;
    for (method, params) in [
        ("tools/call", json!({ "name": "vault" })),
        ("resources/read", json!({ "uri": "bank://vault" })),
        ("prompts/get", json!({ "name": "vault" })),
    ] {
        let answer = guest.ask(method, params).await.pop().expect("answered");
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
    }
}

// No message of a batch runs if one of them lacks its scopes.
#[tokio::test]
async fn a_batch_is_refused_for_all_scopes_that_its_messages_take() {
    let service = guest::service(server());
    let who = Some(Principal::new("guest", ["x"]));
    let mut guest = Guest::of_principal(service, "2025-03-26", who).await;
    let hours = guest.request("tools/call", json!({ "name": "hours" }));
    let open = guest.request("tools/call", json!({ "name": "open" }));
    let response = guest.post_as(&json!([hours, open]), None).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let response = guest.post_as(&json!([hours]), None).await;
    assert_eq!(response.status(), StatusCode::OK);
}

// spec: 2026-07-28 N-VER-08 (HTTP), N-ERA-18
#[tokio::test]
async fn a_server_without_the_handshake_era_names_its_revisions() {
    let mut options = pintle::http::HttpOptions::default();
    options.legacy = pintle::http::LegacyMode::Off;
    let service = server().into_http_with(options).expect("starts");
    let mut guest = Guest::on(service, MODERN).await;
    let client = json!({ "name": "t", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let response = guest.post_bare(&initialize).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let error = guest::messages(response).await[0]["error"].take();
    assert_eq!(error["code"], -32022);
    assert_eq!(
        error["data"],
        json!({ "supported": [MODERN], "requested": "2025-11-25" })
    );
}

/// The id that an outer layer attached to the request.
#[tool]
async fn attached(caller: Extension<Principal>) -> String {
    caller.id().to_owned()
}

#[tokio::test]
async fn a_handler_extracts_values_that_a_tower_layer_attached() {
    for revision in REVISIONS {
        let service = guest::service(Server::new("attached", "1").tool::<attached>());
        let ada = Some(Principal::new("ada", ["read"]));
        let mut guest = Guest::of_principal(service, revision, ada).await;
        let answers = guest.call("attached", json!({})).await;
        assert_eq!(text(answers.last()), "ada", "{revision}: {answers:?}");
    }
}

/// Returns two headers of the request.
#[tool]
async fn headers(ctx: Context) -> String {
    let text = |name| ctx.header(name).unwrap_or("none".to_owned());
    format!("{} {}", text("Content-Type"), text("x-tenant"))
}

#[tokio::test]
async fn a_handler_reads_headers_of_its_request() {
    for revision in REVISIONS {
        let service = guest::service(Server::new("headers", "1").tool::<headers>());
        let mut guest = Guest::of_principal(service, revision, None).await;
        let answers = guest.call("headers", json!({})).await;
        assert_eq!(text(answers.last()), "application/json none", "{revision}");
    }
}
