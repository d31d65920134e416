//! Tasks with servers of any kind, message by message.

mod follow;
mod own;

use pintle_model::Revision;
use pintle_testkit::{Hostile, HostileReply};
use serde_json::{Value, json};

/// A server of 2025-11-25 that makes tasks of calls, except to those who open a conversation.
fn core(script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static) -> Hostile {
    let tasks = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    legacy(json!({ "tools": {}, "tasks": tasks }), script)
}

fn legacy(
    offers: Value,
    script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static,
) -> Hostile {
    Hostile::new(move |mouth, said| match said["method"].as_str() {
        Some("server/discover") => mouth.fail(said, -32601, "method not found"),
        Some("initialize") => {
            let server = json!({ "name": "hostile", "version": "1.0.0" });
            let version = &said["params"]["protocolVersion"];
            mouth.reply(
                said,
                json!({ "protocolVersion": version, "capabilities": offers, "serverInfo": server }),
            );
        }
        Some("notifications/initialized") => {}
        _ => script(mouth, said),
    })
}

/// A server of 2026-07-28 that knows tasks.
fn modern(script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static) -> Hostile {
    Hostile::new(move |mouth, said| {
        if said["method"] == "server/discover" {
            let dates: Vec<_> = Revision::modern().map(Revision::as_str).collect();
            let offers =
                json!({ "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
            let found = json!({ "resultType": "complete", "supportedVersions": dates, "capabilities": offers });
            return mouth.reply(said, found);
        }
        script(mouth, said);
    })
}

/// A task of the core, asked for every five seconds.
fn task(status: &str) -> Value {
    json!({ "taskId": "t1", "status": status, "createdAt": "2025-11-25T10:00:00Z",
        "lastUpdatedAt": "2025-11-25T10:00:00Z", "ttl": 300_000, "pollInterval": 5_000 })
}

/// A task of the extension, likewise, with what its status brings along.
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
fn params_of(server: &Hostile, method: &str) -> Vec<Value> {
    let heard = server.heard().into_iter();
    let its = heard.filter(|said| said["method"] == method);
    its.map(|said| said["params"].clone()).collect()
}
