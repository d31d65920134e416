//! The modern era, in which every request states its terms, and both eras on one pipe.

use pintle_model::{Feature, Revision};
use pintle_testkit::{CallBuilder, Endpoint, envelope, initialize, request};
use serde_json::{Value, json};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

fn code(message: &Value) -> i64 {
    message["error"]["code"].as_i64().unwrap_or_default()
}

fn modern(id: i64, method: &str, meta: Value) -> String {
    request(id, method, json!({ "_meta": meta, "name": "t" })).to_string()
}

fn answer_to(server: &mut Endpoint, text: &str) -> Value {
    server.receive(text);
    let mut sent = server.sent();
    assert_eq!(sent.len(), 1, "one answer to {text}: {sent:?}");
    sent.remove(0)
}

// spec: 2026-07-28 N-ERA-02, N-VER-10
#[test]
fn a_modern_request_needs_no_handshake_and_leaves_no_state() {
    let mut server = Endpoint::server();
    let answer = answer_to(
        &mut server,
        &modern(1, "tools/list", envelope(Revision::LATEST)),
    );
    assert!(answer["result"].is_object());
    let plain = request(2, "tools/list", json!({})).to_string();
    assert_eq!(code(&answer_to(&mut server, &plain)), -32602);
    assert!(server.engine().session_terms().is_none());
}

// spec: 2026-07-28 N-ERA-01, N-ERA-02, N-VER-06, N-VER-09 (server versions)
// hardening: H-174
// spec: 2025-11-25 GEN-02 (server)
#[test]
fn both_eras_are_served_on_one_pipe_each_request_as_it_asks() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server();
        let early = answer_to(
            &mut server,
            &modern(1, "tools/list", envelope(Revision::LATEST)),
        );
        assert_eq!(early["result"]["resultType"], "complete");
        answer_to(&mut server, &initialize(2, revision.as_str()).to_string());
        server.notification("notifications/initialized", Value::Null);
        let legacy = answer_to(
            &mut server,
            &request(3, "tools/list", json!({})).to_string(),
        );
        assert_eq!(
            (
                legacy["result"].get("resultType"),
                legacy["result"].get("_meta")
            ),
            (None, None)
        );
        let late = answer_to(
            &mut server,
            &modern(4, "tools/list", envelope(Revision::LATEST)),
        );
        assert_eq!(late["result"]["resultType"], "complete");
        let terms = server.engine().session_terms().expect("a session");
        assert_eq!(terms.revision, revision);
    }
}

// spec: 2026-07-28 N-VER-02, N-VER-05, N-DISC-09, A-04
// hardening: H-134
#[test]
fn a_revision_that_is_not_served_is_refused_with_those_that_are() {
    for date in [
        "2025-11-25",
        "2024-11-05",
        "2026-07-29",
        "2030-01-01",
        "",
        "draft",
    ] {
        for method in ["tools/call", "tools/list", "server/discover", "no/such"] {
            let mut server = Endpoint::server();
            let mut meta = envelope(Revision::LATEST);
            meta[VERSION] = json!(date);
            let answer = answer_to(&mut server, &modern(1, method, meta));
            assert_eq!(code(&answer), -32022, "{method} at {date}");
            // A client that asks for a known revision learns all revisions.
            let dates: Vec<_> = Revision::ALL.iter().rev().map(|one| one.as_str()).collect();
            let is_known = dates.contains(&date);
            let supported = if is_known { &dates[..] } else { &dates[..1] };
            let expected = json!({ "supported": supported, "requested": date });
            assert_eq!(answer["error"]["data"], expected);
        }
    }
}

// spec: 2026-07-28 N-META-01, N-META-02
// hardening: H-134
#[test]
fn an_envelope_with_a_member_missing_or_of_the_wrong_type_is_refused() {
    let mut server = Endpoint::server();
    let mut without = envelope(Revision::LATEST);
    without
        .as_object_mut()
        .expect("an object")
        .remove(CAPABILITIES);
    assert_eq!(
        code(&answer_to(&mut server, &modern(1, "tools/call", without))),
        -32602
    );
    for (key, value) in [
        (VERSION, json!(20260728)),
        (VERSION, Value::Null),
        (CAPABILITIES, json!([])),
        (CAPABILITIES, json!("x")),
        (CAPABILITIES, Value::Null),
        (INFO, json!("me")),
        (INFO, json!({})),
        (INFO, json!({ "name": "n" })),
        ("progressToken", json!({})),
        ("io.modelcontextprotocol/logLevel", json!("loud")),
        ("io.modelcontextprotocol/logLevel", json!(3)),
    ] {
        let mut meta = envelope(Revision::LATEST);
        meta[key] = value.clone();
        let answer = answer_to(&mut server, &modern(1, "tools/call", meta));
        assert_eq!(code(&answer), -32602, "{key}: {value}");
    }
    assert_eq!(
        code(&answer_to(
            &mut server,
            &modern(1, "tools/call", json!("x"))
        )),
        -32602
    );
    assert!(
        answer_to(
            &mut server,
            &modern(2, "tools/call", envelope(Revision::LATEST))
        )["result"]
            .is_object()
    );
}

// hardening: H-103
#[test]
fn an_envelope_with_a_member_twice_is_refused() {
    let meta = envelope(Revision::LATEST).to_string();
    let twice = meta.replacen('{', &format!("{{\"{VERSION}\":\"2026-07-28\","), 1);
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{twice}}}}}"#);
    assert_eq!(code(&answer_to(&mut Endpoint::server(), &text)), -32600);
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{meta},"_meta":{meta}}}}}"#
    );
    assert_eq!(code(&answer_to(&mut Endpoint::server(), &text)), -32600);
}

// spec: 2026-07-28 N-VER-10, N-EXT-08, N-STATE-01
#[test]
fn each_request_is_served_on_its_own_terms() {
    let mut server = Endpoint::server();
    server.answers_by_hand();
    let mut able = envelope(Revision::LATEST);
    able[CAPABILITIES] = json!({ "elicitation": { "form": {} } });
    able["traceparent"] = json!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    able[INFO] = json!({ "name": "first", "version": "1" });
    server.receive(&modern(1, "tools/call", able));
    let mut plain = envelope(Revision::LATEST);
    plain.as_object_mut().expect("members").remove(INFO);
    server.receive(&modern(2, "tools/call", plain));
    let keys = server.open();
    let first = server.terms(keys[0]).expect("open");
    assert!(first.capabilities.elicitation.is_some() && first.trace.is_some());
    let second = server.terms(keys[1]).expect("open");
    assert!(second.capabilities.elicitation.is_none() && second.trace.is_none());
    let name =
        |terms: &pintle_proto::Terms| terms.client.as_ref().map(|client| client.name.clone());
    assert_eq!(
        (name(first).as_deref(), name(second)),
        (Some("first"), None)
    );
}

// spec: 2026-07-28 N-TRACE-01
#[test]
fn baggage_is_read_without_a_trace_parent() {
    let mut server = Endpoint::server();
    server.answers_by_hand();
    // The first and the last request have no baggage, because one value must not leak to another.
    for (id, baggage) in [(1, None), (2, Some("a=1")), (3, Some("a=2")), (4, None)] {
        let mut meta = envelope(Revision::LATEST);
        if let Some(baggage) = baggage {
            (meta["baggage"], meta["tracestate"]) = (json!(baggage), json!("s=1"));
        }
        server.receive(&modern(id, "tools/call", meta));
        let open = *server.open().last().expect("open");
        let terms = server.terms(open).expect("open");
        let trace = terms.trace.as_ref();
        let found = trace.and_then(|trace| trace.baggage.as_deref());
        assert_eq!(found, baggage);
        assert!(trace.is_none_or(|trace| trace.parent.is_none() && trace.state.is_none()));
    }
}

// spec: 2026-07-28 N-TRACE-01, N-TRACE-02
#[test]
fn a_trace_is_taken_up_if_it_is_one_and_costs_no_request() {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (parent, is_one) in [
        (json!(format!("00-{TRACE}")), true),
        (json!(format!("cc-{TRACE}-what-is-to-come")), true),
        (json!(format!("00-{TRACE}-more")), false),
        (json!(format!("ff-{TRACE}")), false),
        (json!(format!("00-{}", TRACE.to_uppercase())), false),
        (
            json!(format!(
                "00-{}",
                TRACE.replace("00f067aa0ba902b7", "0000000000000000")
            )),
            false,
        ),
        (json!("00-1-2-01"), false),
        (json!(""), false),
        (json!(7), false),
    ] {
        let mut server = Endpoint::server();
        server.answers_by_hand();
        let mut meta = envelope(Revision::LATEST);
        meta["traceparent"] = parent.clone();
        (meta["tracestate"], meta["baggage"]) = (json!("a=1"), json!("b=2"));
        server.receive(&modern(1, "tools/call", meta));
        let terms = server.terms(server.open()[0]).expect("open");
        let trace = terms.trace.as_ref().expect("the baggage at least");
        assert_eq!(trace.parent.is_some(), is_one, "{parent}");
        assert!(trace.parent.iter().all(|text| json!(&**text) == parent));
        assert_eq!(trace.state.as_deref(), is_one.then_some("a=1"), "{parent}");
        assert_eq!(trace.baggage.as_deref(), Some("b=2"));
    }
}

// spec: 2026-07-28 N-META-03
#[test]
fn a_client_may_omit_its_identity() {
    let mut meta = envelope(Revision::LATEST);
    meta.as_object_mut().expect("an object").remove(INFO);
    assert!(
        answer_to(&mut Endpoint::server(), &modern(1, "tools/list", meta))["result"].is_object()
    );
}

// spec: 2026-07-28 N-DISC-01, N-DISC-02, N-DISC-03, N-DISC-06, N-DISC-08
#[test]
fn discovery_returns_the_versions_and_capabilities_of_a_server() {
    let mut server = Endpoint::server();
    let request = json!({ "jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": { "_meta": envelope(Revision::LATEST) } });
    let answer = answer_to(&mut server, &request.to_string());
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["resultType"], "complete");
    for capability in ["tools", "resources", "prompts", "completions", "logging"] {
        assert!(
            result["capabilities"][capability].is_object(),
            "{capability}"
        );
    }
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string());
    assert_eq!(result["_meta"][SERVER]["name"], "testkit");
    assert_eq!(result.get("serverInfo"), None);
}

// spec: 2026-07-28 N-META-02, N-DISC-09, A-12
#[test]
fn a_discovery_without_terms_is_refused_and_a_handshake_still_works() {
    let mut server = Endpoint::server();
    assert_eq!(
        code(&answer_to(
            &mut server,
            &request(1, "server/discover", json!({})).to_string()
        )),
        -32602
    );
    assert_eq!(
        code(&answer_to(
            &mut server,
            &request(2, "server/discover", Value::Null).to_string()
        )),
        -32602
    );
    assert!(answer_to(&mut server, &initialize(3, "2025-11-25").to_string())["result"].is_object());
}

// spec: 2026-07-28 N-ERA-03, N-ERA-02
#[test]
fn a_probe_does_not_keep_a_client_from_shaking_hands() {
    let mut server = Endpoint::server();
    answer_to(
        &mut server,
        &modern(1, "server/discover", envelope(Revision::LATEST)),
    );
    let answer = answer_to(&mut server, &initialize(2, "2025-06-18").to_string());
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
}

// spec: 2026-07-28 N-META-04
#[test]
fn every_modern_result_names_the_server_and_no_legacy_result_does() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        for method in ["tools/list", "tools/call", "prompts/list", "resources/read"] {
            let answer = &server.exchange(1, method, json!({ "name": "t", "uri": "a:" }))[0];
            let expected = revision.has(Feature::ServerInfoInMeta).then_some("testkit");
            assert_eq!(
                answer["result"]["_meta"][SERVER]["name"].as_str(),
                expected,
                "{method} at {revision}"
            );
        }
    }
}

// spec: 2026-07-28 N-META-01, N-META-03, N-VER-01, N-BASE-12, N-ELIC-01
#[test]
fn only_a_modern_client_states_its_terms_with_every_call() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        client.ask(CallBuilder::new("tools/list"));
        client.ask(
            CallBuilder::tool("t").with(json!({ "name": "t", "_meta": { "com.example/a": 1 } })),
        );
        let sent = client.sent();
        for message in &sent {
            let meta = &message["params"]["_meta"];
            if revision.has(Feature::Envelope) {
                assert_eq!(meta[VERSION], revision.as_str());
                assert_eq!(meta[INFO]["name"], "testkit");
                assert!(meta[CAPABILITIES].is_object());
            } else {
                assert_eq!(meta.get(VERSION), None);
                assert_eq!(meta.get(CAPABILITIES), None);
            }
        }
        assert_eq!(sent[1]["params"]["_meta"]["com.example/a"], 1);
    }
}

// spec: 2026-07-28 N-META-13
#[test]
fn unknown_metadata_reaches_the_handler() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.answers_by_hand();
        server.request(
            1,
            "tools/call",
            json!({ "name": "t", "_meta": { "com.example/a": { "b": 1 } } }),
        );
        let key = server.open()[0];
        let (_, params) = server.opened_request(key).expect("open");
        assert_eq!(params["_meta"]["com.example/a"], json!({ "b": 1 }));
    }
}

// spec: 2026-07-28 N-BASE-14, N-PAT-01
#[test]
fn a_modern_request_is_never_answered_with_a_question() {
    let mut server = Endpoint::server_at(Revision::V2025_11_25);
    server.answers_by_hand();
    server.receive(&modern(1, "tools/call", envelope(Revision::LATEST)));
    let lane = pintle_proto::Lane::Reply(server.open()[0]);
    assert!(
        server
            .try_ask(CallBuilder::new("roots/list").on(lane))
            .is_err()
    );
    assert!(
        server.try_ask(CallBuilder::new("roots/list")).is_ok(),
        "the session is of the other era"
    );
    let mut server = Endpoint::server_at(Revision::LATEST);
    assert!(server.try_ask(CallBuilder::new("roots/list")).is_err());
}
