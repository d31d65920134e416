//! The members of a line.

use std::time::Duration;

use pintle::model::Revision;
use pintle_audit::{Audit, AuditKey, AuditOptions, AuditText};
use serde_json::json;

use crate::desk::{REVISIONS, audited, client, close};

#[tokio::test]
async fn a_call_has_one_line_without_its_arguments_and_result() {
    for revision in REVISIONS {
        let (audit, memory) = audited(AuditOptions::default());
        let client = client(&audit, revision).await;
        let sum = client.call_tool("add", json!({ "a": 4711, "b": 1 })).await;
        sum.expect("a sum");
        close(&audit);
        let [line] = &memory.of("tools/call")[..] else {
            panic!("{}", memory.text());
        };
        assert_eq!(line["principal"], "anonymous");
        assert!(line["client"].is_string(), "{line}");
        assert_eq!(line["name"], "add");
        assert_eq!(line["outcome"], "ok");
        assert!(
            line["time"]
                .as_str()
                .is_some_and(|time| time.ends_with('Z'))
        );
        assert!(line["duration_ms"].as_f64().is_some_and(|time| time > 0.0));
        assert_eq!(line["arguments"].as_str().map(str::len), Some(32));
        assert!(line.get("code").is_none() && line.get("trace").is_none());
        assert!(!memory.text().contains("4711"), "{}", memory.text());
        assert!(!memory.text().contains("4712"), "{}", memory.text());
        let counts = audit.counts();
        assert_eq!(counts.written, memory.lines().len() as u64);
        assert_eq!((counts.lost, counts.refused, counts.failures), (0, 0, 0));
    }
}

#[tokio::test]
async fn equal_arguments_have_equal_digests_under_one_key() {
    let digest = async |key: [u8; 32], a: i64| {
        let mut options = AuditOptions::default();
        options.key = Some(AuditKey::new(&key));
        let (audit, memory) = audited(options);
        let client = client(&audit, Revision::V2026_07_28).await;
        let sum = client.call_tool("add", json!({ "a": a, "b": 1 })).await;
        sum.expect("a sum");
        close(&audit);
        memory.of("tools/call")[0]["arguments"].clone()
    };
    let one = digest([1; 32], 1).await;
    assert_eq!(one, digest([1; 32], 1).await);
    assert_ne!(one, digest([1; 32], 2).await);
    assert_ne!(one, digest([2; 32], 1).await);
}

#[tokio::test]
async fn outcomes_of_errors_differ() {
    for revision in REVISIONS {
        let (audit, memory) = audited(AuditOptions::default());
        let client = client(&audit, revision).await;
        client.call_tool("fail", json!({})).await.expect("a result");
        let unknown = client.call_tool("absent", json!({})).await;
        unknown.expect_err("an unknown tool");
        close(&audit);
        let lines = memory.of("tools/call");
        assert_eq!(lines[0]["outcome"], "tool_error");
        assert_eq!(lines[1]["outcome"], "error");
        assert_eq!(lines[1]["code"], -32602);
        assert_eq!(lines[1]["name"], "absent");
        assert!(!memory.text().contains("on fire"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_has_a_line() {
    let (audit, memory) = audited(AuditOptions::default());
    let client = client(&audit, Revision::V2026_07_28).await;
    let call = client.call_tool("hang", json!({}));
    let call = call.timeout(Duration::from_secs(1));
    call.await.expect_err("a timeout");
    client.close().await;
    close(&audit);
    let lines = memory.of("tools/call");
    assert_eq!(lines[0]["outcome"], "cancelled");
}

#[tokio::test]
async fn a_line_has_the_trace_id_of_the_client() {
    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    for revision in REVISIONS {
        let (audit, memory) = audited(AuditOptions::default());
        let client = client(&audit, revision).await;
        let call = client.call_tool("add", json!({ "a": 1, "b": 2 }));
        let call = call.meta("traceparent", format!("00-{TRACE}-b7ad6b7169203331-01"));
        call.await.expect("a sum");
        close(&audit);
        assert_eq!(memory.of("tools/call")[0]["trace"], TRACE);
    }
}

#[tokio::test]
async fn the_own_trace_id_is_preferred() {
    let mut options = AuditOptions::default();
    options.trace_id = Some(|| Some("own".to_owned()));
    let (audit, memory) = audited(options);
    let client = client(&audit, Revision::V2026_07_28).await;
    client.list_tools().await.expect("a list");
    close(&audit);
    assert_eq!(memory.of("tools/list")[0]["trace"], "own");
}

#[tokio::test]
async fn names_can_be_digests_or_omitted() {
    let mut options = AuditOptions::default();
    options.names = AuditText::Digest;
    options.clients = AuditText::Omitted;
    let (audit, memory) = audited(options);
    let client = client(&audit, Revision::V2026_07_28).await;
    let prompt = client.get_prompt("greeting", json!({ "person": "Ada" }));
    prompt.await.expect("a prompt");
    close(&audit);
    let line = &memory.of("prompts/get")[0];
    assert_eq!(line["name"].as_str().map(str::len), Some(32));
    assert!(line.get("client").is_none());
    assert!(!memory.text().contains("greeting") && !memory.text().contains("Ada"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_private_and_an_old_one_grows() {
    use std::os::unix::fs::PermissionsExt as _;
    let path = std::env::temp_dir().join(format!("pintle-audit-{}.jsonl", std::process::id()));
    let mut sizes = Vec::new();
    for _ in 0..2 {
        let audit = Audit::to_file(&path, AuditOptions::default()).expect("a file");
        let client = client(&audit, Revision::V2026_07_28).await;
        client.list_tools().await.expect("a list");
        close(&audit);
        sizes.push(
            std::fs::read_to_string(&path)
                .expect("a file")
                .lines()
                .count(),
        );
    }
    let mode = std::fs::metadata(&path)
        .expect("a file")
        .permissions()
        .mode();
    std::fs::remove_file(&path).expect("the file");
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(sizes[1], 2 * sizes[0]);
}
