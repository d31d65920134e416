//! Requests that take several rounds (2026-07-28).

use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_client::{Client, Misbehavior};
use pintle_runtime::Answer;
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

use crate::client::{connect, good, misbehavior, within};

fn question() -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": schema } })
}

async fn agreeing(server: &HostileServer) -> Client {
    let builder = Client::builder().on_elicit(async |form| Answer::Accepted(form.defaults));
    within(builder.connect(server.clone()))
        .await
        .expect("it opens")
}

// spec: 2026-07-28 A-20, N-MRTR-14
#[tokio::test(start_paused = true)]
async fn a_call_ends_if_the_server_asks_without_limit() {
    let asking = HostileServer::modern(|out, message| {
        out.reply(
            message,
            json!({ "resultType": "input_required", "inputRequests": { "a": question() } }),
        );
    });
    let waiting = HostileServer::modern(|out, message| {
        out.reply(
            message,
            json!({ "resultType": "input_required", "requestState": "again" }),
        );
    });
    for server in [asking, waiting] {
        let client = agreeing(&server).await;
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(matches!(misbehavior(error), Misbehavior::Rounds(_)));
        assert_eq!(server.count("tools/call"), 11);
    }
}

// spec: 2026-07-28 N-MRTR-03, N-MRTR-04 (client refuses)
#[tokio::test(start_paused = true)]
async fn only_some_calls_may_ask_and_only_something() {
    let asking = HostileServer::modern(|out, message| {
        out.reply(
            message,
            json!({ "resultType": "input_required", "inputRequests": { "a": question() } }),
        );
    });
    let client = agreeing(&asking).await;
    let error = within(client.list_tools()).await.unwrap_err();
    assert!(matches!(
        misbehavior(error),
        Misbehavior::UnexpectedQuestion
    ));
    let nothing = HostileServer::modern(|out, message| {
        out.reply(message, json!({ "resultType": "input_required" }));
    });
    let client = agreeing(&nothing).await;
    let error = within(client.call_tool("t", ())).await.unwrap_err();
    assert!(matches!(misbehavior(error), Misbehavior::Rounds(_)));
    let task = HostileServer::modern(|out, message| {
        let status = json!({ "taskId": "1", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null });
        let mut result = json!({ "resultType": "task" });
        result
            .as_object_mut()
            .expect("an object")
            .extend(status.as_object().expect("an object").clone());
        out.reply(message, result);
    });
    let client = connect(&task).await;
    let error = within(client.call_tool("t", ())).await.unwrap_err();
    assert!(matches!(
        misbehavior(error),
        Misbehavior::UnexpectedTask | Misbehavior::Unreadable(_)
    ));
}

// spec: 2026-07-28 N-MRTR-18, N-MRTR-19, N-MRTR-20, N-MRTR-21, N-MRTR-22, N-MRTR-33, N-PROG-02, A-15, A-06
#[tokio::test(start_paused = true)]
async fn a_retry_carries_this_rounds_answers_and_state_and_nothing_older() {
    let rounds = AtomicUsize::new(0);
    let server = HostileServer::modern(move |out, message| {
        let next = match rounds.fetch_add(1, Ordering::SeqCst) {
            0 => {
                json!({ "resultType": "input_required", "inputRequests": { "a": question() }, "requestState": "one\n\"\\" })
            }
            1 => json!({ "resultType": "input_required", "inputRequests": { "b": question() } }),
            2 => json!({ "resultType": "input_required", "requestState": "three" }),
            _ => good(),
        };
        out.reply(message, next);
    });
    let client = agreeing(&server).await;
    let arguments = json!({ "x": 1 });
    let call = client.call_tool("t", &arguments).on_progress(|_| {});
    within(call).await.expect("a result");
    let calls: Vec<_> = server
        .received()
        .into_iter()
        .filter(|message| message["method"] == "tools/call")
        .collect();
    let carried: Vec<_> = calls
        .iter()
        .map(|message| {
            (
                message["params"]["inputResponses"].clone(),
                message["params"]["requestState"].clone(),
            )
        })
        .collect();
    let accepted = json!({ "action": "accept", "content": {} });
    assert_eq!(
        carried,
        [
            (Value::Null, Value::Null),
            (json!({ "a": accepted }), json!("one\n\"\\")),
            (json!({ "b": accepted }), Value::Null),
            (Value::Null, json!("three")),
        ]
    );
    for (at, message) in calls.iter().enumerate() {
        assert_eq!(
            (&message["params"]["name"], &message["params"]["arguments"]),
            (&json!("t"), &arguments)
        );
        assert_eq!(message["params"]["_meta"]["progressToken"], message["id"]);
        assert!(
            calls[..at]
                .iter()
                .all(|earlier| earlier["id"] != message["id"])
        );
    }
}
