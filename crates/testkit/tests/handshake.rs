//! The legacy era: how a session opens, and its agreed terms.

use std::sync::Arc;

use pintle_model::{Implementation, Revision, ServerCapabilities};
use pintle_proto::{Connection, Lane, Limits, PeerCallError, SendError, ServerProfile};
use pintle_testkit::{CallBuilder, Endpoint, Units, everything, initialize, request};
use serde_json::{Value, json};

fn code(message: &Value) -> i64 {
    message["error"]["code"].as_i64().unwrap_or_default()
}

fn exchange(endpoint: &mut Endpoint, message: &Value) -> Vec<Value> {
    endpoint.receive(&message.to_string());
    endpoint.sent()
}

// spec: 2025-11-25 LIFE-03, LIFE-09
#[test]
fn a_revision_of_the_era_is_agreed_as_offered() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server();
        let answer = &exchange(&mut server, &initialize(1, revision.as_str()))[0]["result"];
        assert_eq!(answer["protocolVersion"], revision.as_str());
        assert_eq!(answer["serverInfo"]["name"], "testkit");
        assert!(answer["capabilities"]["tools"].is_object());
        assert_eq!(
            (answer.get("_meta"), answer.get("resultType")),
            (None, None)
        );
    }
}

// spec: 2025-11-25 LIFE-10, LIFE-11, GEN-07, AMB-16
// spec: 2026-07-28 N-ERA-16
#[test]
fn any_other_revision_is_answered_with_the_newest_of_the_era() {
    for date in ["2026-07-28", "1999-01-01", "2030-01-01", "", "draft"] {
        let mut server = Endpoint::server();
        let answer = &exchange(&mut server, &initialize(1, date))[0];
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "for {date}"
        );
    }
}

// spec: 2025-11-25 LIFE-01, LIFE-05, AMB-19
// hardening: H-127
#[test]
fn before_the_handshake_only_a_ping_is_answered_well() {
    let mut server = Endpoint::server();
    for method in [
        "tools/list",
        "tools/call",
        "logging/setLevel",
        "resources/subscribe",
    ] {
        let answer = &exchange(&mut server, &request(1, method, json!({ "name": "t" })))[0];
        assert_eq!(code(answer), -32600, "{method}");
    }
    assert_eq!(
        exchange(&mut server, &request(2, "ping", Value::Null))[0]["result"],
        json!({})
    );
    assert!(exchange(&mut server, &initialize(3, "2025-06-18"))[0]["result"].is_object());
}

// spec: 2025-11-25 LIFE-16, GEN-07
#[test]
fn a_second_handshake_begins_a_new_session() {
    let mut server = Endpoint::server_at(Revision::V2025_03_26);
    assert!(server.is_opened());
    let answer = &exchange(&mut server, &initialize(9, "2025-06-18"))[0];
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    let terms = server.engine().session_terms().expect("a session");
    assert_eq!(terms.revision, Revision::V2025_06_18);
    // The server sends no unsolicited message before the client is ready, as after the first handshake.
    server.engine().publish(&pintle_proto::Change::Tools);
    assert_eq!(server.sent(), [] as [Value; 0]);
    let early = server.try_ask(CallBuilder::new("roots/list"));
    assert_eq!(early, Err(SendError::HandshakePending));
    server.notification("notifications/initialized", Value::Null);
    server.engine().publish(&pintle_proto::Change::Tools);
    assert_eq!(server.sent().len(), 1);
}

// spec: 2025-11-25 LIFE-16
#[test]
fn a_second_handshake_ends_all_that_the_first_session_left_open() {
    let mut server = Endpoint::server_at(Revision::V2025_11_25);
    server.answers_by_hand();
    let subscribed = server.exchange(1, "resources/subscribe", json!({ "uri": "a:1" }));
    assert!(subscribed[0]["result"].is_object());
    server.request(2, "tools/call", json!({ "name": "t" }));
    let open = server.open()[0];
    let asked = server.ask(CallBuilder::new("roots/list").on(Lane::Reply(open)));
    // The message has the id of an open request.
    let answers = exchange(&mut server, &initialize(2, "2025-11-25"));
    let answer = answers.last().expect("an answer");
    assert!(answer["result"].is_object(), "{answer}");
    assert!(server.open().is_empty());
    assert!(server.settled(asked).is_err());
    server.notification("notifications/initialized", Value::Null);
    let change = pintle_proto::Change::Resource("a:1".into());
    server.engine().publish(&change);
    assert_eq!(server.sent(), [] as [Value; 0]);
    server.request(2, "tools/call", json!({ "name": "t" }));
    assert_eq!(server.open().len(), 1);
}

// spec: 2025-11-25 LIFE-23
#[test]
fn a_malformed_second_handshake_changes_nothing() {
    let mut server = Endpoint::server_at(Revision::V2025_03_26);
    server.answers_by_hand();
    server.request(2, "tools/call", json!({ "name": "t" }));
    let refused = &exchange(&mut server, &request(9, "initialize", json!({})))[0];
    assert_eq!(code(refused), -32602);
    assert_eq!(server.open().len(), 1);
    let terms = server.engine().session_terms().expect("a session");
    assert_eq!(terms.revision, Revision::V2025_03_26);
}

// spec: 2026-07-28 N-ERA-02
#[test]
fn requests_with_terms_of_their_own_outlive_a_second_handshake() {
    let mut server = Endpoint::server_at(Revision::V2025_11_25);
    server.answers_by_hand();
    let meta = pintle_testkit::envelope(Revision::LATEST);
    let modern = request(5, "tools/call", json!({ "name": "t", "_meta": meta }));
    exchange(&mut server, &modern);
    let refused = &exchange(&mut server, &initialize(5, "2025-11-25"))[0];
    assert_eq!(code(refused), -32600, "its id is in use");
    assert!(exchange(&mut server, &initialize(6, "2025-11-25"))[0]["result"].is_object());
    assert_eq!(server.open().len(), 1);
}

// spec: 2025-11-25 LIFE-23, AMB-16
#[test]
fn a_handshake_that_is_malformed_is_refused_and_can_be_repeated() {
    let mut server = Endpoint::server();
    let unversioned = json!({ "name": "c" });
    for params in [
        json!({}),
        json!({ "protocolVersion": 1 }),
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": unversioned }),
        Value::Null,
    ] {
        assert_eq!(
            code(&exchange(&mut server, &request(1, "initialize", params))[0]),
            -32602
        );
    }
    assert!(exchange(&mut server, &initialize(2, "2025-11-25"))[0]["result"].is_object());
}

// spec: 2025-11-25 LIFE-04, LIFE-06
#[test]
fn the_server_waits_for_the_confirmation_before_it_speaks_by_itself() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server();
        exchange(&mut server, &initialize(1, revision.as_str()));
        assert!(!server.is_opened());
        server.engine().publish(&pintle_proto::Change::Tools);
        assert_eq!(server.sent(), [] as [Value; 0]);
        assert_eq!(
            server.try_ask(CallBuilder::new("roots/list")),
            Err(SendError::HandshakePending)
        );
        server.notification("notifications/initialized", Value::Null);
        assert!(server.is_opened());
        server.engine().publish(&pintle_proto::Change::Tools);
        assert_eq!(server.sent().len(), 1);
        assert!(server.try_ask(CallBuilder::new("roots/list")).is_ok());
    }
}

// spec: 2025-11-25 LIFE-14, LIFE-17, GEN-05 (server serves)
// spec: 2026-07-28 N-EXT-14, N-ERR-09
#[test]
fn methods_of_a_capability_that_is_not_offered_do_not_exist() {
    let methods = [
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
    ];
    for revision in Revision::ALL {
        let nothing = ServerProfile::new(
            Implementation::new("bare", "1"),
            ServerCapabilities::default(),
        );
        let mut server = Endpoint::server_with(nothing, Limits::default()).opened_at(revision);
        for method in methods {
            let params = json!({ "name": "t", "uri": "a:", "level": "info", "notifications": {} });
            assert_eq!(
                code(&server.exchange(1, method, params)[0]),
                -32601,
                "{method} at {revision}"
            );
        }
    }
}

// spec: 2025-11-25 LIFE-16
#[test]
fn methods_of_the_other_era_do_not_exist() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server_at(revision);
        for method in ["server/discover", "subscriptions/listen"] {
            assert_eq!(
                code(&server.exchange(1, method, json!({ "notifications": {} }))[0]),
                -32601,
                "{method}"
            );
        }
    }
    let mut server = Endpoint::server_at(Revision::LATEST);
    for method in [
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ] {
        let params = json!({ "uri": "a:", "level": "info" });
        assert_eq!(
            code(&server.exchange(1, method, params)[0]),
            -32601,
            "{method}"
        );
    }
}

// spec: 2025-11-25 LIFE-17
#[test]
fn requests_that_only_servers_make_do_not_exist_on_a_server() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        for method in ["roots/list", "sampling/createMessage", "elicitation/create"] {
            assert_eq!(
                code(&server.exchange(1, method, json!({}))[0]),
                -32601,
                "{method} at {revision}"
            );
        }
    }
}

#[test]
fn a_session_that_is_never_initialized_is_abandoned() {
    let limits = Arc::new(Limits::default());
    let start = std::time::Instant::now();
    let engine = Connection::session(Arc::new(everything()), limits, start);
    let mut server = Endpoint::over(engine, Revision::LATEST_LEGACY);
    server.advance(59.secs());
    assert!(!server.is_abandoned());
    server.advance(2.secs());
    assert!(server.is_abandoned());
}

#[test]
fn a_client_that_works_without_confirming_the_handshake_is_not_abandoned() {
    let start = std::time::Instant::now();
    let engine = Connection::session(Arc::new(everything()), Arc::default(), start);
    let mut server = Endpoint::over(engine, Revision::LATEST_LEGACY);
    server.request(0, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } }));
    server.request(1, "tools/list", json!({}));
    server.advance(10.minutes());
    assert!(!server.is_abandoned());
}

#[test]
fn a_session_without_a_handshake_timeout_is_not_abandoned() {
    let mut limits = Limits::default();
    limits.handshake_timeout = std::time::Duration::MAX;
    let start = std::time::Instant::now();
    let engine = Connection::session(Arc::new(everything()), Arc::new(limits), start);
    let mut server = Endpoint::over(engine, Revision::LATEST_LEGACY);
    server.advance(60.minutes());
    assert!(!server.is_abandoned());
}

#[test]
fn a_session_that_was_initialized_is_not_abandoned() {
    let engine = Connection::session(
        Arc::new(everything()),
        Arc::new(Limits::default()),
        std::time::Instant::now(),
    );
    let mut server = Endpoint::over(engine, Revision::LATEST).opened_at(Revision::V2025_11_25);
    server.advance(10.minutes());
    assert!(!server.is_abandoned());
}

// spec: 2025-11-25 LIFE-02, LIFE-04, LIFE-07
#[test]
fn a_client_offers_its_revision_and_confirms_the_answer() {
    for revision in Revision::legacy() {
        let mut client = Endpoint::client();
        let now = client.now();
        client
            .engine()
            .initialize(now, revision)
            .expect("a new client");
        let offer = client.sent().remove(0);
        assert_eq!(offer["method"], "initialize");
        assert_eq!(offer["params"]["protocolVersion"], revision.as_str());
        assert_eq!(offer["params"]["clientInfo"]["name"], "testkit");
        assert!(offer["params"]["capabilities"].is_object());
        assert_eq!(
            client.try_ask(CallBuilder::tool("t")),
            Err(SendError::HandshakePending),
            "nothing before the answer"
        );
        client.response(offer["id"].clone(), welcome(revision.as_str()));
        assert_eq!(
            client.sent(),
            [json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })]
        );
        assert!(client.is_opened());
        assert!(client.try_ask(CallBuilder::tool("t")).is_ok());
    }
}

fn welcome(date: &str) -> Value {
    json!({ "protocolVersion": date, "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } })
}

// spec: 2025-11-25 LIFE-12, AMB-17
// hardening: H-175
#[test]
fn a_client_does_not_confirm_a_revision_it_cannot_speak() {
    for date in ["2030-01-01", "2026-07-28", ""] {
        let mut client = Endpoint::client();
        let now = client.now();
        let call = client
            .engine()
            .initialize(now, Revision::LATEST_LEGACY)
            .expect("a new client");
        let id = client.sent()[0]["id"].clone();
        client.response(id, welcome(date));
        assert_eq!(client.sent(), [] as [Value; 0]);
        assert_eq!(
            client.settled(call),
            Err(PeerCallError::Incompatible(date.into()))
        );
        assert_eq!(
            client.try_ask(CallBuilder::tool("t")),
            Err(SendError::HandshakePending)
        );
    }
}

// spec: 2025-11-25 LIFE-10, LIFE-16
#[test]
fn a_client_speaks_the_revision_that_the_server_chose() {
    let mut client = Endpoint::client();
    let now = client.now();
    client
        .engine()
        .initialize(now, Revision::LATEST_LEGACY)
        .expect("a new client");
    let id = client.sent()[0]["id"].clone();
    client.response(id, welcome("2024-11-05"));
    let terms = client.engine().session_terms().expect("a session");
    assert_eq!(terms.revision, Revision::V2024_11_05);
}

// spec: 2025-11-25 CANC-03, TIME-02
#[test]
fn a_handshake_is_never_cancelled_on_the_wire() {
    let mut client = Endpoint::client();
    let now = client.now();
    let call = client
        .engine()
        .initialize(now, Revision::LATEST_LEGACY)
        .expect("a new client");
    client.sent();
    client.advance(2.minutes());
    assert!(matches!(
        client.settled(call),
        Err(PeerCallError::TimedOut(_))
    ));
    assert_eq!(client.sent(), [] as [Value; 0]);
    let now = client.now();
    let call = client
        .engine()
        .initialize(now, Revision::LATEST_LEGACY)
        .expect("again");
    client.sent();
    client.cancel(call);
    assert_eq!(client.settled(call), Err(PeerCallError::Cancelled));
    assert_eq!(client.sent(), [] as [Value; 0]);
}

// spec: 2025-11-25 LIFE-23
#[test]
fn a_client_whose_handshake_is_refused_sends_nothing_more() {
    let mut client = Endpoint::client();
    let now = client.now();
    let call = client
        .engine()
        .initialize(now, Revision::LATEST_LEGACY)
        .expect("a new client");
    let id = client.sent()[0]["id"].clone();
    let error = json!({ "code": -32602, "message": "unsupported" });
    client.receive(&json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
    assert!(matches!(
        client.settled(call),
        Err(PeerCallError::Answered(_))
    ));
    assert_eq!(client.sent(), [] as [Value; 0]);
}
