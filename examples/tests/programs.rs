//! The examples as separate programs.

use std::process::Stdio;
use std::time::Duration;

use pintle_examples::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

fn start(program: &str) -> (Child, Client<ChildStdout, ChildStdin>) {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().expect("starts");
    let reader = child.stdout.take().expect("piped");
    let writer = child.stdin.take().expect("piped");
    (child, Client::new(reader, writer))
}

#[tokio::test]
async fn the_calculator_of_the_readme_adds() {
    let (_child, mut client) = start(env!("CARGO_BIN_EXE_calculator"));
    assert_eq!(
        client
            .call("add", json!({ "a": 20, "b": 22 }))
            .await
            .expect("answered"),
        "42"
    );
    let listed = client.ask("tools/list", json!({})).await.expect("answered");
    assert_eq!(
        listed["result"]["tools"][0]["description"],
        "Adds two numbers."
    );
}

// spec: 2025-11-25 TRANS-STDIO-07
// spec: 2026-07-28 N-STDIO-02, N-STDIO-05
// hardening: H-137
#[tokio::test]
async fn prints_of_a_handler_do_not_reach_the_protocol() {
    let (child, mut client) = start(env!("CARGO_BIN_EXE_stray_print"));
    for text in ["one", "{\"jsonrpc\":\"2.0\"}", "line\nbreak"] {
        // The client parses every line as JSON, and fails on any other.
        assert_eq!(
            client
                .call("echo", json!({ "text": text }))
                .await
                .expect("only JSON"),
            text
        );
    }
    drop(client);
    let output = tokio::time::timeout(Duration::from_secs(5), child.wait_with_output()).await;
    let output = output.expect("within five seconds").expect("ends");
    let printed = String::from_utf8(output.stderr).expect("text");
    assert!(
        printed.contains("DEBUG: the text is \"one\"") && printed.contains("and no line end"),
        "{printed}"
    );
    assert!(output.status.success());
}

// hardening: H-137
#[tokio::test]
async fn every_line_of_standard_output_is_a_message() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stray_print"));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command.spawn().expect("starts");
    let mut client = Client::new(tokio::io::empty(), child.stdin.take().expect("piped"));
    // The client reads nothing, so it gets no answer, but it has sent its request.
    client
        .call("echo", json!({ "text": "x" }))
        .await
        .expect_err("reads nothing");
    drop(client);
    let mut output = String::new();
    child
        .stdout
        .take()
        .expect("piped")
        .read_to_string(&mut output)
        .await
        .expect("text");
    assert_eq!(output.lines().count(), 1, "{output}");
    let message: Value = serde_json::from_str(output.trim()).expect("JSON");
    assert_eq!(
        (&message["jsonrpc"], &message["id"]),
        (&json!("2.0"), &json!(1))
    );
}

#[tokio::test]
async fn a_program_prints_its_arguments() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calculator"));
    let output = command.arg("--help").output().await.expect("it runs");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success());
    let usage = "Usage: calculator [--stdio | --http ADDRESS [--health] [--shutdown-delay SECONDS]
       [--quota REQUESTS [--quota-interval SECONDS]]] [--state URL]";
    assert!(printed.contains(usage), "{printed}");
}

#[tokio::test]
async fn an_error_of_a_program_is_text_and_an_exit_code() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calculator"));
    let output = command.arg("--port").output().await.expect("it runs");
    let printed = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1));
    assert!(printed.starts_with("error: "), "{printed}");
    assert!(printed.contains("--port"), "{printed}");
    assert_eq!(printed.lines().count(), 1, "{printed}");
}

/// A program that serves over HTTP, with its standard error.
struct Serving {
    _child: Child,
    printed: BufReader<ChildStderr>,
}

impl Serving {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_calculator"));
        command
            .args(["--http", "localhost:0"])
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().expect("starts");
        let printed = BufReader::new(child.stderr.take().expect("piped"));
        Self {
            _child: child,
            printed,
        }
    }

    /// The next line of standard error.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        let reading = self.printed.read_line(&mut line);
        let read = tokio::time::timeout(Duration::from_secs(30), reading).await;
        read.expect("a line in time").expect("text");
        line
    }

    /// Connects to the URL that the program prints.
    async fn connect(&mut self) -> TcpStream {
        let line = self.line().await;
        let address = line.strip_prefix("listening on http://");
        let address = address.and_then(|rest| rest.strip_suffix("/mcp\n"));
        let connected = TcpStream::connect(address.expect("a URL")).await;
        connected.expect("it listens")
    }
}

#[tokio::test]
async fn a_program_prints_the_url_that_it_serves() {
    Serving::start().connect().await;
}

#[tokio::test]
async fn a_program_without_a_subscriber_prints_warnings() {
    let mut serving = Serving::start();
    let mut stream = serving.connect().await;
    let request = "GET /mcp HTTP/1.1\r\nhost: evil.example\r\n\r\n";
    stream.write_all(request.as_bytes()).await.expect("sent");
    let line = serving.line().await;
    assert!(line.starts_with("warning: a request was refused"), "{line}");
    assert!(line.contains("HostPolicy::hosts"), "{line}");
}

#[tokio::test]
async fn a_client_gets_its_eggs() {
    let status = Command::new(env!("CARGO_BIN_EXE_client")).status().await;
    assert!(status.expect("it runs").success());
}
