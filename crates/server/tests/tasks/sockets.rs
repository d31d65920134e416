//! Clients of one socket listener, which the server cannot tell apart.

use std::net::SocketAddr;
use std::sync::Arc;

use pintle_runtime::{PipeOptions, serve_tcp};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::tasks::peer::{CORE, Peer, id_of};
use crate::tasks::tools::{Seen, server};

/// Serves the tools on a free port, until the test ends.
async fn listen() -> SocketAddr {
    let app = server(&Seen::default()).build().expect("the server starts");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(serve_tcp(Arc::new(app), listener, PipeOptions::default()));
    address
}

// spec: 2025-11-25 TASK-07, TASK-82, AMB-93
// hardening: H-22 (no enumeration)
#[tokio::test]
async fn a_client_of_a_socket_cannot_list_the_tasks_of_another() {
    let address = listen().await;
    let mut owner = Peer::dial(address, CORE).await;
    let mut other = Peer::dial(address, CORE).await;
    let task = owner.start("wait", json!({ "seconds": 60 })).await;
    for client in [&mut owner, &mut other] {
        let declared = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
        assert_eq!(client.welcome["capabilities"]["tasks"], declared);
        let error = client.error("tasks/list", json!({})).await;
        assert_eq!(error["code"], -32601);
    }
    let unknown = json!({ "taskId": "0".repeat(44) });
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let error = other.error(method, unknown.clone()).await;
        assert_eq!(error["code"], -32602, "{method}");
    }
    let cancelled = owner.result("tasks/cancel", id_of(&task)).await;
    assert_eq!(cancelled["status"], Value::from("cancelled"));
}
