//! The client as the side that answers questions and receives cancellations and progress.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_client::Client;
use pintle_model::{Revision, SubscriptionFilter};
use pintle_proto::Change;
use pintle_runtime::Answer;
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

use crate::client::{connect, good, within};

const SECOND: Duration = Duration::from_secs(1);

fn form() -> Value {
    json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } })
}

fn answers(server: &HostileServer) -> Vec<Value> {
    let received = server.received().into_iter();
    received
        .filter(|incoming| incoming.get("method").is_none())
        .collect()
}

/// Counts how often it was dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

// spec: 2025-11-25 CANC-06, CANC-07, CANC-08, CANC-14
#[tokio::test(start_paused = true)]
async fn a_question_that_is_called_off_is_dropped_and_not_answered() {
    let server = HostileServer::legacy(|out, incoming| {
        if incoming["method"] != "tools/call" {
            return;
        }
        let ask = json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": form() });
        out.send(ask);
        for params in [
            json!({ "requestId": "other" }),
            json!({ "requestId": [1] }),
            json!({ "requestId": incoming["id"] }),
            json!({ "reason": "which?" }),
            json!(5),
        ] {
            out.send_after(
                SECOND,
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
            );
        }
        let cancel = json!({ "requestId": "q", "reason": "never mind" });
        for at in [2, 3] {
            out.send_after(
                at * SECOND,
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }),
            );
        }
        out.send_after(
            4 * SECOND,
            json!({ "jsonrpc": "2.0", "id": incoming["id"], "result": good() }),
        );
    });
    let (asked, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::<AtomicUsize>::default());
    let (counts, drops) = (Arc::clone(&asked), Arc::clone(&dropped));
    let builder = Client::builder().on_elicit(move |_| {
        counts.fetch_add(1, Ordering::SeqCst);
        let guard = Dropped(Arc::clone(&drops));
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            Answer::Declined
        }
    });
    let client = within(builder.connect(server.clone()))
        .await
        .expect("it opens");
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("t", ()).await }
    });
    tokio::time::sleep(SECOND + SECOND / 2).await;
    let seen = (asked.load(Ordering::SeqCst), dropped.load(Ordering::SeqCst));
    assert_eq!(
        seen,
        (1, 0),
        "what called off something else changed nothing"
    );
    tokio::time::sleep(SECOND).await;
    assert_eq!(
        dropped.load(Ordering::SeqCst),
        1,
        "nobody is asked any more"
    );
    within(call)
        .await
        .expect("no panic")
        .expect("the call goes on");
    assert_eq!(answers(&server), Vec::<Value>::new());
}

// spec: 2026-07-28 N-CANC-11
#[tokio::test(start_paused = true)]
async fn a_needless_cancellation_of_a_modern_server_changes_nothing() {
    let server = HostileServer::modern(|out, incoming| {
        for params in [
            json!({ "requestId": 99 }),
            json!({ "requestId": {} }),
            json!({}),
            json!([1]),
        ] {
            out.notify("notifications/cancelled", params);
        }
        out.reply(incoming, good());
    });
    let client = connect(&server).await;
    within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(server.received().len(), 2, "the probe and the call");
}

// spec: 2025-11-25 PROG-02, PROG-03, PROG-04, PROG-06, PROG-07, PROG-08, PROG-09, PROG-13, PROG-15
// spec: 2026-07-28 N-PROG-01, N-PROG-06, N-STDIO-06
#[tokio::test(start_paused = true)]
async fn progress_reaches_its_own_call_only() {
    let script = |out: &mut pintle_testkit::HostileReply, incoming: &Value| {
        let token = &incoming["params"]["_meta"]["progressToken"];
        if incoming["params"]["name"] == "first" {
            let step = json!({ "progressToken": token, "progress": 0.25, "message": "a quarter" });
            out.notify("notifications/progress", step);
            out.send_after(
                2 * SECOND,
                json!({ "jsonrpc": "2.0", "id": incoming["id"], "result": good() }),
            );
            // After the end.
            let late = json!({ "progressToken": token, "progress": 9 });
            out.send_after(
                3 * SECOND,
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": late }),
            );
        } else if incoming["params"]["name"] == "second" {
            for strange in [
                json!(99),
                json!(token.to_string()),
                json!(null),
                json!([token]),
            ] {
                out.notify(
                    "notifications/progress",
                    json!({ "progressToken": strange, "progress": 7 }),
                );
            }
            let step = json!({ "progressToken": token, "progress": 1, "total": 2.5 });
            out.notify("notifications/progress", step);
            out.send_after(
                4 * SECOND,
                json!({ "jsonrpc": "2.0", "id": incoming["id"], "result": good() }),
            );
        } else if incoming["method"] == "tools/call" {
            out.reply(incoming, good());
        }
    };
    for server in [HostileServer::modern(script), HostileServer::legacy(script)] {
        let client = connect(&server).await;
        let received = Arc::<Mutex<Vec<_>>>::default();
        let calls = ["first", "second"].map(|name| {
            let (client, observer) = (client.clone(), Arc::clone(&received));
            tokio::spawn(async move {
                let call = client.call_tool(name, ());
                call.on_progress(move |step| {
                    let step = (name, step.progress, step.total, step.message.clone());
                    observer.lock().expect("no panic").push(step);
                })
                .await
            })
        });
        for call in calls {
            within(call).await.expect("no panic").expect("a result");
        }
        within(client.call_tool("without", ()))
            .await
            .expect("a result");
        let received = received.lock().expect("no panic");
        let quarter = Some("a quarter".to_owned());
        assert_eq!(
            *received,
            [
                ("first", 0.25, None, quarter),
                ("second", 1.0, Some(2.5), None)
            ]
        );
        let calls = server.received().into_iter();
        let calls: Vec<_> = calls
            .filter(|incoming| incoming["method"] == "tools/call")
            .collect();
        let tokens: Vec<_> = calls
            .iter()
            .map(|incoming| &incoming["params"]["_meta"]["progressToken"])
            .collect();
        assert!(
            tokens[..2]
                .iter()
                .all(|token| token.is_i64() || token.is_string()),
            "{tokens:?}"
        );
        assert_ne!(tokens[0], tokens[1]);
        assert!(tokens[2].is_null(), "nobody listens");
    }
}

// spec: 2026-07-28 N-PROG-09
#[tokio::test(start_paused = true)]
async fn a_modern_client_sends_no_unsolicited_message() {
    let server = HostileServer::modern(|out, incoming| {
        if incoming["params"].get("inputResponses").is_some() {
            return out.reply(incoming, good());
        }
        let mut params = form();
        params["_meta"] = json!({ "progressToken": "p" });
        let question = json!({ "method": "elicitation/create", "params": params });
        out.reply(
            incoming,
            json!({ "resultType": "input_required", "inputRequests": { "a": question } }),
        );
    });
    let builder = Client::builder().on_elicit(async |form| {
        tokio::time::sleep(5 * SECOND).await;
        Answer::Accepted(form.defaults)
    });
    let client = within(builder.connect(server.clone()))
        .await
        .expect("it opens");
    within(client.call_tool("t", ())).await.expect("a result");
    let received = server.received();
    let methods: Vec<_> = received
        .iter()
        .map(|incoming| incoming["method"].as_str())
        .collect();
    let expected = ["server/discover", "tools/call", "tools/call"];
    assert_eq!(methods, expected.map(Some));
}

// spec: 2025-11-25 SAMP-15, SAMP-29, SAMP-31
#[tokio::test(start_paused = true)]
async fn messages_that_no_model_may_see_are_refused_before_one_does() {
    let message = |role: &str, content: Value| json!({ "role": role, "content": content });
    let text = || json!({ "type": "text", "text": "?" });
    let uses = |id: &str| json!({ "type": "tool_use", "id": id, "name": "t", "input": {} });
    let result = |id: &str| json!({ "type": "tool_result", "toolUseId": id, "content": [] });
    for messages in [
        // A result of a tool that was not used.
        json!([
            message("assistant", json!([uses("a")])),
            message("user", json!([result("b")]))
        ]),
        // A result beside other content.
        json!([
            message("assistant", json!([uses("a")])),
            message("user", json!([result("a"), text()]))
        ]),
        // A use without a result.
        json!([
            message("assistant", json!([uses("a")])),
            message("user", json!([text()]))
        ]),
        json!([message("user", json!(5))]),
        json!(5),
    ] {
        let asked = messages.clone();
        let server = HostileServer::legacy(move |out, incoming| {
            if incoming["method"] == "tools/call" {
                let params = json!({ "messages": asked, "maxTokens": 1 });
                out.send(json!({ "jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": params }));
                out.send_after(
                    SECOND,
                    json!({ "jsonrpc": "2.0", "id": incoming["id"], "result": good() }),
                );
            }
        });
        let builder = Client::builder().on_sample_with_tools(async |_| panic!("no model sees it"));
        let client = within(builder.connect(server.clone()))
            .await
            .expect("it opens");
        within(client.call_tool("t", ())).await.expect("a result");
        let answers = answers(&server);
        assert_eq!(answers.len(), 1, "{messages}");
        assert_eq!(answers[0]["error"]["code"], -32602, "{messages}");
    }
}

// spec: 2025-11-25 ELIC-09
#[tokio::test(start_paused = true)]
async fn a_client_with_a_form_handler_answers_forms_without_a_mode() {
    for mode in [None, Some("form")] {
        let mut params = form();
        if let Some(mode) = mode {
            params["mode"] = json!(mode);
        }
        let server = HostileServer::legacy(move |out, incoming| {
            if incoming["method"] == "tools/call" {
                out.send(json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params }));
                out.send_after(
                    SECOND,
                    json!({ "jsonrpc": "2.0", "id": incoming["id"], "result": good() }),
                );
            }
        });
        let builder = Client::builder().on_elicit(async |form| Answer::Accepted(form.defaults));
        let client = within(builder.connect(server.clone()))
            .await
            .expect("it opens");
        let received = server.received();
        let opening = received
            .iter()
            .find(|incoming| incoming["method"] == "initialize");
        let declared = &opening.expect("a handshake")["params"]["capabilities"]["elicitation"];
        assert!(
            declared.is_object() && declared.get("url").is_none(),
            "{declared}"
        );
        within(client.call_tool("t", ())).await.expect("a result");
        assert_eq!(answers(&server)[0]["result"]["action"], "accept");
    }
}

// spec: 2025-11-25 LIFE-05, PING-01
#[tokio::test(start_paused = true)]
async fn before_initialize_is_answered_a_client_only_answers_pings() {
    let server = HostileServer::new(|out, incoming| match incoming["method"].as_str() {
        Some("initialize") => {
            out.send(json!({ "jsonrpc": "2.0", "id": "early", "method": "ping" }));
            let version = &incoming["params"]["protocolVersion"];
            let server = json!({ "name": "s", "version": "1" });
            let result = json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": server });
            out.send_after(
                5 * SECOND,
                json!({ "jsonrpc": "2.0", "id": incoming["id"], "result": result }),
            );
        }
        Some("server/discover") => out.fail(incoming, -32601, "no"),
        Some("ping") => out.reply(incoming, json!({})),
        _ => {}
    });
    let opening = tokio::spawn({
        let server = server.clone();
        async move { connect(&server).await }
    });
    tokio::time::sleep(4 * SECOND).await;
    let received = server.received();
    let methods: Vec<_> = received
        .iter()
        .map(|incoming| incoming["method"].as_str())
        .collect();
    assert_eq!(methods, [Some("server/discover"), Some("initialize"), None]);
    assert_eq!(
        received[2],
        json!({ "jsonrpc": "2.0", "id": "early", "result": {} })
    );
    let client = within(opening).await.expect("no panic");
    within(client.ping()).await.expect("it is there");
}

// spec: 2025-11-25 LIFE-15
// spec: 2026-07-28 N-DISC-10
#[tokio::test(start_paused = true)]
async fn one_request_reveals_all_capabilities_even_unknown_ones() {
    let offers =
        json!({ "tools": { "later": 1 }, "experimental": { "x": { "y": [1] } }, "x-mine": {} });
    let declared = offers.clone();
    let modern = HostileServer::new(move |out, incoming| {
        out.reply(incoming, json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": declared }));
    });
    let declared = offers.clone();
    let legacy = HostileServer::new(move |out, incoming| match incoming["method"].as_str() {
        Some("initialize") => {
            let server = json!({ "name": "s", "version": "1" });
            let version = &incoming["params"]["protocolVersion"];
            out.reply(
                incoming,
                json!({ "protocolVersion": version, "capabilities": declared, "serverInfo": server }),
            );
        }
        _ => out.fail(incoming, -32601, "no"),
    });
    for (server, incoming) in [(modern, 1), (legacy, 3)] {
        let client = connect(&server).await;
        let capabilities = client.server().expect("a server").capabilities;
        assert!(capabilities.tools.is_some() && capabilities.prompts.is_none());
        let capabilities = serde_json::to_value(&*capabilities).expect("JSON");
        assert_eq!(capabilities["experimental"], offers["experimental"]);
        assert_eq!(
            server.received().len(),
            incoming,
            "no list is asked for to learn it"
        );
    }
}

// spec: 2026-07-28 N-DISC-05, N-META-05 (client)
#[tokio::test(start_paused = true)]
async fn the_name_of_a_server_does_not_change_the_messages_of_a_client() {
    let said_to = async |identity: Value| {
        let server = HostileServer::new(move |out, incoming| {
            let mut result = match incoming["method"].as_str() {
                Some("server/discover") => {
                    let dates: Vec<_> = Revision::modern().map(Revision::as_str).collect();
                    json!({ "resultType": "complete", "supportedVersions": dates, "capabilities": { "tools": {} } })
                }
                Some("tools/list") => json!({ "resultType": "complete", "tools": [] }),
                _ => good(),
            };
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": identity });
            out.reply(incoming, result);
        });
        let client = connect(&server).await;
        within(client.list_tools()).await.expect("a list");
        within(client.call_tool("t", ())).await.expect("a result");
        server.received()
    };
    let plain = said_to(json!({ "name": "s", "version": "1" })).await;
    for identity in [
        json!({ "name": "admin", "version": "999", "title": "Trusted" }),
        json!({}),
        json!("root"),
        json!(null),
    ] {
        assert_eq!(
            said_to(identity.clone()).await.len(),
            plain.len(),
            "{identity}"
        );
    }
    assert_eq!(
        said_to(json!({ "name": "admin", "version": "2" })).await,
        plain
    );
}

// spec: 2026-07-28 N-SUBS-09, N-STDIO-06
#[tokio::test(start_paused = true)]
async fn several_subscriptions_each_receive_their_own_notices() {
    let server = HostileServer::modern(|out, incoming| {
        if incoming["method"] != "subscriptions/listen" {
            return;
        }
        let tag = json!({ "io.modelcontextprotocol/subscriptionId": incoming["id"] });
        let granted = &incoming["params"]["notifications"];
        out.notify(
            "notifications/subscriptions/acknowledged",
            json!({ "notifications": granted, "_meta": tag }),
        );
        let method = if granted["toolsListChanged"] == true {
            "notifications/tools/list_changed"
        } else {
            "notifications/prompts/list_changed"
        };
        let changed = json!({ "jsonrpc": "2.0", "method": method, "params": { "_meta": tag } });
        out.send_after(SECOND, changed);
    });
    let client = connect(&server).await;
    let (mut tools, mut prompts) = (SubscriptionFilter::new(), SubscriptionFilter::new());
    tools.tools_list_changed = Some(true);
    prompts.prompts_list_changed = Some(true);
    let mut first = within(client.listen(tools)).await.expect("one");
    let mut second = within(client.listen(prompts)).await.expect("another");
    assert_eq!(within(first.next()).await, Some(Change::Tools));
    assert_eq!(within(second.next()).await, Some(Change::Prompts));
    let nothing = tokio::time::timeout(10 * SECOND, first.next()).await;
    assert!(nothing.is_err(), "the other's is not heard here");
    let listens = server.received().into_iter();
    let ids: Vec<_> = listens
        .filter(|incoming| incoming["method"] == "subscriptions/listen")
        .map(|incoming| incoming["id"].clone())
        .collect();
    assert_ne!(ids[0], ids[1]);
}
