//! Servers that ask questions for which the client declared no capability.

use pintle_client::{Client, QuestionError};
use pintle_runtime::Answer;
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

use crate::hostile::{GROUNDS, good, meet, meet_as, within};

fn questions() -> [(&'static str, Value); 5] {
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    [
        ("elicitation/create", form),
        (
            "sampling/createMessage",
            json!({ "messages": [], "maxTokens": 1 }),
        ),
        ("roots/list", json!({})),
        ("tools/call", json!({ "name": "t" })),
        ("no/such", json!({})),
    ]
}

/// The client's messages that are neither requests nor notices.
fn answers(server: &HostileServer) -> Vec<Value> {
    let received = server.received().into_iter();
    received
        .filter(|message| message.get("method").is_none())
        .collect()
}

// hardening: H-79
#[tokio::test(start_paused = true)]
async fn undeclared_questions_of_a_legacy_server_are_refused() {
    for ground in GROUNDS {
        let server = HostileServer::legacy(|out, message| {
            if message["method"] == "tools/call" {
                for (method, params) in questions() {
                    out.send(json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }));
                }
                out.send_after(
                    std::time::Duration::from_secs(1),
                    json!({ "jsonrpc": "2.0", "id": message["id"], "result": good() }),
                );
            }
        });
        let client = meet(&server, ground).await;
        within(client.call_tool("t", ())).await.expect("a result");
        let answers = answers(&server);
        assert_eq!(answers.len(), 5, "{ground:?} {answers:?}");
        for answer in answers {
            let code = answer["error"]["code"].as_i64();
            assert!(matches!(code, Some(-32602 | -32601)), "{ground:?} {answer}");
        }
    }
}

// hardening: H-79
#[tokio::test(start_paused = true)]
async fn requests_of_a_modern_server_are_not_answered() {
    for ground in GROUNDS {
        let server = HostileServer::modern(|out, message| {
            for (method, params) in questions() {
                out.send(
                    json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }),
                );
            }
            out.reply(message, good());
        });
        let client = meet(&server, ground).await;
        within(client.call_tool("t", ())).await.expect("a result");
        assert_eq!(answers(&server), Vec::<Value>::new(), "{ground:?}");
    }
}

// hardening: H-79
#[tokio::test(start_paused = true)]
async fn an_undeclared_question_in_a_result_fails_the_call() {
    for ground in GROUNDS {
        for (method, params) in questions().into_iter().skip(1) {
            let server = HostileServer::modern(move |out, message| {
                let question = json!({ "method": method, "params": params });
                out.reply(
                    message,
                    json!({ "resultType": "input_required", "inputRequests": { "a": question } }),
                );
            });
            let client =
                Client::builder().on_elicit(async |_| -> Answer<_> { panic!("it is not asked") });
            let client = meet_as(client, &server, ground).await;
            let error = within(client.call_tool("t", ())).await.unwrap_err();
            let pintle_client::CallError::QuestionFailed { source, .. } = error else {
                panic!("{ground:?} {method}: {error}")
            };
            assert!(matches!(
                source,
                QuestionError::Undeclared(_) | QuestionError::UnknownKind
            ));
            assert_eq!(server.count("tools/call"), 1, "it is not retried");
        }
    }
}

// hardening: H-166
#[tokio::test(start_paused = true)]
async fn a_flood_of_notices_and_questions_does_not_drown_the_answer() {
    for ground in GROUNDS {
        for server in crate::hostile::both(|out, message| {
            if message["method"] != "tools/call" {
                return;
            }
            let token = &message["params"]["_meta"]["progressToken"];
            for step in 0..10_000_u64 {
                out.notify(
                    "notifications/progress",
                    json!({ "progressToken": token, "progress": step }),
                );
                if step % 10 == 0 {
                    out.notify(
                        "notifications/message",
                        json!({ "level": "info", "data": "x" }),
                    );
                    out.notify("notifications/tools/list_changed", json!({}));
                    out.send(
                        json!({ "jsonrpc": "2.0", "id": format!("q-{step}"), "method": "no/such" }),
                    );
                }
            }
            out.reply(message, good());
        }) {
            let client = meet(&server, ground).await;
            let received = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let observer = std::sync::Arc::clone(&received);
            let call = client.call_tool("t", ()).on_progress(move |progress| {
                observer.lock().expect("no panic").push(progress.progress)
            });
            within(call).await.expect("a result");
            let received = received.lock().expect("no panic");
            assert!(received.is_sorted_by(|a, b| a < b), "in order");
            assert_eq!(
                received.last(),
                Some(&9_999.0),
                "{ground:?}: the last of it came before the result"
            );
        }
    }
}
