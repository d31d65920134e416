//! How a client handles answers, valid and invalid.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_client::{CallError, Client, Misbehavior, QuestionError};
use pintle_runtime::Answer;
use pintle_testkit::{HostileReply, HostileServer};
use serde_json::{Value, json};

use crate::client::{connect, good, misbehavior, within};

/// Both eras of a server that answers calls like this.
fn both(
    script: impl Fn(&mut HostileReply, &Value) + Send + Sync + Copy + 'static,
) -> [HostileServer; 2] {
    [HostileServer::modern(script), HostileServer::legacy(script)]
}

// spec: 2026-07-28 N-ERR-03 (client), N-ERR-10, N-ERR-08
#[tokio::test(start_paused = true)]
async fn codes_of_old_libraries_mean_nothing_to_a_call() {
    for code in [-32000, -32001, -32003, -32004, -32019] {
        let server = HostileServer::modern(move |out, message| out.fail(message, code, "m"));
        let client = connect(&server).await;
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        let found = error.answer().map(|error| error.code.0);
        assert_eq!((found, server.count("tools/call")), (Some(code), 1));
    }
}

// spec: 2025-11-25 CANC-09, CANC-10
// spec: 2026-07-28 N-CANC-09, N-CANC-10, N-STDIO-06
// hardening: H-161
#[tokio::test(start_paused = true)]
async fn answers_to_nothing_change_nothing() {
    let servers = both(|out, message| {
        if message["method"] != "tools/call" {
            return;
        }
        for id in [
            json!(99),
            json!("1"),
            json!(-1),
            json!(null),
            json!(0),
            json!("discover-1"),
        ] {
            out.send(json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        }
        out.send(json!({ "jsonrpc": "2.0", "id": [1], "result": {} }));
        out.send_text("{\"jsonrpc\":\"2.0\",\"id\":");
        out.send_text([0xc3, 0x28]);
        out.send_text("[]");
        out.reply(message, good());
        out.reply(message, json!({ "content": [] }));
        out.fail(message, -1, "no");
    });
    for server in servers {
        let client = connect(&server).await;
        for _ in 0..3 {
            let message = within(client.call_tool("t", ())).await.expect("a result");
            assert_eq!(message.content.len(), 1);
        }
        let answers = server
            .received()
            .iter()
            .filter(|message| message.get("method").is_none())
            .count();
        assert_eq!(answers, 0, "nothing of it is answered");
    }
}

// spec: 2025-11-25 MSG-08, MSG-13, AMB-07
// spec: 2026-07-28 N-BASE-05, N-BASE-10, A-31
// hardening: H-162
#[tokio::test(start_paused = true)]
async fn invalid_answers_are_typed_errors() {
    for result in [
        json!({ "resultType": "strange", "content": [] }),
        json!({ "resultType": "complete", "content": 5 }),
        json!({ "resultType": 5 }),
        json!([]),
        json!("text"),
        json!(null),
    ] {
        let kept = result.clone();
        let server = HostileServer::modern(move |out, message| out.reply(message, kept.clone()));
        let client = connect(&server).await;
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(
            matches!(misbehavior(error), Misbehavior::Unreadable(_)),
            "{result}"
        );
    }
    let contradicting = HostileServer::modern(|out, message| {
        let error = json!({ "code": 1, "message": "m" });
        out.send(
            json!({ "jsonrpc": "2.0", "id": message["id"], "result": good(), "error": error }),
        );
    });
    let client = connect(&contradicting).await;
    let error = within(client.call_tool("t", ())).await.unwrap_err();
    assert!(matches!(misbehavior(error), Misbehavior::Contradiction));
}

// spec: 2026-07-28 N-BASE-11, N-BASE-16
#[tokio::test(start_paused = true)]
async fn unknown_members_of_a_result_survive() {
    let result = json!({ "content": [{ "type": "hologram", "x": 1 }], "more": { "y": 2 } });
    let kept = result.clone();
    let server = HostileServer::modern(move |out, message| out.reply(message, kept.clone()));
    let client = connect(&server).await;
    let message = within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(serde_json::to_value(message).expect("JSON"), result);
}

// spec: 2025-11-25 TIME-02, CANC-01, CANC-02, CANC-05
// spec: 2026-07-28 N-CANC-01, N-CANC-02, N-CANC-06, N-CANC-12, N-STDIO-07, N-ERR-08
// hardening: H-170
#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_is_given_up_and_cancelled() {
    for server in both(|_, _| {}) {
        let client = connect(&server).await;
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        drop(
            tokio::time::timeout(
                Duration::from_secs(1),
                client.call_tool("u", ()).into_future(),
            )
            .await,
        );
        within(tokio::time::sleep(Duration::from_secs(1))).await;
        let received = server.received();
        let ids: Vec<_> = received
            .iter()
            .filter(|message| message["method"] == "tools/call")
            .map(|message| &message["id"])
            .collect();
        let cancelled: Vec<_> = received
            .iter()
            .filter(|message| message["method"] == "notifications/cancelled")
            .map(|message| &message["params"]["requestId"])
            .collect();
        assert_eq!(cancelled, ids);
        assert_eq!(server.given_up(), 2);
    }
}

// spec: 2025-11-25 TIME-04, TIME-05
// spec: 2026-07-28 N-CANC-13
#[tokio::test(start_paused = true)]
async fn progress_buys_time_up_to_the_ceiling() {
    for server in both(|out, message| {
        let token = message["params"]["_meta"]["progressToken"].clone();
        for step in 1..1_000_u64 {
            let params = json!({ "progressToken": token, "progress": step });
            let notice =
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            out.send_after(Duration::from_secs(10 * step), notice);
        }
    }) {
        let client = connect(&server).await;
        let began = tokio::time::Instant::now();
        let call = client
            .call_tool("t", ())
            .timeout(Duration::from_secs(30))
            .total_timeout(Duration::from_secs(300))
            .on_progress(|_| {});
        let error = within(call).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        assert_eq!(began.elapsed().as_secs(), 300);
    }
}

// spec: 2025-11-25 PROG-05, PROG-14
// hardening: H-166
#[tokio::test(start_paused = true)]
async fn a_flood_of_notices_does_not_drown_the_answer() {
    for server in both(|out, message| {
        let token = message["params"]["_meta"]["progressToken"].clone();
        for step in 0..10_000_u64 {
            // Some of the progress goes backwards.
            let progress = if step % 100 == 99 { 0 } else { step };
            out.notify(
                "notifications/progress",
                json!({ "progressToken": token, "progress": progress }),
            );
            if step % 5 == 0 {
                out.notify(
                    "notifications/message",
                    json!({ "level": "info", "data": "x" }),
                );
                out.notify("notifications/no/such", json!({}));
            }
        }
        out.reply(message, good());
    }) {
        let client = connect(&server).await;
        let received = Arc::new(Mutex::new(Vec::new()));
        let observer = Arc::clone(&received);
        let call = client.call_tool("t", ()).on_progress(move |progress| {
            observer.lock().expect("no panic").push(progress.progress)
        });
        within(call).await.expect("a result");
        let received = received.lock().expect("no panic");
        assert!(received.is_sorted_by(|a, b| a < b) && received.last() == Some(&9_998.0));
    }
}

#[tokio::test(start_paused = true)]
async fn on_notice_receives_the_notifications_without_a_handler_of_their_own() {
    for server in both(|out, message| {
        out.notify("notifications/no/such", json!({ "a": 1 }));
        out.notify(
            "notifications/message",
            json!({ "level": "info", "data": "x" }),
        );
        out.reply(message, good());
    }) {
        let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
        let builder = Client::builder().on_notice(move |notice| {
            let params = notice.params.decode::<Value>().expect("JSON");
            let _ = sender.send((notice.method.to_string(), params));
        });
        let client = within(builder.connect(server.clone()))
            .await
            .expect("a conversation");
        within(client.call_tool("t", ())).await.expect("a result");
        let notice = ("notifications/no/such".to_owned(), json!({ "a": 1 }));
        assert_eq!(within(received.recv()).await, Some(notice));
        assert!(
            received.try_recv().is_err(),
            "a log message has its own handler"
        );
    }
}

/// A legacy server that asks a question during a call, and returns the answer in its result.
fn asking(method: &'static str, params: Value) -> HostileServer {
    let call = Mutex::new(Value::Null);
    HostileServer::legacy(move |out, message| {
        if message["method"] == "tools/call" {
            *call.lock().expect("no panic") = message["id"].clone();
            out.send(json!({ "jsonrpc": "2.0", "id": "q", "method": method, "params": params }));
        } else if message["id"] == "q" {
            let text = message.to_string();
            let result = json!({ "content": [{ "type": "text", "text": text }] });
            let id = call.lock().expect("no panic").clone();
            out.send(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
    })
}

async fn answer_of(client: &Client) -> Value {
    let message = within(client.call_tool("t", ())).await.expect("a result");
    let message = serde_json::to_value(message).expect("JSON");
    serde_json::from_str(message["content"][0]["text"].as_str().expect("a text")).expect("JSON")
}

// spec: 2025-11-25 LIFE-17, ROOT-05 (not supported), ELIC-50, SAMP-06, SAMP-28, GEN-05 (client serves), MSG-10
// hardening: H-79
#[tokio::test(start_paused = true)]
async fn a_request_that_needs_an_undeclared_capability_is_refused() {
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let url = json!({ "mode": "url", "message": "?", "url": "https://example.org", "elicitationId": "e" });
    let sample = json!({ "messages": [], "maxTokens": 1 });
    for (method, params, code) in [
        ("elicitation/create", form.clone(), -32601),
        ("elicitation/create", url.clone(), -32601),
        ("sampling/createMessage", sample.clone(), -32601),
        ("roots/list", json!({}), -32601),
        ("tools/call", json!({}), -32601),
        ("no/such", json!({}), -32601),
    ] {
        let server = asking(method, params);
        let client = connect(&server).await;
        assert_eq!(answer_of(&client).await["error"]["code"], code, "{method}");
    }
    // Forms were declared, URLs were not; the model takes no tools.
    let builder = Client::builder()
        .on_elicit(async |form| Answer::Accepted(form.defaults))
        .on_sample(async |_| panic!("it is not called"));
    let tools = json!({ "messages": [], "maxTokens": 1, "tools": [] });
    let unbalanced = json!({ "maxTokens": 1, "messages": [
        { "role": "user", "content": { "type": "tool_result", "toolUseId": "x", "content": [] } }] });
    for (method, params, code) in [
        ("elicitation/create", url, -32602),
        ("sampling/createMessage", tools, -32602),
        ("sampling/createMessage", unbalanced, -32602),
    ] {
        let client = within(builder.clone().connect(asking(method, params)))
            .await
            .expect("it opens");
        assert_eq!(answer_of(&client).await["error"]["code"], code, "{method}");
    }
    let client = within(builder.connect(asking("elicitation/create", form)))
        .await
        .expect("it opens");
    assert_eq!(
        answer_of(&client).await["result"],
        json!({ "action": "accept", "content": {} })
    );
}

// spec: 2026-07-28 N-BASE-13, N-BASE-14, N-HTTP-13, N-STDIO-03, N-TRAN-01
// hardening: H-79
#[tokio::test(start_paused = true)]
async fn a_modern_server_that_sends_requests_gets_no_answer() {
    let server = HostileServer::modern(|out, message| {
        for method in ["ping", "roots/list", "elicitation/create", "no/such"] {
            out.send(json!({ "jsonrpc": "2.0", "id": method, "method": method }));
        }
        out.send_text("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":7}");
        out.reply(message, good());
    });
    let client = connect(&server).await;
    within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(server.received().len(), 2, "the probe and the call");
}

// spec: 2026-07-28 N-MRTR-07, A-24
// hardening: H-79
#[tokio::test(start_paused = true)]
async fn a_question_inside_of_a_result_that_was_not_declared_ends_the_call() {
    for question in [
        json!({ "method": "roots/list" }),
        json!({ "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 1 } }),
        json!({ "method": "elicitation/create", "params": { "mode": "url", "message": "?", "url": "https://example.org" } }),
        json!({ "method": "no/such", "params": {} }),
    ] {
        let asked = question.clone();
        let server = HostileServer::modern(move |out, message| {
            out.reply(
                message,
                json!({ "resultType": "input_required", "inputRequests": { "a": asked } }),
            );
        });
        let builder = Client::builder().on_elicit(async |_| panic!("it is not called"));
        let client = within(builder.connect(server.clone()))
            .await
            .expect("it opens");
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        let CallError::QuestionFailed { source, .. } = error else {
            panic!("{question}: {error}")
        };
        assert!(
            matches!(
                source,
                QuestionError::Undeclared(_) | QuestionError::UnknownKind
            ),
            "{source}"
        );
        assert_eq!(server.count("tools/call"), 1, "it is not retried");
    }
}

// spec: 2025-11-25 ELIC-24, ELIC-30, ELIC-31
#[tokio::test(start_paused = true)]
async fn the_end_of_a_visit_is_reported_once_and_only_for_known_visits() {
    let done = |out: &mut HostileReply, id: &str| {
        out.notify(
            "notifications/elicitation/complete",
            json!({ "elicitationId": id }),
        );
    };
    let call = Mutex::new(Value::Null);
    let server = HostileServer::legacy(move |out, message| {
        if message["method"] == "tools/call" {
            *call.lock().expect("no panic") = message["id"].clone();
            done(out, "e");
            let url = json!({ "mode": "url", "message": "?", "url": "https://example.org", "elicitationId": "e" });
            out.send(json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": url }));
        } else if message["id"] == "q" {
            for id in ["other", "e", "e"] {
                done(out, id);
            }
            let id = call.lock().expect("no panic").clone();
            out.send(json!({ "jsonrpc": "2.0", "id": id, "result": good() }));
        }
    });
    let visited = Arc::new(Mutex::new(Vec::new()));
    let observer = Arc::clone(&visited);
    let builder = Client::builder()
        .on_elicit_url(async |_| Answer::Accepted(()))
        .on_visit_complete(move |id| observer.lock().expect("no panic").push(id));
    let client = within(builder.connect(server)).await.expect("it opens");
    within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(*visited.lock().expect("no panic"), ["e"]);
}
