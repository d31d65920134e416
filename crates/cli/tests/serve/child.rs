//! The program as a child process.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// Maximum time of a wait in a test. A test then fails, so that it cannot hang.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A running program.
pub(crate) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    notes: Lines<BufReader<ChildStderr>>,
}

impl Program {
    /// Starts the program with a command line.
    pub(crate) fn start(arguments: &str) -> Self {
        Self::spawn(Command::new(env!("CARGO_BIN_EXE_pintle")), arguments)
    }

    /// Starts the program with a command line, and with variables of the environment.
    pub(crate) fn start_with(variables: &[(&str, &str)], arguments: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pintle"));
        command.envs(variables.iter().copied());
        Self::spawn(command, arguments)
    }

    /// Starts the program with a command line, and with a limit of file descriptors.
    #[cfg(unix)]
    pub(crate) fn start_with_descriptors(max: u32, arguments: &str) -> Self {
        let mut command = Command::new("sh");
        let line = format!("ulimit -n {max} && exec \"$0\" \"$@\"");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_pintle")]);
        Self::spawn(command, arguments)
    }

    fn spawn(mut command: Command, arguments: &str) -> Self {
        command.args(arguments.split(' ')).kill_on_drop(true);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped")).lines();
        let notes = BufReader::new(child.stderr.take().expect("piped")).lines();
        Self {
            child,
            input,
            output,
            notes,
        }
    }

    /// Starts the showcase on its streams, and performs the handshake.
    pub(crate) async fn connected() -> Self {
        let mut program = Self::start("serve --stdio");
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let welcome = program.ask(json!("hello"), "initialize", params).await;
        assert_eq!(
            welcome["result"]["serverInfo"]["name"], "pintle-showcase",
            "{welcome}"
        );
        program
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        program
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_all(std::slice::from_ref(message)).await;
    }

    /// Sends messages with one write.
    pub(crate) async fn send_all(&mut self, messages: &[Value]) {
        let lines: String = messages
            .iter()
            .map(|message| format!("{message}\n"))
            .collect();
        let input = self.input.as_mut().expect("its input is open");
        input.write_all(lines.as_bytes()).await.expect("it reads");
    }

    /// Returns the id of the process.
    #[cfg(target_os = "linux")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Reads the next line of standard output, which must be a JSON-RPC message.
    pub(crate) async fn receive(&mut self) -> Value {
        let line = timeout(TEST_TIMEOUT, self.output.next_line())
            .await
            .expect("in time")
            .expect("readable");
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// Sends a request and waits for the answer to it; notifications before it are dropped.
    pub(crate) async fn ask(&mut self, id: Value, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
            assert!(
                message.get("method").is_some() && message.get("id").is_none(),
                "{message}"
            );
        }
    }

    /// Waits for a line on standard error that contains `text`.
    pub(crate) async fn noted(&mut self, text: &str) -> String {
        loop {
            let line = timeout(TEST_TIMEOUT, self.notes.next_line())
                .await
                .expect("in time")
                .expect("readable");
            let line = line.unwrap_or_else(|| panic!("it ended without {text:?}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Returns the rest of standard error.
    pub(crate) async fn rest_of_notes(&mut self) -> String {
        let mut rest = String::new();
        while let Some(line) = self.notes.next_line().await.expect("readable") {
            rest.push_str(&line);
            rest.push('\n');
        }
        rest
    }

    /// Sends a signal, such as `TERM`.
    pub(crate) async fn signal(&self, name: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &id])
            .status()
            .await
            .expect("kill runs");
        assert!(sent.success());
    }

    /// Closes the program's standard input.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the end of the program, for at most five seconds.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        timeout(Duration::from_secs(5), self.child.wait())
            .await
            .expect("within five seconds")
            .expect("ends")
    }

    /// Returns the remaining lines of standard output.
    pub(crate) async fn rest(&mut self) -> Vec<String> {
        let mut rest = Vec::new();
        while let Some(line) = self.output.next_line().await.expect("readable") {
            rest.push(line);
        }
        rest
    }
}

/// Returns the `_meta` that every request of 2026-07-28 has.
pub(crate) fn envelope() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    })
}
