//! The servers, and their store.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pintle_test_servers::{PostgresServer, RedisServer, Stop};

use crate::plan::Engine;
use crate::replica::NO_STATE;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Longest time until a program serves, or has ended after SIGTERM.
const LIMIT: Duration = Duration::from_secs(60);
/// First of the ports that are tried: below those of outgoing connections.
const FIRST_PORT: u16 = 20_000;
const PREFIX: &str = "chaos";

/// The running servers of one store. They end with this value.
pub(crate) struct Replicas {
    pub(crate) folder: PathBuf,
    keeps_folder: bool,
    quota: Option<usize>,
    replicas: Vec<Replica>,
    // The last one, because the others use it.
    store: Store,
}

enum Store {
    Nothing,
    Sqlite(PathBuf),
    Redis(RedisServer),
    Postgres(PostgresServer),
}

struct Replica {
    address: SocketAddr,
    starts: usize,
    running: Option<Child>,
}

impl Replicas {
    /// Starts the store, and so many servers without a quota.
    pub(crate) fn start(engine: Engine, count: usize) -> Result<Self> {
        Self::start_with(engine, count, None)
    }

    /// Starts the store, and so many servers with a quota of requests.
    pub(crate) fn start_with(engine: Engine, count: usize, quota: Option<usize>) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("pintle-chaos-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let store = Store::start(engine, &folder)?;
        let mut ports = FreePorts::from(FIRST_PORT);
        let mut started = Self {
            folder,
            keeps_folder: false,
            quota,
            replicas: Vec::new(),
            store,
        };
        for _ in 0..count {
            let mut replica = Replica::new(ports.next_free()?);
            replica.start(&started.folder, &started.store.url(), quota)?;
            started.replicas.push(replica);
        }
        Ok(started)
    }

    /// Returns the file with a line for each call.
    pub(crate) fn lines(&self) -> PathBuf {
        lines(&self.folder)
    }

    /// Keeps the folder, and returns it.
    pub(crate) fn keep(&mut self) -> PathBuf {
        self.keeps_folder = true;
        self.folder.clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.replicas.len()
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.replicas.iter().map(|it| it.address).collect()
    }

    /// Returns the process ids of the running servers.
    pub(crate) fn ids(&self) -> Vec<u32> {
        let running = self.replicas.iter().filter_map(|it| it.running.as_ref());
        running.map(Child::id).collect()
    }

    /// Returns the URL of the store.
    pub(crate) fn store_url(&self) -> String {
        self.store.url()
    }

    /// Returns the process ids of the store.
    pub(crate) fn store_ids(&self) -> Result<Vec<u32>> {
        match &self.store {
            Store::Nothing | Store::Sqlite(_) => Ok(Vec::new()),
            Store::Redis(redis) => {
                let text = redis.ask("INFO server");
                let mut lines = text.lines().map(str::trim);
                let id = lines.find_map(|line| line.strip_prefix("process_id:"));
                Ok(vec![id.ok_or("Redis has no process id")?.parse()?])
            }
            Store::Postgres(postgres) => {
                let file = postgres.socket().with_file_name("postmaster.pid");
                let text = fs::read_to_string(file)?;
                let first = text.lines().next().unwrap_or_default().parse()?;
                Ok(with_children(first))
            }
        }
    }

    /// Returns the answer of Redis to a command.
    pub(crate) fn ask_redis(&self, command: &str) -> Option<String> {
        match &self.store {
            Store::Redis(redis) => Some(redis.ask(command)),
            _ => None,
        }
    }

    /// Sends a signal to a server.
    pub(crate) fn signal(&self, index: usize, signal: &str) -> Result<()> {
        match &self.replicas[index].running {
            Some(running) => send(running, signal),
            None => Ok(()),
        }
    }

    /// Waits until a server has ended, and starts it again.
    pub(crate) fn restart(&mut self, index: usize, after: Duration) -> Result<()> {
        if let Some(mut running) = self.replicas[index].running.take() {
            wait_until(|| !matches!(running.try_wait(), Ok(None)))?;
        }
        sleep(after);
        let url = self.store.url();
        self.replicas[index].start(&self.folder, &url, self.quota)
    }

    /// Restarts the store with its content, after a pause.
    pub(crate) fn restart_store(&mut self, pause: Duration) {
        match &mut self.store {
            Store::Nothing | Store::Sqlite(_) => {}
            Store::Redis(redis) => {
                redis.stop();
                sleep(pause);
                redis.resume();
            }
            Store::Postgres(postgres) => {
                postgres.stop(Stop::Crash);
                sleep(pause);
                postgres.resume();
            }
        }
    }

    /// Returns true if the store is Redis.
    pub(crate) fn can_flush_store(&self) -> bool {
        matches!(self.store, Store::Redis(_))
    }

    /// Drops the content of the store, if it is Redis.
    pub(crate) fn flush_store(&self) {
        if let Store::Redis(redis) = &self.store {
            redis.run("FLUSHALL");
        }
    }
}

impl Drop for Replicas {
    fn drop(&mut self) {
        for replica in &mut self.replicas {
            if let Some(mut running) = replica.running.take() {
                let _ = running.kill();
                let _ = running.wait();
            }
        }
        if !self.keeps_folder {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

impl Store {
    fn start(engine: Engine, folder: &Path) -> Result<Self> {
        let missing = "the store is not installed";
        Ok(match engine {
            Engine::Nothing => Self::Nothing,
            Engine::Sqlite => Self::Sqlite(folder.join("state.db")),
            Engine::Redis => {
                Self::Redis(RedisServer::start(&["--appendonly", "yes"]).ok_or(missing)?)
            }
            Engine::Postgres => Self::Postgres(PostgresServer::start().ok_or(missing)?),
        })
    }

    fn url(&self) -> String {
        match self {
            Self::Nothing => NO_STATE.to_owned(),
            Self::Sqlite(file) => format!("sqlite:{}", file.display()),
            Self::Redis(redis) => redis.url(PREFIX),
            Self::Postgres(postgres) => postgres.url(PREFIX),
        }
    }
}

impl Replica {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            starts: 0,
            running: None,
        }
    }

    /// Starts the server and waits until it is ready.
    fn start(&mut self, folder: &Path, state: &str, quota: Option<usize>) -> Result<()> {
        self.starts += 1;
        let name = format!("{}.{}", self.address.port(), self.starts);
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["replica", &self.address.to_string(), state]);
        command.arg(lines(folder)).arg(&name).stdin(Stdio::null());
        command.args(quota.map(|quota| quota.to_string()));
        command.stderr(File::create(folder.join(format!("{name}.log")))?);
        self.running = Some(command.spawn()?);
        let address = self.address;
        wait_until(|| is_ready(address))
    }
}

/// Returns a process and its children.
fn with_children(parent: u32) -> Vec<u32> {
    let file = format!("/proc/{parent}/task/{parent}/children");
    let text = fs::read_to_string(file).unwrap_or_default();
    let children = text.split_whitespace().filter_map(|id| id.parse().ok());
    std::iter::once(parent).chain(children).collect()
}

fn lines(folder: &Path) -> PathBuf {
    folder.join("lines")
}

pub(crate) fn send(child: &Child, signal: &str) -> Result<()> {
    let id = child.id().to_string();
    Command::new("kill")
        .args([&format!("-{signal}"), &id])
        .stderr(Stdio::null())
        .status()?;
    Ok(())
}

/// Returns true if `/readyz` is 200.
pub(crate) fn is_ready(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let head = "GET /readyz?exclude=store HTTP/1.1\r\nConnection: close";
        stream.write_all(format!("{head}\r\nHost: {address}\r\n\r\n").as_bytes())?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    ask().is_ok_and(|text| text.starts_with("HTTP/1.1 200"))
}

pub(crate) fn wait_until(mut is_done: impl FnMut() -> bool) -> Result<()> {
    let began = Instant::now();
    while !is_done() {
        if began.elapsed() > LIMIT {
            return Err("a program is not ready, or does not end".into());
        }
        sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Ports that are free now.
pub(crate) struct FreePorts(u16);

impl FreePorts {
    /// Tries the ports after this one.
    pub(crate) fn from(port: u16) -> Self {
        Self(port)
    }

    pub(crate) fn next_free(&mut self) -> Result<SocketAddr> {
        loop {
            self.0 = self.0.checked_add(1).ok_or("no port is free")?;
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.0));
            if TcpListener::bind(address).is_ok() {
                return Ok(address);
            }
        }
    }
}
