//! The showcase on standard streams, in both eras.

use serde_json::{Value, json};

use crate::serve::child::{Program, envelope};

// spec: 2025-11-25 LIFE-03, LIFE-09, TOOL-02, RES-01, PROM-01, COMP-01, LOG-01
#[tokio::test]
async fn a_handshake_has_the_identity_and_capabilities_of_the_server() {
    let mut program = Program::start("serve --stdio");
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let welcome = program.ask(json!(0), "initialize", params).await;
    let result = &welcome["result"];
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    for offer in ["tools", "resources", "prompts", "completions", "logging"] {
        assert!(
            result["capabilities"][offer].is_object(),
            "{offer} in {welcome}"
        );
    }
}

// spec: 2026-07-28 N-DISC-01, N-DISC-02, N-DISC-03
#[tokio::test]
async fn discovery_needs_no_handshake() {
    let mut program = Program::start("serve --stdio");
    let found = program
        .ask(json!(1), "server/discover", json!({ "_meta": envelope() }))
        .await;
    let result = &found["result"];
    assert_eq!(result["resultType"], "complete", "{found}");
    assert!(
        result["supportedVersions"]
            .as_array()
            .expect("a list")
            .contains(&json!("2026-07-28"))
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "pintle-showcase"
    );
}

// spec: 2025-11-25 TOOL-03, RES-02, PROM-02
#[tokio::test]
async fn everything_that_is_listed_has_a_name() {
    let mut program = Program::connected().await;
    for (method, member, min) in [
        ("tools/list", "tools", 15),
        ("resources/list", "resources", 3),
        ("resources/templates/list", "resourceTemplates", 1),
        ("prompts/list", "prompts", 2),
    ] {
        let listed = program.ask(json!(method), method, json!({})).await;
        let items = listed["result"][member].as_array().expect("a list").clone();
        assert!(items.len() >= min, "{listed}");
        assert!(items.iter().all(|item| item["name"].is_string()));
    }
}

// spec: 2025-11-25 TOOL-03, TOOL-22
#[tokio::test]
async fn a_tool_is_called_in_both_eras() {
    let mut program = Program::connected().await;
    let arguments = json!({ "charted_depth": 8, "tide": 2.0, "draught": 6.8, "speed": 10 });
    let call = json!({ "name": "under_keel", "arguments": arguments });
    let legacy = program.ask(json!(1), "tools/call", call.clone()).await;
    assert_eq!(
        legacy["result"]["structuredContent"]["is_safe"], true,
        "{legacy}"
    );
    let mut call = call;
    call["_meta"] = envelope();
    let modern = program.ask(json!(2), "tools/call", call).await;
    assert_eq!(
        modern["result"]["structuredContent"]["squat"], 1.0,
        "{modern}"
    );
}

// spec: 2025-11-25 TOOL-25, TOOL-29
#[tokio::test]
async fn an_invalid_argument_is_reported_to_the_model() {
    let mut program = Program::connected().await;
    let call = json!({ "name": "hail", "arguments": { "call_sign": "gudgeon" } });
    let refused = program.ask(json!(1), "tools/call", call).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(text(&refused).contains("/call_sign"), "{refused}");
}

#[tokio::test]
async fn every_kind_of_content_is_shown() {
    let mut program = Program::connected().await;
    for (tool, kind) in [
        ("tide_curve", "image"),
        ("sound_signal", "audio"),
        ("notice", "resource"),
    ] {
        let arguments = match tool {
            "sound_signal" => json!({ "manoeuvre": "in_doubt" }),
            _ => json!({}),
        };
        let called = program
            .ask(
                json!(tool),
                "tools/call",
                json!({ "name": tool, "arguments": arguments }),
            )
            .await;
        let content = called["result"]["content"]
            .as_array()
            .expect("content")
            .clone();
        assert!(
            content.iter().any(|block| block["type"] == kind),
            "{called}"
        );
    }
}

// spec: 2025-11-25 PROG-01, PROG-05
#[tokio::test]
async fn a_trip_reports_its_progress() {
    let mut program = Program::connected().await;
    let call = json!({ "name": "board", "arguments": { "call_sign": "RECK", "cables": 2 }, "_meta": { "progressToken": "trip" } });
    program
        .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }))
        .await;
    for cable in 1..=2 {
        let notice = program.receive().await;
        assert_eq!(notice["params"]["progressToken"], "trip");
        assert_eq!(notice["params"]["progress"], f64::from(cable));
    }
    assert_eq!(
        text(&program.receive().await),
        "the pilot is on board of RECK"
    );
}

// spec: 2025-11-25 LOG-04, LOG-06
#[tokio::test]
async fn log_messages_and_public_events_reach_the_client() {
    let mut program = Program::connected().await;
    program
        .ask(json!(1), "logging/setLevel", json!({ "level": "info" }))
        .await;
    let call = json!({ "name": "watch", "arguments": {} });
    program
        .send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }))
        .await;
    let mut received = Vec::new();
    loop {
        let message = program.receive().await;
        if message["id"] == 2 {
            break;
        }
        received.push((
            message["params"]["level"].clone(),
            message["params"]["logger"].clone(),
        ));
    }
    let expected = [
        ("info", "radio"),
        ("warning", "radio"),
        ("error", "radio"),
        ("info", "harbour"),
    ];
    assert_eq!(
        received,
        expected.map(|(level, logger)| (json!(level), json!(logger)))
    );
}

// spec: 2025-11-25 TOOL-04
#[tokio::test]
async fn a_hired_tug_adds_a_tool() {
    let mut program = Program::connected().await;
    let hire = json!({ "name": "hire_tug", "arguments": { "name": "tiller" } });
    program
        .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": hire }))
        .await;
    let both = [program.receive().await, program.receive().await];
    assert!(
        both.iter()
            .any(|message| message["method"] == "notifications/tools/list_changed"),
        "{both:?}"
    );
    let pulled = program
        .ask(json!(2), "tools/call", json!({ "name": "tug_tiller" }))
        .await;
    assert_eq!(text(&pulled), "tiller pulls");
}

// spec: 2025-11-25 COMP-02
#[tokio::test]
async fn the_completion_of_a_berth_depends_on_the_vessel() {
    let mut program = Program::connected().await;
    let reference = json!({ "type": "ref/prompt", "name": "passage_plan" });
    let context = json!({ "arguments": { "call_sign": "GUDG" } });
    let params = json!({ "ref": reference, "argument": { "name": "berth", "value": "" }, "context": context });
    let completed = program.ask(json!(1), "completion/complete", params).await;
    assert_eq!(
        completed["result"]["completion"]["values"],
        json!(["breakwater", "grain-pier", "old-dock"])
    );
}

// spec: 2025-11-25 RES-03, RES-05
#[tokio::test]
async fn a_logged_movement_is_sent_to_its_subscribers() {
    let mut program = Program::connected().await;
    program
        .ask(
            json!(1),
            "resources/subscribe",
            json!({ "uri": "harbour://movements" }),
        )
        .await;
    let call = json!({ "name": "log_movement", "arguments": {} });
    program
        .send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }))
        .await;
    let both = [program.receive().await, program.receive().await];
    let update = both
        .iter()
        .find(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(
        update.expect("an update")["params"]["uri"],
        "harbour://movements"
    );
    let read = program
        .ask(
            json!(3),
            "resources/read",
            json!({ "uri": "harbour://movements" }),
        )
        .await;
    assert_eq!(read["result"]["contents"][0]["text"], r#"{"today":1}"#);
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}
