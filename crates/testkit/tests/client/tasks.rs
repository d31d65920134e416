//! Tasks at servers, message by message.

mod follow;
mod own;

use pintle_model::Revision;
use pintle_testkit::{HostileReply, HostileServer};
use serde_json::{Value, json};

/// A server of 2025-11-25 with tasks; its script gets every message after the opening.
fn core(script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static) -> HostileServer {
    let tasks = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    legacy(json!({ "tools": {}, "tasks": tasks }), script)
}

fn legacy(
    offers: Value,
    script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static,
) -> HostileServer {
    HostileServer::new(move |out, message| match message["method"].as_str() {
        Some("server/discover") => out.fail(message, -32601, "method not found"),
        Some("initialize") => {
            let server = json!({ "name": "hostile", "version": "1.0.0" });
            let version = &message["params"]["protocolVersion"];
            out.reply(
                message,
                json!({ "protocolVersion": version, "capabilities": offers, "serverInfo": server }),
            );
        }
        Some("notifications/initialized") => {}
        _ => script(out, message),
    })
}

/// A server of 2026-07-28 with the extension for tasks.
fn modern(script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static) -> HostileServer {
    HostileServer::new(move |out, message| {
        if message["method"] == "server/discover" {
            let dates: Vec<_> = Revision::modern().map(Revision::as_str).collect();
            let offers =
                json!({ "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
            let found = json!({ "resultType": "complete", "supportedVersions": dates, "capabilities": offers });
            return out.reply(message, found);
        }
        script(out, message);
    })
}

/// A task of 2025-11-25 with a poll interval of five seconds.
fn task(status: &str) -> Value {
    json!({ "taskId": "t1", "status": status, "createdAt": "2025-11-25T10:00:00Z",
        "lastUpdatedAt": "2025-11-25T10:00:00Z", "ttl": 300_000, "pollInterval": 5_000 })
}

/// A task of the extension with the same interval, and the members of its status.
fn detailed(result_type: &str, status: &str, more: Value) -> Value {
    let mut task = json!({ "resultType": result_type, "taskId": "t1", "status": status,
        "createdAt": "2026-07-28T10:00:00Z", "lastUpdatedAt": "2026-07-28T10:00:00Z",
        "ttlMs": null, "pollIntervalMs": 5_000 });
    let members = task.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    task
}

/// A list of one tool with this `taskSupport`.
fn tools(support: &Value) -> Value {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "execution": { "taskSupport": support } });
    json!({ "tools": [tool] })
}

/// The parameters of the client's calls of a method, in order.
fn params_of(server: &HostileServer, method: &str) -> Vec<Value> {
    let received = server.received().into_iter();
    let its = received.filter(|message| message["method"] == method);
    its.map(|message| message["params"].clone()).collect()
}
