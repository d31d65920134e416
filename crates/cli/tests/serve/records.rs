//! The audit log and the metrics of the served showcase.

use serde_json::{Value, json};

use crate::serve::child::Program;

/// A file of this test process.
fn file(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("pintle-{name}-{}.jsonl", std::process::id()))
}

#[tokio::test]
async fn the_audit_log_has_a_line_for_a_call() {
    let path = file("audit");
    let mut program = Program::start(&format!("serve --stdio --audit {}", path.display()));
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    program.ask(json!(1), "initialize", params).await;
    let call = json!({ "name": "absent", "arguments": { "secret": "4711" } });
    program.ask(json!(2), "tools/call", call).await;
    program.close_input();
    assert_eq!(program.ended().await.code(), Some(0));
    let text = std::fs::read_to_string(&path).expect("a log");
    std::fs::remove_file(&path).expect("the log");
    let line: Value = serde_json::from_str(text.trim_end()).expect("one line of JSON");
    assert_eq!(line["name"], "absent");
    assert_eq!(line["code"], -32602);
    assert!(!text.contains("4711"), "{text}");
}

#[tokio::test]
async fn an_audit_log_that_cannot_be_opened_ends_the_command() {
    let mut program = Program::start("serve --stdio --audit /absent/audit.jsonl");
    program.noted("/absent/audit.jsonl cannot be opened").await;
    assert_eq!(program.ended().await.code(), Some(1));
}

#[cfg(not(feature = "telemetry"))]
#[tokio::test]
async fn a_program_without_telemetry_names_the_feature() {
    for flag in ["--otlp", "--metrics 127.0.0.1:0"] {
        let mut program = Program::start(&format!("serve --stdio {flag}"));
        program.noted("the feature `telemetry`").await;
        assert_eq!(program.ended().await.code(), Some(1));
    }
}

#[cfg(feature = "telemetry")]
mod exported {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use crate::serve::child::Program;

    async fn get(address: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.expect("a listener");
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("a listener");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    }

    #[tokio::test]
    async fn metrics_and_health_have_a_port_of_their_own() {
        let mut program = Program::start("serve --http 127.0.0.1:0 --metrics 127.0.0.1:0");
        let note = program.noted("/metrics").await;
        let address = note.split_once("http://").expect("a URL").1;
        let address = address.split_once('/').expect("a path").0;
        program.noted("/mcp").await;
        let metrics = get(address, "/metrics").await;
        assert!(metrics.contains("pintle-showcase"), "{metrics}");
        assert!(get(address, "/healthz").await.ends_with("ok"));
        assert!(get(address, "/readyz").await.ends_with("ready"));
        assert!(get(address, "/mcp").await.starts_with("HTTP/1.1 404"));
        program.signal("TERM").await;
        assert_eq!(program.ended().await.code(), Some(0));
    }

    #[tokio::test]
    async fn the_end_of_the_command_exports_to_the_collector() {
        let collector = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = collector.local_addr().expect("an address");
        let heads = tokio::spawn(async move {
            let mut heads = Vec::new();
            while heads.len() < 2 {
                let (mut stream, _) = collector.accept().await.expect("a client");
                let mut part = [0; 4096];
                let count = stream.read(&mut part).await.expect("a request");
                heads.push(String::from_utf8_lossy(&part[..count.min(30)]).into_owned());
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                stream.write_all(answer).await.expect("a client");
            }
            heads
        });
        let mut program = Program::start(&format!("serve --stdio --otlp http://{address}"));
        let params = serde_json::json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let id = |number| serde_json::json!(number);
        program.ask(id(1), "initialize", params).await;
        program
            .ask(id(2), "tools/list", serde_json::json!({}))
            .await;
        program.close_input();
        assert_eq!(program.ended().await.code(), Some(0));
        let heads = heads.await.expect("two exports");
        for signal in ["traces", "metrics"] {
            let path = format!("POST /v1/{signal}");
            assert!(heads.iter().any(|head| head.contains(&path)), "{heads:?}");
        }
    }
}
