//! A process that serves tasks from a store.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle::model::TaskSupport;
use pintle::runtime::{Context, PipeOptions, ShutdownHandle, serve_tcp};
use pintle::server::{Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

use super::peer::Peer;

/// Contains the URL of the store, in the environment of a replica.
const STORE: &str = "PINTLE_TASKS_TEST_REPLICA_STORE";
/// Contains the folder in which handlers leave their traces.
const TRACES: &str = "PINTLE_TASKS_TEST_REPLICA_TRACES";
/// Comes before the address in the output of a replica.
const LISTENS: &str = "listens at ";

/// A folder that ends with the test.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("pintle-replicas-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("creates a folder");
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the URL of a database in the folder.
    pub(super) fn sqlite(&self) -> String {
        format!("sqlite:{}", self.file("state.db").display())
    }

    /// Number of lines of a trace.
    pub(super) fn lines(&self, name: &str) -> usize {
        let text = std::fs::read_to_string(self.file(name));
        text.map_or(0, |text| text.lines().count())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that remains does not make another test fail.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running process. It ends with its value.
pub(super) struct Replica {
    process: Child,
    // Open, because the process writes to it at its end.
    _output: BufReader<ChildStdout>,
    address: String,
}

impl Replica {
    /// Starts this program again, to run only [`the_replica`], and waits until it listens.
    pub(super) fn start(store: &str, folder: &Folder) -> Self {
        let program = std::env::current_exe().expect("the path of this program");
        let arguments = ["--exact", "replicas::replica::the_replica", "--ignored"];
        let mut process = Command::new(program)
            .args(arguments)
            .arg("--nocapture")
            .env(STORE, store)
            .env(TRACES, &folder.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
        let address = output.by_ref().lines().find_map(|line| {
            let line = line.expect("text");
            let (_, address) = line.split_once(LISTENS)?;
            Some(address.to_owned())
        });
        Self {
            process,
            _output: output,
            address: address.expect("an address"),
        }
    }

    pub(super) async fn connect(&self) -> Peer {
        Peer::dial(&self.address).await
    }

    /// Ends the process at once, with a signal that it cannot handle.
    pub(super) fn kill(&mut self) {
        self.process.kill().expect("kills");
        self.process.wait().expect("ends");
    }

    /// Asks the process to end in order.
    pub(super) fn shut_down(&mut self) {
        drop(self.process.stdin.take());
    }

    /// Waits for the end of the process.
    pub(super) fn ends(mut self) {
        assert!(self.process.wait().expect("ends").success());
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Adds a line to a trace.
fn leave_trace(name: &str) -> usize {
    let folder = std::env::var_os(TRACES).expect("a folder");
    let path = PathBuf::from(folder).join(name);
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .expect("opens");
    file.write_all(b"x\n").expect("writes");
    let text = std::fs::read_to_string(&path).expect("reads");
    text.lines().count()
}

/// Books once, then asks for a name.
async fn books(cx: Context) -> pintle::Result<String> {
    cx.begin_task().await;
    leave_trace("started");
    let number = cx.once("book", async { leave_trace("booked") }).await;
    let name = cx.elicit::<Name>("Who?").named("who").await?;
    let name = name.accepted().map(|name| name.name).unwrap_or_default();
    Ok(format!("booking {number} for {name}"))
}

/// The part of another process. [`Replica::start`] runs it. It ends when its input does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "another test starts it in a process of its own"]
async fn the_replica() {
    let url = std::env::var(STORE).expect("a URL");
    let state = pintle::state(&url).await.expect("opens");
    let tool = Tool::new("books")
        .task(TaskSupport::Required)
        .handler(books);
    let server = Server::new("replica", "1.0.0")
        .add_tool(tool)
        .state_backend(state);
    let app = server.build().expect("the server starts");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("listens");
    let address = listener.local_addr().expect("an address");
    println!("\n{LISTENS}{address}");

    let mut options = PipeOptions::default();
    let (shutdown, signal) = ShutdownHandle::new();
    options.shutdown = signal;
    std::thread::spawn(move || {
        // The input has no bytes, so this waits for its end.
        let _ = std::io::stdin().read(&mut [0]);
        shutdown.begin();
    });
    let served = serve_tcp(Arc::new(app), listener, options).await;
    served.expect("serves");
}
