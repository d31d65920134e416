//! A picture of 1 MiB, which is not copied into its message, arrives whole.

use pintle_model::Base64;
use pintle_proto::frame::sse;
use serde_json::{Value, json};

use super::port::{Came, Port};
use crate::common::{Ask, endpoint, get, legacy, modern_tool, open, piece};

const MIB: usize = 1 << 20;

fn legacy_picture(bytes: usize, steps: u64) -> Ask {
    let arguments = json!({ "bytes": bytes, "steps": steps });
    let params =
        json!({ "name": "picture", "arguments": arguments, "_meta": { "progressToken": "t" } });
    legacy(1, "tools/call", params)
}

fn modern_picture(bytes: usize, steps: u64) -> Ask {
    let mut ask = modern_tool(1, "picture", json!({ "bytes": bytes, "steps": steps }));
    let mut body: Value = serde_json::from_slice(&ask.body).expect("JSON");
    body["params"]["_meta"]["progressToken"] = json!("t");
    ask.body = body.to_string().into();
    ask
}

/// Checks that the answer has the picture and the texts around it.
fn assert_whole(answer: &Value, bytes: usize) {
    let content = &answer["result"]["content"];
    assert_eq!(content[0]["text"], "before");
    assert_eq!(content[2]["text"], "after");
    let data = content[1]["data"].as_str().expect("a picture");
    let decoded = Base64::from_text(data).decode().expect("base64");
    assert!(decoded == vec![7; bytes], "{} bytes", decoded.len());
}

/// Returns the messages of a stream.
fn messages(events: &[u8]) -> Vec<Value> {
    let (mut decoder, mut rest) = (sse::Decoder::new(4 << 20), events);
    let mut messages = Vec::new();
    while let Some(event) = decoder.decode(&mut rest).expect("events") {
        messages.push(serde_json::from_slice(&event.data).expect("JSON"));
    }
    messages
}

/// Returns the body without the lengths of its chunks.
fn unchunked(came: &Came) -> Vec<u8> {
    assert!(came.head.contains("transfer-encoding: chunked"));
    let (mut rest, mut body) = (&*came.body, Vec::new());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("a length");
        body.extend_from_slice(&after.as_bytes()[..length]);
        rest = &after[length + 2..];
    }
    body
}

#[tokio::test]
async fn a_picture_arrives_whole_as_json_and_as_an_event() {
    let port = Port::open().await;
    let session = port.session().await;
    for steps in [0, 2] {
        for ask in [
            modern_picture(MIB, steps),
            legacy_picture(MIB, steps).in_session(&session),
        ] {
            let came = port.ask(ask).await;
            assert_eq!(came.status, 200);
            if steps == 0 {
                let length = format!("content-length: {}", came.body.len());
                assert!(came.head.contains(&length), "{}", came.head);
                assert_whole(&came.json(), MIB);
                continue;
            }
            let messages = messages(&unchunked(&came));
            assert_eq!(messages.len(), 3);
            assert_whole(&messages[2], MIB);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_resumes_receives_the_whole_picture() {
    const SMALL: usize = 64 << 10;
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let call = legacy_picture(SMALL, 2).in_session(&session);
    let mut body = call.of(&endpoint).await.into_body();
    let mut all = String::new();
    while let Some(piece) = piece(&mut body).await {
        all.push_str(&piece);
    }
    let ids = all.lines().filter_map(|line| line.strip_prefix("id: "));
    for (nth, id) in ids.enumerate().take(3) {
        let again = get().in_session(&session).with("last-event-id", id);
        let mut body = again.of(&endpoint).await.into_body();
        let mut rest = String::new();
        while let Some(piece) = piece(&mut body).await {
            rest.push_str(&piece);
        }
        let messages = messages(rest.as_bytes());
        assert_eq!(messages.len(), 3 - nth);
        assert_whole(&messages[2 - nth], SMALL);
    }
}
