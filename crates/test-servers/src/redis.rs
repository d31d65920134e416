//! A Redis server of its own, in a folder for temporary files.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use crate::{certificates, free_port, fresh, installed};

/// Starts the server in the folder `$1` with the other arguments, and kills it after a line or the end of
/// its input. The input ends with the process of the tests.
const KEEPER: &str = r#"
    cd "$1" && shift
    redis-server "$@" </dev/null &
    read -r _
    kill -9 $!
    wait $! 2>/dev/null
"#;

/// Options of every server except sentinels.
const OPTIONS: [&str; 8] = [
    "--dir",
    ".",
    "--save",
    "",
    "--appendonly",
    "no",
    "--repl-diskless-sync-delay",
    "0",
];

/// Options of a server with TLS only. Its servers and sentinels use TLS among themselves.
const TLS_OPTIONS: [(&str, &str); 7] = [
    ("--port", "0"),
    ("--tls-cert-file", "server.crt"),
    ("--tls-key-file", "server.key"),
    ("--tls-ca-cert-file", "ca.pem"),
    ("--tls-auth-clients", "no"),
    ("--tls-replication", "yes"),
    ("--tls-cluster", "yes"),
];

/// Text of the line with which a server is ready: "Ready …", or "… now ready …" with a socket.
const READY: &str = "eady to accept connections";

/// Text of the line with which a sentinel is ready.
const MONITORS: &str = "+monitor master";

/// A running server. It ends with its value, and also with the process of the tests.
pub struct RedisServer {
    folder: PathBuf,
    arguments: Vec<String>,
    port: u16,
    running: Option<(Child, BufReader<ChildStdout>)>,
}

impl RedisServer {
    /// Returns the server that tests share, or `None` if they must skip.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<RedisServer>> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(&[])).as_ref()
    }

    /// Starts a server with a socket for one test, or returns `None` if the test must skip.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let socket = ["--port", "0", "--unixsocket", "redis.sock"];
        let arguments = socket.iter().chain(arguments);
        Self::begin(arguments.map(|&it| it.to_owned()).collect())
    }

    /// Starts a server with a socket and a port, or returns `None` if the test must skip.
    pub fn start_tcp() -> Option<Self> {
        Self::start_tcp_with(&[])
    }

    /// Starts a server with a socket, a port and other options, or returns `None` if the test must skip.
    pub fn start_tcp_with(options: &[&str]) -> Option<Self> {
        let socket = ["--unixsocket", "redis.sock"];
        let arguments = socket.iter().chain(options).chain(&["--port"]);
        Self::begin(arguments.map(|&it| it.to_owned()).collect())
    }

    /// Starts a replica of this server, with a socket and a port.
    ///
    /// # Panics
    ///
    /// If this server has no port.
    pub fn start_replica(&self) -> Self {
        assert_ne!(self.port, 0, "a server with a port");
        let port = self.port.to_string();
        Self::start_tcp_with(&["--replicaof", "127.0.0.1", &port]).expect("installed")
    }

    /// Starts a sentinel of this server, which must have a port. The name of the service is `harbour`.
    pub fn start_sentinel(&self) -> Self {
        let text = format!(
            "bind 127.0.0.1\nsentinel monitor harbour 127.0.0.1 {} 1\n\
            sentinel down-after-milliseconds harbour 500\nsentinel failover-timeout harbour 3000\n",
            self.port
        );
        self.start_sentinel_with(&text, "--port")
    }

    fn start_sentinel_with(&self, text: &str, port: &str) -> Self {
        let arguments = ["sentinel.conf", "--sentinel", port];
        let mut sentinel = Self::new(arguments.map(str::to_owned).to_vec());
        std::fs::write(sentinel.folder.join("sentinel.conf"), text).expect("writes");
        certificates::write(&sentinel.folder);
        sentinel.resume();
        sentinel
    }

    /// Starts a server with a socket and a port for TLS, or returns `None` if the test must skip.
    pub fn start_tls() -> Option<Self> {
        Self::start_tls_with(&[])
    }

    /// Starts a server with a socket, a port for TLS and other options, or returns `None` if the test must
    /// skip.
    pub fn start_tls_with(options: &[&str]) -> Option<Self> {
        let socket = ["--unixsocket", "redis.sock"];
        let tls = TLS_OPTIONS
            .into_iter()
            .flat_map(|(name, value)| [name, value]);
        let arguments = socket.iter().chain(options).copied().chain(tls);
        let arguments = arguments.chain(["--tls-port"]).map(str::to_owned);
        Self::begin(arguments.collect())
    }

    /// Starts a sentinel of this server. Both must have a port for TLS. The name of the service is `harbour`.
    pub fn start_tls_sentinel(&self) -> Self {
        let names = "sentinel resolve-hostnames yes\nsentinel announce-hostnames yes\n";
        let monitor = format!("sentinel monitor harbour localhost {} 1\n", self.port);
        let tls = TLS_OPTIONS.map(|(name, value)| format!("{} {value}\n", &name[2..]));
        let text = format!("bind 127.0.0.1\n{names}{monitor}{}", tls.concat());
        self.start_sentinel_with(&text, "--tls-port")
    }

    fn begin(arguments: Vec<String>) -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let options = OPTIONS.iter().map(|&it| it.to_owned());
        let mut server = Self::new(options.chain(arguments).collect());
        certificates::write(&server.folder);
        server.resume();
        Some(server)
    }

    fn new(arguments: Vec<String>) -> Self {
        let name = fresh(&format!("pintle-redis-{}", std::process::id()));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("makes a folder");
        Self {
            folder,
            arguments,
            port: 0,
            running: None,
        }
    }

    /// Starts the server again, with the content of its append-only file, if it writes one. Another program may have taken a free port, so another
    /// one is tried.
    pub fn resume(&mut self) {
        let has_started = (0..5).any(|_| self.try_start());
        assert!(has_started, "the server does not start");
    }

    fn try_start(&mut self) -> bool {
        let mut start = Command::new("sh");
        start.args(["-c", KEEPER, "keeper"]).arg(&self.folder);
        start.args(&self.arguments);
        if self.arguments.last().is_some_and(|it| it.ends_with("port")) {
            self.port = free_port();
            start.arg(self.port.to_string());
        }
        start.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = start.spawn().expect("starts a shell");
        let mut lines = BufReader::new(keeper.stdout.take().expect("a pipe"));
        let is_ready = wait_until_ready(&mut lines);
        self.running = Some((keeper, lines));
        if !is_ready {
            self.stop();
        }
        is_ready
    }

    /// Kills the server.
    pub fn stop(&mut self) {
        let (mut keeper, lines) = self.running.take().expect("a running server");
        drop(keeper.stdin.take());
        // The server does not wait for a reader.
        drop(lines);
        keeper.wait().expect("ends");
    }

    /// Returns the socket of the server.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("redis.sock")
    }

    /// Returns a URL for the socket of the server.
    pub fn url(&self, prefix: &str) -> String {
        format!("redis+unix://{}?prefix={prefix}", self.socket().display())
    }

    /// Returns the port of a server that has one.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns a URL for TLS.
    pub fn tls_url(&self, host: &str, prefix: &str) -> String {
        format!("rediss://{host}:{}?prefix={prefix}", self.port)
    }

    /// Returns a file in the folder of the server.
    pub fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Runs a command as the administrator.
    ///
    /// # Panics
    ///
    /// If its answer is not `OK`.
    pub fn run(&self, command: &str) {
        assert_eq!(self.ask(command).trim(), "OK", "{command}");
    }

    /// Runs a command as the administrator, and returns its answer.
    pub fn ask(&self, command: &str) -> String {
        let mut client = Command::new("redis-cli");
        client.arg("-s").arg(self.socket());
        let answer = client.args(command.split_whitespace()).output();
        String::from_utf8(answer.expect("runs redis-cli").stdout).expect("a text")
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        if self.running.is_some() {
            self.stop();
        }
        // A folder that remains does not make another test fail.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn wait_until_ready(lines: &mut BufReader<ChildStdout>) -> bool {
    lines
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains(READY) || line.contains(MONITORS))
}

fn is_installed() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).any(|it| it.join("redis-server").exists());
        if !found {
            installed::skip("Redis");
        }
        found
    })
}
