//! `pintle serve --watch`: a changed program behind a host that stays connected.

use std::fs;

use serde_json::json;

use crate::serve::child::Program;
use crate::serve::proxied::Directory;
use crate::talk::program::pintle;

const PINTLE: &str = env!("CARGO_BIN_EXE_pintle");

/// A program in a file, which writes a line to another file at each start.
struct Script {
    folder: Directory,
}

impl Script {
    fn new() -> Self {
        let script = Self {
            folder: Directory::new(),
        };
        script.write("first");
        script
    }

    fn path(&self) -> String {
        self.folder.file("server")
    }

    fn write(&self, version: &str) {
        let starts = self.folder.file("starts");
        let text = format!("echo {version} >> {starts}\nexec {PINTLE} serve --stdio\n");
        fs::write(self.path(), text).expect("a script");
    }

    fn starts(&self) -> Vec<String> {
        let starts = fs::read_to_string(self.folder.file("starts")).expect("starts");
        starts.lines().map(str::to_owned).collect()
    }
}

async fn tide(program: &mut Program) {
    let params = json!({ "name": "height_of_tide", "arguments": { "hours": 3 } });
    let answer = program.ask(json!(1), "tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "3.24", "{answer}");
}

#[tokio::test]
async fn a_host_stays_connected_while_its_program_changes() {
    let script = Script::new();
    let mut program = Program::start(&format!("serve --stdio --watch -- sh {}", script.path()));
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    program.ask(json!(0), "initialize", params).await;
    program
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    tide(&mut program).await;
    script.write("second");
    program.noted("The new version of").await;
    tide(&mut program).await;
    assert_eq!(script.starts(), ["first", "second"]);
    fs::write(script.path(), "exit 1").expect("written");
    program.noted("the earlier one stays").await;
    tide(&mut program).await;
    script.write("third");
    program.noted("The new version of").await;
    tide(&mut program).await;
    assert_eq!(script.starts(), ["first", "second", "third"]);
}

#[tokio::test]
async fn a_watch_without_a_file_is_an_error() {
    let missing = pintle("serve --stdio --watch=/no/such/file -- npx x")
        .fails(1)
        .await;
    assert!(missing.contains("/no/such/file"), "{missing}");
    let unnamed = pintle("serve --stdio --watch -- npx some-server")
        .fails(1)
        .await;
    assert!(unnamed.contains("--watch=PATH"), "{unnamed}");
    let url = pintle("serve --stdio --watch http://127.0.0.1:1/mcp")
        .fails(1)
        .await;
    assert!(url.contains("--watch=PATH"), "{url}");
}
