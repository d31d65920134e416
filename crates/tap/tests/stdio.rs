//! `tap_stdio` with real processes. The tests need `sh` and `cat`.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_process::{ChildExit, ChildOptions, Command};
use pintle_tap::{
    Display, Recorder, Recording, Tap, TapCounts, TapEnd, TapOptions, TapTransport, tap_stdio,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Maximum time of a test.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A writer whose bytes the test reads.
#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no panic")).into_owned()
    }
}

fn script(script: &str) -> Command {
    Command::new("sh")
        .args(["-c", script])
        .inherit_env("PATH")
        .inherit_stderr()
}

/// A tap whose display and recording the test reads.
struct Observed {
    tap: Tap,
    end: TapEnd,
    display: Shared,
    recording: Shared,
}

fn observed(options: TapOptions) -> Observed {
    let (display, recording) = (Shared::default(), Shared::default());
    let recorder = Recorder::new(recording.clone(), 1 << 20);
    let started = Tap::start(
        TapTransport::Stdio,
        options,
        display.clone(),
        Some(recorder),
    );
    let (tap, end) = started.expect("it starts");
    Observed {
        tap,
        end,
        display,
        recording,
    }
}

impl Observed {
    fn close(self) -> (TapCounts, String, Recording) {
        let counts = self.end.close(TEST_TIMEOUT).expect("in time");
        let recording = Recording::read(self.recording.text().as_bytes()).expect("a recording");
        (counts, self.display.text(), recording)
    }
}

/// Passes the bytes of `input` to a server, and returns its exit and its output.
async fn run(command: &Command, tap: &Tap, input: &[u8]) -> (ChildExit, Vec<u8>) {
    let (output, mut host) = duplex(1 << 10);
    let mut bytes = Vec::new();
    let tapped = tap_stdio(command, tap, input, output, std::future::pending());
    let both = async { tokio::join!(tapped, host.read_to_end(&mut bytes)) };
    let (exit, _) = timeout(TEST_TIMEOUT, both).await.expect("in time");
    (exit.expect("it starts"), bytes)
}

#[tokio::test]
async fn all_bytes_pass_unchanged() {
    let observed = observed(TapOptions::default());
    let mut input: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    input.extend_from_slice(b"{\"jsonrpc\":\"2.0\", \"id\" : 1,\"method\":\"ping\"}\r\n\n\n");
    let (exit, output) = run(&script("cat"), &observed.tap, &input).await;
    assert!(output == input, "{} bytes of {}", output.len(), input.len());
    assert_eq!(exit.status().and_then(|status| status.code()), Some(0));
}

#[tokio::test]
async fn a_conversation_is_shown_and_recorded_without_secrets() {
    let mut options = TapOptions::default();
    options.display = Display::Text;
    let observed = observed(options);
    let server = script(
        "read line; echo 'Listening'; \
         echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\"}}'; read line; exit 3",
    );
    let input = concat!(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"apiKey\":\"hush\"}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n",
    );
    let (exit, output) = run(&server, &observed.tap, input.as_bytes()).await;
    assert_eq!(exit.status().and_then(|status| status.code()), Some(3));
    assert!(output.starts_with(b"Listening\n{"));
    let (counts, display, recording) = observed.close();
    assert_eq!((counts.to_server, counts.to_client), (2, 2));
    assert_eq!(
        (counts.odd, counts.unanswered, counts.lost_bytes),
        (2, 1, 0),
        "the noise, and a request before the answer to the handshake"
    );
    for part in [
        "→ initialize",
        "← result  initialize",
        "! not JSON",
        "Listening",
        "! no answer to tools/call id 2",
    ] {
        assert!(display.contains(part), "{part} in {display}");
    }
    assert_eq!(
        (
            recording.messages.len(),
            recording.skipped,
            recording.is_cut
        ),
        (3, 1, false)
    );
    let key = &recording.messages[0].message["params"]["apiKey"];
    assert_eq!(key, "[redacted]");
}

#[tokio::test]
async fn a_stop_ends_a_server_that_ignores_the_end_of_its_input() {
    let observed = observed(TapOptions::default());
    let (output, mut host) = duplex(64);
    let (input, server_input): (DuplexStream, DuplexStream) = duplex(64);
    let (stop, stopped) = oneshot::channel::<()>();
    let mut options = ChildOptions::default();
    options.exit_timeout = Duration::ZERO;
    let command = script("echo up; while :; do sleep 1000; done").options(options);
    let tapped = tap_stdio(&command, &observed.tap, server_input, output, async {
        let _ = stopped.await;
    });
    let test = async {
        let mut up = [0; 3];
        host.read_exact(&mut up).await.expect("it is up");
        stop.send(()).expect("it runs");
    };
    let both = async { tokio::join!(tapped, test) };
    let (exit, ()) = timeout(TEST_TIMEOUT, both).await.expect("in time");
    assert!(exit.expect("it started").was_asked());
    drop(input);
}

#[tokio::test]
async fn a_host_that_closes_its_input_ends_a_server_that_writes() {
    let observed = observed(TapOptions::default());
    let (output, host) = duplex(64);
    drop(host);
    let command = script("read line; while echo more; do :; done 2>/dev/null; exit 4");
    let (mut input, server_input) = duplex(64);
    input.write_all(b"begin\n").await.expect("room");
    let tapped = tap_stdio(
        &command,
        &observed.tap,
        server_input,
        output,
        std::future::pending(),
    );
    let exit = timeout(TEST_TIMEOUT, tapped).await.expect("in time");
    assert!(!exit.expect("it started").was_asked());
}

#[tokio::test]
async fn bytes_pass_while_the_display_is_blocked() {
    /// Blocks at the first write until the end of the test.
    struct Blocked(std::sync::mpsc::Receiver<()>);
    impl Write for Blocked {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (unblock, blocked) = std::sync::mpsc::channel();
    let mut options = TapOptions::default();
    options.max_queued_lines = 8;
    let recording = Shared::default();
    let recorder = Recorder::new(recording.clone(), 64 << 20);
    let started = Tap::start(
        TapTransport::Stdio,
        options,
        Blocked(blocked),
        Some(recorder),
    );
    let (tap, end) = started.expect("it starts");
    let input = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n".repeat(5_000);
    let (_, output) = run(&script("cat"), &tap, &input).await;
    assert_eq!(output.len(), input.len());
    drop(unblock);
    let counts = end.close(TEST_TIMEOUT).expect("in time");
    assert_eq!(
        (counts.to_server, counts.to_client, counts.lost_bytes),
        (5_000, 5_000, 0)
    );
    let recording = Recording::read(recording.text().as_bytes()).expect("a recording");
    assert_eq!(recording.messages.len(), 10_000);
}
