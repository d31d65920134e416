//! Changes, as they are told.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::talk::program::pintle;
use crate::talk::server::{serve, serve_http};

/// How long anything may take, before a test fails rather than hangs.
const PATIENCE: Duration = Duration::from_secs(60);

const REVISIONS: [&str; 3] = ["2024-11-05", "2025-11-25", "2026-07-28"];

/// Somebody who listens.
struct Listener {
    child: Child,
    heard: Lines<BufReader<tokio::process::ChildStdout>>,
    notes: Lines<BufReader<tokio::process::ChildStderr>>,
}

impl Listener {
    /// Listens, and says so.
    async fn to(words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pintle"));
        command.arg("listen").args(words).kill_on_drop(true);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let heard = BufReader::new(child.stdout.take().expect("piped")).lines();
        let notes = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut listener = Self {
            child,
            heard,
            notes,
        };
        listener.noted("listening").await;
        listener
    }

    async fn noted(&mut self, text: &str) -> String {
        loop {
            let line = line(&mut self.notes).await.expect("it says more");
            if line.contains(text) {
                return line;
            }
        }
    }

    async fn hears(&mut self) -> String {
        line(&mut self.heard).await.expect("it hears more")
    }

    /// Its exit code, once it has heard enough.
    async fn ends(mut self) -> Option<i32> {
        assert_eq!(line(&mut self.heard).await, None);
        let ended = timeout(PATIENCE, self.child.wait()).await;
        ended.expect("in time").expect("ended").code()
    }
}

async fn line<R: AsyncRead + Unpin>(lines: &mut Lines<BufReader<R>>) -> Option<String> {
    let line = timeout(PATIENCE, lines.next_line()).await;
    line.expect("in time").expect("readable")
}

async fn call(url: &str, tool: &str, name: &str) {
    let call = pintle("call").word(url).word(tool);
    call.word(format!("name={name}")).prints().await;
}

#[tokio::test]
async fn changes_of_lists_are_told_in_every_revision() {
    let server = serve().await;
    for revision in REVISIONS {
        let words = [&server.url, "--revision", revision, "--count", "2"];
        let mut listener = Listener::to(&words).await;
        call(&server.url, "add_tool", &format!("one-{revision}")).await;
        assert_eq!(listener.hears().await, "tools", "{revision}");
        call(&server.url, "add_tool", &format!("two-{revision}")).await;
        assert_eq!(listener.hears().await, "tools", "{revision}");
        assert_eq!(listener.ends().await, Some(0), "{revision}");
    }
}

#[tokio::test]
async fn changes_of_resources_are_told_in_every_revision() {
    let server = serve().await;
    for revision in REVISIONS {
        let uri = "bench://notes/glue";
        let words = [&server.url, uri, "--revision", revision, "--count", "1"];
        let mut listener = Listener::to(&words).await;
        // Another resource is of no interest.
        call(&server.url, "write_note", "saw").await;
        call(&server.url, "write_note", "glue").await;
        assert_eq!(listener.hears().await, format!("resource {uri}"));
        assert_eq!(listener.ends().await, Some(0), "{revision}");
    }
}

#[tokio::test]
async fn changes_come_over_http_and_as_data() {
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
        let change: Value = serde_json::from_str(&listener.hears().await).expect("data");
        assert_eq!(change, json!({ "changed": "resource", "uri": uri }));
        assert_eq!(listener.ends().await, Some(0), "{revision}");
    }
}

#[tokio::test]
async fn a_server_that_goes_tells_no_more_and_that_is_said() {
    let server = serve().await;
    let mut listener = Listener::to(&[&server.url, "--revision", "2026-07-28"]).await;
    drop(server);
    listener.noted("pintle:").await;
    assert_eq!(listener.ends().await, Some(4));
}
