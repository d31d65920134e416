//! The output of handlers, and their effect on other requests.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::wire::peer::{Era, Lines, Posts};
use crate::wire::server::NASTY;

fn call(era: Era, tool: &str, meta: &str) -> Vec<u8> {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},META}}}}"#
    );
    let text = String::from_utf8(era.fill(text.as_bytes())).expect("text");
    match meta {
        "" => text.into_bytes(),
        _ => text
            .replacen(r#""_meta":{"#, &format!(r#""_meta":{{{meta},"#), 1)
            .into_bytes(),
    }
}

// All of this runs on one thread, so a function that blocked it would stop every request.
// hardening: H-184
#[tokio::test]
async fn a_function_marked_as_blocking_does_not_delay_other_requests() {
    for era in [Era::Legacy, Era::Modern] {
        let mut lines = Lines::connect(era).await;
        let said = lines.exchange(&call(era, "block", "")).await;
        assert_eq!(said, [Value::Null; 0], "a request behind it is answered");
        lines.server.gate.open();
        let answer = lines.receive().await;
        let text = &answer["result"]["content"][0]["text"];
        assert_eq!(text, "it was opened", "{answer}");

        let posts = Arc::new(Posts::connect(era).await);
        let blocked = tokio::spawn({
            let posts = Arc::clone(&posts);
            async move {
                let headers = posts.headers("tools/call", Some("block"));
                posts.post_for_text(&headers, &call(era, "block", "")).await
            }
        });
        posts.server.gate.waited_for().await;
        posts.assert_served("a function that blocks").await;
        assert!(!blocked.is_finished());
        posts.server.gate.open();
        let answer = blocked.await.expect("no panic");
        assert!(answer.contains("it was opened"), "{answer}");
    }
}

// hardening: H-93 (levels and lines)
#[tokio::test]
async fn a_log_is_one_message_and_only_for_the_requesting_client() {
    let level = r#""io.modelcontextprotocol/logLevel":"debug""#;
    let mut lines = Lines::connect(Era::Modern).await;
    let posts = Posts::connect(Era::Modern).await;
    let headers = posts.headers("tools/call", Some("log"));
    for (meta, logs) in [("", 0), (level, 1)] {
        let request = call(Era::Modern, "log", meta);
        let mut said = lines.exchange(&request).await;
        let answer = said.pop().expect("an answer");
        assert!(answer["result"].is_object(), "{answer}");
        assert_eq!(said.len(), logs, "{said:?}");
        assert!(said.iter().all(is_the_log), "{said:?}");

        let came = posts.post_for_text(&headers, &request).await;
        let logs_sent: Vec<Value> = came
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).expect("one message in one line"))
            .filter(is_the_log)
            .collect();
        assert_eq!(logs_sent.len(), logs, "{came}");
        assert_eq!(
            came.matches("notifications/message").count(),
            logs,
            "{came}"
        );
    }
}

fn is_the_log(message: &Value) -> bool {
    message["method"] == "notifications/message" && message["params"]["data"] == json!(NASTY)
}
