//! `pintle serve --share`: one process of a server for several hosts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

const PINTLE: &str = env!("CARGO_BIN_EXE_pintle");
/// Longest wait in a test, so that it cannot hang.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A user of this machine: a folder for sockets, and a server that writes its process id at each start.
struct User {
    folder: PathBuf,
    script: PathBuf,
}

/// A host with its process of the tool.
struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl User {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("pintle-shared-{}-{name}", std::process::id()));
        fs::create_dir(&folder).expect("a new folder");
        let script = folder.join("server");
        let ids = folder.join("ids");
        // The variable marks the server, whose command line does not name the folder.
        let text = format!(
            "export MARK={}\necho $$ >> {}\nexec {PINTLE} serve --stdio\n",
            folder.display(),
            ids.display()
        );
        fs::write(&script, text).expect("a script");
        Self { folder, script }
    }

    /// Returns the ids of all processes of the server so far.
    fn ids(&self) -> Vec<String> {
        let ids = fs::read_to_string(self.folder.join("ids")).unwrap_or_default();
        ids.lines().map(str::to_owned).collect()
    }

    /// Starts a host, and performs the handshake.
    async fn host(&self, options: &str) -> Host {
        let script = self.script.to_string_lossy();
        self.greeted(&format!("{options} -- sh {script}")).await
    }

    /// Waits until the server was started this many times.
    async fn started(&self, times: usize) {
        let end = Instant::now() + TEST_TIMEOUT;
        while self.ids().len() < times {
            assert!(Instant::now() < end, "started {} times", self.ids().len());
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Starts a host of the server by its name in a file, and performs the handshake.
    async fn host_by_name(&self, options: &str) -> Host {
        self.greeted(&format!("{options} {}", self.named())).await
    }

    /// Returns the words for the server in a file of a host, which is written first.
    fn named(&self) -> String {
        let file = self.folder.join("mcp.json");
        let script = self.script.to_string_lossy();
        let server = json!({ "command": "sh", "args": [script] });
        let text = json!({ "mcpServers": { "tide": server } }).to_string();
        fs::write(&file, text).expect("a file");
        format!("--trust --config {} @tide", file.display())
    }

    /// Runs a command, and returns its output.
    async fn prints(&self, line: &str) -> String {
        let mut command = Command::new(PINTLE);
        command.args(line.split_whitespace());
        command.env("XDG_RUNTIME_DIR", &self.folder);
        let ended = timeout(TEST_TIMEOUT, command.output()).await;
        let ended = ended.expect("in time").expect("it runs");
        String::from_utf8(ended.stdout).expect("text")
    }

    async fn greeted(&self, line: &str) -> Host {
        let mut host = self.start(line);
        let welcome = host.ask("initialize", r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#);
        assert!(welcome.await.contains("pintle-showcase"));
        host
    }

    fn start(&self, line: &str) -> Host {
        let mut command = Command::new(PINTLE);
        command
            .args("serve --stdio --share".split(' '))
            .args(line.split_whitespace());
        command.env("XDG_RUNTIME_DIR", &self.folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().expect("starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Host {
            child,
            input,
            output,
        }
    }

    /// Returns the processes whose command line or environment names the folder of this user.
    fn processes(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").expect("processes").flatten();
        let own = std::process::id().to_string();
        let ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let ids = ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()) && *id != own);
        ids.filter(|id| names(id, &self.folder)).collect()
    }

    /// Returns the processes that serve a socket: those with the variable of the socket.
    fn sharers(&self) -> Vec<String> {
        let mut all = self.processes();
        all.retain(|id| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains("PINTLE_SHARE_SOCKET=")
        });
        all
    }

    /// Waits until no process of this user is left.
    async fn alone(&self) {
        let end = Instant::now() + TEST_TIMEOUT;
        while !self.processes().is_empty() {
            assert!(
                Instant::now() < end,
                "processes are left: {:?}",
                self.processes()
            );
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Whether a process that runs has the folder in its command line or environment.
fn names(id: &str, folder: &Path) -> bool {
    let folder = folder.to_string_lossy();
    let has = |file: &str| {
        let bytes = fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(&*folder)
    };
    runs(id) && (has("cmdline") || has("environ"))
}

fn runs(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

impl Drop for User {
    fn drop(&mut self) {
        for id in self.processes() {
            kill(&id);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Host {
    async fn ask(&mut self, method: &str, params: &str) -> String {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}\n"
        );
        let input = self.input.as_mut().expect("open");
        input.write_all(line.as_bytes()).await.expect("it reads");
        self.answer().await
    }

    async fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            let read = timeout(TEST_TIMEOUT, self.output.read_line(&mut line)).await;
            assert!(read.expect("in time").expect("readable") > 0, "it ended");
            if line.contains("\"id\":1") {
                return line;
            }
        }
    }

    async fn tide(&mut self) -> String {
        let params = r#"{"name":"height_of_tide","arguments":{"hours":3}}"#;
        self.ask("tools/call", params).await
    }

    /// Ends its input, and waits for its end.
    async fn leave(mut self) {
        self.input = None;
        let ended = timeout(TEST_TIMEOUT, self.child.wait()).await;
        assert!(ended.expect("in time").expect("ended").success());
    }
}

fn kill(id: &str) {
    let _ = std::process::Command::new("kill")
        .args(["-9", id])
        .stderr(Stdio::null())
        .status();
}

#[tokio::test]
async fn hosts_share_a_process_that_ends_without_a_host() {
    let user = User::new("process");
    // All of them start at the same time.
    let (mut first, mut second, mut third) = tokio::join!(
        user.host("--idle 1s"),
        user.host("--idle 1s"),
        user.host("--idle 1s")
    );
    for host in [&mut first, &mut second, &mut third] {
        assert!(host.tide().await.contains("3.24"));
    }
    assert_eq!(user.ids().len(), 1);
    first.leave().await;
    second.leave().await;
    third.leave().await;
    user.alone().await;
    let mut later = user.host("--idle 1s").await;
    assert!(later.tide().await.contains("3.24"));
    assert_eq!(user.ids().len(), 2);
}

#[tokio::test]
async fn a_killed_process_of_a_shared_server_is_started_again() {
    let user = User::new("child");
    let mut host = user.host("--idle 1s").await;
    assert!(host.tide().await.contains("3.24"));
    kill(&user.ids()[0]);
    // A call that was sent before the end was noticed fails, because the server may have acted.
    host.tide().await;
    assert!(host.tide().await.contains("3.24"));
    assert_eq!(user.ids().len(), 2);
    host.leave().await;
    user.alone().await;
}

#[tokio::test]
async fn a_call_of_the_same_command_uses_the_shared_process() {
    let user = User::new("call");
    let _host = user.host("--idle 1s").await;
    let mut call = Command::new(PINTLE);
    call.args("call height_of_tide hours=3 --env".split(' '));
    call.arg(format!("XDG_RUNTIME_DIR={}", user.folder.display()));
    call.args(["--", PINTLE])
        .args("serve --stdio --share --idle 1s -- sh".split(' '));
    let printed = call.arg(&user.script).output().await.expect("it runs");
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "3.24\n");
    assert_eq!(user.ids().len(), 1);
}

#[tokio::test]
async fn a_command_with_the_name_of_a_server_uses_its_shared_process() {
    let user = User::new("name");
    let named = user.named();
    let host = user.host_by_name("--idle 1s").await;
    let call = format!("call {named} height_of_tide hours=3");
    assert_eq!(user.prints(&call).await, "3.24\n");
    assert!(
        user.prints(&format!("list {named} tools"))
            .await
            .contains("height_of_tide")
    );
    assert_eq!(user.ids().len(), 1);
    // These do not use it.
    for (own, processes) in [("--no-share", 2), ("--revision 2025-11-25", 3)] {
        assert_eq!(user.prints(&format!("{call} {own}")).await, "3.24\n");
        assert_eq!(user.ids().len(), processes, "{own}");
    }
    host.leave().await;
    user.alone().await;
    // The link is removed with the shared process.
    let files = fs::read_dir(user.folder.join("pintle"))
        .expect("a folder")
        .flatten();
    let sockets = files.filter(|file| file.path().extension().is_some_and(|end| end == "sock"));
    assert_eq!(sockets.count(), 0);
    assert_eq!(user.prints(&call).await, "3.24\n");
}

#[tokio::test]
async fn a_command_does_not_use_a_process_that_is_killed_or_has_a_filter() {
    let user = User::new("stale");
    let named = user.named();
    let call = format!("call {named} height_of_tide hours=3");
    let _filtered = user.host_by_name("--idle 1s --only height*").await;
    assert_eq!(user.prints(&call).await, "3.24\n");
    assert_eq!(user.ids().len(), 2);
    let host = user.host_by_name("--idle 10s").await;
    assert_eq!(user.prints(&call).await, "3.24\n");
    let before = user.ids().len();
    for id in user.sharers() {
        kill(&id);
    }
    drop(host);
    assert_eq!(user.prints(&call).await, "3.24\n");
    assert_eq!(user.ids().len(), before + 1);
}

#[tokio::test]
async fn an_old_process_of_a_shared_server_is_replaced_under_its_hosts() {
    let user = User::new("old");
    let mut host = user.host("--idle 1s --max-age 1s").await;
    host.tide().await;
    user.started(3).await;
    assert!(host.tide().await.contains("3.24"));
    // The first one has ended.
    let end = Instant::now() + TEST_TIMEOUT;
    while runs(&user.ids()[0]) {
        assert!(Instant::now() < end, "the first process is left");
        sleep(Duration::from_millis(50)).await;
    }
    host.leave().await;
    user.alone().await;
}

#[tokio::test]
async fn a_shared_server_that_does_not_start_is_an_error_with_its_reason() {
    let user = User::new("error");
    fs::remove_file(&user.script).expect("removed");
    let mut host = user.start(&format!("-- sh {}", user.script.display()));
    let input = host.input.as_mut().expect("open");
    input.write_all(b"{}\n").await.expect("it reads");
    let ended = timeout(TEST_TIMEOUT, host.child.wait()).await;
    assert_eq!(ended.expect("in time").expect("ended").code(), Some(4));
    user.alone().await;
}

/// The process that is killed.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Bridge,
    Sharer,
    Server,
}

// hardening: H-169
#[tokio::test]
async fn a_hundred_kills_of_any_process_leave_no_orphan() {
    let victims = [Victim::Bridge, Victim::Sharer, Victim::Server];
    let rounds: Vec<_> = (0..100).zip(victims.into_iter().cycle()).collect();
    for group in rounds.chunks(10) {
        let killed = group
            .iter()
            .map(|(round, victim)| tokio::spawn(killed(*round, *victim)));
        for killed in killed.collect::<Vec<_>>() {
            killed.await.expect("no process is left");
        }
    }
}

async fn killed(round: usize, victim: Victim) {
    let user = User::new(&format!("kill-{round}-x"));
    let mut host = user.host("--idle 250ms").await;
    let bridge = host.child.id().expect("it runs").to_string();
    let server = user.ids().remove(0);
    let keeper = group_of(&server);
    let victim = match victim {
        Victim::Bridge => bridge,
        Victim::Server => server,
        Victim::Sharer => sharer_of(&user, &bridge),
    };
    kill(&victim);
    host.input = None;
    let _ = timeout(TEST_TIMEOUT, host.child.wait())
        .await
        .expect("in time");
    user.alone().await;
    let end = Instant::now() + TEST_TIMEOUT;
    while runs(&keeper) {
        assert!(Instant::now() < end, "the keeper {keeper} is left");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the number of a process group, which is its keeper.
fn group_of(id: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("it runs");
    let (_, rest) = stat.rsplit_once(") ").expect("a state");
    rest.split(' ').nth(2).expect("a group").to_owned()
}

/// Returns the process that serves the socket: the only one with the variable of the socket.
fn sharer_of(user: &User, bridge: &str) -> String {
    let mut sharers = user.sharers().into_iter();
    sharers.find(|id| id != bridge).expect("a sharer")
}
