//! A PostgreSQL server of its own, in a folder for temporary files.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use tokio_postgres::{Client, NoTls};

use crate::{certificates, free_port, fresh, installed};

/// Starts the server in the folder `$2`, and reports a word. Then it reads a mode, and stops the server in
/// this mode. Without a mode the tests have ended, and the folder is removed. A signal to the whole group of
/// processes ends the tests first.
const KEEPER: &str = r#"
    trap "" INT TERM HUP
    "$1/pg_ctl" start -D "$2" -l "$2/server.log" -w -t 120 -o "-p $3" >/dev/null && echo started || echo failed
    if read -r mode; then
        "$1/pg_ctl" stop -D "$2" -m "$mode" -w -t 120 >/dev/null
    else
        "$1/pg_ctl" stop -D "$2" -m immediate -w -t 120 >/dev/null
        rm -rf "$2"
    fi
"#;

/// How a server stops.
#[derive(Debug, Clone, Copy)]
pub enum Stop {
    /// After it has ended its sessions and written its tables.
    Fast,
    /// At once, as in a crash.
    Crash,
}

/// A running server. It ends with its value, and also with the process of the tests.
pub struct PostgresServer {
    folder: PathBuf,
    port: u16,
    keeper: Option<Child>,
}

impl PostgresServer {
    /// Returns the server that tests share, or `None` if they must skip.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<PostgresServer>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// Starts a server for one test, or returns `None` if the test must skip.
    pub fn start() -> Option<Self> {
        let programs = programs()?;
        let folder =
            std::env::temp_dir().join(fresh(&format!("pintle-postgres-{}", std::process::id())));
        copy_template(programs, &folder);
        let port = free_port();
        let mut engine = Self {
            folder,
            port,
            keeper: None,
        };
        engine.resume();
        Some(engine)
    }

    /// Starts the server again. Another program may have taken a free port, so another one is tried.
    pub fn resume(&mut self) {
        for _ in 0..5 {
            if self.try_start() {
                return;
            }
            self.port = free_port();
        }
        let log = std::fs::read_to_string(self.folder.join("server.log"));
        panic!("the server does not start: {log:?}");
    }

    fn try_start(&mut self) -> bool {
        let mut start = as_user("sh");
        start.args(["-c", KEEPER, "keeper"]);
        start.args([programs().expect("found before"), self.folder.as_path()]);
        start.arg(self.port.to_string());
        start.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = start.spawn().expect("starts a shell");
        let mut word = String::new();
        let mut answers = BufReader::new(keeper.stdout.take().expect("a pipe"));
        answers.read_line(&mut word).expect("reads");
        self.keeper = Some(keeper);
        let is_started = word == "started\n";
        if !is_started {
            self.stop(Stop::Crash);
        }
        is_started
    }

    /// Stops the server. Its data remain.
    pub fn stop(&mut self, stop: Stop) {
        let mode = match stop {
            Stop::Fast => "fast\n",
            Stop::Crash => "immediate\n",
        };
        let mut keeper = self.keeper.take().expect("a running server");
        let mut modes = keeper.stdin.take().expect("a pipe");
        modes.write_all(mode.as_bytes()).expect("writes");
        keeper.wait().expect("ends");
    }

    /// Returns a URL for the socket of the server, for a superuser.
    pub fn url(&self, schema: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!(
            "postgres://postgres@{folder}:{}/postgres?prefix={schema}&connections=2",
            self.port
        )
    }

    /// Returns a URL for TCP. The user needs a password.
    pub fn tcp_url(&self, user: &str, host: &str, schema: &str) -> String {
        format!(
            "postgres://{user}@{host}:{}/postgres?prefix={schema}&connections=2",
            self.port
        )
    }

    /// Returns the place of the server for pgbouncer.
    pub(crate) fn place(&self) -> String {
        format!("host={} port={}", self.folder.display(), self.port)
    }

    /// Creates a folder beside that of the server, which the user of the server owns.
    pub(crate) fn folder(&self, kind: &str) -> PathBuf {
        let name = fresh(kind);
        let folder = self
            .folder
            .with_file_name(format!("pintle-postgres-{}-{name}", std::process::id()));
        let created = as_user("mkdir")
            .arg(&folder)
            .status()
            .expect("starts mkdir");
        assert!(created.success());
        folder
    }

    /// Returns the path of the Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }

    /// Returns a file in the folder of the server: `ca.pem` or `server.log`.
    pub fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Runs statements as the superuser.
    pub async fn run(&self, sql: &str) {
        let admin = self.admin().await;
        admin.batch_execute(sql).await.expect(sql);
    }

    /// Connects as the superuser.
    pub async fn admin(&self) -> Client {
        let mut config = tokio_postgres::Config::new();
        config
            .host_path(&self.folder)
            .port(self.port)
            .user("postgres")
            .dbname("postgres");
        let (client, connection) = config.connect(NoTls).await.expect("connects");
        tokio::spawn(async move { drop(connection.await) });
        client
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            // A folder that remains does not make another test fail.
            let _ = keeper.wait();
        }
    }
}

/// Returns the folder of the programs of the newest installed server.
fn programs() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(find_programs).as_deref()
}

fn find_programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        let version = |folder: &PathBuf| {
            folder
                .file_name()
                .and_then(OsStr::to_str)?
                .parse::<u32>()
                .ok()
        };
        let mut versions: Vec<_> = versions.flatten().map(|it| it.path()).collect();
        versions.sort_by_key(|folder| std::cmp::Reverse(version(folder)));
        folders.extend(versions.into_iter().map(|it| it.join("bin")));
    }
    let found = folders
        .into_iter()
        .find(|it| it.join("initdb").exists() && it.join("pg_ctl").exists());
    if found.is_none() {
        installed::skip("PostgreSQL");
    }
    found
}

/// Copies the content of a new server, which is created once.
fn copy_template(programs: &Path, folder: &Path) {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| Template::create(programs));
    let mut copy = as_user("cp");
    let copied = copy.arg("-a").arg(template.folder()).arg(folder).status();
    assert!(copied.expect("starts cp").success());
    let text = format!("unix_socket_directories = '{}'\n", folder.display());
    let settings = folder.join("postgresql.auto.conf");
    let old = std::fs::read_to_string(&settings).expect("reads");
    std::fs::write(settings, old + &text).expect("writes");
}

/// The content of a new server, and a shell that removes it at the end of the tests.
struct Template(
    PathBuf,
    #[expect(dead_code, reason = "its input ends with the process")] Child,
);

const SETTINGS: &str = "
listen_addresses = '127.0.0.1'
max_connections = 300
shared_buffers = 32MB
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
ssl = on
";

const ACCESS: &str = "
local all all trust
host all all 127.0.0.1/32 scram-sha-256
";

impl Template {
    fn folder(&self) -> &Path {
        &self.0
    }

    fn create(programs: &Path) -> Self {
        let name = format!("pintle-postgres-{}-template", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let mut remove = as_user("sh");
        remove
            .args(["-c", r#"read -r _; rm -rf "$1""#, "remove"])
            .arg(&folder);
        let remove = remove
            .stdin(Stdio::piped())
            .spawn()
            .expect("starts a shell");
        let mut create = as_user(programs.join("initdb"));
        create.arg("-D").arg(&folder);
        create.args([
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        ]);
        let created = create
            .stdout(Stdio::null())
            .status()
            .expect("starts initdb");
        assert!(created.success());
        std::fs::write(folder.join("postgresql.auto.conf"), SETTINGS).expect("writes");
        std::fs::write(folder.join("pg_hba.conf"), ACCESS).expect("writes");
        certificates::write(&folder);
        own(&folder);
        Self(folder, remove)
    }
}

/// Passes the files that this process wrote to the user of the server.
fn own(folder: &Path) {
    for name in ["ca.pem", "server.crt", "server.key"] {
        let path = folder.join(name);
        if let Some((user, group)) = user() {
            chown(&path, Some(user), Some(group)).expect("changes the owner");
        }
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("changes the mode");
    }
}

/// Returns a command of the user of the server, in a folder that this user can read.
pub(crate) fn as_user(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = user() {
        command.uid(user).gid(group);
    }
    command.current_dir("/");
    command
}

/// Returns the user and group of the server. Root may not run it.
fn user() -> Option<(u32, u32)> {
    let own = std::fs::metadata("/proc/self").expect("a process").uid();
    if own != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("a list of users");
    let find = |name| users.lines().find_map(|line| numbers(line, name));
    let found = find("postgres").or_else(|| find("nobody"));
    Some(found.expect("the user `postgres` or `nobody`"))
}

fn numbers(line: &str, name: &str) -> Option<(u32, u32)> {
    let mut parts = line.split(':');
    if parts.next() != Some(name) {
        return None;
    }
    let (user, group) = (parts.nth(1)?, parts.next()?);
    Some((user.parse().ok()?, group.parse().ok()?))
}
