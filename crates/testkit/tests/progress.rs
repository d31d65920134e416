//! Progress and logs of a running request.

use pintle_model::{
    Feature, Implementation, Revision, ServerCapabilities, Task, TaskStatus, Timestamp,
};
use pintle_proto::{Lane, Limits, ServerProfile};
use pintle_testkit::{CallBuilder, Endpoint};
use serde_json::{Value, json};

const NOTHING: [Value; 0] = [];
const LEVEL: &str = "io.modelcontextprotocol/logLevel";
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

fn busy(revision: Revision, meta: Value) -> Endpoint {
    let mut server = Endpoint::server_at(revision);
    server.answers_by_hand();
    server.request(1, "tools/call", json!({ "name": "t", "_meta": meta }));
    server
}

// spec: 2025-11-25 PROG-01, PROG-02, PROG-04, PROG-06, PROG-09
// spec: 2026-07-28 N-PROG-01, N-PROG-03, N-PROG-08, N-META-12, N-PAT-03, N-PAT-02
#[test]
fn progress_names_the_token_of_its_request_and_leaves_on_its_lane() {
    for revision in Revision::ALL {
        for token in [json!(7), json!("7"), json!(0), json!("")] {
            let mut server = busy(revision, json!({ "progressToken": token }));
            let key = server.open()[0];
            server.engine().progress(key, 0.5, Some(2.0), Some("half"));
            let sent = server.transmits();
            assert_eq!(sent[0].lane, Lane::Reply(key));
            let params = &sent[0].message["params"];
            assert_eq!(params["progressToken"], token);
            assert_eq!(
                (&params["progress"], &params["total"]),
                (&json!(0.5), &json!(2.0))
            );
            let message = revision
                .has(Feature::ProgressMessage)
                .then(|| json!("half"));
            assert_eq!(params.get("message"), message.as_ref(), "{revision}");
        }
    }
}

// spec: 2025-11-25 PROG-05
// spec: 2026-07-28 N-PROG-04
#[test]
fn progress_only_ever_grows() {
    for revision in Revision::ALL {
        let mut server = busy(revision, json!({ "progressToken": 1 }));
        let key = server.open()[0];
        for amount in [
            -1.0,
            0.0,
            0.0,
            0.5,
            0.4,
            f64::NAN,
            f64::INFINITY,
            0.5,
            3.0,
            2.0,
        ] {
            server.engine().progress(key, amount, Some(f64::NAN), None);
        }
        let amounts: Vec<_> = server
            .sent()
            .iter()
            .map(|message| message["params"]["progress"].as_f64())
            .collect();
        assert_eq!(amounts, [Some(-1.0), Some(0.0), Some(0.5), Some(3.0)]);
    }
}

// spec: 2025-11-25 PROG-08, PROG-15
// spec: 2026-07-28 N-PROG-05, N-PROG-06
#[test]
fn progress_needs_a_token_and_a_running_request() {
    for revision in Revision::ALL {
        let mut server = busy(revision, json!({}));
        let key = server.open()[0];
        server.engine().progress(key, 1.0, None, None);
        assert_eq!(server.sent(), NOTHING);
        let mut server = busy(revision, json!({ "progressToken": 1 }));
        let key = server.open()[0];
        server.answer_usually(key);
        server.engine().progress(key, 1.0, None, None);
        let sent = server.sent();
        assert_eq!(sent.len(), 1);
        assert!(sent[0]["result"].is_object());
    }
}

// spec: 2025-11-25 PROG-02
#[test]
fn a_token_that_is_neither_text_nor_an_integer_is_refused() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        for token in [json!(1.5), json!([1]), json!({}), json!(true), Value::Null] {
            let sent = server.exchange(
                1,
                "tools/call",
                json!({ "name": "t", "_meta": { "progressToken": token } }),
            );
            assert_eq!(sent[0]["error"]["code"], -32602, "{token} at {revision}");
        }
    }
}

// spec: 2025-11-25 PROG-01, PROG-03
// spec: 2026-07-28 N-PROG-01, N-PROG-02
#[test]
fn a_call_has_a_progress_token_only_if_it_requests_progress() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        client.ask(CallBuilder::tool("t").with_progress());
        client.ask(CallBuilder::tool("t").with_progress());
        client.ask(CallBuilder::tool("t"));
        let tokens: Vec<_> = client
            .sent()
            .iter()
            .map(|message| message["params"]["_meta"]["progressToken"].clone())
            .collect();
        assert_ne!(tokens[0], tokens[1]);
        assert!(tokens[0].is_i64() && tokens[2].is_null());
    }
}

// spec: 2025-11-25 PROG-08, PROG-13
// spec: 2026-07-28 N-PROG-06
#[test]
fn a_client_receives_progress_of_its_open_calls_only() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        client.ask(CallBuilder::tool("t").with_progress());
        let sent = client.sent();
        let (id, token) = (&sent[0]["id"], &sent[0]["params"]["_meta"]["progressToken"]);
        let progress = |token: &Value| json!({ "progressToken": token, "progress": 1 });
        client.notification("notifications/progress", progress(token));
        client.notification("notifications/progress", progress(&json!(99)));
        client.notification("notifications/progress", progress(&json!("x")));
        client.notification("notifications/progress", json!({ "progress": 1 }));
        client.response(id.clone(), json!({}));
        client.notification("notifications/progress", progress(token));
        assert_eq!(client.notified().len(), 1);
        assert_eq!(client.sent(), NOTHING);
    }
}

// spec: 2025-11-25 PROG-10, PROG-11
#[test]
fn a_client_receives_progress_of_calls_that_became_tasks() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        client.ask(CallBuilder::tool("t").with_progress());
        let sent = client.sent();
        let (id, token) = (&sent[0]["id"], &sent[0]["params"]["_meta"]["progressToken"]);
        client.response(id.clone(), json!({ "task": {} }));
        let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": "t1" } });
        let progress = json!({ "progressToken": token, "progress": 1, "_meta": related });
        client.notification("notifications/progress", progress);
        let hears = revision.has(pintle_model::Feature::CoreTasks);
        assert_eq!(client.notified().len(), usize::from(hears), "{revision}");
    }
}

// spec: 2025-11-25 TASK-27
#[test]
fn a_task_status_follows_the_result_that_names_the_task() {
    let mut server = busy(Revision::V2025_11_25, json!({ "progressToken": "p" }));
    let key = server.open()[0];
    server.engine().begin_task(key, "t1");
    let created = Timestamp::from(std::time::UNIX_EPOCH);
    let mut task = Task::new("t1", created);
    for status in [TaskStatus::InputRequired, TaskStatus::Completed] {
        task.status = status;
        server.engine().send_task_status(&task);
    }
    // A handler may end before its request is answered.
    server.engine().end_task(key);
    assert_eq!(server.sent(), NOTHING);

    server.answer(
        key,
        &json!({ "task": { "taskId": "t1", "status": "working" } }),
    );
    let sent = server.sent();
    assert_eq!(sent[0]["result"]["task"]["taskId"], "t1");
    assert_eq!(sent[1]["method"], "notifications/tasks/status");
    assert_eq!(sent[1]["params"]["status"], "completed");
    assert_eq!(sent.len(), 2, "the latest is enough: {sent:?}");
    server.engine().progress(key, 1.0, None, None);
    assert_eq!(server.sent(), NOTHING, "its progress has ended with it");
    server.engine().send_task_status(&task);
    assert_eq!(server.sent().len(), 1, "later ones leave at once");
}

#[test]
fn stray_progress_is_not_counted_as_a_late_answer() {
    let mut client = Endpoint::client_at(Revision::LATEST);
    client.notification(
        "notifications/progress",
        json!({ "progressToken": 99, "progress": 1 }),
    );
    assert_eq!(client.engine().late_answers(), 0);
}

// spec: 2026-07-28 N-LOG-02, N-LOG-03, N-LOG-04, N-META-06, N-PAT-03
#[test]
fn a_modern_request_gets_the_logs_it_asked_for_on_its_own_lane() {
    let revision = Revision::LATEST;
    for (index, level) in LEVELS.iter().enumerate() {
        let mut server = busy(revision, json!({ LEVEL: level }));
        server.request(2, "tools/call", json!({ "name": "t" }));
        let keys = server.open();
        for level in LEVELS {
            server.engine().log(
                keys[0],
                level.into(),
                Some("here"),
                json!({ "level": level }),
            );
            server
                .engine()
                .log(keys[1], level.into(), None, json!("never"));
        }
        let sent = server.transmits();
        assert!(sent.iter().all(|sent| sent.lane == Lane::Reply(keys[0])));
        let levels: Vec<_> = sent
            .iter()
            .map(|sent| sent.message["params"]["level"].clone())
            .collect();
        assert_eq!(levels, LEVELS[index..]);
        assert_eq!(sent[0].message["params"]["logger"], "here");
    }
}

// spec: 2025-11-25 LOG-02, LOG-03, LOG-04, LOG-06
#[test]
fn a_legacy_session_gets_the_logs_it_set_the_level_for() {
    for revision in Revision::legacy() {
        for (index, level) in LEVELS.iter().enumerate() {
            let mut server = Endpoint::server_at(revision);
            let sent = server.exchange(1, "logging/setLevel", json!({ "level": level }));
            assert_eq!(sent[0]["result"], json!({}));
            server.answers_by_hand();
            server.request(2, "tools/call", json!({ "name": "t" }));
            let key = server.open()[0];
            for level in LEVELS {
                server.engine().log(key, level.into(), None, json!(level));
            }
            let levels: Vec<_> = server
                .sent()
                .iter()
                .map(|message| message["params"]["level"].clone())
                .collect();
            assert_eq!(levels, LEVELS[index..], "{revision}");
        }
    }
}

// spec: 2025-11-25 LOG-05
#[test]
fn a_legacy_session_that_sets_no_level_gets_info_and_above() {
    for revision in Revision::legacy() {
        let mut server = busy(revision, json!({}));
        let key = server.open()[0];
        server.engine().log(key, "debug".into(), None, json!(1));
        server.engine().log(key, "info".into(), None, json!(2));
        assert_eq!(server.sent().len(), 1);
    }
}

// spec: 2025-11-25 LOG-03
#[test]
fn a_level_acts_on_the_requests_that_come_after_it() {
    for revision in Revision::legacy() {
        let mut server = busy(revision, json!({}));
        server.exchange(2, "logging/setLevel", json!({ "level": "error" }));
        server.request(3, "tools/call", json!({ "name": "t" }));
        for key in server.open() {
            server.engine().log(key, "warning".into(), None, json!(1));
        }
        // The terms of the first request were fixed when it was admitted.
        let lanes: Vec<_> = server.transmits().iter().map(|sent| sent.lane).collect();
        assert_eq!(lanes, [Lane::Reply(server.open()[0])]);
    }
}

// spec: 2025-11-25 LOG-07
// spec: 2026-07-28 N-LOG-05
#[test]
fn an_unknown_level_is_refused() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server_at(revision);
        for level in [json!("loud"), json!("INFO"), json!(3), Value::Null] {
            let sent = server.exchange(1, "logging/setLevel", json!({ "level": level }));
            assert_eq!(sent[0]["error"]["code"], -32602, "{level}");
        }
    }
    let mut server = Endpoint::server_at(Revision::LATEST);
    let sent = server.exchange(
        1,
        "tools/call",
        json!({ "name": "t", "_meta": { LEVEL: "loud" } }),
    );
    assert_eq!(sent[0]["error"]["code"], -32602);
}

// spec: 2025-11-25 LOG-01
// spec: 2026-07-28 N-LOG-01
#[test]
fn a_server_without_the_capability_logs_nothing() {
    for revision in Revision::ALL {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        let profile = ServerProfile::new(Implementation::new("quiet", "1"), capabilities);
        let mut server = Endpoint::server_with(profile, Limits::default()).opened_at(revision);
        server.answers_by_hand();
        server.request(
            1,
            "tools/call",
            json!({ "name": "t", "_meta": { LEVEL: "debug" } }),
        );
        let key = server.open()[0];
        server
            .engine()
            .log(key, "emergency".into(), None, json!("x"));
        assert_eq!(server.sent(), NOTHING);
    }
}

// spec: 2026-07-28 N-PROG-09
#[test]
fn a_modern_client_has_nothing_to_report_on() {
    let mut client = Endpoint::client_at(Revision::LATEST);
    client.answers_by_hand();
    let params = json!({ "_meta": { "progressToken": 1 } });
    let received =
        client.receive(&pintle_testkit::request(1, "sampling/createMessage", params).to_string());
    if let pintle_proto::Received::Request(key) = received {
        client.engine().progress(key, 1.0, None, None);
    }
    assert!(client.open().is_empty());
    assert_eq!(client.sent(), NOTHING);
}

// spec: 2025-11-25 PROG-04, PROG-08
#[test]
fn a_legacy_client_reports_progress_of_a_question() {
    for revision in Revision::legacy() {
        let mut client = Endpoint::client_at(revision);
        client.answers_by_hand();
        let params = json!({ "_meta": { "progressToken": "p" } });
        client.receive(&pintle_testkit::request(1, "sampling/createMessage", params).to_string());
        let key = client.open()[0];
        client.engine().progress(key, 1.0, None, None);
        assert_eq!(client.sent()[0]["params"]["progressToken"], "p");
    }
}
