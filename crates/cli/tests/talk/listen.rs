//! Notifications of changes.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::talk::program::pintle;
use crate::talk::server::{serve, serve_http};

/// Maximum time of a wait in a test. A test then fails, so that it cannot hang.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

const REVISIONS: [&str; 3] = ["2024-11-05", "2025-11-25", "2026-07-28"];

/// A running `pintle listen`.
struct Listener {
    child: Child,
    changes: Lines<BufReader<tokio::process::ChildStdout>>,
    notes: Lines<BufReader<tokio::process::ChildStderr>>,
}

impl Listener {
    /// Starts to listen, and waits until the program reports it.
    async fn to(words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pintle"));
        command.arg("listen").args(words).kill_on_drop(true);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let changes = BufReader::new(child.stdout.take().expect("piped")).lines();
        let notes = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut listener = Self {
            child,
            changes,
            notes,
        };
        listener.noted("listening").await;
        listener
    }

    async fn noted(&mut self, text: &str) -> String {
        loop {
            let line = line(&mut self.notes).await.expect("another line");
            if line.contains(text) {
                return line;
            }
        }
    }

    async fn next(&mut self) -> String {
        line(&mut self.changes).await.expect("another change")
    }

    /// Waits for the end of the program, and returns its exit code.
    async fn ends(mut self) -> Option<i32> {
        assert_eq!(line(&mut self.changes).await, None);
        let ended = timeout(TEST_TIMEOUT, self.child.wait()).await;
        ended.expect("in time").expect("ended").code()
    }
}

async fn line<R: AsyncRead + Unpin>(lines: &mut Lines<BufReader<R>>) -> Option<String> {
    let line = timeout(TEST_TIMEOUT, lines.next_line()).await;
    line.expect("in time").expect("readable")
}

async fn call(url: &str, tool: &str, name: &str) {
    let call = pintle("call").word(url).word(tool);
    call.word(format!("name={name}")).prints().await;
}

#[tokio::test]
async fn changes_of_lists_are_printed_in_every_revision() {
    let server = serve().await;
    for revision in REVISIONS {
        let words = [&server.url, "--revision", revision, "--count", "2"];
        let mut listener = Listener::to(&words).await;
        call(&server.url, "add_tool", &format!("one-{revision}")).await;
        assert_eq!(listener.next().await, "tools", "{revision}");
        call(&server.url, "add_tool", &format!("two-{revision}")).await;
        assert_eq!(listener.next().await, "tools", "{revision}");
        assert_eq!(listener.ends().await, Some(0), "{revision}");
    }
}

#[tokio::test]
async fn changes_of_resources_are_printed_in_every_revision() {
    let server = serve().await;
    for revision in REVISIONS {
        let uri = "bench://notes/glue";
        let words = [&server.url, uri, "--revision", revision, "--count", "1"];
        let mut listener = Listener::to(&words).await;
        // Another resource is not subscribed to.
        call(&server.url, "write_note", "saw").await;
        call(&server.url, "write_note", "glue").await;
        assert_eq!(listener.next().await, format!("resource {uri}"));
        assert_eq!(listener.ends().await, Some(0), "{revision}");
    }
}

#[tokio::test]
async fn changes_over_http_are_printed_as_json() {
    let server = serve_http().await;
    for revision in ["2025-11-25", "2026-07-28"] {
        let uri = "bench://notes/glue";
        let words = [
            &server.url,
            uri,
            "--json",
            "--revision",
            revision,
            "--count",
            "1",
        ];
        let mut listener = Listener::to(&words).await;
        call(&server.url, "write_note", "glue").await;
        let change: Value = serde_json::from_str(&listener.next().await).expect("data");
        assert_eq!(change, json!({ "changed": "resource", "uri": uri }));
        assert_eq!(listener.ends().await, Some(0), "{revision}");
    }
}

#[tokio::test]
async fn the_end_of_the_server_is_reported() {
    let server = serve().await;
    let mut listener = Listener::to(&[&server.url, "--revision", "2026-07-28"]).await;
    drop(server);
    listener.noted("pintle:").await;
    assert_eq!(listener.ends().await, Some(4));
}
