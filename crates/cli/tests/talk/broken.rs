//! Servers that violate their own declarations.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::talk::program::pintle;
use crate::talk::typist::Typist;

/// A server with its URL. Dropping it ends the server.
struct Broken {
    url: String,
    task: JoinHandle<()>,
}

impl Drop for Broken {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves a tool with this output schema that returns a text. Another tool requires a visit first.
async fn serve(schema: Value) -> Broken {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            respond(stream, &schema).await;
        }
    });
    Broken {
        url: format!("tcp://{address}"),
        task,
    }
}

async fn respond(stream: TcpStream, schema: &Value) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut visits = 0;
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("a message");
        if message["id"].is_null() {
            continue;
        }
        let mut answer = match message["params"]["name"] == "guarded" {
            true => guarded(&mut visits),
            false => answer(&message, schema),
        };
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = message["id"].clone();
        // An error means that the client has closed its connection.
        let _ = write.write_all(format!("{answer}\n").as_bytes()).await;
    }
}

/// Answers the first call with a visit, whose end is never reported.
fn guarded(visits: &mut u32) -> Value {
    *visits += 1;
    match *visits {
        1 => {
            json!({ "error": { "code": -32042, "message": "visit first", "data": { "elicitations": [
            { "mode": "url", "elicitationId": "v1", "url": "https://a.example/", "message": "Pay." },
        ] } } })
        }
        _ => json!({ "result": { "content": [{ "type": "text", "text": "let in" }] } }),
    }
}

fn answer(message: &Value, schema: &Value) -> Value {
    match message["method"].as_str() {
        Some("initialize") => json!({ "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {}, "resources": {} },
            "serverInfo": { "name": "broken", "version": "0" },
        } }),
        Some("tools/list") => json!({ "result": { "tools": [
            { "name": "weigh", "inputSchema": { "type": "object" }, "outputSchema": schema },
            { "name": "guarded", "inputSchema": { "type": "object" } },
        ] } }),
        Some("resources/list") => json!({ "result": { "resources": [
            { "uri": "file:///log", "name": "log" },
        ] } }),
        Some("tools/call") => json!({ "result": {
            "content": [{ "type": "text", "text": "heavy" }], "structuredContent": { "grams": "heavy" },
        } }),
        _ => json!({ "error": { "code": -32601, "message": "method not found" } }),
    }
}

// spec: 2025-11-25 TOOL-23
// spec: 2026-07-28 N-TOOL-11
#[tokio::test]
async fn an_output_that_violates_its_schema_has_the_code_of_schemas() {
    let schema = json!({ "type": "object", "properties": { "grams": { "type": "number" } } });
    let server = serve(schema).await;
    let call = || pintle("call").word(&server.url).word("weigh");
    let ended = call().run().await;
    assert_eq!(
        (ended.code, ended.output.as_str()),
        (Some(6), ""),
        "{ended:?}"
    );
    assert!(
        ended
            .notes
            .contains("/grams: expected a number, found a string"),
        "{ended:?}"
    );
    let ended = call().word("--unchecked").run().await;
    assert_eq!(
        (ended.code, ended.output.as_str()),
        (Some(0), "heavy\n"),
        "{ended:?}"
    );
}

// spec: 2026-07-28 N-SCH-03
#[tokio::test]
async fn an_output_schema_of_an_unknown_dialect_has_that_code_too() {
    let server = serve(json!({ "$schema": "urn:own" })).await;
    let text = pintle("call")
        .word(&server.url)
        .word("weigh")
        .fails(6)
        .await;
    assert!(text.contains("urn:own"), "{text}");
}

// Servers on the older Python SDK announce resources and do not know `resources/templates/list`.
#[tokio::test]
async fn a_missing_list_method_hides_no_other_list() {
    let server = serve(json!({ "type": "object" })).await;
    for command in ["list", "inspect"] {
        let ended = pintle(command).word(&server.url).run().await;
        assert_eq!(ended.code, Some(0), "{command}: {ended:?}");
        for part in ["weigh", "file:///log"] {
            assert!(ended.output.contains(part), "{part}: {ended:?}");
        }
        let missing = "resources/templates/list";
        assert!(ended.notes.contains(missing), "{ended:?}");
        let data = pintle(command).word("--json").word(&server.url);
        let data = data.json().await;
        let offers = data.get("offers").unwrap_or(&data);
        assert_eq!(offers["resources"][0]["name"], "log", "{data}");
        assert!(offers.get("resourceTemplates").is_none(), "{data}");
    }
    // A named list is the only one that is requested.
    let list = pintle("list").word(&server.url).word("templates");
    let text = list.fails(5).await;
    assert!(text.contains("resources/templates/list"), "{text}");
}

// The server of these tests never reports that a visit is over.
#[tokio::test]
async fn a_wait_for_a_visit_is_reported_and_bounded() {
    let server = serve(json!({ "type": "object" })).await;
    let call = pintle("call --timeout 500ms --answer accept");
    let ended = call.word(&server.url).word("guarded").run().await;
    assert_eq!(
        (ended.code, ended.output.as_str()),
        (Some(0), "let in\n"),
        "{ended:?}"
    );
    assert!(
        ended.notes.contains("waiting until the server"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn enter_ends_the_wait_for_a_visit() {
    let server = serve(json!({ "type": "object" })).await;
    let mut typist = Typist::starts(&["call", &server.url, "guarded"]);
    typist.sees("Open it in a browser?").await;
    typist.types("visited\n").await;
    typist.sees("Enter tries again at once").await;
    typist.types("\n").await;
    typist.sees("let in").await;
    assert_eq!(typist.leaves().await.code(), Some(0));
}

// Its capabilities have no `listChanged`.
#[tokio::test]
async fn listening_ends_where_no_change_is_reported() {
    let server = serve(json!({ "type": "object" })).await;
    let text = pintle("listen").word(&server.url).fails(5).await;
    assert!(text.contains("reports none of these changes"), "{text}");
}
