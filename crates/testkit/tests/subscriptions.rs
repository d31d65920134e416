//! Receivers of changes: listeners in the modern era, sessions in the legacy era.

use pintle_model::{Implementation, Revision, ServerCapabilities};
use pintle_proto::{Change, Lane, Limits, ServerProfile};
use pintle_testkit::{Endpoint, everything};
use serde_json::{Value, json};

const NOTHING: [Value; 0] = [];
const TAG: &str = "io.modelcontextprotocol/subscriptionId";

fn changes() -> [Change; 4] {
    [
        Change::Tools,
        Change::Prompts,
        Change::Resources,
        Change::Resource("a:1".into()),
    ]
}

fn publish_all(server: &mut Endpoint) {
    for change in changes() {
        server.engine().publish(&change);
    }
}

fn methods(messages: &[Value]) -> Vec<&str> {
    messages
        .iter()
        .filter_map(|message| message["method"].as_str())
        .collect()
}

fn listen(server: &mut Endpoint, id: impl Into<Value>, filter: Value) -> Vec<Value> {
    server.exchange(
        id,
        "subscriptions/listen",
        json!({ "notifications": filter }),
    )
}

fn modern() -> Endpoint {
    Endpoint::server_at(Revision::LATEST)
}

// spec: 2026-07-28 N-SUBS-01, N-SUBS-03, N-SUBS-07, N-META-07, N-VER-09 (server subscriptions)
#[test]
fn a_listener_is_acknowledged_first_and_tagged_with_its_id() {
    for id in [json!(7), json!("7"), json!("a\"b")] {
        let mut server = modern();
        let sent = listen(
            &mut server,
            id.clone(),
            json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:1"] }),
        );
        assert_eq!(methods(&sent), ["notifications/subscriptions/acknowledged"]);
        let params = &sent[0]["params"];
        assert_eq!(params["_meta"][TAG], id);
        assert_eq!(
            params["notifications"],
            json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:1"] })
        );
        publish_all(&mut server);
        let sent = server.transmits();
        assert!(
            sent.iter()
                .all(|sent| sent.message["params"]["_meta"][TAG] == id)
        );
        assert!(sent.iter().all(|sent| matches!(sent.lane, Lane::Reply(_))));
        assert_eq!(sent.len(), 2);
    }
}

// spec: 2026-07-28 N-SUBS-02, N-SUBS-17, N-SUBS-18, N-SUBS-22
#[test]
fn a_listener_receives_only_the_changes_it_requested() {
    let asked = [
        (
            json!({ "toolsListChanged": true }),
            "notifications/tools/list_changed",
        ),
        (
            json!({ "promptsListChanged": true, "toolsListChanged": false }),
            "notifications/prompts/list_changed",
        ),
        (
            json!({ "resourcesListChanged": true }),
            "notifications/resources/list_changed",
        ),
        (
            json!({ "resourceSubscriptions": ["a:1", "a:2"] }),
            "notifications/resources/updated",
        ),
    ];
    for (filter, method) in asked {
        let mut server = modern();
        listen(&mut server, 1, filter);
        publish_all(&mut server);
        server.engine().publish(&Change::Resource("a:3".into()));
        assert_eq!(methods(&server.sent()), [method]);
    }
}

// spec: 2026-07-28 N-SUBS-04, N-SUBS-21
#[test]
fn the_acknowledgement_omits_changes_that_are_not_offered() {
    let capabilities: ServerCapabilities = serde_json::from_value(json!({
        "tools": {}, "prompts": { "listChanged": true }, "resources": {}
    }))
    .expect("capabilities");
    let profile = ServerProfile::new(Implementation::new("s", "1"), capabilities);
    let mut server = Endpoint::server_with(profile, Limits::default()).opened_at(Revision::LATEST);
    let all = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": ["a:1"], "later": true });
    let sent = listen(&mut server, 1, all);
    assert_eq!(
        sent[0]["params"]["notifications"],
        json!({ "promptsListChanged": true })
    );
    publish_all(&mut server);
    assert_eq!(
        methods(&server.sent()),
        ["notifications/prompts/list_changed"]
    );
}

// spec: 2026-07-28 N-SUBS-01, A-14
#[test]
fn an_empty_filter_is_a_filter_and_a_missing_one_is_not() {
    let mut server = modern();
    let sent = listen(&mut server, 1, json!({}));
    assert_eq!(sent[0]["params"]["notifications"], json!({}));
    for params in [
        json!({}),
        json!({ "notifications": [] }),
        json!({ "notifications": null }),
    ] {
        let sent = server.exchange(2, "subscriptions/listen", params);
        assert_eq!(sent[0]["error"]["code"], -32602);
    }
}

// spec: 2026-07-28 N-SUBS-05, N-SUBS-09
#[test]
fn several_listeners_have_separate_subscription_ids() {
    let mut server = modern();
    listen(&mut server, 1, json!({ "toolsListChanged": true }));
    listen(
        &mut server,
        "1",
        json!({ "toolsListChanged": true, "promptsListChanged": true }),
    );
    publish_all(&mut server);
    let sent = server.sent();
    let tags: Vec<_> = sent
        .iter()
        .map(|message| message["params"]["_meta"][TAG].clone())
        .collect();
    assert_eq!(tags, [json!(1), json!("1"), json!("1")]);
}

// spec: 2026-07-28 N-SUBS-10, N-SUBS-11
#[test]
fn a_cancelled_listener_receives_nothing_more() {
    let mut server = modern();
    listen(&mut server, 1, json!({ "toolsListChanged": true }));
    server.engine().publish(&Change::Tools);
    server.notification("notifications/cancelled", json!({ "requestId": 1 }));
    publish_all(&mut server);
    assert_eq!(server.sent(), NOTHING);
    assert_eq!(server.engine().in_flight(), 0);
    assert_eq!(
        listen(&mut server, 1, json!({})).len(),
        1,
        "the id is free again"
    );
}

// spec: 2026-07-28 N-SUBS-12, N-META-04, N-META-07, A-01, A-35
#[test]
fn a_listener_that_the_server_ends_gets_its_result() {
    let mut server = modern();
    listen(&mut server, "l", json!({ "toolsListChanged": true }));
    server.engine().end_listens();
    publish_all(&mut server);
    let sent = server.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["id"], "l");
    assert_eq!(sent[0]["result"]["resultType"], "complete");
    assert_eq!(sent[0]["result"]["_meta"][TAG], "l");
    assert_eq!(
        sent[0]["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "testkit"
    );
}

// spec: 2026-07-28 N-SUBS-23 (listeners)
// hardening: H-190
#[test]
fn listeners_are_bounded_and_the_refusal_comes_before_any_acknowledgement() {
    let mut limits = Limits::default();
    limits.max_listeners = 2;
    let mut server = Endpoint::server_with(everything(), limits).opened_at(Revision::LATEST);
    listen(&mut server, 1, json!({}));
    listen(&mut server, 2, json!({}));
    let sent = listen(&mut server, 3, json!({}));
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (&sent[0]["id"], &sent[0]["error"]["code"]),
        (&json!(3), &json!(-32603))
    );
    server.notification("notifications/cancelled", json!({ "requestId": 1 }));
    assert_eq!(
        methods(&listen(&mut server, 4, json!({}))),
        ["notifications/subscriptions/acknowledged"]
    );
}

// spec: 2026-07-28 N-SUBS-16, N-LOG-04, N-PROG-08, N-PAT-03
#[test]
fn neither_progress_nor_logs_are_sent_to_a_listener() {
    let mut server = modern();
    let meta = json!({ "progressToken": 1, "io.modelcontextprotocol/logLevel": "debug" });
    let received = server.request(
        1,
        "subscriptions/listen",
        json!({ "notifications": {}, "_meta": meta }),
    );
    let pintle_proto::Received::Request(key) = received else {
        panic!("a request")
    };
    server.sent();
    server.engine().progress(key, 1.0, None, None);
    server
        .engine()
        .log(key, "emergency".into(), None, json!("x"));
    assert_eq!(server.sent(), NOTHING);
}

// spec: 2026-07-28 N-SUBS-07
#[test]
fn a_change_that_waits_to_be_sent_is_not_queued_again() {
    let mut server = modern();
    listen(
        &mut server,
        1,
        json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:1", "a:2"] }),
    );
    for _ in 0..1000 {
        publish_all(&mut server);
        server.engine().publish(&Change::Resource("a:2".into()));
    }
    assert_eq!(server.sent().len(), 3);
}

// spec: 2025-11-25 RES-04
#[test]
fn a_legacy_session_receives_every_list_change_without_a_request() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server_at(revision);
        publish_all(&mut server);
        let sent = server.transmits();
        assert!(sent.iter().all(|sent| sent.lane == Lane::Session));
        let sent: Vec<_> = sent.into_iter().map(|sent| sent.message).collect();
        let expected = [
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
        ];
        assert_eq!(methods(&sent), expected, "{revision}");
        assert!(
            sent.iter()
                .all(|message| message["params"]["_meta"].get(TAG).is_none())
        );
    }
}

// spec: 2025-11-25 RES-01, RES-03, RES-05
#[test]
fn a_legacy_session_receives_updates_while_it_is_subscribed() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server_at(revision);
        let change = Change::Resource("a:1".into());
        server.engine().publish(&change);
        assert_eq!(server.sent(), NOTHING);
        assert_eq!(
            server.exchange(1, "resources/subscribe", json!({ "uri": "a:1" }))[0]["result"],
            json!({})
        );
        server.engine().publish(&change);
        server.engine().publish(&Change::Resource("a:2".into()));
        let sent = server.sent();
        assert_eq!(methods(&sent), ["notifications/resources/updated"]);
        assert_eq!(sent[0]["params"], json!({ "uri": "a:1" }));
        assert_eq!(
            server.exchange(2, "resources/unsubscribe", json!({ "uri": "a:1" }))[0]["result"],
            json!({})
        );
        server.engine().publish(&change);
        assert_eq!(server.sent(), NOTHING);
    }
}

// spec: 2025-11-25 RES-17
#[test]
fn subscriptions_of_a_session_are_bounded() {
    let mut limits = Limits::default();
    limits.max_subscribed_uris = 2;
    limits.max_uri_bytes = 16;
    let mut server = Endpoint::server_with(everything(), limits).opened_at(Revision::LATEST_LEGACY);
    let mut subscribe = |uri: &str| {
        server.exchange(1, "resources/subscribe", json!({ "uri": uri }))[0]["error"]["code"]
            .as_i64()
    };
    assert_eq!(subscribe("a:1"), None);
    assert_eq!(subscribe("a:2"), None);
    assert_eq!(subscribe("a:2"), None, "again");
    assert_eq!(subscribe("a:3"), Some(-32602));
    assert_eq!(subscribe("a:xxxxxxxxxxxxxxxx"), Some(-32602));
}

// spec: 2025-11-25 GEN-05 (server announces), AMB-23 (server)
#[test]
fn changes_of_undeclared_features_are_not_announced() {
    for revision in Revision::legacy() {
        let capabilities: ServerCapabilities =
            serde_json::from_value(json!({ "tools": {}, "resources": {} })).expect("capabilities");
        let profile = ServerProfile::new(Implementation::new("s", "1"), capabilities);
        let mut server = Endpoint::server_with(profile, Limits::default()).opened_at(revision);
        publish_all(&mut server);
        assert_eq!(server.sent(), NOTHING);
    }
}

// spec: 2026-07-28 N-VER-06
#[test]
fn a_session_and_a_listener_on_one_pipe_have_their_own_notices() {
    let mut server = Endpoint::server_at(Revision::V2025_11_25);
    let params = pintle_testkit::with_envelope(
        Revision::LATEST,
        json!({ "notifications": { "toolsListChanged": true } }),
    );
    server.receive(&pintle_testkit::request("l", "subscriptions/listen", params).to_string());
    server.sent();
    server.engine().publish(&Change::Tools);
    let tags: Vec<_> = server
        .sent()
        .iter()
        .map(|message| message["params"]["_meta"].get(TAG).cloned())
        .collect();
    assert_eq!(tags, [None, Some(json!("l"))]);
}
