//! Completion of arguments and variables.

use pintle::prelude::*;
use serde_json::{Value, json};

use crate::server::help_desk::server;
use crate::server::peer::{Peer, REVISIONS};

// spec: 2025-11-25 COMP-01, COMP-02
// spec: 2026-07-28 N-COMP-01
#[tokio::test]
async fn arguments_and_variables_are_completed() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        // 2024-11-05 has the method, and no capability for it.
        assert_eq!(
            peer.welcome["capabilities"]["completions"].is_object(),
            peer.is_since("2025-03-26"),
            "{revision}"
        );
        let values = complete(&mut peer, prompt("triage"), "urgency", "l").await;
        assert_eq!(values["values"], json!(["low"]), "{revision}");
        let values = complete(&mut peer, template(), "number", "24").await;
        assert_eq!(values["values"][0], "24", "{revision}");
        assert_eq!(
            values["values"].as_array().map(Vec::len),
            Some(11),
            "{revision}"
        );
    }
}

// spec: 2025-11-25 COMP-04
// spec: 2026-07-28 N-COMP-03
#[tokio::test]
async fn no_more_than_a_hundred_values_are_sent() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let values = complete(&mut peer, template(), "number", "").await;
        assert_eq!(
            values["values"].as_array().map(Vec::len),
            Some(100),
            "{revision}"
        );
        assert_eq!(
            (&values["total"], &values["hasMore"]),
            (&json!(250), &json!(true)),
            "{revision}"
        );
    }
}

// spec: 2025-11-25 COMP-02
#[tokio::test]
async fn completion_receives_the_arguments_filled_in_before() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let argument = json!({ "name": "team", "value": "net" });
        let context = json!({ "arguments": { "urgency": "high" } });
        let params = json!({ "ref": prompt("triage"), "argument": argument, "context": context });
        let completed = peer.result("completion/complete", params).await;
        assert_eq!(
            completed["completion"]["values"],
            json!(["net-high"]),
            "{revision}"
        );
    }
}

// spec: 2025-11-25 COMP-05, COMP-06 (validation), COMP-08 (validation), AMB-65 (reference)
// spec: 2026-07-28 N-COMP-04, N-COMP-06 (validation), N-COMP-05 (validation)
#[tokio::test]
async fn an_argument_without_completion_has_no_values_or_is_an_error() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        assert_eq!(
            complete(&mut peer, prompt("triage"), "report", "x").await["values"],
            json!([])
        );
        let hours = resource("desk://hours");
        assert_eq!(
            complete(&mut peer, hours, "number", "").await["values"],
            json!([]),
            "{revision}"
        );
        for reference in [
            prompt("sail"),
            resource("desk://{other}"),
            resource("desk://closed"),
            json!({ "type": "ref/tool" }),
        ] {
            let params = json!({ "ref": reference, "argument": { "name": "x", "value": "" } });
            let error = peer.error("completion/complete", params).await;
            assert_eq!(error["code"], -32602, "{revision}: {error}");
        }
    }
}

// spec: 2025-11-25 COMP-05
// spec: 2026-07-28 N-COMP-04
#[tokio::test]
async fn a_server_that_completes_nothing_does_not_know_the_method() {
    for revision in REVISIONS {
        let mut peer = Peer::of(Server::new("silent", "1"), revision).await;
        let params = json!({ "ref": prompt("triage"), "argument": { "name": "x", "value": "" } });
        let error = peer.error("completion/complete", params).await;
        assert_eq!(error["code"], -32601, "{revision}: {error}");
    }
}

async fn complete(peer: &mut Peer, reference: Value, name: &str, value: &str) -> Value {
    let params = json!({ "ref": reference, "argument": { "name": name, "value": value } });
    peer.result("completion/complete", params).await["completion"].take()
}

fn prompt(name: &str) -> Value {
    json!({ "type": "ref/prompt", "name": name })
}

fn template() -> Value {
    resource("desk://tickets/{number}")
}

fn resource(uri: &str) -> Value {
    json!({ "type": "ref/resource", "uri": uri })
}
