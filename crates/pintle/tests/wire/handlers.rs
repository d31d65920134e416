//! What handlers say.

use serde_json::{Value, json};

use crate::peer::{Era, Lines, Posts};
use crate::server::NASTY;

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

// hardening: H-93
#[tokio::test]
async fn a_log_is_one_message_for_whoever_asked_for_it_and_for_nobody_else() {
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
        let told: Vec<Value> = came
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).expect("one message in one line"))
            .filter(is_the_log)
            .collect();
        assert_eq!(told.len(), logs, "{came}");
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
