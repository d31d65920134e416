//! Requests of the page to a server, in both eras.

use pintle_web::WebOptions;
use serde_json::{Value, json};

use crate::browser::Browser;

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

async fn connected(revision: &str) -> Browser {
    let browser = Browser::showcase(WebOptions::default()).await;
    browser.connect(revision).await;
    browser
}

fn call(op: u64, name: &str, arguments: Value) -> Value {
    json!({ "op": op, "name": name, "arguments": arguments })
}

/// Calls a tool that asks a question, answers it, and returns the result.
async fn asked(browser: &Browser, tool: Value, answer: Value) -> (Value, Value) {
    let answered = async {
        let event = browser.event("question", 0).await;
        let id = event["question"]["id"].clone();
        let sent = browser
            .post("answer", json!({ "id": id, "answer": answer }))
            .await;
        assert_eq!(sent, json!({ "ok": true }));
        event["question"].clone()
    };
    tokio::join!(browser.post("call", tool), answered)
}

#[tokio::test]
async fn a_connection_describes_its_server() {
    let browser = Browser::showcase(WebOptions::default()).await;
    let state = browser.post("state", json!({})).await;
    assert_eq!(
        state["targets"][0],
        json!({ "name": "showcase", "label": "showcase", "isGiven": true })
    );
    assert!(state["connection"].is_null());
    for revision in ERAS {
        let shown = browser.connect(revision).await;
        assert_eq!(shown["server"]["identity"]["name"], "pintle-showcase");
        assert_eq!(shown["server"]["isModern"], revision == "2026-07-28");
        assert!(shown["server"]["capabilities"]["tools"].is_object());
    }
    let invalid = json!({ "target": "showcase", "revision": "1999-01-01" });
    assert!(browser.post("connect", invalid).await["error"].is_object());
    let state = browser.post("state", json!({})).await;
    assert_eq!(state["connection"]["isConnected"], true);
    browser.post("disconnect", json!({})).await;
    let list = browser.post("list", json!({ "kind": "tools" })).await;
    assert_eq!(
        list["error"]["messages"][0],
        "there is no connection to a server"
    );
}

#[tokio::test]
async fn lists_have_all_offers() {
    for revision in ERAS {
        let browser = connected(revision).await;
        for (kind, member) in [
            ("tools", "name"),
            ("resources", "uri"),
            ("templates", "uriTemplate"),
            ("prompts", "name"),
        ] {
            let list = browser.post("list", json!({ "kind": kind })).await;
            assert!(
                list["items"][0][member].is_string(),
                "{revision} {kind}: {list}"
            );
            assert_eq!(list["invalid"], json!([]));
        }
    }
}

#[tokio::test]
async fn a_call_has_a_result_and_progress() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let vessels = browser.post("call", call(1, "vessels", json!({}))).await;
        assert!(
            !vessels["result"]["structuredContent"].is_null(),
            "{vessels}"
        );
        let unknown = browser.post("call", call(2, "none", json!({}))).await;
        assert!(unknown["error"]["messages"][0].is_string(), "{unknown}");
        let arguments = json!({ "call_sign": "RULE", "cables": 1 });
        let boarded = browser.post("call", call(3, "board", arguments)).await;
        let text = &boarded["result"]["content"][0]["text"];
        assert_eq!(text, "the pilot is on board of RULE", "{boarded}");
        let progress = browser.event("progress", 0).await;
        let message = &progress["progress"]["message"];
        assert_eq!(
            (&progress["op"], message),
            (&json!(3), &json!("1 of 1 cables"))
        );
    }
}

#[tokio::test]
async fn a_form_is_answered_in_the_page() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let tool = call(1, "allot_berth", json!({ "call_sign": "DABC" }));
        let content = json!({ "berth": "fish-quay", "hours": 3 });
        let answer = json!({ "action": "accept", "content": content });
        let (result, question) = asked(&browser, tool.clone(), answer).await;
        assert_eq!(question["kind"], "form");
        assert!(
            question["schema"]["properties"]["berth"].is_object(),
            "{question}"
        );
        let text = result["result"]["content"][0]["text"]
            .as_str()
            .expect("a text");
        assert!(text.contains("for 3 hours"), "{text}");
        let state = browser.post("state", json!({})).await;
        assert_eq!(state["questions"], json!([]));
    }
}

#[tokio::test]
async fn a_question_may_be_declined() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let tool = call(1, "allot_berth", json!({ "call_sign": "DABC" }));
        let (result, _) = asked(&browser, tool, json!({ "action": "decline" })).await;
        assert_eq!(result["result"]["content"][0]["text"], "DABC gets no berth");
    }
}

#[tokio::test]
async fn a_url_is_shown_with_its_host() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let (result, question) = asked(
            &browser,
            call(1, "sign_conditions", json!({})),
            json!({ "action": "accept" }),
        )
        .await;
        assert_eq!(question["host"], "harbour.example");
        assert_eq!(
            result["result"]["content"][0]["text"],
            "the master is on the way to sign"
        );
    }
}

#[tokio::test]
async fn a_request_to_a_model_is_answered_by_hand() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let tool = || call(1, "phrase_report", json!({ "report": "fog" }));
        let content = json!({ "type": "text", "text": "All clear." });
        let message = json!({ "role": "assistant", "content": content, "model": "human" });
        let (result, question) = asked(&browser, tool(), json!({ "message": message })).await;
        assert_eq!(question["params"]["maxTokens"], 200);
        assert_eq!(result["result"]["content"][0]["text"], "All clear.");
    }
}

#[tokio::test]
async fn the_server_receives_the_roots_of_the_page() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let roots = json!({ "roots": [{ "uri": "file:///charts", "name": "Charts" }] });
        assert_eq!(browser.post("roots", roots).await, json!({ "ok": true }));
        let folders = browser
            .post("call", call(1, "chart_folders", json!({})))
            .await;
        assert!(
            folders["result"]["structuredContent"]
                .to_string()
                .contains("Charts"),
            "{folders}"
        );
        let invalid = json!({ "roots": [{ "uri": "https://a.example" }] });
        assert!(browser.post("roots", invalid).await["error"].is_object());
    }
}

#[tokio::test]
async fn resources_and_prompts_are_read() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let list = browser.post("list", json!({ "kind": "resources" })).await;
        let uri = list["items"][0]["uri"].clone();
        let read = browser.post("read", json!({ "op": 1, "uri": uri })).await;
        assert_eq!(read["result"]["contents"][0]["uri"], uri, "{read}");
        let list = browser.post("list", json!({ "kind": "prompts" })).await;
        let prompt = &list["items"][0];
        let name = prompt["arguments"][0]["name"].clone();
        let params = json!({
            "ref": { "type": "ref/prompt", "name": prompt["name"] },
            "argument": { "name": name, "value": "" },
        });
        let completed = browser.post("complete", json!({ "params": params })).await;
        assert!(
            completed["result"]["completion"]["values"].is_array(),
            "{completed}"
        );
    }
}

#[tokio::test]
async fn a_change_of_a_subscribed_resource_is_an_event() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let uri = json!({ "uri": "harbour://movements" });
        assert_eq!(
            browser.post("subscribe", uri.clone()).await,
            json!({ "ok": true })
        );
        let logged = browser
            .post("call", call(1, "log_movement", json!({})))
            .await;
        assert!(logged["error"].is_null(), "{logged}");
        let change = browser.event("change", 0).await;
        assert_eq!(change["uri"], uri["uri"], "{change}");
        assert_eq!(
            browser.post("unsubscribe", uri).await,
            json!({ "ok": true })
        );
    }
}

#[tokio::test]
async fn a_call_may_be_a_task() {
    for revision in ERAS {
        let browser = connected(revision).await;
        let asked =
            json!({ "op": 1, "name": "survey", "arguments": { "lines": 1 }, "asTask": true });
        let begun = browser.post("call", asked).await;
        let id = begun["taskId"].clone();
        assert!(id.is_string(), "{begun}");
        let status = browser.post("task", json!({ "id": id })).await;
        assert_eq!(status["task"]["taskId"], id, "{status}");
        let ended = browser
            .post("task-result", json!({ "id": id, "op": 2 }))
            .await;
        assert_eq!(
            ended["result"]["structuredContent"]["depths"],
            json!([7.9]),
            "{ended}"
        );
    }
}

#[tokio::test]
async fn each_message_is_in_the_timeline() {
    for revision in ERAS {
        let browser = connected(revision).await;
        browser.post("call", call(1, "vessels", json!({}))).await;
        let page = browser.post("events", json!({ "after": 0 })).await;
        let messages = page["events"].as_array().expect("events").iter();
        let messages: Vec<_> = messages
            .filter(|event| event["type"] == "message")
            .collect();
        let sent = |event: &&&Value| event["message"]["method"] == "tools/call";
        let request = messages.iter().find(sent).expect("the call");
        assert_eq!(request["to"], "server");
        let answered = messages.iter().any(|event| {
            event["to"] == "client" && event["message"]["id"] == request["message"]["id"]
        });
        assert!(answered, "{page}");
    }
}

#[tokio::test]
async fn settings_of_the_connection_are_sent() {
    for revision in ERAS {
        let browser = connected(revision).await;
        assert!(browser.post("ping", json!({})).await["ms"].is_number());
        assert_eq!(
            browser.post("level", json!({ "level": "debug" })).await,
            json!({ "ok": true })
        );
    }
}
